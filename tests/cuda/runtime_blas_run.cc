/* tests/cuda/runtime_blas_run.cc — multiplications that cuBLASLt is asked for: whether it does
 * them, and doing them later. */
#include "tests/cuda/runtime.h"
#include "tests/cuda/runtime_blas.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE_BYTES = 4096, AUX_LD = 8, AUX_BYTES = 16, MAGIC = 0x616c676f };

/* ---- what it does ---------------------------------------------------------------------------- */

static bool is_type(const struct multiplication &x, int ab, int cd)
{
    return x.layouts[0].type == ab && x.layouts[1].type == ab && x.layouts[2].type == cd &&
           x.layouts[3].type == cd;
}

static bool has_types(const struct multiplication &x)
{
    return x.how.scale_type == CUDA_R_32F &&
           (is_type(x, CUDA_R_32F, CUDA_R_32F) || is_type(x, CUDA_R_16BF, CUDA_R_16BF) ||
            (is_type(x, CUDA_R_16BF, CUDA_R_32F) && x.how.epilogue == CUBLASLT_EPILOGUE_DEFAULT));
}

static bool has_epilogue(const struct multiplication &x)
{
    static const uint32_t known[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                                     CUBLASLT_EPILOGUE_GELU_AUX_BIAS, CUBLASLT_EPILOGUE_DGELU};

    return std::count(std::begin(known), std::end(known), x.how.epilogue) == 1;
}

static bool has_aux(const struct multiplication &x)
{
    return (x.how.epilogue & PP_EMULATED_AUX) != 0;
}

static bool has_fit(const struct multiplication &x)
{
    const struct pp_emulated_matrix_layout *l = x.layouts;
    const bool a = x.how.a_op == CUBLAS_OP_T, b = x.how.b_op == CUBLAS_OP_T;

    return (a ? l[0].columns : l[0].rows) == l[3].rows &&
           (b ? l[1].rows : l[1].columns) == l[3].columns &&
           (a ? l[0].rows : l[0].columns) == (b ? l[1].columns : l[1].rows) &&
           l[2].rows == l[3].rows && l[2].columns == l[3].columns;
}

static bool has_room(const struct pp_emulated_matrix_layout &l)
{
    return l.ld >= (int64_t)l.rows && l.rows > 0 && l.columns > 0;
}

static const char *refusal(const struct multiplication &x)
{
    if (x.how.compute_type != CUBLAS_COMPUTE_32F)
        return "its type of computation";
    if (!has_epilogue(x))
        return "its epilogue";
    if (!has_types(x))
        return "its types with this epilogue";
    if (!has_fit(x) || !std::all_of(x.layouts, x.layouts + 4, has_room))
        return "its shapes";
    if (has_aux(x) && (x.how.aux_ld % AUX_LD || x.how.aux_ld < (int64_t)x.layouts[3].rows))
        return "the leading dimension of its auxiliary matrix";
    if (has_aux(x) && (uintptr_t)x.how.aux % AUX_BYTES)
        return "the alignment of its auxiliary matrix";
    return NULL;
}

/* Whether the shape at hand may have the epilogue: $PP_EMULATED_EPILOGUES are the numbers of those
 * that it may have, "0" is none; without it all. */
static bool may_have(uint32_t epilogue)
{
    const char *text = getenv("PP_EMULATED_EPILOGUES");
    char *end;

    if (!text || epilogue == CUBLASLT_EPILOGUE_DEFAULT)
        return true;
    for (; *text; text = *end ? end + 1 : end)
        if (strtoul(text, &end, 10) == epilogue)
            return true;
    return false;
}

/* $PP_EMULATED_WIDTHS is a number of columns of a row-major result, which cuBLASLt has as rows. */
static bool may_be_as_wide(uint64_t width)
{
    const char *refused = getenv("PP_EMULATED_WIDTHS");

    return !refused || strtoull(refused, NULL, 10) != width;
}

/* The status of the next multiplication by $PP_EMULATED_BLAS_FAULT. */
static cublasStatus_t next_fault()
{
    static std::atomic<long> count;
    const char *text = getenv("PP_EMULATED_BLAS_FAULT");
    char *end;

    if (!text)
        return CUBLAS_STATUS_SUCCESS;
    const bool is_now = ++count == strtol(text, &end, 10);
    return is_now && *end ? (cublasStatus_t)strtol(end + 1, NULL, 10) : CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t check(const struct multiplication &x)
{
    if (!may_have(x.how.epilogue) || !may_be_as_wide(x.layouts[3].rows))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const char *what = refusal(x);
    if (what)
        fprintf(stderr, "emulated cuBLASLt: not emulated: %s\n", what);
    return what ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

/* An algorithm says for which alignments it was asked, and its workspace. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int *count)
{
    *count = 0;
    if (!handle || wanted < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct multiplication x = {*desc, {*a, *b, *c, *d}, NULL, NULL, NULL, NULL, 1, 0};
    const cublasStatus_t status = check(x);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    results[0] = {};
    results[0].workspaceSize = std::min((uint64_t)WORKSPACE_BYTES, preference->workspace_bytes);
    results[0].wavesCount = 1;
    results[0].algo.data[0] = MAGIC;
    results[0].algo.data[1] = results[0].workspaceSize;
    for (int i = 0; i < 4; i++)
        results[0].algo.data[2 + i] = preference->alignment_bytes[i];
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- doing it -------------------------------------------------------------------------------- */

static size_t extent_bytes(const struct pp_emulated_matrix_layout &l)
{
    return (size_t)((l.columns - 1) * (uint64_t)l.ld + l.rows) * (l.type == CUDA_R_16BF ? 2 : 4);
}

static void need_memory(const struct multiplication &x, int device)
{
    const char *who = "cublasLtMatmul";
    const size_t element_bytes = x.layouts[3].type == CUDA_R_16BF ? 2 : 4;
    const size_t aux_bytes =
        (size_t)((int64_t)(x.layouts[3].columns - 1) * x.how.aux_ld + (int64_t)x.layouts[3].rows) *
        element_bytes;

    pp_need_device_memory(who, x.a, extent_bytes(x.layouts[0]), device);
    pp_need_device_memory(who, x.b, extent_bytes(x.layouts[1]), device);
    if (x.beta != 0)
        pp_need_device_memory(who, x.c, extent_bytes(x.layouts[2]), device);
    pp_need_device_memory(who, x.d, extent_bytes(x.layouts[3]), device);
    if (x.how.epilogue & CUBLASLT_EPILOGUE_BIAS)
        pp_need_device_memory(who, x.how.bias, x.layouts[3].rows * element_bytes, device);
    if (has_aux(x))
        pp_need_device_memory(who, x.how.aux, aux_bytes, device);
}

static bool is_there(const struct multiplication &x)
{
    return x.a && x.b && x.d && (x.beta == 0 || x.c) &&
           (!(x.how.epilogue & CUBLASLT_EPILOGUE_BIAS) || x.how.bias) &&
           (!has_aux(x) || (x.how.aux && x.how.aux != x.d)); /* not documented */
}

/* What the algorithm was promised. */
static bool is_kept(const struct multiplication &x, const cublasLtMatmulAlgo_t *algo,
                    const void *workspace, size_t workspace_bytes)
{
    const void *const pointers[4] = {x.a, x.b, x.c, x.d};

    if (algo->data[0] != MAGIC || workspace_bytes < algo->data[1] ||
        (algo->data[1] > 0 && (!workspace || (uintptr_t)workspace % 256)))
        return false;
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)pointers[i] % algo->data[2 + i])
            return false;
    return true;
}

static void issue(const struct multiplication &x, void *workspace, size_t workspace_bytes,
                  CUstream_st *stream)
{
    need_memory(x, stream->device);
    pp_need_device_memory("cublasLtMatmul", workspace, workspace_bytes, stream->device);
    const auto &a = x.layouts[0], &result = x.layouts[3];
    const uint64_t depth = x.how.a_op == CUBLAS_OP_T ? a.rows : a.columns;
    const double law_s =
        pp_law_product_s((double)result.rows, (double)result.columns, (double)depth);
    pp_issue_launch(stream, law_s, [x, workspace, workspace_bytes](uint64_t) {
        if (workspace_bytes > 0)
            memset(workspace, 0xff, workspace_bytes);
        pp_emulated_matmul(&x);
    });
}

/* The kernels of a form. */
static void load(const struct multiplication &x)
{
    const std::array<uint64_t, 8> form = {
        (uint64_t)x.how.a_op,        (uint64_t)x.how.b_op,        x.how.epilogue,
        (uint64_t)x.layouts[0].type, (uint64_t)x.layouts[3].type, x.layouts[3].rows,
        x.layouts[3].columns,        x.layouts[0].columns};

    pp_load("a multiplication", {(const char *)form.data(), sizeof form});
}

/* Without an algorithm the library looks for one itself. */
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algo,
                              void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    const struct multiplication x = {*desc,
                                     {*a_layout, *b_layout, *c_layout, *d_layout},
                                     a,
                                     b,
                                     c,
                                     d,
                                     *(const float *)alpha,
                                     *(const float *)beta};
    cublasStatus_t status = check(x);

    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!handle || !is_there(x) || (algo && !is_kept(x, algo, workspace, workspace_bytes)))
        return CUBLAS_STATUS_INVALID_VALUE;
    load(x);
    status = next_fault();
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    const cudaError_t error = pp_with_work_for(stream, [&](auto &, CUstream_st *s) {
        issue(x, workspace, algo ? (size_t)algo->data[1] : 0, s);
        return cudaSuccess;
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
