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
/* Completes g from `product`, (base +) op(a) op(b), which may be c. Moves each operand once. */
void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g,
                         const void *product);

/* over.cu, for bf16: whether a form of cuBLASLt may overwrite the input of its epilogue. Untried or
 * inconclusive; being tried; same result; another result. Host and device both write it. */
enum pp_cuda_verdict { PP_CUDA_UNTRIED, PP_CUDA_TRYING, PP_CUDA_SAME, PP_CUDA_OTHER };
struct pp_cuda_over {
    int verdict, telling; /* enum pp_cuda_verdict; conclusive samples */
    int tries;            /* number of trials */
};
/* Counts samples while c is the input of the epilogue, and g->product the result. */
void pp_cuda_over_sample(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                         struct pp_cuda_over *over);
/* Compares c, now a result, with g->product by bytes. Uses the workspace. */
void pp_cuda_over_judge(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                        struct pp_cuda_over *over);
void pp_cuda_over_move(const struct pp_cuda_stream *stream, const struct pp_gemm *g); /* to c */

#ifdef __cplusplus
}
#endif
