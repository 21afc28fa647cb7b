/* kernels/cuda/element.cuh — elements of T and G as float, and back: rounded to the nearest, ties
 * to even. GELU in its tanh form (Hendrycks and Gimpel 2016), and its slope. */
#ifndef PP_KERNELS_CUDA_ELEMENT_CUH
#define PP_KERNELS_CUDA_ELEMENT_CUH

#include "kernels/cuda/device.cuh"

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

static __device__ __forceinline__ float pp_gelu(float x)
{
    return 0.5f * x * (1.0f + tanhf(PP_GELU_SCALE * (x + PP_GELU_CUBE * x * x * x)));
}

/* With t the tanh: (1 + t) / 2 + x (1 - t^2) / 2 * d(argument of tanh)/dx. */
static __device__ __forceinline__ float pp_gelu_slope(float x)
{
    const float t = tanhf(PP_GELU_SCALE * (x + PP_GELU_CUBE * x * x * x));

    return 0.5f * (1.0f + t) +
           0.5f * x * (1.0f - t * t) * PP_GELU_SCALE * (1.0f + 3.0f * PP_GELU_CUBE * x * x);
}

#endif
