/* kernels/cuda/gemm.h — what pp_cuda_gemm_* (kernels/cuda/parts.h) do where cuBLASLt does not:
 * kernels for every shape, alignment and combination of fields that kernels/kernels.h has. */
#ifndef PP_KERNELS_CUDA_GEMM_H
#define PP_KERNELS_CUDA_GEMM_H

#include "kernels/cuda/stream.h"
#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gemm_epilogue.cu. The whole of g, with products added in the order of k. About a hundredth of a
 * tensor core's speed. */
void pp_cuda_gemm_own(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g);
/* What is left of g when `product`, which may be c, holds (base +) op(a) op(b). Moves product, c
 * and what else it reads or writes once. */
void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g,
                         const void *product);

#ifdef __cplusplus
}
#endif

#endif
