/* The emulated runtime: work that waits, in orders that streams and events allow; memory that is
 * not the host's; and what goes wrong. */
#include "tests/cuda/runtime_case.h"

#include <thread>
#include <vector>

enum { ROUNDS = 40 };

static cudaStream_t stream_of(unsigned flags)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

__global__ void copy(const int *from, int *to)
{
    *to = *from;
}

/* ---- order ----------------------------------------------------------------------------------- */

Test(runtime, work_waits_for_a_thread_that_waits)
{
    int *x = pinned_array(1);

    PP_LAUNCH(put, 1, 1, 0, 0, x, 7);
    cr_assert_eq(*x, 0);
    OK(cudaDeviceSynchronize());
    cr_assert_eq(*x, 7);
}

Test(runtime, query_brings_work_on)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    int *x = pinned_array(1);

    for (int i = 1; i <= 3; i++)
        PP_LAUNCH(put, 1, 1, 0, stream, x, i);
    for (int i = 1; i < 3; i++) {
        cr_assert_eq(cudaStreamQuery(stream), cudaErrorNotReady);
        cr_assert_eq(*x, i);
    }
    OK(cudaStreamQuery(stream));
    cr_assert_eq(cudaGetLastError(), cudaErrorNotReady);
    OK(cudaGetLastError());
}

/* One stream writes, another one reads: with an event between, or without. */
static int wrong_rounds(bool has_event)
{
    cudaStream_t writer = stream_of(cudaStreamNonBlocking);
    cudaStream_t reader = stream_of(cudaStreamNonBlocking);
    cudaEvent_t written = event_of(cudaEventDisableTiming);
    int *x = pinned_array(2), wrong = 0;

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

/* Waiting refers to the latest record before it; later ones, and none, are nothing to wait for. */
Test(runtime, records)
{
    cudaStream_t a = stream_of(cudaStreamNonBlocking), b = stream_of(cudaStreamNonBlocking);
    cudaEvent_t event = event_of(cudaEventDisableTiming);
    int *x = pinned_array(2);

    OK(cudaStreamWaitEvent(b, event, 0));
    OK(cudaEventSynchronize(event));
    PP_LAUNCH(put, 1, 1, 0, b, x, 1);
    OK(cudaEventRecord(event, b));
    OK(cudaStreamWaitEvent(a, event, 0));
    PP_LAUNCH(copy, 1, 1, 0, a, x, x + 1);
    OK(cudaEventRecord(event, a));
    OK(cudaStreamWaitEvent(b, event, 0));
    PP_LAUNCH(put, 1, 1, 0, b, x, 2);
    OK(cudaEventQuery(event) == cudaErrorNotReady ? cudaEventSynchronize(event) : cudaSuccess);
    OK(cudaStreamSynchronize(b));
    cr_assert_eq(x[1], 1);
    cr_assert_eq(x[0], 2);
    OK(cudaEventDestroy(event));
    cr_assert_eq(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
}

/* The default stream is between what was issued before it and after it. */
static int wrong_by_default_stream(unsigned flags)
{
    cudaStream_t stream = stream_of(flags);
    int *x = pinned_array(3), wrong = 0;

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

/* The same program gives the same order again with the same seed, and others with others. */
static std::vector<int> orders(const char *seed)
{
    std::vector<int> order;
    int ends[2], at;

    cr_assert_eq(pipe(ends), 0);
    if (fork() == 0) {
        setenv("PP_EMULATED_SEED", seed, 1);
        int *x = pinned_array(1), *y = pinned_array(8);
        for (int i = 0; i < 8; i++) {
            cudaStream_t stream = stream_of(cudaStreamNonBlocking);
            PP_LAUNCH(copy, 1, 1, 0, stream, x, y + i);
            PP_LAUNCH(put, 1, 1, 0, stream, x, i + 1);
        }
        cudaDeviceSynchronize();
        _exit(write(ends[1], y, 8 * sizeof *y) < 0);
    }
    close(ends[1]);
    while (read(ends[0], &at, sizeof at) == sizeof at)
        order.push_back(at);
    close(ends[0]);
    cr_assert_eq(order.size(), 8);
    return order;
}

Test(runtime, seeds)
{
    bool has_other = false;

    cr_assert(orders("3") == orders("3"));
    for (const char *seed : {"1", "2", "5"})
        has_other |= orders(seed) != orders("3");
    cr_assert(has_other);
}

/* ---- host functions -------------------------------------------------------------------------- */

struct note {
    int *x, seen;
    cudaError_t error;
};

static void take_note(void *data)
{
    struct note *note = (struct note *)data;

    note->seen = *note->x;
    note->error = cudaStreamSynchronize(NULL);
}

Test(runtime, host_functions)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    struct note note = {pinned_array(1), 0, cudaSuccess};

    PP_LAUNCH(put, 1, 1, 0, stream, note.x, 1);
    OK(cudaLaunchHostFunc(stream, take_note, &note));
    PP_LAUNCH(put, 1, 1, 0, stream, note.x, 2);
    cr_assert_eq(note.seen, 0);
    OK(cudaStreamSynchronize(stream));
    cr_assert_eq(note.seen, 1);
    cr_assert_eq(note.error, cudaErrorNotPermitted);
    cr_assert_eq(*note.x, 2);
}

static void wait_for_flag(void *flag)
{
    while (!__atomic_load_n((int *)flag, __ATOMIC_ACQUIRE))
        std::this_thread::yield();
}

/* While it waits, another thread issues work of its own, and waits for it. */
Test(runtime, host_function_that_waits_for_a_thread)
{
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);
    int *x = pinned_array(1), flag = 0;

    OK(cudaLaunchHostFunc(stream, wait_for_flag, &flag));
    std::thread other([&] {
        cudaStream_t own = stream_of(cudaStreamNonBlocking);
        PP_LAUNCH(put, 1, 1, 0, own, x, 5);
        OK(cudaStreamSynchronize(own));
        __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    });
    OK(cudaStreamSynchronize(stream));
    other.join();
    cr_assert_eq(*x, 5);
}

Test(runtime, threads)
{
    int *x = pinned_array(4);
    std::vector<std::thread> threads;

    for (int i = 0; i < 4; i++)
        threads.emplace_back([x, i] {
            cudaStream_t stream = stream_of(cudaStreamNonBlocking);
            for (int value = 1; value <= 200; value++) {
                PP_LAUNCH(put, 1, 32, 0, stream, x + i, value);
                if (value % 20 == 0)
                    OK(cudaStreamSynchronize(stream));
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < 4; i++)
        cr_assert_eq(x[i], 200);
}
