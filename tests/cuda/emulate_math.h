/* tests/cuda/emulate_math.h — functions that device code calls without including anything. */
#ifndef PP_TESTS_CUDA_EMULATE_MATH_H
#define PP_TESTS_CUDA_EMULATE_MATH_H

#include <math.h>

#define __expf(x)          pp_emulated_exp(x) /* names of glibc, too */
#define __logf(x)          pp_emulated_log(x)
#define __fmaf_rn(x, y, z) fmaf(x, y, z)
#define __fadd_rn(x, y)    ((float)(x) + (float)(y))
#define __fmul_rn(x, y)    ((float)(x) * (float)(y))
#define __float2int_rn(x)  ((int)lrintf(x))

/* By powers of 2, as devices have them: the error grows with the size of x. */
static inline float pp_emulated_exp(float x)
{
    return exp2f(x * 1.4426950408889634f);
}

static inline float pp_emulated_log(float x)
{
    return log2f(x) * 0.6931471805599453f;
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

/* Of pi x. */
static inline void sincospif(float x, float *sine, float *cosine)
{
    *sine = (float)sin(M_PI * (double)x);
    *cosine = (float)cos(M_PI * (double)x);
}

static inline float rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}

template <class To, class From> To pp_emulated_as(From x)
{
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    To y;
    memcpy(&y, &x, sizeof y);
    return y;
}

#define __float_as_int(x)  pp_emulated_as<int, float>(x)
#define __float_as_uint(x) pp_emulated_as<unsigned, float>(x)
#define __int_as_float(x)  pp_emulated_as<float, int>(x)
#define __uint_as_float(x) pp_emulated_as<float, unsigned>(x)
#define __popc(x)          __builtin_popcount(x)
#define __ffs(x)           __builtin_ffs(x)

static inline int __clz(int x)
{
    return x ? __builtin_clz((unsigned)x) : 32;
}

template <class T> T __ldg(const T *x)
{
    return *x;
}

/* As CUDA's: integers by their common type, floats by fmin and fmax, which drop NaNs. */
#define PP_MIN_MAX(T)                                                                              \
    static inline T min(T a, T b)                                                                  \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    static inline T max(T a, T b)                                                                  \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }
PP_MIN_MAX(int)
PP_MIN_MAX(unsigned)
PP_MIN_MAX(long)
PP_MIN_MAX(unsigned long)
PP_MIN_MAX(long long)
PP_MIN_MAX(unsigned long long)
#undef PP_MIN_MAX

static inline float min(float a, float b)
{
    return fminf(a, b);
}

static inline float max(float a, float b)
{
    return fmaxf(a, b);
}

#define PP_MAKE_2(T, E)                                                                            \
    static inline T make_##T(E x, E y)                                                             \
    {                                                                                              \
        return {x, y};                                                                             \
    }
#define PP_MAKE_4(T, E)                                                                            \
    static inline T make_##T(E x, E y, E z, E w)                                                   \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }
PP_MAKE_2(float2, float)
PP_MAKE_4(float4, float)
PP_MAKE_2(double2, double)
PP_MAKE_2(int2, int)
PP_MAKE_4(int4, int)
PP_MAKE_2(uint2, unsigned)
PP_MAKE_4(uint4, unsigned)
#undef PP_MAKE_2
#undef PP_MAKE_4

/* Threads of a device are fibers of one thread: nothing comes between. Not offered for floats: the
 * order of their additions would not be fixed. */
#define PP_ATOMIC(name, T, result)                                                                 \
    static inline T name(T *x, T value)                                                            \
    {                                                                                              \
        const T old = *x;                                                                          \
        *x = result;                                                                               \
        return old;                                                                                \
    }
#define PP_ATOMICS(T)                                                                              \
    PP_ATOMIC(atomicAdd, T, old + value)                                                           \
    PP_ATOMIC(atomicMax, T, old > value ? old : value)                                             \
    PP_ATOMIC(atomicMin, T, old < value ? old : value)                                             \
    PP_ATOMIC(atomicOr, T, old | value)                                                            \
    PP_ATOMIC(atomicExch, T, value)                                                                \
    static inline T atomicCAS(T *x, T expected, T value)                                           \
    {                                                                                              \
        const T old = *x;                                                                          \
        *x = old == expected ? value : old;                                                        \
        return old;                                                                                \
    }
PP_ATOMICS(int)
PP_ATOMICS(unsigned)
PP_ATOMICS(unsigned long long)
#undef PP_ATOMICS
#undef PP_ATOMIC

#define __threadfence()       ((void)0)
#define __threadfence_block() ((void)0)

#endif
