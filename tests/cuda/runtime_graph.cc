/* tests/cuda/runtime_graph.cc — graphs, from captures alone. A launch issues again what was noted
 * down, with the arguments that were given then. */
#include "tests/cuda/runtime_graph.h"

#include <algorithm>

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
