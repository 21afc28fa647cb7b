/* kernels/cuda/device/element.cuh — elements of T and G as float, and back: rounded to the nearest,
 * ties to even. GELU in its tanh form (Hendrycks and Gimpel 2016), and its slope. */
#pragma once

#include "kernels/cuda/device/device.cuh"

static __device__ __forceinline__ float pp_widen(float x)
{
    return x;
}

static __device__ __forceinline__ float pp_widen(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

static __device__ __forceinline__ void pp_store(float *to, float x)
{
    *to = x;
}

static __device__ __forceinline__ void pp_store(__nv_bfloat16 *to, float x)
{
    *to = __float2bfloat16_rn(x);
}

#define PP_GELU_SCALE 0.7978845608028654f /* sqrt(2 / pi) */
#define PP_GELU_CUBE  0.044715f

/* 1 / (1 + e^-x); 0 and 1 at the ends. */
static __device__ __forceinline__ float pp_sigmoid(float x)
{
    return __fdividef(1.0f, 1.0f + expf(-x));
}

/* (1 + tanh u) / 2 = sigmoid(2 u), which keeps its precision if tanh u is close to -1. */
static __device__ __forceinline__ float pp_gelu_gate(float x)
{
    return pp_sigmoid(2.0f * PP_GELU_SCALE * x * fmaf(PP_GELU_CUBE, x * x, 1.0f));
}

static __device__ __forceinline__ float pp_gelu(float x)
{
    return x * pp_gelu_gate(x);
}

/* s + x s (1 - s) * d(argument of s)/dx, with s the sigmoid. */
static __device__ __forceinline__ float pp_gelu_slope(float x)
{
    const float s = pp_gelu_gate(x);

    return fmaf(x * s * (1.0f - s), 2.0f * PP_GELU_SCALE * fmaf(3.0f * PP_GELU_CUBE, x * x, 1.0f),
                s);
}
