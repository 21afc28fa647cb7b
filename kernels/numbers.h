/* kernels/numbers.h — single numbers of tensors: float, double, and bfloat16, which is the upper
 * half of a float. The size in bytes identifies the type. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Marks functions for tables of the CPU and of CUDA. */
#ifdef __CUDACC__
#define PP_ON_BOTH __host__ __device__
#else
#define PP_ON_BOTH
#endif

PP_ON_BOTH static inline float pp_bf16_value(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to the nearest, ties to even. NaN stays NaN. */
static inline uint16_t pp_bf16_round(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The largest bfloat16 that is not above the value, which is no NaN; minus infinity if there is
 * none. */
PP_ON_BOTH static inline uint16_t pp_bf16_below(double value)
{
    const float nearest = (float)value;
    uint32_t bits;

    memcpy(&bits, &nearest, sizeof bits);
    const uint16_t toward_zero = (uint16_t)(bits >> 16);
    if ((double)pp_bf16_value(toward_zero) <= value)
        return toward_zero;
    return (uint16_t)(bits >> 31 ? toward_zero + 1 : toward_zero - 1);
}

/* The smallest bfloat16 that is not below the value. */
PP_ON_BOTH static inline uint16_t pp_bf16_above(double value)
{
    return pp_bf16_below(-value) ^ 0x8000;
}

/* Element i of a vector whose elements have `bytes` bytes: 2, 4 or 8. */
static inline double pp_number_get(const void *vector, size_t bytes, int64_t i)
{
    if (bytes == sizeof(uint16_t))
        return (double)pp_bf16_value(((const uint16_t *)vector)[i]);
    return bytes == sizeof(float) ? (double)((const float *)vector)[i]
                                  : ((const double *)vector)[i];
}

/* bfloat16 is rounded from the float nearest to the value. */
static inline void pp_number_put(void *vector, size_t bytes, int64_t i, double value)
{
    if (bytes == sizeof(uint16_t))
        ((uint16_t *)vector)[i] = pp_bf16_round((float)value);
    else if (bytes == sizeof(float))
        ((float *)vector)[i] = (float)value;
    else
        ((double *)vector)[i] = value;
}
