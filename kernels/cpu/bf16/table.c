/* The table of bfloat16. What is of G is done by the single precision kernels of the level that
 * every machine has. */
#define PP_LEVEL base
#include "kernels/cpu/bf16/bf16.h"
#include "kernels/cpu/fixed.h"
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/scalar.h"

static const char *about(void)
{
    return "plain loops on bfloat16, rounded from double";
}

static void gelu_forward(void *stream, int64_t count, const void *x, void *y)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++)
        ((uint16_t *)y)[i] = pp_bf16_from(pp_gelu(pp_bf16_at(x, i)));
}

static void gelu_backward(void *stream, int64_t count, const void *x, const void *dy, void *dx)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i++)
        ((uint16_t *)dx)[i] = pp_bf16_from(pp_bf16_at(dy, i) * pp_gelu_slope(pp_bf16_at(x, i)));
}

static void swiglu_forward(void *stream, int rows, int width, const void *x, void *y)
{
    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = 0; i < (size_t)width; i++) {
            const size_t at = 2 * r * (size_t)width + i;
            const double gate = pp_bf16_at(x, at), value = pp_bf16_at(x, at + (size_t)width);
            ((uint16_t *)y)[r * (size_t)width + i] = pp_bf16_from(gate * pp_sigmoid(gate) * value);
        }
}

static void swiglu_backward(void *stream, int rows, int width, const void *x, const void *dy,
                            void *dx)
{
    uint16_t *to = dx;

    (void)stream;
    for (size_t r = 0; r < (size_t)rows; r++)
        for (size_t i = 0; i < (size_t)width; i++) {
            const size_t at = 2 * r * (size_t)width + i;
            const double g = pp_bf16_at(x, at), v = pp_bf16_at(x, at + (size_t)width);
            const double d = pp_bf16_at(dy, r * (size_t)width + i), s = pp_sigmoid(g);
            to[at] = pp_bf16_from(d * v * s * (1 + g * (1 - s)));
            to[at + (size_t)width] = pp_bf16_from(d * g * s);
        }
}

static void adamw_part(int64_t count, const struct pp_adamw *p, const struct pp_adamw_step *step,
                       const void *grad, void *weights, void *master, void *m, void *v)
{
    PP_AT(flat_parts).adamw(count, p, step, grad, master, NULL, m, v);
    for (int64_t i = 0; i < count; i++)
        ((uint16_t *)weights)[i] = pp_bf16_round(((const float *)master)[i]);
}

static void adamw(void *stream, const struct pp_flat *flat, const struct pp_adamw *p,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v)
{
    struct pp_flat_parts parts = PP_AT(flat_parts);

    (void)stream;
    parts.element_bytes = sizeof(uint16_t);
    parts.adamw = adamw_part;
    pp_flat_adamw(&parts, flat, p, step, weights, master, m, v);
}

const struct pp_kernels pp_kernels_bf16 = {
    .name = "bf16",
    .element_bytes = sizeof(uint16_t),
    .gradient_bytes = sizeof(float),
    .vocab_multiple = 1,
    .about = about,
    .gemm = pp_bf16_gemm,
    .add_bias = pp_bf16_add_bias,
    .sum_rows = pp_bf16_sum_rows,
    .norm_forward = pp_bf16_norm_forward,
    .norm_backward = pp_bf16_norm_backward,
    .norm_weights = pp_bf16_norm_weights,
    .gelu_forward = gelu_forward,
    .gelu_backward = gelu_backward,
    .swiglu_forward = swiglu_forward,
    .swiglu_backward = swiglu_backward,
    .rotate = pp_bf16_rotate,
    .attention_scratch_bytes = pp_bf16_attention_scratch_bytes,
    .attention_forward = pp_bf16_attention_forward,
    .attention_backward = pp_bf16_attention_backward,
    .embed_forward = pp_bf16_embed_forward,
    .embed_backward = pp_bf16_embed_backward,
    .cross_entropy = pp_bf16_cross_entropy,
    .copy = pp_bytes_copy,
    .zero = pp_bytes_zero,
    .add = PP_AT(add),
    .adamw = adamw,
    .squares = PP_AT(squares),
    .fixed_add = PP_AT(fixed_add),
    .fixed_merge = pp_fixed_merge,
    .fixed_fits = pp_fixed_fits,
};
