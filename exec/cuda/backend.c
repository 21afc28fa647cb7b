/* A step on a GPU. Launches are between two timing events. finish reports device failures. */
#include "exec/cuda/backend.h"
#include "exec/cuda/module.h"

#include <math.h>
#include <stdio.h>

/* ---- work ------------------------------------------------------------------------------------ */

static struct launch *next_launch(struct pp_backend_device *d, struct stream *stream)
{
    if (stream->count == stream->made) {
        struct launch *made =
            PP_PUSH(stream->target->arena, stream->launches, stream->made, stream->capacity);
        pp_cuda_note(d, cudaEventCreate(&made->start));
        pp_cuda_note(d, cudaEventCreate(&made->end));
    }
    struct launch *launch = &stream->launches[stream->count++];
    launch->timing_count = 0;
    return launch;
}

static void cuda_record_timing(void *stream)
{
    struct cuda_stream *target = stream;
    struct launch *l = target->launch;

    if (l->timing_count == l->timings_made)
        pp_cuda_note(target->device, cudaEventCreate(PP_PUSH(target->arena, l->timings,
                                                             l->timings_made, l->timing_capacity)));
    const cudaError_t code =
        cudaEventRecordWithFlags(l->timings[l->timing_count++], target->cuda.stream,
                                 target->is_capturing ? cudaEventRecordExternal : 0);
    if (!target->is_capturing)
        pp_cuda_note(target->device, code);
    else if (code != cudaSuccess)
        target->refusal = code;
}

/* cuBLASLt also fails on a device that has failed before; that is what the stream then says. Other
 * failures are unknown to CUDA, and finish reads them from the plans. */
static void note_multiplication(struct cuda_stream *target)
{
    if (!target->cuda.plans || !pp_cuda_plans_report(target->cuda.plans)->failure)
        return;
    const cudaError_t code = cudaStreamQuery(target->cuda.stream);
    pp_cuda_note(target->device,
                 code == cudaSuccess || code == cudaErrorNotReady ? cudaErrorUnknown : code);
}

/* CUDA reports a refused launch to the launching thread. */
static void cuda_launch_graph(struct pp_backend_device *d, pp_stream_id s, int id,
                              pp_backend_work work, void *argument)
{
    struct stream *stream = &d->streams[s];
    struct cuda_stream *target = stream->target;

    pp_cuda_use(d);
    const cudaStream_t cuda = pp_cuda_stream_of(d, s);
    pthread_mutex_lock(&target->lock);
    struct launch *launch = target->launch = next_launch(d, stream);
    pp_cuda_note(d, cudaEventRecord(launch->start, cuda));
    if (!pp_cuda_replay(stream, launch, id))
        work(d->options.kernels, &target->cuda, argument);
    pp_cuda_note(d, cudaEventRecord(launch->end, cuda));
    atomic_store(&stream->last_end, launch->end);
    note_multiplication(target);
    pp_cuda_note(d, cudaGetLastError());
    pthread_mutex_unlock(&target->lock);
}

static void cuda_launch(struct pp_backend_device *d, pp_stream_id s, pp_backend_work work,
                        void *argument)
{
    cuda_launch_graph(d, s, -1, work, argument);
}

static void cuda_host(struct pp_backend_device *d, pp_stream_id s, pp_backend_work work,
                      void *argument)
{
    pp_cuda_use(d);
    pp_cuda_note(d, cudaStreamSynchronize(pp_cuda_stream_of(d, s)));
    if (atomic_load(&d->failed) == cudaSuccess)
        work(d->options.kernels, NULL, argument);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The end of the stream's last launch serves, if nothing has come after it. */
static void cuda_record(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    if (d->events) {
        const cudaEvent_t end = atomic_load(&d->streams[s].last_end);
        d->marks[event] = end ? end : d->events[event];
        pp_cuda_use(d);
        if (!end)
            pp_cuda_note(d, cudaEventRecord(d->events[event], pp_cuda_stream_of(d, s)));
    }
    pp_recorded_set(d->recorded, event);
}

/* To CUDA, an unrecorded event is over. So the host waits until it is recorded, but no longer. */
static bool cuda_wait(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    if (!pp_recorded_wait(d->recorded, event))
        return false;
    pp_cuda_use(d);
    if (d->events) {
        atomic_store(&d->streams[s].last_end, NULL);
        pp_cuda_note(d, cudaStreamWaitEvent(pp_cuda_stream_of(d, s), d->marks[event], 0));
    }
    return true;
}

static void cuda_cancel(struct pp_backend_device *d)
{
    pp_recorded_cancel(d->recorded);
}

/* ---- multiplications --------------------------------------------------------------------------
 */

/* Counts the multiplications of a step, and those that cuBLASLt has refused. */
static void cuda_fallbacks(const struct pp_backend_device *d, struct pp_fallbacks *f)
{
    const char *(*attention)(void) = d->options.kernels->attention;

    *f = (struct pp_fallbacks){0};
    snprintf(f->attention, sizeof(f->attention), "%s", attention ? attention() : "own");
    for (int i = 0; i < d->cuda_stream_count; i++) {
        const struct pp_cuda_plan_report *r = pp_cuda_plans_report(d->cuda_streams[i].cuda.plans);

        if (!r)
            continue;
        f->gemms += r->multiplied.all;
        f->own += r->multiplied.own;
        f->finished += r->multiplied.finished;
        f->refused += r->refused;
        if (r->refusal && !f->first[0])
            snprintf(f->first, sizeof(f->first), "%s", r->refusal);
    }
}

/* The first one that has failed; NULL: none. */
static const char *multiply_failure(const struct pp_backend_device *d)
{
    const char *failure = NULL;

    for (int i = 0; i < d->cuda_stream_count && !failure; i++)
        if (d->cuda_streams[i].cuda.plans)
            failure = pp_cuda_plans_report(d->cuda_streams[i].cuda.plans)->failure;
    return failure;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Nothing of the step runs before the event that is the origin of its times. */
static void cuda_begin(struct pp_backend_device *d)
{
    pp_cuda_use(d);
    for (int s = 0; s < d->options.streams; s++) {
        pthread_mutex_lock(&d->streams[s].target->lock);
        d->streams[s].count = 0;
        if (d->streams[s].target->cuda.plans)
            pp_cuda_plans_report(d->streams[s].target->cuda.plans)->multiplied =
                (struct pp_cuda_multiplied){0};
        atomic_store(&d->streams[s].last_end, NULL);
        atomic_store(&d->streams[s].over, 0);
        pthread_mutex_unlock(&d->streams[s].target->lock);
    }
    pp_recorded_begin(d->recorded);
    pp_cuda_note(d, cudaEventRecord(d->begin, d->copies));
    pp_cuda_note(d, cudaEventSynchronize(d->begin));
}

static enum pp_status cuda_finish(struct pp_backend_device *d, struct pp_error *err)
{
    pp_cuda_use(d);
    for (int i = 0; i < d->cuda_stream_count; i++)
        if (atomic_load(&d->cuda_streams[i].has_stream))
            pp_cuda_note(d, cudaStreamSynchronize(d->cuda_streams[i].cuda.stream));
    const cudaError_t failed = (cudaError_t)atomic_load(&d->failed);
    const char *multiplication = multiply_failure(d);
    if (failed == cudaErrorUnknown && multiplication)
        return pp_error_set(err, PP_EFAIL, "cuBLASLt has failed to multiply: %s", multiplication);
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

static double cuda_timing_s(const struct pp_backend_device *d, pp_stream_id s, int k, int j)
{
    const struct stream *stream = &d->streams[s];

    return k < stream->count && j < stream->launches[k].timing_count
               ? seconds_at(d, stream->launches[k].timings[j])
               : (double)NAN;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Skips a locked stream: its thread makes progress anyway, and may hold the lock for long. */
static int count_over(struct stream *stream)
{
    if (pthread_mutex_trylock(&stream->target->lock) == 0) {
        int over = atomic_load(&stream->over);

        while (over < stream->count && cudaEventQuery(stream->launches[over].end) == cudaSuccess)
            over++;
        atomic_store(&stream->over, over);
        pthread_mutex_unlock(&stream->target->lock);
    }
    return atomic_load(&stream->over);
}

/* Finished launches of this step, which may be issued long before. Failures are left to finish. */
static int64_t cuda_passed(struct pp_backend_device *d)
{
    int64_t passed = 0;

    pp_cuda_set(d->gpu);
    for (int s = 0; s < d->options.streams; s++)
        passed += count_over(&d->streams[s]);
    cudaGetLastError();
    return passed;
}

const struct pp_backend pp_backend_cuda = {
    .name = "cuda",
    .is_apart = true,
    .about = pp_cuda_about,
    .open = pp_cuda_open,
    .close = pp_cuda_close,
    .alloc = pp_cuda_alloc,
    .available_bytes = pp_cuda_available_bytes,
    .reserve_bytes = pp_cuda_reserve_bytes,
    .alloc_host = pp_cuda_alloc_host,
    .alloc_shared = pp_cuda_alloc_shared,
    .read = pp_cuda_read,
    .write = pp_cuda_write,
    .launch = cuda_launch,
    .capture = pp_cuda_graph_make,
    .launch_graph = cuda_launch_graph,
    .graph_stats = pp_cuda_graphs_stats,
    .fallbacks = cuda_fallbacks,
    .host = cuda_host,
    .call_host = pp_cuda_call_host,
    .join_host = pp_cuda_join_host,
    .record = cuda_record,
    .wait = cuda_wait,
    .begin = cuda_begin,
    .finish = cuda_finish,
    .cancel = cuda_cancel,
    .passed = cuda_passed,
    .span = cuda_span,
    .record_timing = cuda_record_timing,
    .timing_s = cuda_timing_s,
};
