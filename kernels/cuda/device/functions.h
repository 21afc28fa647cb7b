/* kernels/cuda/device/functions.h — the functions of the CUDA tables: pp_cuda_NAME_T and
 * pp_cuda_NAME, for members of struct pp_kernels.
 *
 * T is fp32 or bf16. G is float for both, so a function without T exists once. Types, meaning and
 * shapes are those of kernels/kernels.h; `stream` is a struct pp_cuda_stream
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
#define PP_CUDA_OF_T(X, T)                                                                         \
    X(gemm, T)                                                /* gemm.c */                         \
    X(sum_rows, T)                                            /* columns.cu */                     \
    X(norm_forward, T) X(norm_backward, T)                    /* norm.cu, norm_backward.cu */      \
    X(gate_forward, T) X(gate_backward, T)                    /* activation.cu */                  \
    X(activate_forward, T) X(activate_backward, T)            /* activation.cu */                  \
    X(scale, T) X(add_bias, T)                                /* bytes.cu */                       \
    X(quantise, T) X(restore, T)                              /* packed.cu */                      \
    X(rotate, T)                                              /* rotate.cu */                      \
    X(attention_forward, T) X(attention_backward, T)          /* attention.cu */                   \
    X(gemm_few, T)                                            /* gemm.c */                         \
    X(cache_append, T)                                        /* cache.cu */                       \
    X(attention_cached, T)                                    /* cached.cu */                      \
    X(embed_forward, T) X(embed_backward, T)                  /* embed.cu */                       \
    X(cross_entropy, T)                                       /* cross_entropy.cu */               \
    X(entropy_max, T) X(entropy_sums, T) X(entropy_end, T)    /* entropy.cu */                     \
    X(sum, T)                                                 /* parts.cu */                       \
    X(route_forward, T) X(route_backward, T)                  /* route.cu */                       \
    X(dispatch_forward, T) X(dispatch_backward, T)            /* experts.cu */                     \
    X(combine_forward, T) X(combine_backward, T)              /* experts.cu */                     \
    X(grouped_gemm, T) X(grouped_weight_grad, T)              /* grouped.cu */                     \
    X(grouped_sum_rows, T)                                    /* grouped.cu */                     \
    X(adamw, T)                                               /* flat.cu */
#define PP_CUDA_OF_G(X)                                                                            \
    X(attention_scratch_bytes)                                /* attention.cu */                   \
    X(attention_cached_scratch_bytes)                         /* cached.cu */                      \
    X(copy) X(zero) X(add)                                    /* bytes.cu */                       \
    X(sum_of_g) X(max_of_g)                                   /* parts.cu */                       \
    X(route_count)                                            /* choices.cu */                     \
    X(exchange_rows)                                          /* rows.cu */                        \
    X(pack_rows)                                              /* rows.cu */                        \
    X(balance_sums) X(balance_grad)                           /* balance.cu */                     \
    X(balance_add) X(balance_loss)                            /* balance.cu */                     \
    X(squares)                                                /* flat.cu */                        \
    X(fixed_add) X(fixed_merge) X(fixed_fits)                 /* fixed.cu */
/* clang-format on */

#define PP_CUDA_TYPE(name)         __typeof__(*((struct pp_kernels *)0)->name)
#define PP_CUDA_DECLARE_T(name, T) PP_CUDA_TYPE(name) pp_cuda_##name##_##T;
#define PP_CUDA_DECLARE_G(name)    PP_CUDA_TYPE(name) pp_cuda_##name;
PP_CUDA_OF_T(PP_CUDA_DECLARE_T, fp32)
PP_CUDA_OF_T(PP_CUDA_DECLARE_T, bf16)
PP_CUDA_OF_G(PP_CUDA_DECLARE_G)

#ifdef __cplusplus
}
#endif
