/* Tests graphs on this driver and device, when the device is opened. A graph must run on the
 * multiprocessors of the stream from which it was captured, and its events must give times. If it
 * does not, work is launched kernel by kernel. */
#include "exec/cuda/backend.h"
#include "kernels/cuda/device/multiprocessors.h"

#include <string.h>

enum { NUMBERS = 1024, BLOCKS = 16 /* per multiprocessor */ };

struct trial {
    struct cuda_stream *target;
    cudaEvent_t begin, end;
    bool has_events; /* in the graph */
    int *seen;       /* [2][NUMBERS], shared */
    int blocks;
};

static void note(const struct trial *t, bool is_captured)
{
    pp_cuda_note_multiprocessors(t->target->cuda.stream, t->blocks, NUMBERS,
                                 t->seen + (is_captured ? NUMBERS : 0));
}

static void note_captured(const struct pp_kernels *k, void *stream, void *trial)
{
    const struct trial *t = trial;
    struct cuda_stream *target = stream;
    const cudaStream_t cuda = target->cuda.stream;

    (void)k;
    if (t->has_events)
        target->refusal = cudaEventRecordWithFlags(t->begin, cuda, cudaEventRecordExternal);
    note(t, true);
    if (t->has_events && target->refusal == cudaSuccess)
        target->refusal = cudaEventRecordWithFlags(t->end, cuda, cudaEventRecordExternal);
}

static cudaError_t run_graph(struct trial *t)
{
    cudaGraphExec_t exec = NULL;
    size_t nodes;
    cudaError_t code = pp_cuda_capture(t->target, note_captured, t, &exec, &nodes);

    if (code == cudaSuccess)
        code = cudaGraphLaunch(exec, t->target->cuda.stream);
    if (code == cudaSuccess)
        code = cudaStreamSynchronize(t->target->cuda.stream);
    if (exec)
        cudaGraphExecDestroy(exec);
    return code;
}

static bool has_times(const struct trial *t)
{
    float ms = -1;

    const bool has = cudaEventElapsedTime(&ms, t->begin, t->end) == cudaSuccess && ms >= 0;
    cudaGetLastError(); /* clears the failure */
    return has;
}

/* True if a graph and its stream together use no more multiprocessors than the stream's part has.
 * Either may miss some, as the device chooses where blocks run. */
static bool stays(const struct trial *t)
{
    int both = 0, any = 0;

    for (int k = 0; k < NUMBERS; k++) {
        both += t->seen[k] && t->seen[NUMBERS + k];
        any += t->seen[k] || t->seen[NUMBERS + k];
    }
    return both > 0 && any <= t->target->cuda.sm_count;
}

static void judge(struct pp_backend_device *d, struct trial *t)
{
    struct pp_cuda_graphs *graphs = &d->graphs;

    memset(t->seen, 0, sizeof(int) * 2 * NUMBERS);
    note(t, false);
    cudaError_t code = cudaStreamSynchronize(t->target->cuda.stream);
    if (code != cudaSuccess) {
        graphs->stats.why_not =
            pp_arena_printf(d->arena, "the device fails (%s)", cudaGetErrorName(code));
        return;
    }
    t->has_events = graphs->may_time;
    code = run_graph(t);
    graphs->may_time = t->has_events && code == cudaSuccess && has_times(t);
    if (code != cudaSuccess && t->has_events) {
        t->has_events = false;
        code = run_graph(t);
    }
    if (code != cudaSuccess)
        graphs->stats.why_not = pp_arena_printf(
            d->arena, "this driver refuses to record or to run them (%s)", cudaGetErrorName(code));
    else if (d->parts && !stays(t))
        graphs->stats.why_not = "with this driver they leave the part of the GPU that a rank has";
}

void pp_cuda_graphs_try(struct pp_backend_device *d)
{
    struct pp_cuda_graphs *graphs = &d->graphs;
    int multiprocessors = 1;
    struct trial t = {0};

    graphs->may_time = true;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, d->gpu);
    t.blocks = BLOCKS * multiprocessors;
    if (cudaEventCreate(&t.begin) != cudaSuccess || cudaEventCreate(&t.end) != cudaSuccess ||
        cudaHostAlloc((void **)&t.seen, sizeof(int) * 2 * NUMBERS, cudaHostAllocMapped) !=
            cudaSuccess)
        graphs->stats.why_not = "there is no memory to try them";
    for (int i = 0; i < d->cuda_stream_count && i < d->options.workers && !graphs->stats.why_not;
         i++) {
        t.target = &d->cuda_streams[i];
        if (atomic_load(&t.target->has_stream))
            judge(d, &t);
        if (!d->parts && atomic_load(&t.target->has_stream))
            break; /* all streams are alike */
    }
    graphs->are_on = !graphs->stats.why_not;
    if (t.begin)
        cudaEventDestroy(t.begin);
    if (t.end)
        cudaEventDestroy(t.end);
    cudaFreeHost(t.seen);
    cudaGetLastError();
}
