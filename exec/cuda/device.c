/* What all files of the CUDA backend share, as this one calls none of them: failures, the GPU of
 * the calling thread, and CUDA streams that are made when they are first used. */
#include "exec/cuda/backend.h"

/* ---- failure --------------------------------------------------------------------------------*/

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

void pp_cuda_use(struct pp_backend_device *d)
{
    pp_cuda_note(d, cudaSetDevice(d->gpu));
}

/* ---- streams --------------------------------------------------------------------------------*/

cudaError_t pp_cuda_make_stream(struct lane *lane)
{
    const cudaError_t code =
        cudaStreamCreateWithPriority(&lane->cuda.stream, cudaStreamNonBlocking, lane->priority);

    atomic_store(&lane->has_stream, code == cudaSuccess);
    return code;
}

cudaStream_t pp_cuda_stream_of(struct pp_backend_device *d, pp_stream_id s)
{
    struct lane *lane = d->streams[s].lane;

    if (atomic_load(&lane->has_stream))
        return lane->cuda.stream;
    pthread_mutex_lock(&lane->lock);
    if (!atomic_load(&lane->has_stream))
        pp_cuda_note(d, pp_cuda_make_stream(lane));
    pthread_mutex_unlock(&lane->lock);
    return lane->cuda.stream;
}
