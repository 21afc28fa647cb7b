/* tests/cuda/runtime_graph.cc — streams that note down what they are given, and what they do not
 * suffer meanwhile, as CUDA's runtime has it (cudaStreamBeginCapture and
 * cudaThreadExchangeStreamCaptureMode). A capture has one stream here. Graphs come from captures
 * alone. A launch issues again what was noted down, with the arguments that were given then. */
#include "tests/cuda/runtime.h"

#include <algorithm>

struct CUgraph_st {
    int device;
    std::vector<captured> nodes;
};

struct CUgraphExec_st {
    int device;
    std::vector<captured> nodes;
    size_t bytes;
    std::shared_ptr<struct event> last; /* launches of it follow one another */
};

/* ---- captures -------------------------------------------------------------------------------- */

cudaError_t pp_spoil(CUstream_st *s)
{
    s->capture->is_invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

/* Spoils the captures of those streams. */
static cudaError_t spoil_where(const std::function<bool(const CUstream_st *)> &is_disturbed)
{
    cudaError_t error = cudaSuccess;

    for (CUstream_st *s : pp_runtime().streams)
        if (s->capture && is_disturbed(s))
            error = pp_spoil(s);
    return error;
}

cudaError_t pp_check_unsafe(void)
{
    return spoil_where([](const CUstream_st *s) {
        const struct capture &c = *s->capture;
        return c.mode == cudaStreamCaptureModeGlobal ||
               (c.mode == cudaStreamCaptureModeThreadLocal &&
                c.thread == std::this_thread::get_id());
    });
}

cudaError_t pp_check_wait(const CUstream_st *stream)
{
    const int device = pp_current_device();
    const cudaError_t unsafe = pp_check_unsafe(),
                      error = spoil_where([=](const CUstream_st *s) {
                          return stream ? s == stream : s->device == device;
                      });

    return error == cudaSuccess ? unsafe : error;
}

/* The default stream waits for all streams that are not cudaStreamNonBlocking. */
static bool is_implied(const CUstream_st *stream)
{
    const auto &streams = pp_runtime().streams;

    return stream == streams[(size_t)stream->device] &&
           std::any_of(streams.begin(), streams.end(), [stream](const CUstream_st *s) {
               return s->capture && s->device == stream->device &&
                      !(s->flags & cudaStreamNonBlocking);
           });
}

cudaError_t pp_check_enqueue(CUstream_st *stream)
{
    if (is_implied(stream))
        return cudaErrorStreamCaptureImplicit;
    return stream->capture && stream->capture->is_invalid ? cudaErrorStreamCaptureInvalidated
                                                          : cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return pp_with_stream(stream, [&](auto &, CUstream_st *s) {
        if (s == pp_runtime().streams[(size_t)s->device])
            return cudaErrorStreamCaptureUnsupported;
        if (s->capture)
            return cudaErrorIllegalState;
        s->capture.reset(new capture{mode, std::this_thread::get_id(), false, {}});
        return cudaSuccess;
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = NULL;
    return pp_with_stream(stream, [&](auto &, CUstream_st *s) {
        if (!s->capture)
            return cudaErrorIllegalState;
        if (s->capture->mode != cudaStreamCaptureModeRelaxed &&
            s->capture->thread != std::this_thread::get_id())
            return cudaErrorStreamCaptureWrongThread;
        const std::unique_ptr<struct capture> capture = std::move(s->capture);
        if (capture->is_invalid)
            return cudaErrorStreamCaptureInvalidated;
        *graph = new CUgraph_st{s->device, capture->nodes};
        return cudaSuccess;
    });
}

/* ---- graphs ---------------------------------------------------------------------------------- */

size_t pp_graph_bytes(int device)
{
    size_t bytes = 0;

    for (const CUgraphExec_st *e : pp_runtime().graphs)
        bytes += e->device == device ? e->bytes : 0;
    return bytes;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    if (!graph || nodes) /* nodes themselves are not emulated */
        return pp_set_last_error(cudaErrorInvalidValue);
    *count = graph->nodes.size();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return pp_call([&](auto &) {
        struct runtime &r = pp_runtime();

        *exec = NULL;
        if (!graph || flags != 0)
            return cudaErrorInvalidValue;
        const size_t bytes = graph->nodes.size() * r.graph_node_bytes;
        if (bytes > r.memory_bytes - pp_used_bytes(graph->device))
            return cudaErrorMemoryAllocation;
        *exec = new CUgraphExec_st{graph->device, graph->nodes, bytes,
                                   std::make_shared<struct event>()};
        r.graphs.push_back(*exec);
        return cudaSuccess;
    });
}

/* `body` with a graph and a stream that exist. */
static cudaError_t with(cudaGraphExec_t exec, cudaStream_t stream,
                        const std::function<cudaError_t(CUstream_st *)> &body)
{
    return pp_with_work_for(stream, [&](auto &, CUstream_st *s) {
        const auto &graphs = pp_runtime().graphs;
        if (!std::count(graphs.begin(), graphs.end(), exec) || s->device != exec->device)
            return cudaErrorInvalidValue;
        return s->capture ? pp_spoil(s) : body(s); /* a graph within a graph: not emulated */
    });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    return with(exec, stream, [](CUstream_st *) { return cudaSuccess; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return with(exec, stream, [exec](CUstream_st *s) {
        const size_t before = s->nodes.size() + 1;

        pp_issue(s, {NODE_WAIT, 0, nullptr, exec->last, exec->last->issued});
        for (const captured &node : exec->nodes)
            node(s);
        for (size_t i = before; i < s->nodes.size(); i++)
            s->nodes[i].is_everywhere = !pp_runtime().has_graph_parts;
        pp_issue(s, {NODE_RECORD, 0, nullptr, exec->last, ++exec->last->issued});
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return pp_call([&](auto &) {
        auto &graphs = pp_runtime().graphs;
        const auto at = std::find(graphs.begin(), graphs.end(), exec);
        if (at == graphs.end())
            return cudaErrorInvalidValue;
        graphs.erase(at);
        delete exec;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph)
        return pp_set_last_error(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}
