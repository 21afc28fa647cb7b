/* kernels/cuda/gemm/gemm.h — what pp_cuda_gemm_* (kernels/cuda/device/functions.h) do where
 * cuBLASLt does not: kernels for every shape, alignment and combination of fields that
 * kernels/kernels.h has. */
#pragma once

#include "kernels/cuda/device/stream.h"
#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* epilogue.cu. The whole of g, with products added in the order of k. About a hundredth of a
 * tensor core's speed. */
void pp_cuda_gemm_own(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g);
/* What is left of g when `product`, which may be c, holds (base +) op(a) op(b). Moves product, c
 * and what else it reads or writes once. */
void pp_cuda_gemm_finish(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g,
                         const void *product);

/* over.cu, for bf16: whether a form of cuBLASLt may overwrite what its epilogue reads. Not tried
 * yet, or the data was not conclusive; being tried; same result; another result. In memory that
 * host and device both write. */
enum pp_cuda_verdict { PP_CUDA_UNTRIED, PP_CUDA_TRYING, PP_CUDA_SAME, PP_CUDA_OTHER };
struct pp_cuda_over {
    int verdict, telling; /* enum pp_cuda_verdict; samples that tell something */
    int tries;            /* of the host */
};
/* While c holds what the epilogue has read, and g->product the result. */
void pp_cuda_over_sample(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                         struct pp_cuda_over *over);
/* Whether c, which holds a result by now, and g->product are the same bytes. Uses the workspace. */
void pp_cuda_over_judge(const struct pp_cuda_stream *stream, const struct pp_gemm *g,
                        struct pp_cuda_over *over);
void pp_cuda_over_move(const struct pp_cuda_stream *stream, const struct pp_gemm *g); /* to c */

#ifdef __cplusplus
}
#endif
