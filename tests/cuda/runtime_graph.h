/* tests/cuda/runtime_graph.h — what was noted down, and what runs it again. Private to
 * runtime_capture.cc and runtime_graph.cc. */
#ifndef PP_TESTS_CUDA_RUNTIME_GRAPH_H
#define PP_TESTS_CUDA_RUNTIME_GRAPH_H

#include "tests/cuda/runtime.h"

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

#endif
