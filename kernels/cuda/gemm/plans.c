/* Row-major matrices are transposed column-major ones: c' = op(b)' op(a)'. So for cuBLASLt b is
 * first, m and n are exchanged, and a bias of n elements is one of rows. */
#include "kernels/cuda/gemm/plans.h"

#include <string.h>

enum { BUCKETS = 256, PROPOSALS = 8 };

struct plan {
    struct pp_cuda_form form;
    cublasStatus_t status; /* of the last call of cuBLASLt */
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t first, second, out;
    cublasLtMatmulAlgo_t algo;
    struct plan *next;
};

struct pp_cuda_plans {
    struct pp_arena *arena;
    struct pp_cuda_plan_report report;
    int sm_count; /* number in the whole device; 0 = unknown */
    struct plan *buckets[BUCKETS];
};

struct pp_cuda_plans *pp_cuda_plans_create(void)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_cuda_plans *plans = PP_NEW(arena, struct pp_cuda_plans);
    int device;

    plans->arena = arena;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&plans->sm_count, cudaDevAttrMultiProcessorCount, device) !=
            cudaSuccess)
        plans->sm_count = 0;
    return plans;
}

static void forget(struct plan *p)
{
    if (p->how)
        cublasLtMatmulDescDestroy(p->how);
    if (p->first)
        cublasLtMatrixLayoutDestroy(p->first);
    if (p->second)
        cublasLtMatrixLayoutDestroy(p->second);
    if (p->out)
        cublasLtMatrixLayoutDestroy(p->out);
}

void pp_cuda_plans_destroy(struct pp_cuda_plans *plans)
{
    if (!plans)
        return;
    for (int i = 0; i < BUCKETS; i++)
        for (struct plan *p = plans->buckets[i]; p; p = p->next)
            forget(p);
    pp_arena_destroy(plans->arena);
}

struct pp_cuda_plan_report *pp_cuda_plans_report(struct pp_cuda_plans *plans)
{
    return plans ? &plans->report : NULL;
}

/* ---- refusals and failures ------------------------------------------------------------------- */

/* "bf16, m 768, n 768, k 16384, a transposed, weight gradient: CUBLAS_STATUS_NOT_SUPPORTED" */
static const char *text_of(struct pp_arena *arena, const struct plan *p)
{
    static const char *const EPILOGUE_NAMES[] = {"", ", bias", ", bias and GELU",
                                                 ", gradient of GELU"};
    const struct pp_cuda_form *f = &p->form;

    return pp_arena_printf(arena, "%s, m %d, n %d, k %d%s%s%s%s: %s", f->is_bf16 ? "bf16" : "fp32",
                           f->m, f->n, f->k, f->a_transposed ? ", a transposed" : "",
                           f->b_transposed ? ", b transposed" : "",
                           f->is_gradient ? ", weight gradient" : "", EPILOGUE_NAMES[f->epilogue],
                           cublasLtGetStatusName(p->status));
}

/* Statuses by which cuBLASLt refuses a form, whenever it is asked. All others are failures: the
 * same call may succeed later. */
static bool is_refusal(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
           status == CUBLAS_STATUS_ARCH_MISMATCH;
}

/* Reads the status of a plan's last call. */
static enum pp_cuda_outcome outcome_of(struct pp_cuda_plans *plans, const struct plan *p)
{
    if (p->status == CUBLAS_STATUS_SUCCESS)
        return PP_CUDA_DONE;
    if (!is_refusal(p->status)) {
        if (!plans->report.failure)
            plans->report.failure = text_of(plans->arena, p);
        return PP_CUDA_FAILED;
    }
    if (!plans->report.refusal)
        plans->report.refusal = text_of(plans->arena, p);
    return PP_CUDA_REFUSED;
}

/* ---- making a plan --------------------------------------------------------------------------- */

/* Makes a call of cuBLASLt for a plan; true if it succeeds. */
#define CALL(p, call) (((p)->status = (call)) == CUBLAS_STATUS_SUCCESS)
#define SET_HOW(p, attribute, value)                                                               \
    CALL(p, cublasLtMatmulDescSetAttribute((p)->how, attribute, &(value), sizeof(value)))
#define SET_WISH(p, wish, attribute, value)                                                        \
    CALL(p, cublasLtMatmulPreferenceSetAttribute(wish, attribute, &(value), sizeof(value)))

/* The GELU of cuBLASLt is the tanh form, with the tanh of the device (MUFU.TANH, 2^-11). */
static const uint32_t EPILOGUES[] = {
    [PP_CUDA_PLAIN] = CUBLASLT_EPILOGUE_DEFAULT,
    [PP_CUDA_BIAS] = CUBLASLT_EPILOGUE_BIAS,
    [PP_CUDA_BIAS_GELU] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
    [PP_CUDA_GELU_SLOPE] = CUBLASLT_EPILOGUE_DGELU,
};

static bool reads_aux(const struct pp_cuda_form *form)
{
    return form->epilogue == PP_CUDA_BIAS_GELU || form->epilogue == PP_CUDA_GELU_SLOPE;
}

static bool reads_bias(const struct pp_cuda_form *form)
{
    return form->epilogue == PP_CUDA_BIAS || form->epilogue == PP_CUDA_BIAS_GELU;
}

/* Sets pointers of the epilogue. The heuristic uses their alignment, and reads nothing. */
static bool point(struct plan *p, const void *bias, const void *aux)
{
    return (!reads_bias(&p->form) || SET_HOW(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias)) &&
           (!reads_aux(&p->form) || SET_HOW(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux));
}

static bool describe(const struct pp_cuda_stream *stream, struct plan *p)
{
    const struct pp_cuda_form *f = &p->form;
    const int32_t first = f->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t second = f->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int32_t sm_count = stream->sm_count;
    const bool is_part = sm_count > 0 && sm_count != stream->plans->sm_count;
    const int64_t aux_ld = f->ldc;
    const void *aligned = (const void *)(uintptr_t)f->alignment_bytes;

    return CALL(p, cublasLtMatmulDescCreate(&p->how, CUBLAS_COMPUTE_32F, CUDA_R_32F)) &&
           SET_HOW(p, CUBLASLT_MATMUL_DESC_TRANSA, first) &&
           SET_HOW(p, CUBLASLT_MATMUL_DESC_TRANSB, second) &&
           SET_HOW(p, CUBLASLT_MATMUL_DESC_EPILOGUE, EPILOGUES[f->epilogue]) &&
           (!reads_aux(f) || SET_HOW(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_ld)) &&
           point(p, aligned, aligned) &&
           (!is_part || SET_HOW(p, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, sm_count));
}

static cublasStatus_t lay_out(cublasLtMatrixLayout_t *layout, cudaDataType_t type,
                              bool is_transposed, int rows, int columns, int ld)
{
    return cublasLtMatrixLayoutCreate(layout, type, (uint64_t)(is_transposed ? rows : columns),
                                      (uint64_t)(is_transposed ? columns : rows), ld);
}

static bool lay_out_all(struct plan *p)
{
    const struct pp_cuda_form *f = &p->form;
    const cudaDataType_t t = f->is_bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const cudaDataType_t c = f->is_gradient ? CUDA_R_32F : t;

    return CALL(p, lay_out(&p->first, t, f->b_transposed, f->k, f->n, f->ldb)) &&
           CALL(p, lay_out(&p->second, t, f->a_transposed, f->m, f->k, f->lda)) &&
           CALL(p, lay_out(&p->out, c, false, f->m, f->n, f->ldc));
}

static bool wish_for(const struct pp_cuda_stream *stream, struct plan *p,
                     cublasLtMatmulPreference_t wish)
{
    const uint64_t workspace_bytes = stream->workspace_bytes;
    const uint32_t schemes =
        CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    const uint32_t bytes = (uint32_t)p->form.alignment_bytes;

    return SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes) &&
           SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes) &&
           SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, bytes) &&
           SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, bytes) &&
           SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, bytes) &&
           SET_WISH(p, wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, bytes);
}

static bool choose(const struct pp_cuda_stream *stream, struct plan *p)
{
    cublasLtMatmulHeuristicResult_t proposals[PROPOSALS];
    cublasLtMatmulPreference_t wish;
    int count = 0;

    if (!CALL(p, cublasLtMatmulPreferenceCreate(&wish)))
        return false;
    const bool is_asked =
        wish_for(stream, p, wish) &&
        CALL(p, cublasLtMatmulAlgoGetHeuristic(stream->blas, p->how, p->first, p->second, p->out,
                                               p->out, wish, PROPOSALS, proposals, &count));
    cublasLtMatmulPreferenceDestroy(wish);
    if (!is_asked)
        return false;
    p->status = CUBLAS_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < count; i++)
        if (proposals[i].state == CUBLAS_STATUS_SUCCESS) {
            p->algo = proposals[i].algo;
            p->status = CUBLAS_STATUS_SUCCESS;
            return true;
        }
    return false;
}

/* ---- finding one ----------------------------------------------------------------------------- */

static struct plan **bucket_of(struct pp_cuda_plans *plans, const struct pp_cuda_form *form)
{
    int words[sizeof *form / sizeof(int)];
    uint64_t hash = 0;

    memcpy(words, form, sizeof words);
    for (size_t i = 0; i < PP_COUNT(words); i++) {
        hash = (hash ^ (unsigned)words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return &plans->buckets[hash % BUCKETS];
}

/* Completes a plan. Its status is then that of the call that has failed, if one has. */
static void make(const struct pp_cuda_stream *stream, struct plan *p)
{
    struct pp_cuda_plan_report *report = &stream->plans->report;

    forget(p);
    p->how = NULL;
    p->first = p->second = p->out = NULL;
    if (describe(stream, p) && lay_out_all(p) && choose(stream, p))
        report->made++;
    else if (is_refusal(p->status))
        report->refused++;
}

/* A failed plan is made again: only a refusal is for good. */
static struct plan *find(const struct pp_cuda_stream *stream, const struct pp_cuda_form *form)
{
    struct plan **bucket = bucket_of(stream->plans, form), *p = *bucket;

    while (p && memcmp(&p->form, form, sizeof *form) != 0)
        p = p->next;
    if (p && (p->status == CUBLAS_STATUS_SUCCESS || is_refusal(p->status)))
        return p;
    if (!p) {
        p = PP_NEW(stream->plans->arena, struct plan);
        p->form = *form;
        p->next = *bucket;
        *bucket = p;
    }
    make(stream, p);
    return p;
}

/* ---- multiplying ----------------------------------------------------------------------------- */

enum pp_cuda_outcome pp_cuda_plans_multiply(const struct pp_cuda_stream *stream,
                                            const struct pp_cuda_form *form,
                                            const struct pp_gemm *g)
{
    const float alpha = 1, beta = g->base ? 1 : 0;
    const bool is_activated = form->epilogue == PP_CUDA_BIAS_GELU;
    struct plan *p = find(stream, form);
    void *out = is_activated ? g->activated : g->c; /* c is then the input of GELU */

    if (p->status == CUBLAS_STATUS_SUCCESS &&
        point(p, g->bias, is_activated ? g->c : g->slope_of) &&
        !CALL(p, cublasLtMatmul(stream->blas, p->how, &alpha, g->b, p->first, g->a, p->second,
                                &beta, g->base ? g->base : out, p->out, out, p->out, &p->algo,
                                stream->workspace, stream->workspace_bytes, stream->stream)) &&
        is_refusal(p->status))
        stream->plans->report.refused++;
    return outcome_of(stream->plans, p);
}
