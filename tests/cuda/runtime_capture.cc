/* tests/cuda/runtime_capture.cc — streams that note down what they are given, and what they do not
 * suffer meanwhile, as CUDA's runtime has it (cudaStreamBeginCapture and
 * cudaThreadExchangeStreamCaptureMode). A capture has one stream here. */
#include "tests/cuda/runtime_graph.h"

#include <algorithm>

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
