/* kernels/cuda/gemm/plans.h — cuBLASLt's algorithm for each form of multiplication, found once.
 *
 * A plan is the first proposal of cuBLASLt's heuristic whose sums have a fixed order. Either k is
 * not split, or a separate step adds its parts (CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE). So a form
 * has the same bits in every run, on every stream with as many multiprocessors.
 *
 * cuBLASLt may refuse a form for good. A call may also fail, for want of memory or by an error of
 * the device. The first leads to this folder's own kernel and is counted. The second is kept for
 * the caller, who must end the run: its result is undefined.
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
    PP_CUDA_GELU_SLOPE /* times gelu'(slope_of) */
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

/* Multiplications that were enqueued. */
struct pp_cuda_multiplied {
    int64_t all;
    int64_t own;      /* by this folder's own kernel */
    int64_t finished; /* products of cuBLASLt followed by a kernel for the epilogue */
};
static inline void pp_cuda_multiplied_add(struct pp_cuda_multiplied *sum,
                                          const struct pp_cuda_multiplied *more)
{
    sum->all += more->all;
    sum->own += more->own;
    sum->finished += more->finished;
}
struct pp_cuda_plan_report {
    int made, refused; /* forms that cuBLASLt accepts and refuses */
    struct pp_cuda_multiplied multiplied;
    const char *refusal,
        *failure; /* form and status of the first of each, until it is set to NULL */
};

/* Makes plans for the current device. */
struct pp_cuda_plans *pp_cuda_plans_create(void);
void pp_cuda_plans_destroy(struct pp_cuda_plans *plans); /* accepts NULL */
/* Belongs to the plans; NULL if they are. The caller may reset what it has read. */
struct pp_cuda_plan_report *pp_cuda_plans_report(struct pp_cuda_plans *plans);

enum pp_cuda_outcome { PP_CUDA_DONE, PP_CUDA_REFUSED, PP_CUDA_FAILED };
/* c = (base) + op(a) op(b) with the form's epilogue. REFUSED has no effect. FAILED is kept. */
enum pp_cuda_outcome pp_cuda_plans_multiply(const struct pp_cuda_stream *stream,
                                            const struct pp_cuda_form *form,
                                            const struct pp_gemm *g);

#ifdef __cplusplus
}
#endif
