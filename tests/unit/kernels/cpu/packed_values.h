/* Values to quantise: ordinary ones, and those for which a group's header or code is hard. */
#ifndef PP_TESTS_PACKED_VALUES_H
#define PP_TESTS_PACKED_VALUES_H

#include "core/random.h"
#include "kernels/kernels.h"

enum packed_kind {
    PACKED_UNIFORM,
    PACKED_WIDE,     /* any finite bits */
    PACKED_TIES,     /* half way between two codes */
    PACKED_DOUBT,    /* nearly half way, and with differences that floats round */
    PACKED_TINY,     /* down to the smallest numbers */
    PACKED_HUGE,     /* up to the largest numbers */
    PACKED_OUTLIER,  /* one is much larger */
    PACKED_NEAR,     /* neighbours of one number */
    PACKED_CONSTANT, /* one number a group */
    PACKED_ZEROS,    /* with both signs */
    PACKED_BROKEN,   /* some are not finite */
    PACKED_KINDS
};

static inline float packed_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any finite number not below -0x1.fep127, which bfloat16 has no lower one for. */
static inline float packed_any(uint64_t random)
{
    const float value = packed_bits((uint32_t)random);

    return isfinite(value) && value >= -0x1.fep127f ? value : packed_bits((uint32_t)random << 9);
}

/* The maximum is 255 / 64 above the minimum m, which is -129 / 128, or nearly 0. */
static inline float packed_doubt(uint64_t random, int64_t i)
{
    const float m = i / PP_PACKED_GROUP % 2 ? 0x1p-40f : -129.0f / 128,
                half = m + ((float)(random % 255) + 0.5f) / 64;
    const float tiny = packed_bits((uint32_t)(random >> 20 & 0xbfffffff));

    if (i % 8 < 2)
        return i % 8 == 0 ? m : m + 255.0f / 64;
    if (m < 0 && (i % 8 == 2 || half == 0))
        return fabsf(tiny) < 0x1p-12f ? tiny : 0x1p-40f;
    uint32_t bits;
    memcpy(&bits, &half, sizeof bits);
    return packed_bits(bits + (uint32_t)(random >> 8) % 5 - 2);
}

static inline float packed_value(enum packed_kind kind, uint64_t stream, int64_t i)
{
    const uint64_t random = pp_random_bits(stream, (uint64_t)i),
                   group = pp_random_bits(~stream, (uint64_t)i / PP_PACKED_GROUP);
    const float uniform = (float)((double)(int64_t)random * 0x1p-63);
    const uint32_t one = (uint32_t)group & 0xff7fffff; /* finite, of either sign */

    switch (kind) {
    case PACKED_WIDE:
        return packed_any(random);
    case PACKED_TIES:
        return i % 3 == 0 ? -1 : i % 3 == 1 ? 2047.0f / 8 - 1 : (float)(random % 511) / 2 - 1;
    case PACKED_DOUBT:
        return packed_doubt(random, i);
    case PACKED_TINY:
        return packed_bits((uint32_t)(random & 0x800fffff));
    case PACKED_HUGE:
        return uniform > 0 ? 0x1.fffffep127f : uniform * 0x1.fep127f;
    case PACKED_OUTLIER:
        return random % 100 == 0 ? uniform * 1e30f : uniform;
    case PACKED_NEAR:
        return packed_bits((0x3f800000 ^ (one & 0x80000000)) + (uint32_t)(random % 3));
    case PACKED_CONSTANT:
        return packed_bits(one);
    case PACKED_ZEROS:
        return packed_bits((uint32_t)(random & 0x80000000));
    case PACKED_BROKEN:
        return random % 200 == 0   ? packed_bits(0x7f800000 | ((uint32_t)(random >> 32) << 9))
               : random % 200 == 1 ? packed_bits(0xff800000)
                                   : uniform;
    default:
        return uniform;
    }
}

#endif
