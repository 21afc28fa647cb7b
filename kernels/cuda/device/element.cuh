/* kernels/cuda/device/element.cuh — elements of T and G as float, and back: rounded to the nearest,
 * ties to even. */
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
