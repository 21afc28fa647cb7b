/* Memory of the GPU, memory that host and GPU share, and copies between them. */
#include "exec/cuda/backend.h"

#include <string.h>

static const double MIB = 1024.0 * 1024.0;

size_t pp_cuda_available_bytes(const struct pp_backend_device *d)
{
    size_t free_bytes = 0, all_bytes;

    (void)d;
    return cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess ? free_bytes : 0;
}

/* Estimates. Modules of kernels are loaded when they are first used. A node of a graph takes some
 * 64 KiB. NCCL has buffers for each communicator. */
size_t pp_cuda_reserve_bytes(const struct pp_backend_device *d, int communicators)
{
    enum { MODULES = 1 << 30, LEAST_SHARE = 16, SHARE = 100, COMMUNICATOR = 40 << 20 };
    size_t free_bytes, all_bytes = 0, bytes = MODULES;

    (void)d;
    if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess)
        return 0;
    if (bytes > all_bytes / LEAST_SHARE)
        bytes = all_bytes / LEAST_SHARE;
    if (bytes < all_bytes / SHARE)
        bytes = all_bytes / SHARE;
    return bytes + (size_t)communicators * COMMUNICATOR;
}

/* CUDA aligns memory to 256 bytes. */
enum pp_status pp_cuda_take(size_t bytes, void **memory, struct pp_error *err)
{
    const cudaError_t code = cudaMalloc(memory, bytes > 0 ? bytes : 1);

    if (code != cudaErrorMemoryAllocation)
        return pp_cuda_try(code, "allocate memory of the GPU", err);
    cudaGetLastError(); /* reported here; the device is fine */
    return pp_error_set(
        err, PP_EFAIL,
        "not enough memory on the GPU: a block of %.0f MiB (%zu bytes) does not fit "
        "into the %.0f MiB that are free",
        (double)bytes / MIB, bytes, (double)pp_cuda_available_bytes(NULL) / MIB);
}

/* Rounds up to pages of the device: small allocations share one, and are mapped together. */
static size_t whole_pages(size_t bytes)
{
    enum { PAGE_BYTES = 2 << 20 };

    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

enum pp_status pp_cuda_alloc(struct pp_backend_device *d, size_t bytes, void **memory,
                             struct pp_error *err)
{
    pp_cuda_use(d);
    PP_TRY(pp_cuda_take(d->options.is_mapped ? whole_pages(bytes) : bytes, memory, err));
    *PP_PUSH(d->arena, d->blocks, d->block_count, d->block_capacity) = *memory;
    return PP_OK;
}

/* Pinned: copies run while the host goes on, and kernels reach it, too. */
enum pp_status pp_cuda_alloc_host(struct pp_backend_device *d, size_t bytes, void **memory,
                                  struct pp_error *err)
{
    pp_cuda_use(d);
    const cudaError_t code = cudaHostAlloc(memory, bytes > 0 ? bytes : 1, cudaHostAllocMapped);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* reported here; the device is fine */
        return pp_error_set(err, PP_EFAIL,
                            "cannot pin %.0f MiB (%zu bytes) of host memory for copies of the GPU",
                            (double)bytes / MIB, bytes);
    }
    PP_TRY(pp_cuda_try(code, "pin memory of the host", err));
    *PP_PUSH(d->arena, d->shared_blocks, d->shared_count, d->shared_capacity) = *memory;
    return PP_OK;
}

enum pp_status pp_cuda_alloc_shared(struct pp_backend_device *d, size_t bytes, void **memory,
                                    struct pp_error *err)
{
    const size_t some_bytes = bytes > 0 ? bytes : 1;

    PP_TRY(pp_cuda_alloc_host(d, some_bytes, memory, err));
    memset(*memory, 0, some_bytes);
    return PP_OK;
}

static enum pp_status copy(struct pp_backend_device *d, const void *from, void *to, size_t bytes,
                           enum cudaMemcpyKind kind, struct pp_error *err)
{
    pp_cuda_use(d);
    PP_TRY(pp_cuda_try(cudaMemcpyAsync(to, from, bytes, kind, d->copies),
                       "copy between host and GPU", err));
    return pp_cuda_try(cudaStreamSynchronize(d->copies), "copy between host and GPU", err);
}

enum pp_status pp_cuda_read(struct pp_backend_device *d, const void *from, void *to, size_t bytes,
                            struct pp_error *err)
{
    return copy(d, from, to, bytes, cudaMemcpyDeviceToHost, err);
}

enum pp_status pp_cuda_write(struct pp_backend_device *d, const void *from, void *to, size_t bytes,
                             struct pp_error *err)
{
    return copy(d, from, to, bytes, cudaMemcpyHostToDevice, err);
}

void pp_cuda_free_all(struct pp_backend_device *d)
{
    for (int i = 0; i < d->block_count && !atomic_load(&d->keeps_blocks); i++)
        cudaFree(d->blocks[i]);
    for (int i = 0; i < d->shared_count; i++)
        cudaFreeHost(d->shared_blocks[i]);
}
