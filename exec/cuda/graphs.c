/* Work that is the same in every step, captured as CUDA graphs: the host launches one graph instead
 * of each kernel. A graph keeps the arguments of its kernels, so values that change from step to
 * step must be in memory.
 *
 * Graphs are made between steps, while the device is idle. That may allocate device memory and so
 * wait for all running work, even a receive that waits for another process. Work that cannot be
 * captured is launched kernel by kernel. */
#include "exec/cuda/backend.h"

enum {
    MOST = 8192,     /* number of graphs */
    MEMORY_SHARE = 8 /* share of the memory that is free before the first one */
};

static bool has_room(struct pp_cuda_graphs *graphs)
{
    if (graphs->stats.count == 0)
        graphs->free_bytes = pp_cuda_available_bytes(NULL);
    const size_t least_bytes = graphs->free_bytes - graphs->free_bytes / MEMORY_SHARE;
    return graphs->stats.count < MOST && pp_cuda_available_bytes(NULL) >= least_bytes;
}

static struct graph *graph_at(struct stream *stream, int id)
{
    while (stream->graph_count <= id)
        PP_PUSH(stream->target->arena, stream->graphs, stream->graph_count, stream->graph_capacity);
    return &stream->graphs[id];
}

/* A multiplication that fails in a capture is computed outside graphs. */
static bool has_failed_to_multiply(struct cuda_stream *target)
{
    struct pp_cuda_plan_report *report = pp_cuda_plans_report(target->cuda.plans);
    const bool has = report && report->failure;

    if (has)
        report->failure = NULL;
    return has;
}

cudaError_t pp_cuda_capture(struct cuda_stream *target, pp_backend_work work, void *argument,
                            cudaGraphExec_t *exec, size_t *nodes)
{
    const cudaStream_t stream = target->cuda.stream;
    cudaError_t code = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaGraph_t graph = NULL;

    if (code != cudaSuccess)
        return code;
    target->is_capturing = true;
    target->refusal = cudaSuccess;
    work(target->device->options.kernels, &target->cuda, argument);
    target->is_capturing = false;
    const cudaError_t launched = cudaGetLastError(), ended = cudaStreamEndCapture(stream, &graph);
    const bool has_failed = has_failed_to_multiply(target); /* forgiven, whatever else failed */
    code = target->refusal != cudaSuccess ? target->refusal
           : launched != cudaSuccess      ? launched
           : has_failed                   ? cudaErrorStreamCaptureUnsupported
                                          : ended;
    if (code == cudaSuccess)
        code = cudaGraphGetNodes(graph, NULL, nodes);
    if (code == cudaSuccess)
        code = cudaGraphInstantiate(exec, graph, 0);
    if (graph)
        cudaGraphDestroy(graph);
    return code;
}

/* Captures a graph; a refusal is no failure of the device. */
static cudaError_t make(struct cuda_stream *target, pp_backend_work work, void *argument,
                        struct graph *made)
{
    struct pp_cuda_multiplied before = {0}, *multiplied = NULL;

    if (target->cuda.plans)
        multiplied = &pp_cuda_plans_report(target->cuda.plans)->multiplied;
    if (multiplied) {
        before = *multiplied;
        *multiplied = (struct pp_cuda_multiplied){0};
    }
    cudaError_t code = pp_cuda_capture(target, work, argument, &made->exec, &made->nodes);
    if (multiplied) { /* they run with the graph, not now */
        made->multiplied = *multiplied;
        *multiplied = before;
    }
    if (code == cudaSuccess)
        code = cudaGraphUpload(made->exec, target->cuda.stream);
    if (code != cudaSuccess && made->exec) {
        cudaGraphExecDestroy(made->exec);
        made->exec = NULL;
    }
    cudaGetLastError();
    return code;
}

void pp_cuda_graph_make(struct pp_backend_device *d, pp_stream_id s, int id, int k,
                        pp_backend_work work, void *argument)
{
    struct stream *stream = &d->streams[s];
    struct cuda_stream *target = stream->target;
    struct pp_cuda_graphs *graphs = &d->graphs;

    pp_cuda_use(d);
    if (!graphs->are_on || (k >= 0 && !graphs->may_time) || k >= stream->count ||
        atomic_load(&d->failed) != cudaSuccess || !pp_cuda_stream_of(d, s))
        return;
    pthread_mutex_lock(&target->lock);
    struct graph *graph = graph_at(stream, id);
    if (!graph->exec && !graph->is_refused) {
        target->launch = k >= 0 ? &stream->launches[k] : NULL;
        if (target->launch)
            target->launch->timing_count = 0;
        const cudaError_t code =
            has_room(graphs) ? make(target, work, argument, graph) : cudaErrorMemoryAllocation;
        graph->is_refused = code != cudaSuccess;
        if (graph->is_refused && !graphs->stats.why_left)
            graphs->stats.why_left = cudaGetErrorName(code);
        graph->timings = target->launch ? target->launch->timing_count : 0;
        graphs->stats.count += !graph->is_refused;
        graphs->stats.left_out += graph->is_refused;
        graphs->stats.kernels += graph->is_refused ? 0 : (int64_t)graph->nodes;
    }
    pthread_mutex_unlock(&target->lock);
}

bool pp_cuda_replay(struct stream *stream, struct launch *launch, int id)
{
    struct cuda_stream *target = stream->target;

    if (id < 0 || id >= stream->graph_count || !stream->graphs[id].exec)
        return false;
    const struct graph *graph = &stream->graphs[id];
    launch->timing_count = graph->timings;
    if (target->cuda.plans)
        pp_cuda_multiplied_add(&pp_cuda_plans_report(target->cuda.plans)->multiplied,
                               &graph->multiplied);
    pp_cuda_note(target->device, cudaGraphLaunch(graph->exec, target->cuda.stream));
    atomic_fetch_add_explicit(&target->device->graphs.launches, 1, memory_order_relaxed);
    return true;
}

void pp_cuda_graphs_stats(const struct pp_backend_device *d, struct pp_graph_stats *stats)
{
    *stats = d->graphs.stats;
    stats->launches = atomic_load(&d->graphs.launches);
}

void pp_cuda_graphs_free(struct pp_backend_device *d)
{
    for (int s = 0; d->streams && s < d->options.streams; s++)
        for (int id = 0; id < d->streams[s].graph_count; id++)
            if (d->streams[s].graphs[id].exec)
                cudaGraphExecDestroy(d->streams[s].graphs[id].exec);
}
