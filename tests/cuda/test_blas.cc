/* cuBLASLt as it is emulated holds its caller to what it was told. That it computes correctly, the
 * tests of multiplications show. */
#include "tests/cuda/include/cublasLt.h"
#include "tests/cuda/include/cuda_runtime.h"

#include <criterion/criterion.h>

#define OK(call) cr_assert_eq(call, CUBLAS_STATUS_SUCCESS)

enum { SIDE = 16, BYTES = 4 * SIDE * SIDE };

/* A square by itself, into its other half. */
struct square {
    char *data;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t layout;
};

static struct square square_of(uint32_t epilogue)
{
    const int64_t aux_ld = SIDE;
    struct square s;

    cr_assert_eq(cudaMalloc(&s.data, 2 * BYTES), cudaSuccess);
    OK(cublasLtCreate(&s.handle));
    OK(cublasLtMatrixLayoutCreate(&s.layout, CUDA_R_32F, SIDE, SIDE, SIDE));
    OK(cublasLtMatmulDescCreate(&s.how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatmulDescSetAttribute(s.how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                      sizeof epilogue));
    OK(cublasLtMatmulDescSetAttribute(s.how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &s.data,
                                      sizeof s.data));
    OK(cublasLtMatmulDescSetAttribute(s.how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld,
                                      sizeof aux_ld));
    return s;
}

static cublasStatus_t multiply(const struct square &s, const void *a, void *d,
                               const cublasLtMatmulAlgo_t *algo)
{
    const float alpha = 1, beta = 0;

    return cublasLtMatmul(s.handle, s.how, &alpha, a, s.layout, s.data, s.layout, &beta, d,
                          s.layout, d, s.layout, algo, NULL, 0, NULL);
}

Test(blas, alignments_are_promises)
{
    const struct square s = square_of(CUBLASLT_EPILOGUE_DEFAULT);
    const uint32_t bytes = 16;
    cublasLtMatmulHeuristicResult_t result;
    cublasLtMatmulPreference_t wish;
    int count;

    OK(cublasLtMatmulPreferenceCreate(&wish));
    OK(cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                            &bytes, sizeof bytes));
    OK(cublasLtMatmulAlgoGetHeuristic(s.handle, s.how, s.layout, s.layout, s.layout, s.layout, wish,
                                      4, &result, &count));
    cr_assert_eq(count, 1);
    OK(multiply(s, s.data, s.data + BYTES, &result.algo));
    cr_assert_eq(multiply(s, s.data + 4, s.data + BYTES, &result.algo),
                 CUBLAS_STATUS_INVALID_VALUE);
}

Test(blas, what_an_epilogue_reads_is_not_written)
{
    const struct square s = square_of(CUBLASLT_EPILOGUE_DGELU);

    OK(multiply(s, s.data, s.data + BYTES, NULL));
    cr_assert_eq(multiply(s, s.data, s.data, NULL), CUBLAS_STATUS_INVALID_VALUE);
}
