/* A step on a GPU. Every launch stands between two events with times; what goes wrong on the device
 * shows at some later call, and is told when the step is finished. */
#include "exec/cuda/backend.h"
#include "exec/cuda/module.h"

#include <math.h>

/* ---- work -----------------------------------------------------------------------------------*/

static struct launch *next_launch(struct pp_backend_device *d, struct stream *stream)
{
    if (stream->count == stream->made) {
        struct launch *made =
            PP_PUSH(stream->lane->arena, stream->launches, stream->made, stream->capacity);
        pp_cuda_note(d, cudaEventCreate(&made->start));
        pp_cuda_note(d, cudaEventCreate(&made->end));
    }
    struct launch *launch = &stream->launches[stream->count++];
    launch->mark_count = 0;
    return launch;
}

static void cuda_mark(void *stream)
{
    struct lane *lane = stream;
    struct launch *l = lane->launch;

    if (l->mark_count == l->marks_made)
        pp_cuda_note(lane->device, cudaEventCreate(PP_PUSH(lane->arena, l->marks, l->marks_made,
                                                           l->mark_capacity)));
    const cudaError_t code =
        cudaEventRecordWithFlags(l->marks[l->mark_count++], lane->cuda.stream,
                                 lane->is_capturing ? cudaEventRecordExternal : 0);
    if (!lane->is_capturing)
        pp_cuda_note(lane->device, code);
    else if (code != cudaSuccess)
        lane->refusal = code;
}

/* A launch that is refused is told to the thread that launched. */
static void cuda_launch_kept(struct pp_backend_device *d, pp_stream_id s, int id,
                             pp_backend_work work, void *argument)
{
    struct stream *stream = &d->streams[s];
    struct lane *lane = stream->lane;

    pp_cuda_use(d);
    const cudaStream_t cuda = pp_cuda_stream_of(d, s);
    pthread_mutex_lock(&lane->lock);
    struct launch *launch = lane->launch = next_launch(d, stream);
    pp_cuda_note(d, cudaEventRecord(launch->start, cuda));
    if (!pp_cuda_replay(stream, launch, id))
        work(d->options.kernels, &lane->cuda, argument);
    pp_cuda_note(d, cudaEventRecord(launch->end, cuda));
    pp_cuda_note(d, cudaGetLastError());
    pthread_mutex_unlock(&lane->lock);
}

static void cuda_launch(struct pp_backend_device *d, pp_stream_id s, pp_backend_work work,
                        void *argument)
{
    cuda_launch_kept(d, s, -1, work, argument);
}

static void cuda_host(struct pp_backend_device *d, pp_stream_id s, pp_backend_work work,
                      void *argument)
{
    pp_cuda_use(d);
    pp_cuda_note(d, cudaStreamSynchronize(pp_cuda_stream_of(d, s)));
    if (atomic_load(&d->failed) == cudaSuccess)
        work(d->options.kernels, NULL, argument);
}

/* ---- events ---------------------------------------------------------------------------------*/

static void cuda_record(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    pp_cuda_use(d);
    if (d->events)
        pp_cuda_note(d, cudaEventRecord(d->events[event], pp_cuda_stream_of(d, s)));
    pp_recorded_set(d->recorded, event);
}

/* To CUDA, an event that was never recorded is over: so the host waits until it is recorded, though
 * not until it is over. */
static bool cuda_wait(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    if (!pp_recorded_wait(d->recorded, event))
        return false;
    pp_cuda_use(d);
    if (d->events)
        pp_cuda_note(d, cudaStreamWaitEvent(pp_cuda_stream_of(d, s), d->events[event], 0));
    return true;
}

static void cuda_cancel(struct pp_backend_device *d)
{
    pp_recorded_cancel(d->recorded);
}

/* ---- steps ----------------------------------------------------------------------------------*/

/* Nothing of the step runs before the event that its times count from. */
static void cuda_begin(struct pp_backend_device *d)
{
    pp_cuda_use(d);
    for (int s = 0; s < d->options.streams; s++) {
        pthread_mutex_lock(&d->streams[s].lane->lock);
        d->streams[s].count = 0;
        atomic_store(&d->streams[s].over, 0);
        pthread_mutex_unlock(&d->streams[s].lane->lock);
    }
    pp_recorded_begin(d->recorded);
    pp_cuda_note(d, cudaEventRecord(d->begin, d->copies));
    pp_cuda_note(d, cudaEventSynchronize(d->begin));
}

static enum pp_status cuda_finish(struct pp_backend_device *d, struct pp_error *err)
{
    pp_cuda_use(d);
    for (int i = 0; i < d->lane_count; i++)
        if (atomic_load(&d->lanes[i].has_stream))
            pp_cuda_note(d, cudaStreamSynchronize(d->lanes[i].cuda.stream));
    const cudaError_t failed = (cudaError_t)atomic_load(&d->failed);
    if (failed != cudaSuccess)
        return pp_error_set(err, PP_EFAIL,
                            "the GPU has failed: %s (%s)\n  CUDA_LAUNCH_BLOCKING=1 and "
                            "compute-sanitizer say in which kernel",
                            cudaGetErrorName(failed), cudaGetErrorString(failed));
    return pp_recorded_is_cancelled(d->recorded)
               ? pp_error_set(err, PP_EFAIL, "the step was cancelled")
               : PP_OK;
}

/* Times of CUDA are float milliseconds. */
static double seconds_at(const struct pp_backend_device *d, cudaEvent_t event)
{
    float ms;

    return cudaEventElapsedTime(&ms, d->begin, event) == cudaSuccess ? 1e-3 * (double)ms
                                                                     : (double)NAN;
}

static struct pp_span cuda_span(const struct pp_backend_device *d, pp_stream_id s, int k)
{
    const struct stream *stream = &d->streams[s];

    if (k >= stream->count)
        return (struct pp_span){NAN, NAN};
    return (struct pp_span){seconds_at(d, stream->launches[k].start),
                            seconds_at(d, stream->launches[k].end)};
}

static double cuda_mark_s(const struct pp_backend_device *d, pp_stream_id s, int k, int j)
{
    const struct stream *stream = &d->streams[s];

    return k < stream->count && j < stream->launches[k].mark_count
               ? seconds_at(d, stream->launches[k].marks[j])
               : (double)NAN;
}

const struct pp_backend pp_backend_cuda = {
    .name = "cuda",
    .summary = "a GPU of NVIDIA, which all ranks share",
    .is_apart = true,
    .about = pp_cuda_about,
    .open = pp_cuda_open,
    .close = pp_cuda_close,
    .alloc = pp_cuda_alloc,
    .available_bytes = pp_cuda_available_bytes,
    .alloc_shared = pp_cuda_alloc_shared,
    .read = pp_cuda_read,
    .write = pp_cuda_write,
    .launch = cuda_launch,
    .keep = pp_cuda_keep,
    .launch_kept = cuda_launch_kept,
    .kept = pp_cuda_kept,
    .host = cuda_host,
    .record = cuda_record,
    .wait = cuda_wait,
    .begin = cuda_begin,
    .finish = cuda_finish,
    .cancel = cuda_cancel,
    .passed = pp_cuda_passed,
    .span = cuda_span,
    .mark = cuda_mark,
    .mark_s = cuda_mark_s,
};
