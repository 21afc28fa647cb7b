/* Quantities with units: parsed, printed, rounded to picoseconds. */
#include "core/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct scale {
    const char *name;
    double factor;
};

static const struct scale prefixes[] = {
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50},
    {"ki", 0x1p10}, {"k", 1e3},     {"K", 1e3},     {"M", 1e6},     {"G", 1e9},
    {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"", 1},        {NULL, 0},
};
/* Model sizes are also written 7b and 125m; there are no milli-counts. */
static const struct scale counts[] = {
    {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3}, {"K", 1e3},
    {"m", 1e6},     {"M", 1e6},     {"b", 1e9},     {"B", 1e9},     {"g", 1e9}, {"G", 1e9},
    {"t", 1e12},    {"T", 1e12},    {"P", 1e15},    {"", 1},        {NULL, 0},
};
static const struct scale nothing[] = {{"", 1}, {NULL, 0}};
static const struct scale byte_units[] = {{"", 1}, {"B", 1}, {NULL, 0}};
/* Bandwidths require bits or bytes; speeds the F, so that a bare 989 is not taken for FLOP/s. */
static const struct scale rate_units[] = {
    {"B", 1},        {"Bps", 1},        {"B/s", 1},     {"b", 0.125},
    {"bps", 0.125},  {"b/s", 0.125},    {"bit", 0.125}, {"bit/s", 0.125},
    {"bits", 0.125}, {"bits/s", 0.125}, {NULL, 0},
};
static const struct scale flop_units[] = {
    {"F", 1},      {"F/s", 1},     {"FLOP/s", 1}, {"FLOPs/s", 1}, {"FLOPS", 1},
    {"FLOPs", 1},  {"FLOPps", 1},  {"flops", 1},  {"flop/s", 1},  {"Flops", 1},
    {"Flop/s", 1}, {"Flops/s", 1}, {NULL, 0},
};
static const struct scale second_units[] = {
    {"s", 1},     {"ms", 1e-3},  {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"\xce\xbcs", 1e-6},
    {"ns", 1e-9}, {"ps", 1e-12}, {"min", 60},  {"h", 3600},         {"d", 86400},
    {NULL, 0},
};
static const struct scale frac_units[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};

static const struct kind {
    const struct scale *prefixes, *units;
    const char *expected;
} kinds[] = {
    [PP_UNIT_COUNT] = {counts, nothing, "a number such as 7.5e9, 175B or 4M"},
    [PP_UNIT_BYTES] = {prefixes, byte_units, "bytes such as 80GiB, 80GB or 512"},
    [PP_UNIT_BYTES_PER_S] = {prefixes, rate_units,
                             "a bandwidth such as 450GB/s, 450GBps or 400Gbps (B bytes, b bits)"},
    [PP_UNIT_FLOPS_PER_S] = {prefixes, flop_units, "a speed such as 989TFLOPS or 1.4PF"},
    [PP_UNIT_SECONDS] = {nothing, second_units, "a time such as 11.9us, 3 ms, 2s or 1h"},
    [PP_UNIT_FRAC] = {nothing, frac_units, "a fraction such as 5% or 0.05"},
};

/* Returns the length of a plain decimal number; strtod() would also take hex, inf, nan, signs. */
static size_t number_length(const char *text)
{
    size_t i = 0, digits = 0;

    for (; isdigit((unsigned char)text[i]); i++)
        digits++;
    if (text[i] == '.')
        for (i++; isdigit((unsigned char)text[i]); i++)
            digits++;
    if (digits == 0)
        return 0;
    if (text[i] == 'e' || text[i] == 'E') {
        size_t j = i + 1;

        j += text[j] == '+' || text[j] == '-';
        if (isdigit((unsigned char)text[j])) /* else it is the E of exa */
            for (i = j; isdigit((unsigned char)text[i]); i++)
                ;
    }
    return i;
}

static bool find_factor(const struct kind *kind, const char *suffix, double *factor)
{
    for (const struct scale *prefix = kind->prefixes; prefix->name; prefix++) {
        const size_t length = strlen(prefix->name);

        if (strncmp(suffix, prefix->name, length))
            continue;
        for (const struct scale *unit = kind->units; unit->name; unit++)
            if (!strcmp(suffix + length, unit->name)) {
                *factor = prefix->factor * unit->factor;
                return true;
            }
    }
    return false;
}

/* Reports a bandwidth or speed without a unit, with the units that would complete it. A bare number
 * is taken for one of giga- or teraunits. */
static bool lacks_unit(const char *text, const struct kind *kind, const char *suffix,
                       struct pp_error *err)
{
    const bool is_rate = kind->units == rate_units;
    const char *prefix = is_rate ? "G" : "T";
    const int length = (int)number_length(text);

    if (!is_rate && kind->units != flop_units)
        return false;
    for (const struct scale *p = prefixes; p->name; p++) {
        const size_t size = strlen(p->name);

        if (strncmp(suffix, p->name, size) ||
            (suffix[size] && strcmp(suffix + size, "/s") && strcmp(suffix + size, "ps")))
            continue;
        if (size)
            prefix = p->name;
        pp_error_set(err, PP_EINVAL, "\"%s\" has no unit: ", text);
        if (is_rate)
            pp_error_append(err, "%.*s%sBps (bytes) or %.*s%sbps (bits)?", length, text, prefix,
                            length, text, prefix);
        else
            pp_error_append(err, "%.*s%sF?", length, text, prefix);
        return true;
    }
    return false;
}

/* Reports a time without a unit. Most times here are microseconds, so they are the example. */
static bool is_bare_time(const char *text, const struct kind *kind, const char *suffix,
                         struct pp_error *err)
{
    if (kind->units != second_units || *suffix)
        return false;
    pp_error_set(err, PP_EINVAL, "\"%s\" has no unit: %sus (or ns, ms, s)?", text, text);
    return true;
}

/* Appends what a suffix in the wrong case means: 53mb is 53MB. */
static void append_capitals(const char *text, const struct kind *kind, const char *suffix,
                            struct pp_error *err)
{
    for (const struct scale *prefix = kind->prefixes; prefix->name; prefix++)
        for (const struct scale *unit = kind->units; unit->name; unit++) {
            char name[16];

            snprintf(name, sizeof name, "%s%s", prefix->name, unit->name);
            if (!strcasecmp(suffix, name)) {
                pp_error_append(err, ": write %.*s%s", (int)number_length(text), text, name);
                return;
            }
        }
}

static enum pp_status refuse(const char *text, const struct kind *kind, const char *suffix,
                             struct pp_error *err)
{
    double unused;

    if (lacks_unit(text, kind, suffix, err) || is_bare_time(text, kind, suffix, err))
        return PP_EINVAL;
    pp_error_set(err, PP_EINVAL, "\"%s\" is not %s", text, kind->expected);
    if (kind->units == byte_units && find_factor(&kinds[PP_UNIT_BYTES_PER_S], suffix, &unused))
        pp_error_append(err, strchr(suffix, 'b') ? ": b is bits, write B for bytes"
                                                 : ": it is a bandwidth");
    else if (kind->units == byte_units)
        append_capitals(text, kind, suffix, err);
    else if (kind->units == second_units && !strcmp(suffix, "m"))
        pp_error_append(err, ": write ms or min");
    return PP_EINVAL;
}

enum pp_status pp_units_parse(const char *text, enum pp_unit unit, double *value,
                              struct pp_error *err)
{
    const struct kind *kind = &kinds[unit];
    const size_t length = number_length(text);
    const char *suffix = text + length;
    double factor;

    if (length == 0)
        return pp_error_set(err, PP_EINVAL, "\"%s\" is not %s%s", text, kind->expected,
                            text[0] == '-' ? " (it must not be negative)" : "");
    while (*suffix == ' ' && suffix[1])
        suffix++;
    if (!find_factor(kind, suffix, &factor))
        return refuse(text, kind, suffix, err);
    /* Division keeps 5% equal to 0.05 and 3us to 3e-6; a product would be an ulp off. */
    const double number = strtod(text, NULL);
    const double result = factor < 1 ? number / round(1 / factor) : number * factor;
    if (!isfinite(result))
        return pp_error_set(err, PP_EINVAL, "\"%s\" is too large", text);
    *value = result;
    return PP_OK;
}

enum pp_status pp_units_parse_int(const char *text, int64_t low, int64_t high, int64_t *value,
                                  struct pp_error *err)
{
    const char *digits = text + (*text == '-');
    const size_t count = strspn(digits, "0123456789");

    if (count == 0 || digits[count])
        return pp_error_set(err, PP_EINVAL, "\"%s\" is not a whole number", text);
    errno = 0;
    const intmax_t number = strtoimax(text, NULL, 10);
    if (errno == ERANGE || number < low || number > high) {
        if (high == INT32_MAX || high == INT64_MAX)
            return pp_error_set(err, PP_EINVAL, "%s is out of range: %s %" PRId64, text,
                                number < low ? "the least is" : "the largest is",
                                number < low ? low : high);
        return pp_error_set(err, PP_EINVAL, "%s is out of range: %" PRId64 " to %" PRId64, text,
                            low, high);
    }
    *value = number;
    return PP_OK;
}

enum pp_status pp_units_parse_whole(const char *text, int64_t low, int64_t high, int64_t *value,
                                    struct pp_error *err)
{
    static const double exact = 0x1p53; /* larger doubles are not all whole numbers */
    char digits[PP_UNITS_TEXT_BYTES];
    double number;

    if (pp_units_parse(text, PP_UNIT_COUNT, &number, NULL) != PP_OK || number > exact ||
        number != floor(number))
        return pp_units_parse_int(text, low, high, value, err);
    snprintf(digits, sizeof digits, "%.0f", number);
    return pp_units_parse_int(strspn(text, "0123456789") == strlen(text) ? text : digits, low, high,
                              value, err);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Units of a quantity, ascending; one is used for values of at least `from`. */
struct step {
    double from, factor;
    const char *unit;
};
enum { STEPS_MAX = 10 };
static const struct step steps[][STEPS_MAX] = {
    [PP_UNIT_COUNT] = {{0, 1, ""},
                       {1e3, 1e3, "k"},
                       {1e6, 1e6, "M"},
                       {1e9, 1e9, "B"},
                       {1e12, 1e12, "T"},
                       {1e15, 1e15, "P"}},
    [PP_UNIT_BYTES] = {{0, 1, " B"},
                       {1e3, 0x1p10, " KiB"},
                       {1e3 * 0x1p10, 0x1p20, " MiB"},
                       {1e3 * 0x1p20, 0x1p30, " GiB"},
                       {1e3 * 0x1p30, 0x1p40, " TiB"},
                       {1e3 * 0x1p40, 0x1p50, " PiB"}},
    [PP_UNIT_BYTES_PER_S] = {{0, 1, " B/s"},
                             {1e3, 1e3, " kB/s"},
                             {1e6, 1e6, " MB/s"},
                             {1e9, 1e9, " GB/s"},
                             {1e12, 1e12, " TB/s"},
                             {1e15, 1e15, " PB/s"}},
    [PP_UNIT_FLOPS_PER_S] = {{0, 1, " FLOP/s"},
                             {1e3, 1e3, " kFLOP/s"},
                             {1e6, 1e6, " MFLOP/s"},
                             {1e9, 1e9, " GFLOP/s"},
                             {1e12, 1e12, " TFLOP/s"},
                             {1e15, 1e15, " PFLOP/s"},
                             {1e18, 1e18, " EFLOP/s"}},
    [PP_UNIT_SECONDS] = {{0, 1e-12, " ps"},
                         {1e-9, 1e-9, " ns"},
                         {1e-6, 1e-6, " us"},
                         {1e-3, 1e-3, " ms"},
                         {1, 1, " s"},
                         {600, 60, " min"},
                         {36000, 3600, " h"},
                         {864000, 86400, " d"}},
    [PP_UNIT_FRAC] = {{0, 0.01, " %"}},
};

/* Returns `value` with 3 significant digits; sets its decimal exponent after rounding. */
static double round_three(double value, int *exponent)
{
    char text[PP_UNITS_TEXT_BYTES];

    snprintf(text, sizeof(text), "%.2e", value);
    *exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return strtod(text, NULL);
}

/* Returns the step; values that round up to the next are printed there: 999.9 ns is 1.00 us. */
static const struct step *find_step(double value, enum pp_unit unit)
{
    const struct step *step = steps[unit], *end = step + STEPS_MAX;
    int exponent;

    while (step + 1 < end && step[1].unit) {
        /* Far above the next step the quotient may overflow, and rounding changes nothing. */
        if (fabs(value) < step[1].from) {
            const double size = fabs(round_three(value / step->factor, &exponent)) * step->factor;

            if (size < step[1].from * (1 - 1e-9))
                break;
        }
        step++;
    }
    return step;
}

const char *pp_units_print(double value, enum pp_unit unit, char text[PP_UNITS_TEXT_BYTES])
{
    int exponent;

    if (!isfinite(value)) {
        snprintf(text, PP_UNITS_TEXT_BYTES, "%s",
                 isnan(value) ? "nan"
                 : value < 0  ? "-inf"
                              : "inf");
        return text;
    }
    const struct step *step = find_step(value, unit);
    const double scaled = value / step->factor;
    const bool is_whole = step == steps[unit] && scaled == round(scaled);

    if (!isfinite(scaled)) { /* 1e307 in percent */
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.2e", value);
        return text;
    }
    round_three(scaled, &exponent);
    if (value == 0)
        snprintf(text, PP_UNITS_TEXT_BYTES, "0%s", unit == PP_UNIT_SECONDS ? " s" : step->unit);
    else if (exponent >= 6 || exponent < -4)
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.2e%s", scaled, step->unit);
    else /* whole bytes and counts have no decimals */
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.*f%s", is_whole || exponent >= 2 ? 0 : 2 - exponent,
                 scaled, step->unit);
    return text;
}

const char *pp_units_print_count(int64_t value, char text[PP_UNITS_TEXT_BYTES])
{
    char digits[24];
    char *place = text;
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64,
                                value < 0 ? -(uint64_t)value : (uint64_t)value);

    if (value < 0)
        *place++ = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *place++ = ',';
        *place++ = digits[i];
    }
    *place = '\0';
    return text;
}

const char *pp_units_print_four(double value, char text[PP_UNITS_TEXT_BYTES])
{
    if (value >= 999.95)
        return pp_units_print_count(llround(value), text);
    snprintf(text, PP_UNITS_TEXT_BYTES, "%.4g", value);
    return text;
}

int64_t pp_units_ps(double seconds)
{
    static const int64_t limit = INT64_MAX / 4;
    const double ps = round(seconds * 1e12);

    if (ps >= (double)limit || isnan(ps))
        return limit;
    return ps <= -(double)limit ? -limit : (int64_t)ps;
}
