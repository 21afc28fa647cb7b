/* tests/cuda/emulate_math.h — functions that device code calls without including anything. */
#ifndef PP_TESTS_CUDA_EMULATE_MATH_H
#define PP_TESTS_CUDA_EMULATE_MATH_H

#include <math.h>
#include <type_traits>

#define __expf(x) pp_emulated_exp(x) /* a name of glibc, too */

/* By powers of 2, as devices have them: the error grows with the size of x. */
static inline float pp_emulated_exp(float x)
{
    return exp2f(x * 1.4426950408889634f);
}

/* By the reciprocal, which is 0 where y is larger than 2^126. */
static inline float __fdividef(float x, float y)
{
    return fabsf(y) > 0x1p126f ? x * 0.0f : x * (1 / y);
}

static inline long long __double2ll_rn(double x)
{
    return llrint(x);
}

/* Rounded, and never fused: this file is compiled without contractions. */
static inline float __fmul_rn(float x, float y)
{
    return x * y;
}

static inline float __fadd_rn(float x, float y)
{
    return x + y;
}

static inline float __fsub_rn(float x, float y)
{
    return x - y;
}

static inline float __fdiv_rn(float x, float y)
{
    return x / y;
}

static inline float __fsqrt_rn(float x)
{
    return sqrtf(x);
}

static inline double __dmul_rn(double x, double y)
{
    return x * y;
}

/* Of pi x. */
static inline void sincospif(float x, float *sine, float *cosine)
{
    *sine = (float)sin(M_PI * (double)x);
    *cosine = (float)cos(M_PI * (double)x);
}

template <class To, class From> To pp_emulated_as(From x)
{
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

#define __uint_as_float(x) pp_emulated_as<float, unsigned>(x)
#define __ffs(x)           __builtin_ffs(x)
#define __popc(x)          __builtin_popcount(x)

/* Of integers of one type, as kernels use them: for others CUDA has rules that are not here. */
template <class T> T min(T a, T b)
{
    static_assert(std::is_integral_v<T>, "not emulated");
    return a < b ? a : b;
}

template <class T> T max(T a, T b)
{
    static_assert(std::is_integral_v<T>, "not emulated");
    return a > b ? a : b;
}

static inline float2 make_float2(float x, float y)
{
    return {x, y};
}

/* Threads of a device are fibers of one thread: nothing comes between. Not offered for floats: the
 * order of their additions would not be fixed. */
template <class T> T atomicAdd(T *x, T value)
{
    static_assert(std::is_integral_v<T>, "not emulated");
    const T old = *x;
    *x = old + value;
    return old;
}

template <class T> T atomicMax(T *x, T value)
{
    static_assert(std::is_integral_v<T>, "not emulated");
    const T old = *x;
    *x = max(old, value);
    return old;
}

#endif
