/* The emulated runtime: memory that other processes map, and what is refused. */
#include "tests/cuda/include/cuda.h"
#include "tests/cuda/runtime_case.h"

#include <sys/prctl.h>

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

Test(runtime_ipc, words_that_are_none_are_refused)
{
    int *memory = device_ints(4);
    cudaStream_t stream = stream_of();

    cr_assert_eq(cuStreamWriteValue32(stream, at(memory) + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWriteValue32(stream, at(memory + 1024), 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue64(stream, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue64(stream, at(memory + 1), 1, 0), CUDA_ERROR_INVALID_VALUE);
    cr_assert_eq(cuStreamWaitValue64(stream, at(memory), 0, CU_STREAM_WAIT_VALUE_FLUSH),
                 CUDA_ERROR_INVALID_VALUE); /* which this device cannot */
    cr_assert_eq(cudaGetLastError(), cudaSuccess);
    OK(cudaStreamDestroy(stream));
    cr_assert_neq(cuStreamWaitValue64(stream, at(memory), 0, 0), CUDA_SUCCESS);
}
