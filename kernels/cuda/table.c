/* The tables of CUDA: T is float or bf16, G is float. */
#include "kernels/cuda/table.h"
#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/device/functions.h"

#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

static const char *about(const char *attention)
{
    static _Thread_local char text[512];
    const size_t version = cublasLtGetVersion();
    const bool is_own = strcmp(attention, "own") == 0;

    snprintf(text, sizeof text, "own kernels, cuBLASLt %zu.%zu.%zu%s%s", version / 10000,
             version / 100 % 100, version % 100,
             is_own ? "" : ", attention: ", is_own ? "" : attention);
    return text;
}

static const char *about_fp32(void)
{
    return about("own");
}

static const char *about_bf16(void)
{
    return about(pp_cudnn_about());
}

#define TABLE(T, bytes, who)                                                                       \
    const struct pp_kernels pp_kernels_cuda_##T = {                                                \
        .name = #T,                                                                                \
        .element_bytes = bytes,                                                                    \
        .gradient_bytes = sizeof(float),                                                           \
        .head_dim_limit = PP_CUDA_HEAD_DIM,                                                        \
        .vocab_multiple = PP_CUDA_VOCAB_MULTIPLE,                                                  \
        .about = about_##T,                                                                        \
        .attention = who,                                                                          \
        .gemm = pp_cuda_gemm_##T,                                                                  \
        .sum_rows = pp_cuda_sum_rows_##T,                                                          \
        .norm_forward = pp_cuda_norm_forward_##T,                                                  \
        .norm_backward = pp_cuda_norm_backward_##T,                                                \
        .swiglu_forward = pp_cuda_swiglu_forward_##T,                                              \
        .swiglu_backward = pp_cuda_swiglu_backward_##T,                                            \
        .rotate = pp_cuda_rotate_##T,                                                              \
        .attention_scratch_bytes = pp_cuda_attention_scratch_bytes_##T,                            \
        .attention_forward = pp_cuda_attention_forward_##T,                                        \
        .attention_backward = pp_cuda_attention_backward_##T,                                      \
        .embed_forward = pp_cuda_embed_forward_##T,                                                \
        .embed_backward = pp_cuda_embed_backward_##T,                                              \
        .cross_entropy = pp_cuda_cross_entropy_##T,                                                \
        .copy = pp_cuda_copy,                                                                      \
        .zero = pp_cuda_zero,                                                                      \
        .add = pp_cuda_add,                                                                        \
        .adamw = pp_cuda_adamw_##T,                                                                \
        .squares = pp_cuda_squares,                                                                \
        .fixed_add = pp_cuda_fixed_add,                                                            \
        .fixed_merge = pp_cuda_fixed_merge,                                                        \
        .fixed_fits = pp_cuda_fixed_fits,                                                          \
    };
TABLE(fp32, sizeof(float), NULL)
TABLE(bf16, 2, pp_cudnn_about)
