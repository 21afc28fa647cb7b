/* The reference table: double precision, element by element. */
#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/fixed.h"
#include "kernels/cpu/flat.h"
#include "kernels/cpu/reference/reference.h"
#include "kernels/cpu/scalar.h"

#include <math.h>

static const char *about(void)
{
    return "plain loops in double precision";
}

static void gelu_forward(void *stream, int64_t count, const void *x, void *y)
{
    (void)stream;
    for (int64_t i = 0; i < count; i++)
        ((double *)y)[i] = pp_gelu(((const double *)x)[i]);
}

static void gelu_backward(void *stream, int64_t count, const void *x, const void *dy, void *dx)
{
    (void)stream;
    for (int64_t i = 0; i < count; i++)
        ((double *)dx)[i] = ((const double *)dy)[i] * pp_gelu_slope(((const double *)x)[i]);
}

static void swiglu_forward(void *stream, int rows, int width, const void *x, void *y)
{
    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++) {
        const double *gate = (const double *)x + 2 * r * (size_t)width, *value = gate + width;
        for (int i = 0; i < width; i++)
            ((double *)y)[r * (size_t)width + (size_t)i] = gate[i] * pp_sigmoid(gate[i]) * value[i];
    }
}

static void swiglu_backward(void *stream, int rows, int width, const void *x, const void *dy,
                            void *dx)
{
    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = 0; i < (size_t)width; i++) {
            const size_t at = 2 * r * (size_t)width + i;
            const double g = ((const double *)x)[at], v = ((const double *)x)[at + (size_t)width];
            const double d = ((const double *)dy)[r * (size_t)width + i], s = pp_sigmoid(g);
            ((double *)dx)[at] = d * v * s * (1 + g * (1 - s));
            ((double *)dx)[at + (size_t)width] = d * g * s;
        }
}

static void add(void *stream, int64_t count, const void *x, void *y)
{
    (void)stream;
    for (int64_t i = 0; i < count; i++)
        ((double *)y)[i] += ((const double *)x)[i];
}

static void adamw_part(int64_t count, const struct pp_adamw *p, const struct pp_adamw_step *step,
                       const void *grad, void *weights, void *master, void *first, void *second)
{
    double *w = weights, *m = first, *v = second;

    (void)master;
    for (int64_t i = 0; i < count; i++) {
        const double g = ((const double *)grad)[i] * step->grad_scale;
        m[i] = p->beta1 * m[i] + (1 - p->beta1) * g;
        v[i] = p->beta2 * v[i] + (1 - p->beta2) * g * g;
        const double by = m[i] / step->correction1 / (sqrt(v[i] / step->correction2) + p->epsilon);
        w[i] -= step->rate * (by + p->decay * w[i]);
    }
}

static double squares_part(int64_t count, const void *x)
{
    double sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += ((const double *)x)[i] * ((const double *)x)[i];
    return sum;
}

static void fixed_add(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                      int *status)
{
    (void)stream;
    for (int64_t i = 0; i < count; i++)
        pp_fixed_add_one(((const double *)x)[i], bits, &sum[i], status);
}

static void fixed_read_part(int64_t count, const int64_t *sum, int bits, void *x)
{
    for (int64_t i = 0; i < count; i++)
        ((double *)x)[i] = ldexp((double)sum[i], -bits);
}

static const struct pp_flat_parts parts = {.element_bytes = sizeof(double),
                                           .gradient_bytes = sizeof(double),
                                           .fixed_read = fixed_read_part,
                                           .adamw = adamw_part,
                                           .squares = squares_part};

static void adamw(void *stream, const struct pp_flat *flat, const struct pp_adamw *p,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v)
{
    (void)stream;
    pp_flat_adamw(&parts, flat, p, step, weights, master, m, v);
}

static void squares(void *stream, const struct pp_flat *flat, double *blocks)
{
    (void)stream;
    pp_flat_squares(&parts, flat, blocks);
}

static void gemm(void *stream, const struct pp_gemm *g)
{
    pp_gemm_compose(&pp_kernels_reference, pp_reference_multiply, stream, g);
}

const struct pp_kernels pp_kernels_reference = {
    .name = "reference",
    .element_bytes = sizeof(double),
    .gradient_bytes = sizeof(double),
    .vocab_multiple = 1,
    .about = about,
    .gemm = gemm,
    .add_bias = pp_reference_add_bias,
    .sum_rows = pp_reference_sum_rows,
    .norm_forward = pp_reference_norm_forward,
    .norm_backward = pp_reference_norm_backward,
    .norm_weights = pp_reference_norm_weights,
    .gelu_forward = gelu_forward,
    .gelu_backward = gelu_backward,
    .swiglu_forward = swiglu_forward,
    .swiglu_backward = swiglu_backward,
    .rotate = pp_reference_rotate,
    .attention_scratch_bytes = pp_reference_attention_scratch_bytes,
    .attention_forward = pp_reference_attention_forward,
    .attention_backward = pp_reference_attention_backward,
    .embed_forward = pp_reference_embed_forward,
    .embed_backward = pp_reference_embed_backward,
    .cross_entropy = pp_reference_cross_entropy,
    .copy = pp_bytes_copy,
    .zero = pp_bytes_zero,
    .add = add,
    .adamw = adamw,
    .squares = squares,
    .fixed_add = fixed_add,
    .fixed_merge = pp_fixed_merge,
    .fixed_fits = pp_fixed_fits,
};
