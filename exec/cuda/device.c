/* Helpers of all files of the CUDA backend, none of which they call: failures, GPUs and streams. */
#include "exec/cuda/backend.h"

#include <string.h>

enum pp_status pp_cuda_try(cudaError_t code, const char *what, struct pp_error *err)
{
    return code == cudaSuccess ? PP_OK
                               : pp_error_set(err, PP_EFAIL, "cannot %s: %s (%s)", what,
                                              cudaGetErrorName(code), cudaGetErrorString(code));
}

void pp_cuda_note(struct pp_backend_device *d, cudaError_t code)
{
    int none = cudaSuccess;

    if (code != cudaSuccess && atomic_compare_exchange_strong(&d->failed, &none, (int)code))
        pp_recorded_cancel(d->recorded);
}

enum pp_status pp_cuda_find_call(const char *name, unsigned version, void *call, const char *who,
                                 const char *otherwise, struct pp_error *err)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    void *at = NULL;
#if CUDART_VERSION >= 12050
    const cudaError_t code =
        cudaGetDriverEntryPointByVersion(name, &at, version, cudaEnableDefault, &found);
#else
    const cudaError_t code = cudaGetDriverEntryPoint(name, &at, cudaEnableDefault, &found);
#endif

    PP_TRY(pp_cuda_try(code, "ask the driver for its calls", err));
    if (found != cudaDriverEntryPointSuccess || !at)
        return pp_error_set(err, PP_EFAIL,
                            "%s: the driver has no %s, which came with CUDA %u.%u; %s", who, name,
                            version / 1000, version % 1000 / 10, otherwise);
    memcpy(call, &at, sizeof(at));
    return PP_OK;
}

cudaError_t pp_cuda_set(int gpu)
{
    static _Thread_local int set = -1;

    if (gpu == set)
        return cudaSuccess;
    const cudaError_t code = cudaSetDevice(gpu);
    set = code == cudaSuccess ? gpu : -1;
    return code;
}

void pp_cuda_use(struct pp_backend_device *d)
{
    pp_cuda_note(d, pp_cuda_set(d->gpu));
}

cudaError_t pp_cuda_make_stream(struct cuda_stream *target)
{
    const cudaError_t code =
        cudaStreamCreateWithPriority(&target->cuda.stream, cudaStreamNonBlocking, target->priority);

    atomic_store(&target->has_stream, code == cudaSuccess);
    return code;
}

cudaStream_t pp_cuda_stream_of(struct pp_backend_device *d, pp_stream_id s)
{
    struct cuda_stream *target = d->streams[s].target;

    if (atomic_load(&target->has_stream))
        return target->cuda.stream;
    pthread_mutex_lock(&target->lock);
    if (!atomic_load(&target->has_stream))
        pp_cuda_note(d, pp_cuda_make_stream(target));
    pthread_mutex_unlock(&target->lock);
    return target->cuda.stream;
}
