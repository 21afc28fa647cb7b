/* The emulated runtime: streams that capture, and what runs of it later. As strict as CUDA. */
#include "tests/cuda/runtime_case.h"

#include <thread>

static cudaStream_t stream_of(unsigned flags)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaGraphExec_t graph_of(cudaStream_t stream, const std::function<void()> &work)
{
    cudaGraphExec_t exec;
    cudaGraph_t graph;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work();
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphUpload(exec, stream));
    return exec;
}

static __global__ void add(int *x, const int *y)
{
    *x += *y;
}

/* No work runs during capture. Then all of it runs in order, with the pointers and numbers of the
 * capture, and with the current contents of memory. */
Test(runtime_graphs, run_again_with_the_arguments_of_the_capture)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    int *x = pinned_array(3), number = 7;
    cudaGraphExec_t exec = graph_of(stream, [&] {
        PP_LAUNCH(put, 1, 1, 0, stream, x, number);
        PP_LAUNCH(add, 1, 1, 0, stream, x, x + 1);
        OK(cudaMemcpyAsync(x + 2, x, sizeof *x, cudaMemcpyDefault, stream));
        OK(cudaMemsetAsync(x, 0, sizeof *x, stream));
    });

    number = 8;
    OK(cudaDeviceSynchronize());
    cr_assert_eq(x[2], 0);
    for (int round = 1; round <= 3; round++) {
        x[1] = round;
        OK(cudaGraphLaunch(exec, stream));
        OK(cudaStreamSynchronize(stream));
        cr_assert_eq(x[2], 7 + round);
        cr_assert_eq(x[0], 0);
    }
    OK(cudaGraphExecDestroy(exec));
    cr_assert_eq(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
}

/* Launches of one graph follow one another, on whatever streams. */
Test(runtime_graphs, one_launch_at_a_time)
{
    cudaStream_t streams[2] = {stream_of(cudaStreamNonBlocking), stream_of(cudaStreamNonBlocking)};
    int *x = pinned_array(2);
    cudaGraphExec_t exec = graph_of(streams[0], [&] {
        OK(cudaMemsetAsync(x, 0, sizeof *x, streams[0]));
        PP_LAUNCH(add, 1, 1, 0, streams[0], x, x + 1);
        PP_LAUNCH(add, 1, 1, 0, streams[0], x, x + 1);
    });

    x[1] = 1;
    for (int round = 0; round < 40; round++) {
        OK(cudaGraphLaunch(exec, streams[0]));
        OK(cudaGraphLaunch(exec, streams[1]));
        OK(cudaDeviceSynchronize());
        cr_assert_eq(x[0], 2);
    }
}

/* What may not be done ends the capture with nothing, and the stream goes on as before. */
static void check_spoils(cudaError_t expected, const std::function<cudaError_t(cudaStream_t)> &act)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    enum cudaStreamCaptureStatus status;
    cudaGraph_t graph;
    int *x = pinned_array(1);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaStreamIsCapturing(stream, &status));
    cr_assert_eq(status, cudaStreamCaptureStatusActive);
    cr_assert_eq(act(stream), expected);
    OK(cudaStreamIsCapturing(stream, &status));
    cr_assert_eq(status, cudaStreamCaptureStatusInvalidated);
    cudaGetLastError();
    PP_LAUNCH(put, 1, 1, 0, stream, x, 1);
    cr_assert_eq(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cr_assert_null(graph);
    cudaGetLastError();
    PP_LAUNCH(put, 1, 1, 0, stream, x, 2);
    OK(cudaStreamSynchronize(stream));
    cr_assert_eq(*x, 2);
}

Test(runtime_graphs, what_spoils_a_capture)
{
    cudaEvent_t event = event_of(cudaEventDefault);
    cudaStream_t other = stream_of(cudaStreamNonBlocking);
    void *memory, *device;
    static int here;

    OK(cudaMalloc(&device, sizeof here));
    OK(cudaEventRecord(event, other));
    const std::function<cudaError_t(cudaStream_t)> calls[] = {
        [](cudaStream_t s) { return cudaStreamSynchronize(s); },
        [](cudaStream_t s) { return cudaStreamQuery(s); },
        [=](cudaStream_t) { return cudaStreamSynchronize(other); },
        [](cudaStream_t) { return cudaDeviceSynchronize(); },
        [&](cudaStream_t) { return cudaMalloc(&memory, 1); },
        [&](cudaStream_t) { return cudaHostAlloc(&memory, 1, cudaHostAllocMapped); },
        [=](cudaStream_t) { return cudaFree(device); },
        [=](cudaStream_t) { return cudaEventQuery(event); },
        [=](cudaStream_t) { return cudaEventSynchronize(event); },
        [=](cudaStream_t) { return cudaMemcpy(device, &here, 4, cudaMemcpyHostToDevice); },
        [=](cudaStream_t s) { return cudaMemcpyAsync(device, &here, 4, cudaMemcpyDefault, s); },
    };

    for (const auto &call : calls)
        check_spoils(cudaErrorStreamCaptureUnsupported, call);
    check_spoils(cudaErrorStreamCaptureIsolation,
                 [=](cudaStream_t s) { return cudaStreamWaitEvent(s, event, 0); });
}

/* Another thread may do all that concerns neither the stream nor the whole device. */
Test(runtime_graphs, what_other_threads_may_do)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaError_t wrong, all;
    int *x = pinned_array(1);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    PP_LAUNCH(put, 1, 1, 0, stream, x, 1);
    std::thread([&] {
        cudaStream_t own = stream_of(cudaStreamNonBlocking);
        cudaEvent_t event = event_of(cudaEventDefault);
        int *y = pinned_array(1);
        PP_LAUNCH(put, 1, 1, 0, own, y, 5);
        OK(cudaEventRecord(event, own));
        OK(cudaEventSynchronize(event));
        cr_assert_eq(*y, 5);
        wrong = cudaStreamEndCapture(stream, &graph);
    }).join();
    cr_assert_eq(wrong, cudaErrorStreamCaptureWrongThread);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    std::thread([&] { all = cudaDeviceSynchronize(); }).join();
    cr_assert_eq(all, cudaErrorStreamCaptureUnsupported);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    std::thread([&] { all = cudaMalloc((void **)&x, 1); }).join();
    cr_assert_eq(all, cudaErrorStreamCaptureUnsupported);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

/* An event of a capture says nothing; the default stream cannot capture, nor a stream twice. */
Test(runtime_graphs, events_and_default_streams)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking), other = stream_of(cudaStreamDefault);
    cudaEvent_t event = event_of(cudaEventDefault);
    cudaGraph_t graph;
    int *x = pinned_array(1);

    cr_assert_eq(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal),
                 cudaErrorStreamCaptureUnsupported);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    cr_assert_eq(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                 cudaErrorIllegalState);
    OK(cudaEventRecord(event, stream));
    cr_assert_eq(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    cr_assert_eq(cudaEventQuery(event), cudaErrorCapturedEvent);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaEventRecord(event, stream));
    OK(cudaEventSynchronize(event));
    cudaGetLastError();
    OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
    PP_LAUNCH(put, 1, 1, 0, NULL, x, 1);
    cr_assert_eq(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    OK(cudaStreamEndCapture(other, &graph));
}

Test(runtime_graphs, take_memory)
{
    setenv("PP_EMULATED_MEMORY_BYTES", "1000000", 1);
    setenv("PP_EMULATED_GRAPH_BYTES", "400000", 1);
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    cudaGraphExec_t execs[3];
    cudaGraph_t graph;
    int *x = pinned_array(1);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    PP_LAUNCH(put, 1, 1, 0, stream, x, 1);
    OK(cudaStreamEndCapture(stream, &graph));
    for (int i = 0; i < 2; i++)
        OK(cudaGraphInstantiate(&execs[i], graph, 0));
    cr_assert_eq(cudaGraphInstantiate(&execs[2], graph, 0), cudaErrorMemoryAllocation);
    OK(cudaGraphExecDestroy(execs[0]));
    OK(cudaGraphInstantiate(&execs[2], graph, 0));
}
