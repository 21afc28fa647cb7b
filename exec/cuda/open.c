/* Makes everything except memory that a machine needs of a GPU, before the first step. */
#include "exec/cuda/backend.h"
#include "exec/host/host.h"
#include "kernels/cuda/attention/cudnn.h"

#include <ctype.h>

enum { WORKSPACE_BYTES = 32 << 20 };

/* Sets up cuBLASLt, which takes no more than this workspace, for streams that compute. */
static enum pp_status make_multiplier(struct pp_cuda_stream *cuda, int gpu, struct pp_error *err)
{
    const cublasStatus_t status = cublasLtCreate(&cuda->blas);

    if (status != CUBLAS_STATUS_SUCCESS)
        return pp_error_set(err, PP_EFAIL, "cannot start cuBLASLt: %s",
                            cublasLtGetStatusName(status));
    cuda->plans = pp_cuda_plans_create();
    PP_TRY(pp_cuda_try(cudaDeviceGetAttribute(&cuda->sm_count, cudaDevAttrMultiProcessorCount, gpu),
                       "ask how large the GPU is", err));
    PP_TRY(pp_cuda_take(WORKSPACE_BYTES, &cuda->workspace, err));
    cuda->workspace_bytes = WORKSPACE_BYTES;
    return PP_OK;
}

/* Blocks of a stream with a lower priority wait while other streams have any. The default priority
 * is the lowest, so other streams get the next higher one. The highest is reserved for work that
 * must run whatever the others wait for (exec/cuda/ipc.c). Lower numbers are higher priorities. */
static enum pp_status choose_priorities(struct pp_backend_device *d, struct pp_error *err)
{
    int greatest;

    if (d->options.weights <= 0)
        return PP_OK;
    PP_TRY(pp_cuda_try(cudaDeviceGetStreamPriorityRange(&d->last_priority, &greatest),
                       "ask for the priorities of streams", err));
    d->priority = d->last_priority - 1 > greatest ? d->last_priority - 1 : greatest;
    return PP_OK;
}

/* Streams that only move data use the whole GPU, not a part of it. */
static enum pp_status make_cuda_stream(struct pp_backend_device *d, int index, struct pp_error *err)
{
    struct cuda_stream *target = &d->cuda_streams[index];
    const int worker = pp_device_worker_of(&d->options, index);
    const bool multiplies = worker >= 0 && (d->options.worker < 0 || d->options.worker == worker);

    target->device = d;
    target->priority = worker >= 0 && index >= d->options.workers ? d->last_priority : d->priority;
    target->arena = pp_arena_create();
    pthread_mutex_init(&target->lock, NULL);
    if (multiplies)
        PP_TRY(make_multiplier(&target->cuda, d->gpu, err));
    if (multiplies && !d->parts)
        target->cuda.cudnn = pp_cudnn_create();
    if (multiplies && d->parts) {
        PP_TRY(pp_cuda_part_stream(d, worker, target->priority, &target->cuda.stream,
                                   &target->cuda.sm_count, err));
        atomic_store(&target->has_stream, true);
        return PP_OK;
    }
    return multiplies ? pp_cuda_try(pp_cuda_make_stream(target), "make a CUDA stream", err) : PP_OK;
}

static enum pp_status make_events(struct pp_backend_device *d, struct pp_error *err)
{
    d->events = PP_ARRAY(d->arena, cudaEvent_t, d->options.events + 1);
    d->marks = PP_ARRAY(d->arena, cudaEvent_t, d->options.events + 1);
    for (int e = 0; e < d->options.events; e++)
        PP_TRY(pp_cuda_try(cudaEventCreateWithFlags(&d->events[e], cudaEventDisableTiming),
                           "make a CUDA event", err));
    return PP_OK;
}

/* Processes of one host take their GPUs in turn. */
static enum pp_status choose_gpu(struct pp_backend_device *d, struct pp_error *err)
{
    int gpus = 0;

    PP_TRY(pp_cuda_try(cudaGetDeviceCount(&gpus), "count the GPUs", err));
    d->gpu = d->options.place % gpus;
    PP_TRY(pp_cuda_check_gpu(d->gpu, err));
    return pp_cuda_try(pp_cuda_set(d->gpu), "use the GPU", err);
}

/* A process with a GPU of its own stays on the cores next to it, where calls and pinned memory are
 * nearest. One that works for several ranks also computes on the host, with all cores. */
static void stay_near_gpu(const struct pp_backend_device *d)
{
    char pci[32] = "";

    if (d->options.worker < 0 || cudaDeviceGetPCIBusId(pci, sizeof pci, d->gpu) != cudaSuccess)
        return;
    for (char *c = pci; *c; c++)
        *c = (char)tolower((unsigned char)*c); /* as Linux has it */
    pp_host_stay_near("/sys", pci);
}

static enum pp_status make(struct pp_backend_device *d, struct pp_error *err)
{
    const struct pp_device_options *o = &d->options;
    const bool is_serial = o->mode == PP_DEVICE_SERIAL;

    PP_TRY(choose_gpu(d, err));
    stay_near_gpu(d);
    PP_TRY(pp_cuda_try(cudaEventCreate(&d->begin), "make a CUDA event", err));
    PP_TRY(pp_cuda_try(cudaStreamCreateWithFlags(&d->copies, cudaStreamNonBlocking),
                       "make a CUDA stream", err));
    if (o->mode == PP_DEVICE_PARTITION)
        PP_TRY(pp_cuda_parts_make(d, o->parts > 0 ? o->parts : o->workers, err));
    PP_TRY(choose_priorities(d, err));
    const int count = is_serial ? 1 : o->streams;
    d->cuda_streams = PP_ARRAY(d->arena, struct cuda_stream, count);
    while (d->cuda_stream_count < count)
        PP_TRY(make_cuda_stream(d, d->cuda_stream_count++, err));
    d->streams = PP_ARRAY(d->arena, struct stream, d->options.streams);
    for (int s = 0; s < d->options.streams; s++)
        d->streams[s].target = &d->cuda_streams[is_serial ? 0 : s];
    if (o->uses_graphs)
        pp_cuda_graphs_try(d);
    pp_cuda_leave_free(d, o->left_free);
    return is_serial ? PP_OK : make_events(d, err);
}

/* Persistent kernels of multiplications have a block on each multiprocessor that they are told of.
 * A block that finds its own occupied would run after all others. */
void pp_cuda_leave_free(struct pp_backend_device *d, int multiprocessors)
{
    for (int i = 0; i < d->cuda_stream_count; i++) {
        int *count = &d->cuda_streams[i].cuda.sm_count;

        *count -= multiprocessors < *count / 2 ? multiprocessors : *count / 2;
    }
}

enum pp_status pp_cuda_open(struct pp_arena *arena, const struct pp_device_options *options,
                            struct pp_backend_device **device, struct pp_error *err)
{
    PP_TRY(pp_cuda_check(err));
    struct pp_backend_device *d = PP_NEW(arena, struct pp_backend_device);
    d->options = *options;
    d->arena = pp_arena_create();
    d->recorded = pp_recorded_create(d->arena, options->events);
    const enum pp_status status = make(d, err);
    if (status != PP_OK) {
        pp_cuda_close(d);
        return status;
    }
    *device = d;
    return PP_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void free_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

static void free_launches(const struct stream *stream)
{
    for (int k = 0; k < stream->made; k++) {
        const struct launch *launch = &stream->launches[k];

        free_event(launch->start);
        free_event(launch->end);
        for (int j = 0; j < launch->timings_made; j++)
            free_event(launch->timings[j]);
    }
}

static void free_cuda_stream(struct cuda_stream *target)
{
    if (target->cuda.blas)
        cublasLtDestroy(target->cuda.blas);
    pp_cuda_plans_destroy(target->cuda.plans);
    pp_cudnn_destroy(target->cuda.cudnn);
    cudaFree(target->cuda.workspace);
    pp_cuda_host_free(target);
    if (target->cuda.stream)
        cudaStreamDestroy(target->cuda.stream);
    pp_arena_destroy(target->arena);
    pthread_mutex_destroy(&target->lock);
}

/* Also for a device that is half made or has failed; the driver cleans up what CUDA refuses. */
void pp_cuda_close(struct pp_backend_device *d)
{
    if (!d)
        return;
    pp_cuda_set(d->gpu);
    cudaDeviceSynchronize();
    pp_cuda_graphs_free(d);
    for (int s = 0; d->streams && s < d->options.streams; s++)
        free_launches(&d->streams[s]);
    for (int e = 0; d->events && e < d->options.events; e++)
        free_event(d->events[e]);
    free_event(d->begin);
    if (d->copies)
        cudaStreamDestroy(d->copies);
    for (int i = 0; i < d->cuda_stream_count; i++)
        free_cuda_stream(&d->cuda_streams[i]);
    pp_cuda_parts_free(d);
    pp_cuda_free_all(d);
    pp_arena_destroy(d->arena);
}
