/* The multiprocessors of a GPU, divided into equal parts that run concurrently: green contexts of
 * the driver (CUDA 12.5). Memory, caches and power stay shared. The driver guarantees no part any
 * progress, so only events wait, never a kernel. */
#include "exec/cuda/backend.h"

#include <cuda.h>
#include <stddef.h>

struct driver {
    CUresult (*get_device)(CUdevice *, int);
    CUresult (*get_resource)(CUdevice, CUdevResource *, CUdevResourceType);
    CUresult (*split)(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned,
                      unsigned);
    CUresult (*describe)(CUdevResourceDesc *, CUdevResource *, unsigned);
    CUresult (*create)(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned);
    CUresult (*destroy)(CUgreenCtx);
    CUresult (*make_stream)(CUstream *, CUgreenCtx, unsigned, int);
};
static const struct {
    const char *name;
    unsigned version; /* of CUDA, the first with it */
    size_t at;
} calls[] = {
    {"cuDeviceGet", 2000, offsetof(struct driver, get_device)},
    {"cuDeviceGetDevResource", 12040, offsetof(struct driver, get_resource)},
    {"cuDevSmResourceSplitByCount", 12040, offsetof(struct driver, split)},
    {"cuDevResourceGenerateDesc", 12040, offsetof(struct driver, describe)},
    {"cuGreenCtxCreate", 12040, offsetof(struct driver, create)},
    {"cuGreenCtxDestroy", 12040, offsetof(struct driver, destroy)},
    {"cuGreenCtxStreamCreate", 12050, offsetof(struct driver, make_stream)},
};

struct pp_cuda_parts {
    struct driver driver;
    CUgreenCtx *contexts;
    int *sm_counts;
    int count;
};

static enum pp_status find_calls(struct driver *driver, struct pp_error *err)
{
    for (size_t k = 0; k < PP_COUNT(calls); k++)
        PP_TRY(pp_cuda_find_call(calls[k].name, calls[k].version, (char *)driver + calls[k].at,
                                 "--device-mode partition", "serial and streams need none", err));
    return PP_OK;
}

static enum pp_status try(CUresult code, const char *what, struct pp_error *err)
{
    return code == CUDA_SUCCESS
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "cannot %s: CUDA driver error %d (%s)", what,
                              (int)code,
                              cudaGetErrorName((cudaError_t)code)); /* the same numbers */
}

/* Makes the largest equal parts. The driver rounds their size up to what the hardware can cut. */
static enum pp_status split(const struct driver *driver, const CUdevResource *all, int parts,
                            CUdevResource *results, struct pp_error *err)
{
    const unsigned wanted = (unsigned)parts, total = all->sm.smCount;
    unsigned most = total;
    CUresult refusal = CUDA_SUCCESS;

    for (unsigned each = total / wanted; each > 0; each--) {
        unsigned groups = wanted;

        refusal = driver->split(results, &groups, all, NULL, 0, each);
        if (refusal == CUDA_SUCCESS && groups >= wanted)
            return PP_OK;
    }
    PP_TRY(try(refusal, "cut the GPU into parts", err));
    PP_TRY(try(driver->split(NULL, &most, all, NULL, 0, 1), "cut the GPU into parts", err));
    return pp_error_set(err, PP_EINVAL,
                        "--device-mode partition: %d ranks on a GPU of %u multiprocessors, which "
                        "has at most %u parts: at most %u ranks, or --device-mode serial",
                        parts, total, most, most);
}

static enum pp_status make(struct pp_backend_device *d, int count, struct pp_error *err)
{
    struct pp_cuda_parts *parts = d->parts;
    CUdevResource all = {.type = CU_DEV_RESOURCE_TYPE_INVALID};
    CUdevResource *results = PP_ARRAY(d->arena, CUdevResource, count);
    CUdevice device;

    PP_TRY(find_calls(&parts->driver, err));
    PP_TRY(try(parts->driver.get_device(&device, d->gpu), "find the GPU", err));
    PP_TRY(try(parts->driver.get_resource(device, &all, CU_DEV_RESOURCE_TYPE_SM),
               "ask how large the GPU is", err));
    PP_TRY(split(&parts->driver, &all, count, results, err));
    for (; parts->count < count; parts->count++) {
        CUdevResourceDesc description;

        PP_TRY(try(parts->driver.describe(&description, &results[parts->count], 1),
                   "describe a part of the GPU", err));
        PP_TRY(try(parts->driver.create(&parts->contexts[parts->count], description, device,
                                        CU_GREEN_CTX_DEFAULT_STREAM),
                   "make a part of the GPU", err));
        parts->sm_counts[parts->count] = (int)results[parts->count].sm.smCount;
    }
    return PP_OK;
}

enum pp_status pp_cuda_parts_make(struct pp_backend_device *d, int count, struct pp_error *err)
{
    d->parts = PP_NEW(d->arena, struct pp_cuda_parts);
    d->parts->contexts = PP_ARRAY(d->arena, CUgreenCtx, count);
    d->parts->sm_counts = PP_ARRAY(d->arena, int, count);
    return make(d, count, err);
}

enum pp_status pp_cuda_part_stream(const struct pp_backend_device *d, int part, int priority,
                                   cudaStream_t *stream, int *sm_count, struct pp_error *err)
{
    *sm_count = d->parts->sm_counts[part];
    return try(d->parts->driver.make_stream(stream, d->parts->contexts[part],
                                            CU_STREAM_NON_BLOCKING, priority),
               "make a CUDA stream on a part of the GPU", err);
}

void pp_cuda_parts_free(struct pp_backend_device *d)
{
    for (int k = 0; d->parts && k < d->parts->count; k++)
        d->parts->driver.destroy(d->parts->contexts[k]);
}
