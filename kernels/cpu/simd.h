/* kernels/cpu/simd.h — vectors of 16 floats, exp and log on them.
 *
 * A vector always has 16 lanes, in as many registers as the instruction set needs. No operation is
 * contracted or reordered. So every tail, every alignment and every level with fused multiply-add
 * gives the same bits. A tail is loaded into a full vector and takes the same code. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__FMA__)
#include <immintrin.h>
#endif

#define PP_INLINE static inline __attribute__((always_inline))

enum { LANES = 16 };
typedef float vf __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));
typedef uint32_t vu __attribute__((vector_size(64)));
typedef float vf_unaligned __attribute__((vector_size(64), aligned(4), may_alias));
typedef float v8 __attribute__((vector_size(32)));
typedef float v4 __attribute__((vector_size(16)));
typedef float v4_unaligned __attribute__((vector_size(16), aligned(4), may_alias));

PP_INLINE vf load(const float *x)
{
    return *(const vf_unaligned *)x;
}

PP_INLINE void store(float *x, vf v)
{
    *(vf_unaligned *)x = v;
}

PP_INLINE vf all(float x)
{
    return x - (vf){0};
}

/* The first `count` < 16 lanes; other lanes are loaded as zero, and not stored. */
PP_INLINE vf load_part(const float *x, size_t count)
{
    vf v = {0};

    memcpy(&v, x, sizeof(float) * count);
    return v;
}

PP_INLINE void store_part(float *x, size_t count, vf v)
{
    memcpy(x, &v, sizeof(float) * count);
}

PP_INLINE vf load_some(const float *x, size_t count)
{
    return count >= LANES ? load(x) : load_part(x, count);
}

PP_INLINE void store_some(float *x, size_t count, vf v)
{
    if (count >= LANES)
        store(x, v);
    else
        store_part(x, count, v);
}

/* Lanes of `a` if the mask (all ones or zero) is set, else of `b`. */
PP_INLINE vf choose(vi mask, vf a, vf b)
{
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

/* Lanes at or beyond `count` become `other`. */
PP_INLINE vf only_first(size_t count, vf v, float other)
{
    const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    return choose(lane < (int32_t)(count < LANES ? count : LANES), v, all(other));
}

/* The larger of each lane; NaN in `b` stays. */
PP_INLINE vf larger(vf a, vf b)
{
    return choose(a > b, a, b);
}

/* a b + c, fused if the level has it. */
PP_INLINE vf multiply_add(vf a, vf b, vf c)
{
#if defined(__AVX512F__)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    v8 x[2], y[2], z[2];

    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    memcpy(z, &c, sizeof z);
    for (int i = 0; i < 2; i++)
        z[i] = (v8)_mm256_fmadd_ps((__m256)x[i], (__m256)y[i], (__m256)z[i]);
    memcpy(&c, z, sizeof z);
    return c;
#else
    return a * b + c;
#endif
}

/* Adds lane i to lanes i + 8, i + 4, i + 2, i + 1: one tree for every instruction set. */
PP_INLINE float sum_lanes(vf v)
{
    const v8 a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const v4 b =
        __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);

    return (b[0] + b[2]) + (b[1] + b[3]);
}

PP_INLINE float largest_lane(vf v)
{
    float x[LANES];

    memcpy(x, &v, sizeof x);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            x[i] = x[i] > x[i + half] ? x[i] : x[i + half];
    return x[0];
}

/* exp(x), within 2 units in the last place. Results below 2^-126 are 0, above the largest float
 * infinite; NaN stays. x = n ln 2 + r with |r| <= ln 2 / 2. exp(r) is Cephes' polynomial (Moshier
 * 1989). ln 2 is split in two parts; n times the first is exact. */
PP_INLINE vf exp_lanes(vf x)
{
    const float to_integer = 0x1.8p23f;
    const vf shifted = multiply_add(x, all(0x1.715476p+0f), all(to_integer));
    const vf n = shifted - to_integer;
    const vf r = multiply_add(n, all(0x1.bd0106p-13f), multiply_add(n, all(-0x1.63p-1f), x));
    vf p = multiply_add(r, all(1.9875691500e-4f), all(1.3981999507e-3f));

    p = multiply_add(p, r, all(8.3334519073e-3f));
    p = multiply_add(p, r, all(4.1665795894e-2f));
    p = multiply_add(p, r, all(1.6666665459e-1f));
    p = multiply_add(p, r, all(5.0000001201e-1f));
    p = multiply_add(p, r * r, r) + 1.0f;
    /* times 2^n: the low bits of `shifted` are n */
    const vf scaled = (vf)((vu)p + ((vu)shifted << 23));
    const vf inside = choose(x > 0x1.62e42ep+6f, all(__builtin_inff()), scaled);
    const vf nonzero = choose(x < -0x1.5d589ep+6f, all(0.0f), inside);
    return choose(x == x, nonzero, x);
}

/* log(x) of a positive, normal, finite x, within 2 units in the last place: x = 2^n m with m around
 * 1, log(m) by Cephes' polynomial. */
PP_INLINE vf log_lanes(vf x)
{
    const vu half = (vu)all(0x1.6a09e6p-1f); /* sqrt(1/2) */
    const vi n = (vi)((vu)x - half) >> 23;
    const vf r = (vf)((vu)x - ((vu)n << 23)) - 1.0f, square = r * r;
    const vf exponent = __builtin_convertvector(n, vf);
    vf p = r * 7.0376836292e-2f - 1.1514610310e-1f;

    p = p * r + 1.1676998740e-1f;
    p = p * r - 1.2420140846e-1f;
    p = p * r + 1.4249322787e-1f;
    p = p * r - 1.6668057665e-1f;
    p = p * r + 2.0000714765e-1f;
    p = p * r - 2.4999993993e-1f;
    p = p * r + 3.3333331174e-1f;
    return exponent * 0x1.63p-1f +
           (r + (square * r * p + (exponent * -0x1.bd0106p-13f - 0.5f * square)));
}

PP_INLINE vf sigmoid_lanes(vf x)
{
    return 1.0f / (1.0f + exp_lanes(-x));
}

/* to [columns][to_stride] = from [rows][stride] transposed, times scale. */
PP_INLINE void transpose(const float *from, size_t stride, size_t rows, size_t columns, float scale,
                         float *to, size_t to_stride)
{
    const size_t whole = columns % 4 ? 0 : rows / 4 * 4;

    for (size_t r = 0; r < whole; r += 4)
        for (size_t i = 0; i < columns; i += 4) {
            const float *x = from + r * stride + i;
            float *y = to + i * to_stride + r;
            const v4 a = *(const v4_unaligned *)x * scale;
            const v4 b = *(const v4_unaligned *)(x + stride) * scale;
            const v4 c = *(const v4_unaligned *)(x + 2 * stride) * scale;
            const v4 d = *(const v4_unaligned *)(x + 3 * stride) * scale;
            const v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            const v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
            const v4 ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const v4 cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            *(v4_unaligned *)y = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
            *(v4_unaligned *)(y + to_stride) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
            *(v4_unaligned *)(y + 2 * to_stride) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
            *(v4_unaligned *)(y + 3 * to_stride) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
        }
    for (size_t r = whole; r < rows; r++)
        for (size_t i = 0; i < columns; i++)
            to[i * to_stride + r] = from[r * stride + i] * scale;
}
