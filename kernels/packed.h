/* kernels/packed.h — tensors at rest in 8, 4 or 2 bits a value: their form, for tables of the CPU
 * and of CUDA.
 *
 * A group is 128 consecutive values of a tensor; the last one may be shorter. It has a header and
 * codes, and groups follow one another without gaps. The header is two numbers of bfloat16: m, the
 * minimum rounded down, and s = (maximum - m) / (2^bits - 1) rounded up. The code of x is
 * q = round((x - m) / s), half way up. The restored value is m + q s, and the largest finite one
 * of T if that is more. It is off by at most s / 2 and one rounding to T.
 *
 * A scale with its sign set is that of a constant group. The constant is a float. Its upper half is
 * in m, the next 15 bits are in s. The last bit is that of the first byte of codes. So constants
 * are exact, those of double to a float. A group is the constant NaN if a value of it is not
 * finite, or if bfloat16 has no finite m or s for it. That is so only below -0x1.fep127, and for
 * doubles beyond floats.
 *
 * Arithmetic is double for every T, and each operation is exact or rounded once. So equal values
 * have equal codes in all tables, with every instruction set. */
#pragma once

#include "kernels/numbers.h"

#include <math.h>
#include <stdbool.h>

enum { PP_PACKED_GROUP = 128, PP_PACKED_HEADER_BYTES = 4 };

/* Bytes of the codes of `count` values. Code i has `bits` bits of byte i % bytes, after those of
 * codes i - bytes, i - 2 bytes and so on. Bits without a value are 0. */
PP_ON_BOTH static inline int64_t pp_packed_code_bytes(int bits, int64_t count)
{
    return (count * bits + 7) / 8;
}

/* Bytes at rest of a tensor. */
PP_ON_BOTH static inline size_t pp_packed_bytes(int bits, int64_t count)
{
    const int64_t groups = (count + PP_PACKED_GROUP - 1) / PP_PACKED_GROUP;

    return (size_t)(groups * PP_PACKED_HEADER_BYTES + pp_packed_code_bytes(bits, count));
}

/* Where group `at` begins. */
PP_ON_BOTH static inline size_t pp_packed_begin(int bits, int64_t at)
{
    return (size_t)at * (size_t)(PP_PACKED_HEADER_BYTES + PP_PACKED_GROUP / 8 * bits);
}

struct pp_packed_group {
    uint16_t header[2];    /* m, s */
    double minimum, scale; /* of a group that is not constant */
    bool is_constant;
    float constant;
    unsigned char last; /* bit of the constant */
};

PP_ON_BOTH static inline struct pp_packed_group pp_packed_constant(float value)
{
    struct pp_packed_group g = {{0, 0}, 0, 0, true, value, 0};
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    g.header[0] = (uint16_t)(bits >> 16);
    g.header[1] = (uint16_t)(0x8000 | (bits & 0xffff) >> 1);
    g.last = bits & 1;
    return g;
}

PP_ON_BOTH static inline struct pp_packed_group pp_packed_scaled(uint16_t m, uint16_t s)
{
    const struct pp_packed_group g = {
        {m, s}, (double)pp_bf16_value(m), (double)pp_bf16_value(s), false, 0, 0};

    return g;
}

/* Returns the group of values from `least` to `largest`, the first of which is `first`. */
PP_ON_BOTH static inline struct pp_packed_group
pp_packed_group_of(int bits, double least, double largest, double first, bool are_finite)
{
    const float not_a_number = pp_bf16_value(0x7fc0);

    if (!are_finite)
        return pp_packed_constant(not_a_number);
    if (least == largest)
        return pp_packed_constant(isfinite((float)first) ? (float)first : not_a_number);
    const uint16_t m = pp_bf16_below(least + 0.0); /* no -0, which has other bits than 0 */
    const double range = largest - (double)pp_bf16_value(m);
    const struct pp_packed_group g = pp_packed_scaled(m, pp_bf16_above(range / ((1 << bits) - 1)));

    return isfinite(g.minimum) && isfinite(g.scale) ? g : pp_packed_constant(not_a_number);
}

/* Returns the group of a header, whose first byte of codes is `first`. */
PP_ON_BOTH static inline struct pp_packed_group pp_packed_read(uint16_t m, uint16_t s,
                                                               unsigned char first)
{
    const uint32_t bits = (uint32_t)m << 16 | (uint32_t)(s & 0x7fff) << 1 | (first & 1);
    float constant;

    memcpy(&constant, &bits, sizeof constant);
    return s & 0x8000 ? pp_packed_constant(constant) : pp_packed_scaled(m, s);
}

/* Returns the value of a code, before it is rounded to T. */
PP_ON_BOTH static inline double pp_packed_value(const struct pp_packed_group *g, int code)
{
    return g->is_constant ? (double)g->constant : g->minimum + code * g->scale;
}

/* The code of a value of a group that is not constant. It is at most 2^bits - 1: the quotient of
 * the maximum is, but for one rounding. */
PP_ON_BOTH static inline unsigned pp_packed_code(const struct pp_packed_group *g, double x)
{
    return (unsigned)((x - g->minimum) / g->scale + 0.5);
}
