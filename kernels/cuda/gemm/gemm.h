/* kernels/cuda/gemm/gemm.h — pp_cuda_gemm_* (kernels/cuda/device/functions.h) without cuBLASLt:
 * kernels for every shape, alignment and combination of fields of kernels/kernels.h. */
#pragma once

#include "kernels/cuda/device/stream.h"
#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* epilogue.cu. Computes all of g, added in the order of k. About 1/100 of a tensor core's speed. */
void pp_cuda_gemm_own(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g);
/* Completes g from (base +) op(a) op(b) in c. Moves each operand once. */
void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16,
                         const struct pp_gemm *g);

#ifdef __cplusplus
}
#endif
