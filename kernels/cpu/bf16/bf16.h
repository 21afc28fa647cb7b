/* kernels/cpu/bf16/bf16.h — the functions of pp_kernels_bf16, by file. T is bfloat16, G float.
 * Each element of a result is computed in double from its operands and rounded once. Meaning and
 * shapes are those of kernels/kernels.h. */
#ifndef PP_KERNELS_CPU_BF16_BF16_H
#define PP_KERNELS_CPU_BF16_BF16_H

#include "kernels/kernels.h"
#include "kernels/numbers.h"

static inline double pp_bf16_at(const uint16_t *x, size_t i)
{
    return (double)pp_bf16_value(x[i]);
}
static inline uint16_t pp_bf16_from(double value)
{
    return pp_bf16_round((float)value);
}

/* bf16_gemm.c */
void pp_bf16_gemm(void *stream, const struct pp_gemm *g);

/* bf16_rows.c */
void pp_bf16_add_bias(void *stream, int rows, int width, const void *bias, void *x);
void pp_bf16_sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add);
void pp_bf16_norm_forward(void *stream, const struct pp_norm *n);
void pp_bf16_norm_backward(void *stream, const struct pp_norm *n);
void pp_bf16_norm_weights(void *stream, const struct pp_norm *n, void *dgamma, void *dbeta,
                          bool add);

/* bf16_attention.c */
void pp_bf16_rotate(void *stream, int batch, int tokens, int heads, int head_dim, int stride,
                    int first, double theta, bool is_inverse, void *x);
size_t pp_bf16_attention_scratch_bytes(const struct pp_attention *a);
void pp_bf16_attention_forward(void *stream, const struct pp_attention *a);
void pp_bf16_attention_backward(void *stream, const struct pp_attention *a);

/* bf16_tokens.c */
void pp_bf16_embed_forward(void *stream, int batch, int tokens, int first, int stride, int width,
                           const int32_t *ids, const void *table, const void *positions, void *y);
void pp_bf16_embed_backward(void *stream, int batch, int tokens, int first, int stride, int width,
                            int vocab, const int32_t *ids, const void *dy, void *dtable,
                            void *dpositions, bool add);
void pp_bf16_cross_entropy(void *stream, int batch, int tokens, int first, int stride, int vocab,
                           int ld, const int32_t *targets, double scale, void *x, double *loss);

#endif
