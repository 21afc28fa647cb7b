/* kernels/cpu/reference/reference.h — the functions of pp_kernels_reference, by file. All
 * tensors are double; meaning and shapes are those of kernels/kernels.h. */
#ifndef PP_KERNELS_CPU_REFERENCE_REFERENCE_H
#define PP_KERNELS_CPU_REFERENCE_REFERENCE_H

#include "kernels/kernels.h"

/* reference_matrix.c */
/* c = op(a) op(b), plus c unless base is NULL: without the epilogue. */
void pp_reference_multiply(void *stream, const struct pp_gemm *g);
void pp_reference_add_bias(void *stream, int rows, int width, const void *bias, void *x);
void pp_reference_sum_rows(void *stream, int rows, int width, const void *dy, void *dbias,
                           bool add);
void pp_reference_norm_forward(void *stream, const struct pp_norm *n);
void pp_reference_norm_backward(void *stream, const struct pp_norm *n);
void pp_reference_norm_weights(void *stream, const struct pp_norm *n, void *dgamma, void *dbeta,
                               bool add);

/* reference_attention.c */
void pp_reference_rotate(void *stream, int batch, int tokens, int heads, int head_dim, int stride,
                         int first, double theta, bool is_inverse, void *x);
size_t pp_reference_attention_scratch_bytes(const struct pp_attention *a);
void pp_reference_attention_forward(void *stream, const struct pp_attention *a);
void pp_reference_attention_backward(void *stream, const struct pp_attention *a);

/* reference_tokens.c */
void pp_reference_embed_forward(void *stream, int batch, int tokens, int first, int stride,
                                int width, const int32_t *ids, const void *table,
                                const void *positions, void *y);
void pp_reference_embed_backward(void *stream, int batch, int tokens, int first, int stride,
                                 int width, int vocab, const int32_t *ids, const void *dy,
                                 void *dtable, void *dpositions, bool add);
void pp_reference_cross_entropy(void *stream, int batch, int tokens, int first, int stride,
                                int vocab, int ld, const int32_t *targets, double scale, void *x,
                                double *loss);

#endif
