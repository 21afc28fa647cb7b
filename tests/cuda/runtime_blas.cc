/* tests/cuda/runtime_blas.cc — cuBLASLt: descriptions, and multiplications that are queued as
 * launches. Unsupported calls are refused with a message on stderr. A missing epilogue is refused
 * silently, as the library may for any shape. */
#include "tests/cuda/runtime_blas.h"
#include "tests/cuda/runtime.h"

#include <stdio.h>
#include <string.h>

struct cublasLtContext {
    int device;
};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    if (pp_call([](auto &) { return cudaSuccess; }) != cudaSuccess)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasLtContext{pp_current_device()};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

static const struct {
    cublasStatus_t status;
    const char *name;
} statuses[] = {
    {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS"},
    {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED"},
    {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED"},
    {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE"},
    {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH"},
    {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR"},
    {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"},
};

const char *cublasLtGetStatusName(cublasStatus_t status)
{
    for (const auto &s : statuses)
        if (s.status == status)
            return s.name;
    return "unknown cublas status";
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* An attribute is a field of a structure. */
struct field {
    int attribute;
    size_t at, bytes;
};

#define FIELD(attribute, type, name)                                                               \
    {                                                                                              \
        attribute, offsetof(type, name), sizeof(type::name)                                        \
    }
#define ALIGNMENT(attribute, i)                                                                    \
    {                                                                                              \
        attribute, offsetof(pp_emulated_preference, alignment_bytes) + i * sizeof(uint32_t),       \
            sizeof(uint32_t)                                                                       \
    }
static const struct field desc_fields[] = {
    FIELD(CUBLASLT_MATMUL_DESC_TRANSA, pp_emulated_matmul_desc, a_op),
    FIELD(CUBLASLT_MATMUL_DESC_TRANSB, pp_emulated_matmul_desc, b_op),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE, pp_emulated_matmul_desc, epilogue),
    FIELD(CUBLASLT_MATMUL_DESC_BIAS_POINTER, pp_emulated_matmul_desc, bias),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, pp_emulated_matmul_desc, aux),
    FIELD(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, pp_emulated_matmul_desc, aux_ld),
    FIELD(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, pp_emulated_matmul_desc, sm_count),
};
static const struct field preference_fields[] = {
    FIELD(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, pp_emulated_preference, workspace_bytes),
    FIELD(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, pp_emulated_preference, reduction_schemes),
    ALIGNMENT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 0),
    ALIGNMENT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 1),
    ALIGNMENT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 2),
    ALIGNMENT(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 3),
};

template <size_t N>
static cublasStatus_t set(const struct field (&fields)[N], void *object, int attribute,
                          const void *value, size_t bytes)
{
    for (const struct field &f : fields)
        if (f.attribute == attribute && f.bytes == bytes) {
            memcpy((char *)object + f.at, value, bytes);
            return CUBLAS_STATUS_SUCCESS;
        }
    fprintf(stderr, "emulated cuBLASLt: attribute %d of %zu bytes is not emulated\n", attribute,
            bytes);
    return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld)
{
    *layout = new pp_emulated_matrix_layout{type, rows, columns, ld};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    delete layout;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute_type, cudaDataType_t scale_type)
{
    *desc = new pp_emulated_matmul_desc{compute_type,
                                        scale_type,
                                        CUBLAS_OP_N,
                                        CUBLAS_OP_N,
                                        CUBLASLT_EPILOGUE_DEFAULT,
                                        NULL,
                                        NULL,
                                        0,
                                        0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    return set(desc_fields, desc, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = new pp_emulated_preference{7, 0, {256, 256, 256, 256}}; /* all schemes */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes)
{
    return set(preference_fields, preference, attribute, value, bytes);
}
