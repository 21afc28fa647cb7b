/* tests/cuda/runtime_parts.cc — the calls of the driver that cut a device into parts, and the
 * lookup of calls by name. Parts have 8 multiprocessors each, as on Hopper. A part has streams like
 * any other device. Destroying it before its streams is a leak, and ends the program. All calls
 * that name those streams fail from then on. */
#include "tests/cuda/emulate.h"
#include "tests/cuda/include/cuda.h"
#include "tests/cuda/runtime.h"

#include <string.h>

enum { UNIT = 8 };

struct CUdevResourceDesc_st {
    unsigned first_sm, sm_count;
};
struct CUgreenCtx_st : CUdevResourceDesc_st {
};

/* A resource holds its first multiprocessor, in a field that is private in NVIDIA's. */
static unsigned first_of(const CUdevResource *resource)
{
    unsigned first;

    memcpy(&first, resource->_internal_padding, sizeof first);
    return first;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < pp_runtime().devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type)
{
    int count;

    if (type != CU_DEV_RESOURCE_TYPE_SM ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
        return CUDA_ERROR_INVALID_VALUE;
    *resource = {};
    resource->type = type;
    resource->sm = {(unsigned)count};
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *groups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least)
{
    const unsigned each = (least + UNIT - 1) / UNIT * UNIT;

    if (flags || remaining || input->type != CU_DEV_RESOURCE_TYPE_SM || each == 0 ||
        each > input->sm.smCount)
        return CUDA_ERROR_INVALID_VALUE;
    if (each > pp_runtime().largest_part)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (*groups > input->sm.smCount / each)
        *groups = input->sm.smCount / each;
    for (unsigned g = 0; result && g < *groups; g++) {
        const unsigned first = first_of(input) + g * each;
        result[g] = *input;
        result[g].sm.smCount = each;
        memcpy(result[g]._internal_padding, &first, sizeof first);
    }
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *description, CUdevResource *resources,
                                   unsigned int count)
{
    if (count != 1 || resources->type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *description = new CUdevResourceDesc_st{first_of(resources), resources->sm.smCount};
    return CUDA_SUCCESS;
}

/* Takes the description over, which no call gives back. */
CUresult cuGreenCtxCreate(CUgreenCtx *context, CUdevResourceDesc description, CUdevice device,
                          unsigned int flags)
{
    if (flags != CU_GREEN_CTX_DEFAULT_STREAM || device < 0 || device >= pp_runtime().devices)
        return CUDA_ERROR_INVALID_VALUE;
    *context = new CUgreenCtx_st{*description};
    delete description;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx context)
{
    pp_call([&](auto &) {
        for (const CUstream_st *stream : pp_runtime().streams)
            if (stream->part == context)
                pp_runtime_fail("a part of the device is destroyed before its streams");
        return cudaSuccess;
    });
    delete context;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx context, unsigned int flags,
                                int priority)
{
    if (!context || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority) != cudaSuccess)
        return CUDA_ERROR_INVALID_VALUE;
    (*stream)->part = context;
    (*stream)->first_sm = context->first_sm;
    (*stream)->sm_count = context->sm_count;
    return CUDA_SUCCESS;
}

/* Blocks of a launch go round those that it may use. */
unsigned pp_multiprocessor(void)
{
    const struct runtime &r = pp_runtime();
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);

    return r.sm_count > 0 ? r.first_sm + block % r.sm_count : block % PP_EMULATED_SMS;
}

static const struct {
    const char *name;
    void *call;
    unsigned version = 2000; /* which has it, with these semantics */
} calls[] = {
    {"cuDeviceGet", (void *)cuDeviceGet},
    {"cuDeviceGetDevResource", (void *)cuDeviceGetDevResource},
    {"cuDevSmResourceSplitByCount", (void *)cuDevSmResourceSplitByCount},
    {"cuDevResourceGenerateDesc", (void *)cuDevResourceGenerateDesc},
    {"cuGreenCtxCreate", (void *)cuGreenCtxCreate},
    {"cuGreenCtxDestroy", (void *)cuGreenCtxDestroy},
    {"cuGreenCtxStreamCreate", (void *)cuGreenCtxStreamCreate, 12050},
    {"cuStreamWaitValue64", (void *)cuStreamWaitValue64, 11070},
    {"cuStreamWriteValue32", (void *)cuStreamWriteValue32, 11070},
};

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **call, unsigned int version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    return pp_call([&](auto &) {
        *call = NULL;
        *found = cudaDriverEntryPointSymbolNotFound;
        if (flags != cudaEnableDefault || version > CUDART_VERSION)
            return cudaErrorInvalidValue;
        for (const auto &c : calls)
            if (!strcmp(c.name, symbol) && version >= c.version) {
                *call = c.call;
                *found = cudaDriverEntryPointSuccess;
            }
        return cudaSuccess;
    });
}
