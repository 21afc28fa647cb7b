/* Multiplications: one call of cuBLASLt if it can do all of the work. Otherwise its product and
 * then a kernel, or a kernel alone. fp32 is full precision without TF32; sums of bf16 are float. */
#include "kernels/cuda/gemm/gemm.h"
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/gemm/plans.h"

enum { ALIGNMENT_BYTES = 16, AUX_LD = 8 };

/* Common alignment of all pointers of g; NULL has any. It is limited to 16 bytes: more is
 * irrelevant to cuBLASLt, and would make bits depend on the addresses of tensors. */
static int alignment_bytes_of(const struct pp_gemm *g)
{
    const uintptr_t bits = ALIGNMENT_BYTES | (uintptr_t)g->a | (uintptr_t)g->b | (uintptr_t)g->c |
                           (uintptr_t)g->base | (uintptr_t)g->bias | (uintptr_t)g->activated |
                           (uintptr_t)g->slope_of;

    return (int)(bits & -bits);
}

/* The epilogue that does all of g, or PLAIN if cuBLASLt has none for it. Of activations it has the
 * tanh form of GELU, by the device's tanh with an error of 2^-11: enough for bf16, not for fp32. */
static enum pp_cuda_epilogue epilogue_of(const struct pp_gemm *g, bool is_bf16, int alignment_bytes)
{
    const bool may_have_aux = is_bf16 && alignment_bytes == ALIGNMENT_BYTES &&
                              g->ldc % AUX_LD == 0 && g->activation == PP_GELU_TANH;

    if (g->is_gradient || (g->base && (g->activated || g->slope_of)))
        return PP_CUDA_PLAIN;
    if (g->slope_of)
        return may_have_aux && !g->bias && !g->activated ? PP_CUDA_GELU_SLOPE : PP_CUDA_PLAIN;
    if (g->activated)
        return may_have_aux && g->bias ? PP_CUDA_BIAS_GELU : PP_CUDA_PLAIN;
    return g->bias ? PP_CUDA_BIAS : PP_CUDA_PLAIN;
}

static void multiply(const struct pp_cuda_stream *stream, bool is_bf16, const struct pp_gemm *g)
{
    struct pp_cuda_form form = {.m = g->m,
                                .n = g->n,
                                .k = g->k,
                                .lda = g->lda,
                                .ldb = g->ldb,
                                .ldc = g->ldc,
                                .a_transposed = g->a_transposed,
                                .b_transposed = g->b_transposed,
                                .is_bf16 = is_bf16,
                                .is_gradient = g->is_gradient,
                                .alignment_bytes = alignment_bytes_of(g)};
    struct pp_cuda_multiplied *count = &pp_cuda_plans_report(stream->plans)->multiplied;
    const bool has_more = g->bias || g->activated || g->slope_of;

    form.epilogue = epilogue_of(g, is_bf16, form.alignment_bytes);
    enum pp_cuda_outcome outcome = pp_cuda_plans_multiply(stream, &form, g);
    if (outcome == PP_CUDA_REFUSED && form.epilogue != PP_CUDA_PLAIN) {
        form.epilogue = PP_CUDA_PLAIN;
        outcome = pp_cuda_plans_multiply(stream, &form, g);
    }
    count->all++;
    if (outcome == PP_CUDA_REFUSED) {
        count->own++;
        pp_cuda_gemm_own(stream, is_bf16, g);
    } else if (outcome == PP_CUDA_DONE && has_more && form.epilogue == PP_CUDA_PLAIN) {
        count->finished++;
        pp_cuda_gemm_finish(stream, is_bf16, g);
    }
}

void pp_cuda_gemm_fp32(void *stream, const struct pp_gemm *g)
{
    multiply(stream, false, g);
}

void pp_cuda_gemm_bf16(void *stream, const struct pp_gemm *g)
{
    multiply(stream, true, g);
}

/* cuBLASLt has plans for few rows, too. */
void pp_cuda_gemm_few_fp32(void *stream, const struct pp_gemm *g)
{
    multiply(stream, false, g);
}

void pp_cuda_gemm_few_bf16(void *stream, const struct pp_gemm *g)
{
    multiply(stream, true, g);
}
