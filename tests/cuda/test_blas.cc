/* cuBLASLt as it is emulated, against sums in double: transposes, types, leading dimensions,
 * epilogues. */
#include "core/random.h"
#include "tests/cuda/include/cublasLt.h"
#include "tests/cuda/include/cuda_bf16.h"
#include "tests/cuda/include/cuda_runtime.h"

#include <criterion/criterion.h>
#include <math.h>
#include <vector>

enum { GAP = 3, AUX_LD = 8 };

/* A matrix by columns, with its numbers as they are on the device. */
struct matrix {
    cudaDataType_t type;
    int rows, columns, ld;
    std::vector<double> values;
    void *data;
    cublasLtMatrixLayout_t layout;

    double &at(int i, int j)
    {
        return values[(size_t)(j * ld + i)];
    }
};

static size_t element_bytes(cudaDataType_t type)
{
    return type == CUDA_R_16BF ? 2 : 4;
}

static double rounded(cudaDataType_t type, double x)
{
    return type == CUDA_R_16BF ? (float)__nv_bfloat16((float)x) : (float)x;
}

static struct matrix create(cudaDataType_t type, int rows, int columns, int ld, uint64_t seed)
{
    struct matrix m = {type, rows, columns, ld, std::vector<double>((size_t)(ld * columns)),
                       NULL, NULL};
    std::vector<char> bytes(m.values.size() * element_bytes(type));

    for (size_t i = 0; i < m.values.size(); i++) {
        m.values[i] = rounded(type, (double)pp_random_bits(seed, i) / 0x1p63 - 1);
        if (type == CUDA_R_16BF)
            ((__nv_bfloat16 *)bytes.data())[i] = (float)m.values[i];
        else
            ((float *)bytes.data())[i] = (float)m.values[i];
    }
    cr_assert_eq(cudaMalloc(&m.data, bytes.size()), cudaSuccess);
    cudaMemcpy(m.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
    cublasLtMatrixLayoutCreate(&m.layout, type, (uint64_t)rows, (uint64_t)columns, ld);
    return m;
}

static void read_back(struct matrix &m)
{
    std::vector<char> bytes(m.values.size() * element_bytes(m.type));

    cudaMemcpy(bytes.data(), m.data, bytes.size(), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < m.values.size(); i++)
        m.values[i] = m.type == CUDA_R_16BF ? (float)((__nv_bfloat16 *)bytes.data())[i]
                                            : ((float *)bytes.data())[i];
}

static void forget(struct matrix &m)
{
    cudaFree(m.data);
    cublasLtMatrixLayoutDestroy(m.layout);
}

struct trial {
    int m, n, k;
    int32_t a_op, b_op;
    cudaDataType_t ab, cd;
    uint32_t epilogue;
    float beta;
};

static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
}

static double product(const struct trial &t, struct matrix &a, struct matrix &b, int i, int j)
{
    double sum = 0;

    for (int l = 0; l < t.k; l++)
        sum += (t.a_op == CUBLAS_OP_T ? a.at(l, i) : a.at(i, l)) *
               (t.b_op == CUBLAS_OP_T ? b.at(j, l) : b.at(l, j));
    return sum;
}

static cublasLtMatmulDesc_t describe(const struct trial &t, const struct matrix &bias,
                                     const struct matrix &aux)
{
    const int64_t aux_ld = aux.ld;
    cublasLtMatmulDesc_t how;

    cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &t.a_op, sizeof t.a_op);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSB, &t.b_op, sizeof t.b_op);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &t.epilogue,
                                   sizeof t.epilogue);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias.data,
                                   sizeof bias.data);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux.data,
                                   sizeof aux.data);
    cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld,
                                   sizeof aux_ld);
    return how;
}

/* What D, or aux, must be where it is `before`. */
static void check(const struct trial &t, struct matrix &result, int i, int j, double expected)
{
    const bool has_gelu =
        t.epilogue & CUBLASLT_EPILOGUE_GELU || t.epilogue == CUBLASLT_EPILOGUE_DGELU;
    const double tolerance = t.cd == CUDA_R_16BF ? 1e-2 : has_gelu ? 1e-3 : 1e-5;

    cr_assert(fabs(result.at(i, j) - expected) <= tolerance * (1 + fabs(expected)),
              "(%d, %d) of %d x %d x %d, epilogue %u: %g instead of %g", i, j, t.m, t.n, t.k,
              t.epilogue, result.at(i, j), expected);
}

static void check_all(const struct trial &t, struct matrix *of, struct matrix &before,
                      struct matrix &d, struct matrix &aux_after)
{
    const bool has_bias = t.epilogue & CUBLASLT_EPILOGUE_BIAS;

    for (int j = 0; j < t.n; j++)
        for (int i = 0; i < t.m; i++) {
            double y = product(t, of[0], of[1], i, j) + t.beta * of[2].at(i, j) +
                       (has_bias ? of[3].at(i, 0) : 0);
            if (t.epilogue == CUBLASLT_EPILOGUE_DGELU) {
                check(t, d, i, j, y * gelu_slope(before.at(i, j)));
                continue;
            }
            if (t.epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
                check(t, aux_after, i, j, y);
            check(t, d, i, j, (t.epilogue & CUBLASLT_EPILOGUE_GELU) ? gelu(y) : y);
        }
}

static void run(const struct trial &t, uint64_t seed)
{
    const bool a = t.a_op == CUBLAS_OP_T, b = t.b_op == CUBLAS_OP_T;
    const int aux_ld = (t.m + AUX_LD - 1) / AUX_LD * AUX_LD;
    struct matrix of[4] = {
        create(t.ab, a ? t.k : t.m, a ? t.m : t.k, (a ? t.k : t.m) + GAP, seed + 1),
        create(t.ab, b ? t.n : t.k, b ? t.k : t.n, (b ? t.n : t.k) + GAP, seed + 2),
        create(t.cd, t.m, t.n, t.m + GAP, seed + 3),
        create(t.cd, t.m, 1, t.m, seed + 4),
    };
    struct matrix d = create(t.cd, t.m, t.n, t.m, seed + 5);
    struct matrix aux = create(t.cd, t.m, t.n, aux_ld, seed + 6), before = aux;
    const cublasLtMatmulDesc_t how = describe(t, of[3], aux);
    const float alpha = 1;
    cublasLtHandle_t handle;

    cr_assert_eq(cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    cr_assert_eq(cublasLtMatmul(handle, how, &alpha, of[0].data, of[0].layout, of[1].data,
                                of[1].layout, &t.beta, of[2].data, of[2].layout, d.data, d.layout,
                                NULL, NULL, 0, NULL),
                 CUBLAS_STATUS_SUCCESS);
    read_back(d);
    read_back(aux);
    check_all(t, of, before, d, aux);
    for (struct matrix &m : of)
        forget(m);
    forget(d);
    forget(aux);
    cublasLtMatmulDescDestroy(how);
    cublasLtDestroy(handle);
}

Test(blas, products)
{
    static const cudaDataType_t types[3][2] = {
        {CUDA_R_32F, CUDA_R_32F}, {CUDA_R_16BF, CUDA_R_16BF}, {CUDA_R_16BF, CUDA_R_32F}};

    for (int i = 0; i < 24; i++)
        run({1 + i * 5 % 37, 1 + i * 3 % 19, 1 + i * 7 % 53, i & 1, i >> 1 & 1, types[i % 3][0],
             types[i % 3][1], CUBLASLT_EPILOGUE_DEFAULT, (float)(i >> 2 & 1)},
            (uint64_t)i * 10);
}

Test(blas, epilogues)
{
    static const uint32_t epilogues[] = {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
                                         CUBLASLT_EPILOGUE_DGELU, CUBLASLT_EPILOGUE_GELU_BIAS};

    for (int i = 0; i < 16; i++) {
        const cudaDataType_t type = i & 1 ? CUDA_R_16BF : CUDA_R_32F;
        run({33, 17, 29, i & 1, i >> 1 & 1, type, type, epilogues[i / 4], (float)(i >> 1 & 1)},
            (uint64_t)i * 10);
    }
}

/* The algorithm of a heuristic holds its caller to what he promised. */
Test(blas, promises)
{
    struct matrix m = create(CUDA_R_32F, 16, 16, 16, 1);
    const cublasLtMatmulDesc_t how = describe({16, 16, 16, CUBLAS_OP_N, CUBLAS_OP_N, CUDA_R_32F,
                                               CUDA_R_32F, CUBLASLT_EPILOGUE_DEFAULT, 0},
                                              m, m);
    const uint32_t bytes = 16;
    const float alpha = 1, beta = 0;
    cublasLtMatmulHeuristicResult_t result;
    cublasLtMatmulPreference_t wish;
    cublasLtHandle_t handle;
    int count;

    cublasLtCreate(&handle);
    cublasLtMatmulPreferenceCreate(&wish);
    cr_assert_eq(cublasLtMatmulPreferenceSetAttribute(
                     wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &bytes, sizeof bytes),
                 CUBLAS_STATUS_SUCCESS);
    cr_assert_eq(cublasLtMatmulPreferenceSetAttribute(
                     wish, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &bytes, 8),
                 CUBLAS_STATUS_INVALID_VALUE);
    cr_assert_eq(cublasLtMatmulAlgoGetHeuristic(handle, how, m.layout, m.layout, m.layout, m.layout,
                                                wish, 4, &result, &count),
                 CUBLAS_STATUS_SUCCESS);
    cr_assert_eq(count, 1);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(cublasLtMatmul(handle, how, &alpha, (char *)m.data - i * 4, m.layout, m.data,
                                    m.layout, &beta, m.data, m.layout, m.data, m.layout,
                                    &result.algo, NULL, 0, NULL),
                     i ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS);
    cublasLtMatmulPreferenceDestroy(wish);
    cublasLtMatmulDescDestroy(how);
    cublasLtDestroy(handle);
    forget(m);
}

Test(blas, refusals)
{
    const struct trial t = {
        12, 5, 7, CUBLAS_OP_N, CUBLAS_OP_N, CUDA_R_16BF, CUDA_R_32F, CUBLASLT_EPILOGUE_BIAS, 0};
    struct matrix a = create(t.ab, 12, 7, 12, 1), b = create(t.ab, 7, 5, 7, 2);
    struct matrix d = create(t.cd, 12, 5, 12, 3);
    const cublasLtMatmulDesc_t how = describe(t, d, d);
    const float alpha = 1, beta = 0;
    cublasLtHandle_t handle;

    cublasLtCreate(&handle);
    cr_assert_eq(cublasLtMatmul(handle, how, &alpha, a.data, a.layout, b.data, b.layout, &beta,
                                d.data, d.layout, d.data, d.layout, NULL, NULL, 0, NULL),
                 CUBLAS_STATUS_NOT_SUPPORTED);
    cublasLtMatmulDescDestroy(how);
    cublasLtDestroy(handle);
    for (struct matrix *m : {&a, &b, &d})
        forget(*m);
}
