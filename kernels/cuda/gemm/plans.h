/* kernels/cuda/gemm/plans.h — cuBLASLt's algorithm for each form of multiplication, found once.
 *
 * A plan is the first proposal of cuBLASLt's heuristic whose sums have a fixed order. Either k is
 * not split, or a separate step adds its parts (CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE). So a form
 * has the same bits in every run, on every stream with as many multiprocessors.
 *
 * Proposals are not timed. The fastest one varies between processes and parts of the device, and so
 * would all later bits. Processes that share a model over NCCL must compute alike. The table of
 * kernels of bench/gpu compares the first proposals with the device's peak, by shape. */
#pragma once

#include "kernels/cuda/device/stream.h"
#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operation on a product while it is written. */
enum pp_cuda_epilogue {
    PP_CUDA_PLAIN,
    PP_CUDA_BIAS,
    PP_CUDA_BIAS_GELU, /* `activated` and `c` are written */
    PP_CUDA_GELU_SLOPE /* times gelu'(gelu_of) */
};

/* Properties of a multiplication that its plan depends on. Integers only: compared as bytes. */
struct pp_cuda_form {
    int m, n, k, lda, ldb, ldc;
    int a_transposed, b_transposed; /* 0 or 1, like the others */
    int is_bf16;                    /* T, else float */
    int is_gradient;                /* c is float */
    int alignment_bytes;            /* common alignment of all pointers, at most 16 */
    int epilogue;                   /* enum pp_cuda_epilogue */
};

struct pp_cuda_plan_counts {
    int made, refused; /* forms that cuBLASLt accepts and refuses */
    int64_t own;       /* multiplications by this folder's own kernel */
    int64_t finished;  /* products of cuBLASLt followed by a kernel for the epilogue */
};

/* Makes plans for the current device. */
struct pp_cuda_plans *pp_cuda_plans_create(void);
void pp_cuda_plans_destroy(struct pp_cuda_plans *plans); /* accepts NULL */
struct pp_cuda_plan_counts *pp_cuda_plans_counts(struct pp_cuda_plans *plans);

/* c = (base) + op(a) op(b) with the form's epilogue; false, without effect, if it is refused. */
bool pp_cuda_plans_multiply(const struct pp_cuda_stream *stream, const struct pp_cuda_form *form,
                            const struct pp_gemm *g);

#ifdef __cplusplus
}
#endif
