/* tests/cuda/include/cuda_bf16.h — bfloat16: the upper half of a float, rounded to nearest even. */
#ifndef PP_EMULATED_CUDA_BF16_H
#define PP_EMULATED_CUDA_BF16_H

#include "cuda_runtime.h"
#include "kernels/numbers.h"

struct __nv_bfloat16 {
    uint16_t bits;

    __nv_bfloat16() = default;
    __nv_bfloat16(float x)
    {
        bits = x != x ? (uint16_t)0x7fff : pp_bf16_round(x);
    }
    operator float() const
    {
        return pp_bf16_value(bits);
    }
};

struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};

static inline __nv_bfloat16 __float2bfloat16_rn(float x)
{
    return __nv_bfloat16(x);
}

static inline float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}

static inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y)
{
    return {__nv_bfloat16(x), __nv_bfloat16(y)};
}

static inline float2 __bfloat1622float2(__nv_bfloat162 a)
{
    return {a.x, a.y};
}

#endif
