/* Flat vectors: optimizer, norms, fixed point sums. Plain loops over elements that the compiler
 * turns into vector code; sums have 16 explicit lanes of double. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/shared.h"
#include "kernels/cpu/simd.h"

#include <math.h>

typedef double vd __attribute__((vector_size(128)));
typedef uint64_t vul __attribute__((vector_size(128)));
typedef uint64_t vul_unaligned __attribute__((vector_size(128), aligned(8), may_alias));

void PP_AT(add)(void *stream, int64_t count, const void *x, void *y)
{
    const float *from = x;
    float *to = y;

    (void)stream;
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* In pieces that stay in the cache, as all parts of one are added to it. */
void PP_AT(sum)(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    enum { PIECE = 2048 };

    (void)stream;
    for (int64_t at = 0; at < count; at += PIECE) {
        const int64_t end = at + PIECE < count ? at + PIECE : count;
        const float *first = x[0], *second = x[parts > 1];
        float *restrict to = y;

        for (int64_t i = at; i < end; i++)
            to[i] = parts > 1 ? first[i] + second[i] : first[i];
        for (int p = 2; p < parts; p++)
            PP_AT(add)(NULL, end - at, (const float *)x[p] + at, to + at);
    }
}

void PP_AT(max)(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    float *to = y;

    (void)stream;
    for (int64_t i = 0; i < count; i++) {
        to[i] = ((const float *)x[0])[i];
        for (int p = 1; p < parts; p++)
            to[i] = fmaxf(to[i], ((const float *)x[p])[i]);
    }
}

static void adamw_part(int64_t count, const struct pp_adamw *adamw,
                       const struct pp_adamw_step *step, const void *grad, void *weights,
                       void *master, void *m, void *v)
{
    const float *restrict g = grad;
    float *restrict w = weights, *restrict first = m, *restrict second = v;
    const float scale = (float)step->grad_scale, beta1 = (float)adamw->beta1;
    const float beta2 = (float)adamw->beta2, rest1 = (float)(1 - adamw->beta1);
    const float rest2 = (float)(1 - adamw->beta2), epsilon = (float)adamw->epsilon;
    const float rate1 = (float)(step->rate / step->correction1);
    const float inverse2 = (float)(1 / step->correction2);
    const float keep = (float)(1 - step->rate * adamw->decay);

    (void)master;
    for (int64_t i = 0; i < count; i++) {
        const float scaled = g[i] * scale;
        first[i] = beta1 * first[i] + rest1 * scaled;
        second[i] = beta2 * second[i] + rest2 * (scaled * scaled);
        w[i] = keep * w[i] - rate1 * first[i] / (sqrtf(second[i] * inverse2) + epsilon);
    }
}

static double sum_doubles(vd v)
{
    double x[LANES];

    memcpy(x, &v, sizeof x);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            x[i] += x[i + half];
    return x[0];
}

static double squares_part(int64_t count, const void *x)
{
    const float *from = x;
    vd sum = {0};

    for (size_t i = 0; i < (size_t)count; i += LANES) {
        const vd value = __builtin_convertvector(load_some(from + i, (size_t)count - i), vd);
        sum += value * value;
    }
    return sum_doubles(sum);
}

static void fixed_add_slowly(size_t count, const float *x, double scale, int64_t *sum, int *status)
{
    for (size_t i = 0; i < count; i++)
        pp_fixed_add_one((double)x[i], scale, &sum[i], status);
}

static bool all_within(size_t count, const float *x, float limit)
{
    vi good = ~(vi){0};
    int32_t lanes[LANES], all_good = -1;

    for (size_t i = 0; i < count; i += LANES)
        good &= (load(x + i) < limit) & (load(x + i) > -limit);
    memcpy(lanes, &good, sizeof lanes);
    for (int i = 0; i < LANES; i++)
        all_good &= lanes[i];
    return all_good;
}

/* Adding 1.5 2^52 leaves rounded values below 2^51 in the low bits. Is true if a sum wrapped. */
static bool fixed_add_fast(size_t count, const float *x, double scale, int64_t *sum)
{
    const vd magic = 0x1.8p52 - (vd){0};
    vul wrapped = {0};
    uint64_t lanes[LANES], any = 0;

    for (size_t i = 0; i < count; i += LANES) {
        vul_unaligned *to = (vul_unaligned *)(sum + i);
        const vd value = __builtin_convertvector(load(x + i), vd) * scale;
        const vul a = *to, b = (vul)(value + magic) - (vul)magic, c = a + b;
        wrapped |= (a ^ c) & (b ^ c);
        *to = c;
    }
    memcpy(lanes, &wrapped, sizeof lanes);
    for (int i = 0; i < LANES; i++)
        any |= lanes[i];
    return any >> 63;
}

void PP_AT(fixed_add)(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                      int *status)
{
    enum { BATCH = 256 };
    const float *from = x, limit = (float)ldexp(1, 51 - bits);
    const double scale = ldexp(1, bits);

    (void)stream;
    for (size_t i = 0; i < (size_t)count; i += BATCH) {
        const size_t rest = (size_t)count - i, batch = rest < BATCH ? rest : BATCH;
        const size_t whole = batch / LANES * LANES;
        if (!all_within(whole, from + i, limit))
            fixed_add_slowly(whole, from + i, scale, sum + i, status);
        else if (fixed_add_fast(whole, from + i, scale, sum + i) && *status == PP_FIXED_OK)
            *status = PP_FIXED_OVERFLOW;
        fixed_add_slowly(batch - whole, from + i + whole, scale, sum + i + whole, status);
    }
}

static void fixed_read_part(int64_t count, const int64_t *sum, int bits, void *x)
{
    const double scale = ldexp(1, -bits);
    float *restrict to = x;

    for (int64_t i = 0; i < count; i++)
        to[i] = (float)((double)sum[i] * scale);
}

const struct pp_flat_parts PP_AT(flat_parts) = {.element_bytes = sizeof(float),
                                                .gradient_bytes = sizeof(float),
                                                .fixed_read = fixed_read_part,
                                                .adamw = adamw_part,
                                                .squares = squares_part};

void PP_AT(adamw)(void *stream, const struct pp_flat *flat, const struct pp_adamw *adamw,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v)
{
    (void)stream;
    pp_flat_adamw(&PP_AT(flat_parts), flat, adamw, step, weights, master, m, v);
}

void PP_AT(squares)(void *stream, const struct pp_flat *flat, double *blocks)
{
    (void)stream;
    pp_flat_squares(&PP_AT(flat_parts), flat, blocks);
}
