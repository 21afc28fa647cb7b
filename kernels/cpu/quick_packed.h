/* kernels/cpu/quick_packed.h — tensors at rest in fewer bits, for every table of float or bfloat16
 * that includes this file. Plain loops over a group that the compiler turns into vector code. The
 * table first defines an element:
 *
 *   element                        type T
 *   ordered                        the signed integer of its size
 *   float value_of(element x)
 *   element rounded(float value)
 *   LARGEST                        the largest finite element
 *
 * Codes and values are those of double (kernels/packed.h), but float finds nearly all of them. A
 * quotient of float is off by at most 4 roundings, so it has the right code but near half way
 * between two. There it has the upper one, which is right half way. Double does those that are a
 * little off. In a restored value the product is exact, and the sum has one rounding, as that of
 * double. Double also does scales so large or small that float would overflow or underflow. */
#pragma once

#include "kernels/packed.h"

enum { GROUP = PP_PACKED_GROUP };

static bool is_for_float(const struct pp_packed_group *g)
{
    return !g->is_constant && g->scale > 0x1p-100 && g->scale < 0x1p100;
}

/* ---- quantise -------------------------------------------------------------------------------- */

/* From an element to an integer of the same order, or back. */
static ordered in_order(ordered bits)
{
    const int sign_at = 8 * (int)sizeof bits - 1;

    return (ordered)(bits ^ (bits >> sign_at & (ordered)(((uint64_t)1 << sign_at) - 1)));
}

static ordered order_of(element x)
{
    ordered bits;

    memcpy(&bits, &x, sizeof bits);
    return in_order(bits);
}

static double value_in_order(ordered order)
{
    const ordered bits = in_order(order);
    element x;

    memcpy(&x, &bits, sizeof x);
    return (double)value_of(x);
}

static struct pp_packed_group group_of(int bits, const element *x)
{
    const ordered largest_finite = order_of(rounded((float)LARGEST));
    ordered least = order_of(x[0]), largest = least;

    for (int i = 0; i < GROUP; i++) {
        const ordered at = order_of(x[i]);
        least = at < least ? at : least;
        largest = at > largest ? at : largest;
    }
    return pp_packed_group_of(bits, value_in_order(least), value_in_order(largest),
                              (double)value_of(x[0]),
                              least >= ~largest_finite && largest <= largest_finite);
}

static const float ROUNDS = 0x1.8p23f; /* to an integer in the low bits, ties to even */

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* A value to float: above = x - m, and its code. The sign of `near` is set if the code may be one
 * too high. */
struct quick {
    float minimum, scale, inverse, most_off;
};
struct quick_code {
    float above, code;
    uint32_t bits, near;
};

static struct quick quick_of(const struct pp_packed_group *g, int bits)
{
    return (struct quick){(float)g->minimum, (float)g->scale, (float)(1 / g->scale),
                          (float)((1 << bits) - 1) * 0x1p-22f};
}

static inline __attribute__((always_inline)) struct quick_code quick_code(struct quick q, float x)
{
    const float above = x - q.minimum, quotient = above * q.inverse;
    const float shifted = quotient + 2 * q.most_off + ROUNDS, code = shifted - ROUNDS;

    return (struct quick_code){above, code, bits_of(shifted),
                               bits_of(quotient - code + (0.5f - q.most_off))};
}

/* Returns whether all codes are certain. */
static bool find_codes(struct quick q, const element *restrict x, uint8_t *restrict codes)
{
    uint32_t near = 0;

    for (int i = 0; i < GROUP; i++) {
        const struct quick_code c = quick_code(q, value_of(x[i]));
        codes[i] = (uint8_t)c.bits;
        near |= c.near;
    }
    return near >> 31 == 0;
}

/* A code is right if x is half way to it. That is so if float says it, and x - m is exact. Then x
 * and m are the sum and the difference of it and the other one. Else it is not 0 in `is_doubtful`.
 * Returns whether there are such codes. */
static bool doubt_codes(struct quick q, const element *restrict x, uint8_t *restrict is_doubtful)
{
    uint8_t any = 0;

    for (int i = 0; i < GROUP; i++) {
        const float value = value_of(x[i]);
        const struct quick_code c = quick_code(q, value);
        const uint32_t off = (bits_of((c.code - 0.5f) * q.scale) ^ bits_of(c.above)) |
                             (bits_of(c.above + q.minimum) ^ bits_of(value)) |
                             (bits_of(value - c.above) ^ bits_of(q.minimum));
        is_doubtful[i] = (uint8_t)(off != 0 ? c.near >> 31 : 0);
        any |= is_doubtful[i];
    }
    return any != 0;
}

static void codes_of(const struct pp_packed_group *g, int bits, const element *x, uint8_t *codes)
{
    const struct quick q = quick_of(g, bits);
    uint8_t is_doubtful[GROUP];

    if (!is_for_float(g))
        memset(is_doubtful, 1, sizeof is_doubtful);
    else if (find_codes(q, x, codes) || !doubt_codes(q, x, is_doubtful))
        return;
    for (int i = 0; i < GROUP; i++)
        if (is_doubtful[i])
            codes[i] = (uint8_t)pp_packed_code(g, (double)value_of(x[i]));
}

/* Bytes from `count` codes. */
static inline __attribute__((always_inline)) void pack(int bits, int count, const uint8_t *codes,
                                                       uint8_t *restrict to)
{
    const int bytes = (int)pp_packed_code_bytes(bits, count);

    memcpy(to, codes, (size_t)bytes);
    for (int k = 1; k < 8 / bits; k++)
        for (int i = 0; i < bytes && i + k * bytes < count; i++)
            to[i] |= (uint8_t)(codes[i + k * bytes] << k * bits);
}

static inline __attribute__((always_inline)) void write_group(const struct pp_packed_group *g,
                                                              int bits, int count, const element *x,
                                                              unsigned char *packed)
{
    uint8_t codes[GROUP];

    memcpy(packed, g->header, sizeof g->header);
    if (g->is_constant) {
        memset(codes, 0, sizeof codes);
        codes[0] = g->last;
    } else {
        codes_of(g, bits, x, codes);
    }
    pack(bits, count, codes, packed + PP_PACKED_HEADER_BYTES);
}

/* Headers of several groups are made at once, as each is a chain of slow operations. */
static inline __attribute__((always_inline)) void
quantise_all(int bits, int64_t count, const element *x, unsigned char *packed)
{
    enum { AT_ONCE = 8 };

    while (count >= GROUP) {
        const int groups = count / GROUP < AT_ONCE ? (int)(count / GROUP) : AT_ONCE;
        struct pp_packed_group g[AT_ONCE];
        for (int j = 0; j < groups; j++)
            g[j] = group_of(bits, x + j * GROUP);
        for (int j = 0; j < groups; j++, x += GROUP, packed += pp_packed_begin(bits, 1))
            write_group(&g[j], bits, GROUP, x, packed);
        count -= groups * GROUP;
    }
    if (count > 0) { /* what is missing is as the first value */
        element some[GROUP];
        for (int i = 0; i < GROUP; i++)
            some[i] = x[i < count ? i : 0];
        const struct pp_packed_group last = group_of(bits, some);
        write_group(&last, bits, (int)count, some, packed);
    }
}

static void quantise(void *stream, int bits, int64_t count, const void *x, void *packed)
{
    (void)stream;
    if (bits == 8)
        quantise_all(8, count, x, packed);
    else if (bits == 4)
        quantise_all(4, count, x, packed);
    else
        quantise_all(2, count, x, packed);
}

/* ---- restore --------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void unpack(int bits, int count, const uint8_t *from,
                                                         uint8_t *restrict codes)
{
    const int bytes = (int)pp_packed_code_bytes(bits, count);

    for (int k = 0; k < 8 / bits; k++)
        for (int i = 0; i < bytes && i + k * bytes < count; i++)
            codes[i + k * bytes] = (uint8_t)(from[i] >> k * bits & ((1 << bits) - 1));
}

static void restore_by_float(const struct pp_packed_group *g, const uint8_t *restrict codes,
                             element *restrict x)
{
    const float minimum = (float)g->minimum, scale = (float)g->scale;

    for (int i = 0; i < GROUP; i++)
        x[i] = rounded(minimum + (float)codes[i] * scale);
}

static void restore_codes(const struct pp_packed_group *g, int count, const uint8_t *codes,
                          element *x)
{
    if (count == GROUP && is_for_float(g)) {
        restore_by_float(g, codes, x);
        return;
    }
    for (int i = 0; i < count; i++) {
        const double value = pp_packed_value(g, codes[i]);
        x[i] = rounded((float)(value > LARGEST ? LARGEST : value));
    }
}

static inline __attribute__((always_inline)) void
restore_group(int bits, int count, const unsigned char *packed, element *x)
{
    uint8_t codes[GROUP];
    uint16_t header[2];

    memcpy(header, packed, sizeof header);
    packed += sizeof header;
    const struct pp_packed_group g = pp_packed_read(header[0], header[1], *packed);
    unpack(bits, count, packed, codes);
    restore_codes(&g, count, codes, x);
}

static inline __attribute__((always_inline)) void
restore_all(int bits, int64_t count, const unsigned char *packed, element *x)
{
    for (; count >= GROUP; count -= GROUP, x += GROUP, packed += pp_packed_begin(bits, 1))
        restore_group(bits, GROUP, packed, x);
    if (count > 0)
        restore_group(bits, (int)count, packed, x);
}

static void restore(void *stream, int bits, int64_t count, const void *packed, void *x)
{
    (void)stream;
    if (bits == 8)
        restore_all(8, count, packed, x);
    else if (bits == 4)
        restore_all(4, count, packed, x);
    else
        restore_all(2, count, packed, x);
}
