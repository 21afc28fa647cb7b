/* kernels/cuda/device/functions.h — the functions of the CUDA tables.
 *
 * T is float or bf16, by the end of the name. G is float for both, so a function without T exists
 * once. Meaning and shapes are those of kernels/kernels.h; `stream` is a struct pp_cuda_stream
 * (kernels/cuda/device/stream.h). All functions only enqueue work. Errors of launches are sticky:
 * the backend finds them when it asks the device at the end of a step. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "kernels/kernels.h"

enum {
    PP_CUDA_HEAD_DIM = 256,      /* largest head_dim of attention */
    PP_CUDA_VOCAB_MULTIPLE = 128 /* tiles of products, and 16 bytes of any element */
};

/* clang-format off */
#define PP_CUDA_PARTS(T)                                                                           \
    /* gemm.c */                                                                                   \
    void pp_cuda_gemm_##T(void *stream, const struct pp_gemm *g);                                  \
    /* columns.cu */                                                                               \
    void pp_cuda_sum_rows_##T(void *stream, int rows, int width, const void *dy, void *dbias,      \
                              bool add);                                                           \
    /* norm.cu, norm_backward.cu */                                                                                  \
    void pp_cuda_norm_forward_##T(void *stream, const struct pp_norm *n);                          \
    void pp_cuda_norm_backward_##T(void *stream, const struct pp_norm *n);                         \
    /* activation.cu */                                                                            \
    void pp_cuda_swiglu_forward_##T(void *stream, int rows, int width, const void *x, void *y);    \
    void pp_cuda_swiglu_backward_##T(void *stream, int rows, int width, const void *x,             \
                                     const void *dy, void *dx);                                    \
    /* rotate.cu */                                                                                \
    void pp_cuda_rotate_##T(void *stream, int batch, int tokens, int heads, int head_dim,          \
                            int stride, int first, double theta, bool is_inverse, void *x);        \
    /* attention*.cu */                                                                            \
    size_t pp_cuda_attention_scratch_bytes_##T(const struct pp_attention *a);                      \
    void pp_cuda_attention_forward_##T(void *stream, const struct pp_attention *a);                \
    void pp_cuda_attention_backward_##T(void *stream, const struct pp_attention *a);               \
    /* embed.cu, cross_entropy.cu */                                                               \
    void pp_cuda_embed_forward_##T(void *stream, int batch, int tokens, int first, int stride,     \
                                   int width, const int32_t *ids, const void *table,               \
                                   const void *positions, void *y);                                \
    void pp_cuda_embed_backward_##T(void *stream, int batch, int tokens, int first, int stride,    \
                                    int width, int vocab, const int32_t *ids, const void *dy,      \
                                    void *dtable, void *dpositions, bool add);                     \
    void pp_cuda_cross_entropy_##T(void *stream, int batch, int tokens, int first, int stride,     \
                                   int vocab, int ld, const int32_t *targets, double scale,        \
                                   void *x, double *loss);                                                  \
    /* flat.cu */                                                                                  \
    void pp_cuda_adamw_##T(void *stream, const struct pp_flat *flat,                               \
                           const struct pp_adamw *adamw, const struct pp_adamw_step *step,         \
                           void *weights, void *master, void *m, void *v);
/* clang-format on */

PP_CUDA_PARTS(fp32)
PP_CUDA_PARTS(bf16)

/* bytes.cu, flat.cu, fixed.cu */
void pp_cuda_copy(void *stream, size_t bytes, const void *from, void *to);
void pp_cuda_zero(void *stream, size_t bytes, void *x);
void pp_cuda_add(void *stream, int64_t count, const void *x, void *y);
void pp_cuda_squares(void *stream, const struct pp_flat *flat, double *blocks);
void pp_cuda_fixed_add(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                       int *status);
void pp_cuda_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status);
void pp_cuda_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status);

#ifdef __cplusplus
}
#endif
