/* core/units.h — quantities with units, text <-> SI doubles. SI prefixes are decimal (k M G T P),
 * Ki Mi Gi Ti binary; B is bytes, b is bits. The unit may be left out if the kind is clear: not for
 * a bandwidth (B or b?), a speed or a time. "400Gb" as a bandwidth is 400e9 bits/s; "/s" and "ps"
 * both mean per second (450GBps, 450GB/s). */
#pragma once

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

enum pp_unit {
    PP_UNIT_COUNT,       /* 7.5e9, 175B (= 1e9), 4M, 2k */
    PP_UNIT_BYTES,       /* 80GiB, 80GB, 512 */
    PP_UNIT_BYTES_PER_S, /* 450GBps, 400Gbps, 50GB/s -> bytes/s */
    PP_UNIT_FLOPS_PER_S, /* 989TF, 989TFLOPS, 1.4PF */
    PP_UNIT_SECONDS,     /* 11.9us, 3 ms, 2s, 1h */
    PP_UNIT_FRAC,        /* 5%, 0.05 */
};

/* Parses the whole of `text`. Negative, infinite, NaN, trailing garbage and a wrong unit are
 * PP_EINVAL with a message that says what is expected. */
enum pp_status pp_units_parse(const char *text, enum pp_unit unit, double *value,
                              struct pp_error *err);
/* Parses a decimal integer in [low, high], nothing else. */
enum pp_status pp_units_parse_int(const char *text, int64_t low, int64_t high, int64_t *value,
                                  struct pp_error *err);
/* Parses a whole number, also with a prefix or an exponent: 2k and 1e3 are 2000 and 1000. */
enum pp_status pp_units_parse_whole(const char *text, int64_t low, int64_t high, int64_t *value,
                                    struct pp_error *err);

#define PP_GIB (1024.0 * 1024.0 * 1024.0)

enum { PP_UNITS_TEXT_BYTES = 48 };
/* Prints for people with 3 significant digits: "29.7 GiB", "450 GB/s", "4.85 s", "12.1 us". */
const char *pp_units_print(double value, enum pp_unit unit, char text[PP_UNITS_TEXT_BYTES]);
/* Prints 2048 as "2,048"; ASCII. */
const char *pp_units_print_count(int64_t value, char text[PP_UNITS_TEXT_BYTES]);
/* Prints at least four significant digits: "494.5", "1,979". */
const char *pp_units_print_four(double value, char text[PP_UNITS_TEXT_BYTES]);

/* Converts seconds to integer picoseconds, rounded once, saturating at INT64_MAX/4. */
int64_t pp_units_ps(double seconds);
static inline double pp_units_s(int64_t ps)
{
    return (double)ps * 1e-12;
}
