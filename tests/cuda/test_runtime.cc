/* The emulated runtime: work that waits, in any order that streams and events allow. */
#include "tests/cuda/emulated_case.h"

enum { ROUNDS = 40 };

__global__ void copy(const int *from, int *to)
{
    *to = *from;
}

Test(runtime, work_waits_for_a_thread_that_waits)
{
    int *x = shared_array<int>(1);

    PP_LAUNCH(put, 1, 1, 0, 0, x, 7);
    cr_assert_eq(*x, 0);
    OK(cudaDeviceSynchronize());
    cr_assert_eq(*x, 7);
}

/* One stream writes, another one reads: with an event between, or without. */
static int wrong_rounds(bool has_event)
{
    cudaStream_t writer = stream_of(cudaStreamNonBlocking);
    cudaStream_t reader = stream_of(cudaStreamNonBlocking);
    cudaEvent_t written = event_of(cudaEventDisableTiming);
    int *x = shared_array<int>(2), wrong = 0;

    for (int round = 1; round <= ROUNDS; round++) {
        PP_LAUNCH(put, 1, 1, 0, writer, x, round);
        OK(cudaEventRecord(written, writer));
        if (has_event)
            OK(cudaStreamWaitEvent(reader, written, 0));
        PP_LAUNCH(copy, 1, 1, 0, reader, x, x + 1);
        OK(cudaDeviceSynchronize());
        wrong += x[1] != round;
    }
    return wrong;
}

Test(runtime, missing_event)
{
    cr_assert_eq(wrong_rounds(true), 0);
    cr_assert_gt(wrong_rounds(false), 0);
}

/* The default stream is between what was issued before it and after it. */
static int wrong_by_default_stream(unsigned flags)
{
    cudaStream_t stream = stream_of(flags);
    int *x = shared_array<int>(3), wrong = 0;

    for (int round = 1; round <= ROUNDS; round++) {
        PP_LAUNCH(put, 1, 1, 0, stream, x, round);
        PP_LAUNCH(copy, 1, 1, 0, NULL, x, x + 1);
        PP_LAUNCH(copy, 1, 1, 0, stream, x + 1, x + 2);
        OK(cudaDeviceSynchronize());
        wrong += x[1] != round || x[2] != round;
    }
    return wrong;
}

Test(runtime, default_stream)
{
    cr_assert_eq(wrong_by_default_stream(cudaStreamDefault), 0);
    cr_assert_gt(wrong_by_default_stream(cudaStreamNonBlocking), 0);
}
