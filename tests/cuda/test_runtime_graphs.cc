/* The emulated runtime: streams that capture, and what runs of it later. As strict as CUDA. */
#include "tests/cuda/emulated_case.h"

#include <thread>

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
    int *x = shared_array<int>(3), number = 7;
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

/* What may not be done ends the capture with nothing, and the stream goes on as before. */
static void check_spoils(cudaError_t expected, const std::function<cudaError_t(cudaStream_t)> &act)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    cudaGraph_t graph;
    int *x = shared_array<int>(1);

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cr_assert_eq(act(stream), expected);
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

/* Nor may another thread wait for the whole device, or end the capture. */
Test(runtime_graphs, what_other_threads_may_not_do)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaError_t wrong, all;

    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    std::thread([&] {
        wrong = cudaStreamEndCapture(stream, &graph);
        all = cudaDeviceSynchronize();
    }).join();
    cr_assert_eq(wrong, cudaErrorStreamCaptureWrongThread);
    cr_assert_eq(all, cudaErrorStreamCaptureUnsupported);
    cr_assert_eq(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
}

/* An event of a capture says nothing, and the default stream cannot capture. */
Test(runtime_graphs, events_and_default_streams)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    cudaEvent_t event = event_of(cudaEventDefault);
    cudaGraph_t graph;

    cr_assert_eq(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal),
                 cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(event, stream));
    cr_assert_eq(cudaEventQuery(event), cudaErrorCapturedEvent);
    OK(cudaStreamEndCapture(stream, &graph));
}
