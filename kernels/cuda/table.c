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

#define MEMBER_T(name, T) .name = pp_cuda_##name##_##T,
#define MEMBER_G(name)    .name = pp_cuda_##name,
/* clang-format off */
#define TABLE(T, bytes, who)                                                                       \
    const struct pp_kernels pp_kernels_cuda_##T = {                                                \
        .name = #T,                                                                                \
        .element_bytes = bytes,                                                                    \
        .gradient_bytes = sizeof(float),                                                           \
        .has_fast_epilogue = true,                                                                 \
        .head_dim_limit = PP_CUDA_HEAD_DIM,                                                        \
        .vocab_multiple = PP_CUDA_VOCAB_MULTIPLE,                                                  \
        .about = about_##T,                                                                        \
        .attention = who,                                                                          \
        PP_CUDA_OF_T(MEMBER_T, T) PP_CUDA_OF_G(MEMBER_G)                                           \
    };
/* clang-format on */
TABLE(fp32, sizeof(float), NULL)
TABLE(bf16, 2, pp_cudnn_about)
