/* The emulated runtime: memory that other processes map, and streams that wait for words of it. */
#include "tests/cuda/include/cuda.h"
#include "tests/cuda/runtime_case.h"

#include <sys/prctl.h>

enum { COUNT = 3000 };
static const cudaIpcMemHandle_t NO_HANDLE = {};

static int *device_ints(size_t count)
{
    void *memory;

    OK(cudaMalloc(&memory, count * sizeof(int)));
    OK(cudaMemset(memory, 0, count * sizeof(int)));
    OK(cudaDeviceSynchronize());
    return (int *)memory;
}

static cudaStream_t stream_of(void)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static cudaIpcMemHandle_t handle_of(void *memory)
{
    cudaIpcMemHandle_t handle;

    OK(cudaIpcGetMemHandle(&handle, memory));
    return handle;
}

static int *open_or_fail(const cudaIpcMemHandle_t &handle)
{
    void *memory;

    OK(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess));
    return (int *)memory;
}

static CUdeviceptr at(const int *word)
{
    return (CUdeviceptr)word;
}

static int read_int(const int *device)
{
    int value;

    OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* ---- two processes --------------------------------------------------------------------------- */

/* Both begin without CUDA; each side is given the ends of two pipes. */
struct ends {
    int in, out;
};

static void give(struct ends e, const void *data, size_t bytes)
{
    cr_assert_eq(write(e.out, data, bytes), (ssize_t)bytes);
}

static void take(struct ends e, void *data, size_t bytes)
{
    cr_assert_eq(read(e.in, data, bytes), (ssize_t)bytes);
}

static void meet(struct ends e)
{
    char word = 0;

    give(e, &word, 1);
    take(e, &word, 1);
}

static void in_two_processes(void (*first)(struct ends), void (*second)(struct ends))
{
    int there[2], back[2], status;

    cr_assert(pipe(there) == 0 && pipe(back) == 0);
    const pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        second({there[0], back[1]});
        _exit(0);
    }
    first({back[0], there[1]});
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
}

/* What a process had written before others mapped its memory, and what it writes after. */
static void show(struct ends e)
{
    int *memory = device_ints(COUNT);

    PP_LAUNCH(put, 1, 1, 0, 0, memory + COUNT - 1, 41);
    OK(cudaDeviceSynchronize());
    const cudaIpcMemHandle_t handle = handle_of(memory);
    give(e, &handle, sizeof handle);
    meet(e);
    cr_assert_eq(read_int(memory), 7);
    PP_LAUNCH(put, 1, 1, 0, 0, memory + 1, 8);
    OK(cudaDeviceSynchronize());
    meet(e);
    meet(e); /* it is closed there */
    OK(cudaFree(memory));
}

static void see(struct ends e)
{
    cudaIpcMemHandle_t handle;

    take(e, &handle, sizeof handle);
    int *memory = open_or_fail(handle);
    cr_assert_eq(read_int(memory + COUNT - 1), 41);
    PP_LAUNCH(put, 1, 1, 0, 0, memory, 7);
    OK(cudaDeviceSynchronize());
    meet(e);
    meet(e);
    cr_assert_eq(read_int(memory + 1), 8);
    cr_assert_eq(open_or_fail(handle), memory);
    cr_assert_eq(cudaFree(memory), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcCloseMemHandle(memory + 1), cudaErrorInvalidValue);
    OK(cudaIpcCloseMemHandle(memory));
    cr_assert_eq(read_int(memory + 1), 8);
    OK(cudaIpcCloseMemHandle(memory));
    cr_assert_eq(cudaIpcCloseMemHandle(memory), cudaErrorInvalidValue);
    meet(e);
}

Test(runtime_ipc, two_processes_see_one_memory)
{
    in_two_processes(show, see);
}

/* Streams of two processes exchange a word in turn, past the overflow of its numbers. Hosts that
 * wait for something else block no stream. */
enum { ROUNDS = 40, BEFORE_THE_END = 20 };
struct table {
    int word, flag[2];
};

static unsigned round_of(int k)
{
    return (unsigned)(k - BEFORE_THE_END);
}

static void add_in_turns(struct ends e, struct table *own, struct table *word_of,
                         struct table *peer, int side)
{
    cudaStream_t stream = stream_of();
    int *seen = pinned_array(ROUNDS);

    for (int k = 1; k <= ROUNDS; k++) {
        if (k % 2 == side) {
            PP_LAUNCH(put, 1, 1, 0, stream, &word_of->word, k);
            cr_assert_eq(cuStreamWriteValue32(stream, at(&peer->flag[0]), round_of(k), 0), 0);
        } else {
            cr_assert_eq(cuStreamWaitValue32(stream, at(&own->flag[0]), round_of(k), 0), 0);
            OK(cudaMemcpyAsync(seen + k - 1, &word_of->word, sizeof(int), cudaMemcpyDefault,
                               stream));
        }
    }
    meet(e); /* all is issued; no thread of this process synchronises */
    OK(cudaStreamSynchronize(stream));
    for (int k = 1; k <= ROUNDS; k++)
        cr_assert_eq(seen[k - 1], k % 2 == side ? 0 : k);
    OK(cudaStreamDestroy(stream));
    meet(e);
}

static void play(struct ends e, int side)
{
    struct table *own = (struct table *)device_ints(3);
    cudaIpcMemHandle_t handle = handle_of(own);

    cr_assert_eq(cuStreamWriteValue32(NULL, at(&own->flag[0]), round_of(0), 0), 0);
    OK(cudaDeviceSynchronize());
    give(e, &handle, sizeof handle);
    take(e, &handle, sizeof handle);
    struct table *peer = (struct table *)open_or_fail(handle);
    add_in_turns(e, own, side == 1 ? own : peer, peer, side);
    OK(cudaIpcCloseMemHandle(peer));
    meet(e);
    OK(cudaFree(own));
}

Test(runtime_ipc, streams_of_two_processes_wait_for_each_other)
{
    in_two_processes([](struct ends e) { play(e, 1); }, [](struct ends e) { play(e, 0); });
}

/* Half of a word of 64 bits is enough to pass it, and whatever the other half says then. */
Test(runtime_ipc, a_wide_word_is_of_two_halves)
{
    int *memory = device_ints(2);
    cudaStream_t waits = stream_of(), writes = stream_of();

    cr_assert_eq(cuStreamWaitValue64(waits, at(memory), 3, 0), CUDA_SUCCESS);
    cr_assert_eq(cuStreamWriteValue32(writes, at(memory), 2, 0), CUDA_SUCCESS);
    OK(cudaStreamSynchronize(writes));
    cr_assert_eq(cudaStreamQuery(waits), cudaErrorNotReady);
    cr_assert_eq(cuStreamWriteValue32(writes, at(memory + 1), 1, 0), CUDA_SUCCESS);
    cr_assert_eq(cuStreamWriteValue32(writes, at(memory), 0, 0), CUDA_SUCCESS);
    OK(cudaStreamSynchronize(waits));
    OK(cudaStreamSynchronize(writes));
}

/* ---- what is refused ------------------------------------------------------------------------- */

Test(runtime_ipc, what_is_no_base_of_device_memory_is_not_exported)
{
    int *memory = device_ints(4), *pinned = pinned_array(4);
    cudaIpcMemHandle_t handle;

    cr_assert_eq(cudaIpcGetMemHandle(&handle, memory + 1), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcGetMemHandle(&handle, pinned), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcGetMemHandle(&handle, NULL), cudaErrorInvalidValue);
}

Test(runtime_ipc, a_process_does_not_open_its_own)
{
    void *memory;
    const cudaIpcMemHandle_t handle = handle_of(device_ints(4));

    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorDeviceUninitialized);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, 0), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, NO_HANDLE, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorInvalidValue);
}

static void show_and_free(struct ends e)
{
    const auto act = [](struct ends all) {
        int *memory = device_ints(4);
        const cudaIpcMemHandle_t handle = handle_of(memory);
        give(all, &handle, sizeof handle);
        meet(all);
        cudaFree(memory);
    };
    static struct ends ends;

    ends = e;
    static const auto *run = &act;
    dies([] { (*run)(ends); }, SIGABRT, "freed that another process has opened and not closed");
    meet(e);
}

static void see_and_keep(struct ends e)
{
    cudaIpcMemHandle_t handle;

    take(e, &handle, sizeof handle);
    open_or_fail(handle);
    meet(e);
    meet(e);
}

Test(runtime_ipc, what_another_process_has_open_is_not_freed)
{
    in_two_processes(show_and_free, see_and_keep);
}

static void hide(struct ends e)
{
    int *memory = device_ints(4);
    const cudaIpcMemHandle_t handle = handle_of(memory);

    OK(cudaFree(memory));
    give(e, &handle, sizeof handle);
    meet(e);
}

static void miss(struct ends e)
{
    cudaIpcMemHandle_t handle;
    void *memory;

    take(e, &handle, sizeof handle);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorMapBufferObjectFailed);
    meet(e);
}

Test(runtime_ipc, what_is_freed_is_not_opened)
{
    in_two_processes(hide, miss);
}

static void show_from_second(struct ends e)
{
    OK(cudaSetDevice(1));
    const cudaIpcMemHandle_t handle = handle_of(device_ints(4));
    give(e, &handle, sizeof handle);
    meet(e);
}

static void see_from_first(struct ends e)
{
    cudaIpcMemHandle_t handle;
    void *memory;

    take(e, &handle, sizeof handle);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorPeerAccessUnsupported);
    meet(e);
}

Test(runtime_ipc, devices_that_do_not_reach_each_other_share_nothing)
{
    setenv("PP_EMULATED_DEVICES", "2", 1);
    setenv("PP_EMULATED_PEERS", "0", 1);
    in_two_processes(show_from_second, see_from_first);
}

Test(runtime_ipc, words_that_are_none_are_refused)
{
    int *memory = device_ints(4);
    cudaStream_t stream = stream_of();

    cr_assert_eq(cuStreamWriteValue32(stream, at(memory) + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWriteValue32(stream, at(memory + 1024), 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue32(stream, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue64(stream, at(memory + 1), 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue32(stream, at(memory), 0, CU_STREAM_WAIT_VALUE_FLUSH),
                 CUDA_ERROR_INVALID_VALUE); /* which this device cannot */
    cr_assert_eq(cudaGetLastError(), cudaSuccess);
    OK(cudaStreamDestroy(stream));
    cr_assert_neq(cuStreamWaitValue32(stream, at(memory), 0, 0), CUDA_SUCCESS);
}
