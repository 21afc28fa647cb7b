/* The emulated runtime: work that may have to wait for another process blocks only the later work
 * of its stream. */
#include "tests/cuda/runtime.h"
#include "tests/cuda/runtime_case.h"

#include <atomic>
#include <chrono>
#include <thread>

enum { STREAMS = 5 };

static cudaStream_t stream_of(void)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static void attempt(cudaStream_t stream, std::function<bool()> is_over)
{
    OK(pp_call([&](auto &) {
        pp_issue_attempt(stream, is_over);
        return cudaSuccess;
    }));
}

/* Stream k waits for work that stream k + 1 does after its own wait. The last one does not wait. */
Test(runtime_attempts, other_streams_go_on)
{
    cudaStream_t streams[STREAMS];
    int *x = pinned_array(STREAMS);

    for (int k = 0; k < STREAMS; k++) {
        streams[k] = stream_of();
        if (k + 1 < STREAMS)
            attempt(streams[k], [x, k] { return x[k + 1] == 7; });
        PP_LAUNCH(put, 1, 1, 0, streams[k], x + k, 7);
    }
    cr_assert_eq(x[0], 0);
    OK(cudaStreamSynchronize(streams[0]));
    for (int k = 0; k < STREAMS; k++)
        cr_assert_eq(x[k], 7);
}

Test(runtime_attempts, another_process_ends_them)
{
    cudaStream_t stream = stream_of();
    std::atomic<bool> is_over(false);
    int attempts = 0, *x = pinned_array(1);

    attempt(stream, [&] {
        attempts++;
        return is_over.load();
    });
    PP_LAUNCH(put, 1, 1, 0, stream, x, 7);
    std::thread outside([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        is_over = true;
    });
    OK(cudaDeviceSynchronize());
    outside.join();
    cr_assert_eq(*x, 7);
    cr_assert_gt(attempts, 1);
}

Test(runtime_attempts, who_asks_does_not_wait)
{
    cudaStream_t waits = stream_of(), other = stream_of();
    bool is_over = false;
    int *x = pinned_array(2);

    attempt(waits, [&] { return is_over; });
    PP_LAUNCH(put, 1, 1, 0, waits, x, 7);
    PP_LAUNCH(put, 1, 1, 0, other, x + 1, 8);
    for (int i = 0; i < 10; i++)
        cr_assert_eq(cudaStreamQuery(waits), cudaErrorNotReady);
    cr_assert_eq(x[0], 0);
    cr_assert_eq(x[1], 8);
    is_over = true;
    for (int i = 0; i < 10 && cudaStreamQuery(waits) != cudaSuccess; i++)
        continue;
    cr_assert_eq(x[0], 7);
}

/* After a fault nothing waits any more. */
Test(runtime_attempts, a_fault_ends_them)
{
    cudaStream_t waits = stream_of(), other = stream_of();
    int *x = pinned_array(1);

    attempt(waits, [] { return false; });
    pp_runtime().fault = 1;
    PP_LAUNCH(put, 1, 1, 0, other, x, 7);
    cr_assert_eq(cudaStreamSynchronize(waits), cudaErrorLaunchFailure);
}
