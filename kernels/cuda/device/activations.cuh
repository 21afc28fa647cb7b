/* kernels/cuda/device/activations.cuh — activation functions, one type each: see enum
 * pp_activation. */
#pragma once

#include "kernels/cuda/device/element.cuh"
#include "kernels/kernels.h"

#define PP_GELU_SCALE 0.7978845608028654f /* sqrt(2 / pi) */
#define PP_GELU_CUBE  0.044715f

/* A function at one number: f = common * value and df/dx = common * slope. */
struct pp_activation_point {
    float common, value, slope;
};

/* 1 / (1 + e^-x); 0 and 1 at the ends. */
static __device__ __forceinline__ float pp_sigmoid(float x)
{
    return __fdividef(1.0f, 1.0f + expf(-x));
}

/* (1 + tanh u) / 2 = sigmoid(2 u) = s, which keeps its precision if tanh u is close to -1. The
 * slope is s + x s (1 - s) * d(argument of s)/dx. */
struct pp_gelu_tanh {
    static __device__ __forceinline__ pp_activation_point at(float x)
    {
        const float s = pp_sigmoid(2.0f * PP_GELU_SCALE * x * fmaf(PP_GELU_CUBE, x * x, 1.0f));

        return {1, x * s,
                fmaf(x * s * (1.0f - s),
                     2.0f * PP_GELU_SCALE * fmaf(3.0f * PP_GELU_CUBE, x * x, 1.0f), s)};
    }
};

/* x times the normal distribution, whose density is the rest of the slope. */
struct pp_gelu_erf {
    static __device__ __forceinline__ pp_activation_point at(float x)
    {
        const float below = 0.5f * erfcf(-0.70710678118654752f * x);

        return {1, x * below, fmaf(0.5f * PP_GELU_SCALE * x, expf(-0.5f * x * x), below)};
    }
};

struct pp_relu {
    static __device__ __forceinline__ pp_activation_point at(float x)
    {
        return {1, x < 0.0f ? 0.0f : x, x > 0.0f ? 1.0f : 0.0f};
    }
};

struct pp_silu {
    static __device__ __forceinline__ pp_activation_point at(float x)
    {
        const float s = pp_sigmoid(x);

        return {s, x, fmaf(x, 1.0f - s, 1.0f)};
    }
};

/* For launchers: calls run(f) with the type of an activation. */
template <class Run> static inline void pp_with_activation(enum pp_activation f, Run run)
{
    if (f == PP_GELU_ERF)
        run(pp_gelu_erf{});
    else if (f == PP_RELU)
        run(pp_relu{});
    else if (f == PP_SILU)
        run(pp_silu{});
    else
        run(pp_gelu_tanh{});
}
