/* The emulated runtime: memory that other processes map, and what is refused. */
#include "tests/cuda/emulated_case.h"
#include "tests/cuda/include/cuda.h"

#include <sys/prctl.h>

static const cudaIpcMemHandle_t NO_HANDLE = {};

static cudaIpcMemHandle_t handle_of(void *memory)
{
    cudaIpcMemHandle_t handle;

    OK(cudaIpcGetMemHandle(&handle, memory));
    return handle;
}

static CUdeviceptr at(const int *word)
{
    return (CUdeviceptr)word;
}

Test(runtime_ipc, what_is_no_base_of_device_memory_is_not_exported)
{
    int *memory = device_array<int>(4), *pinned = shared_array<int>(4);
    cudaIpcMemHandle_t handle;

    cr_assert_eq(cudaIpcGetMemHandle(&handle, memory + 1), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcGetMemHandle(&handle, pinned), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcGetMemHandle(&handle, NULL), cudaErrorInvalidValue);
}

Test(runtime_ipc, a_process_does_not_open_its_own)
{
    void *memory;
    const cudaIpcMemHandle_t handle = handle_of(device_array<int>(4));

    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorDeviceUninitialized);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, handle, 0), cudaErrorInvalidValue);
    cr_assert_eq(cudaIpcOpenMemHandle(&memory, NO_HANDLE, cudaIpcMemLazyEnablePeerAccess),
                 cudaErrorInvalidValue);
}

/* The other process begins without CUDA. */
static void free_what_is_open(void)
{
    cudaIpcMemHandle_t handle;
    int ends[2], said[2];
    void *memory;

    if (pipe(ends) != 0 || pipe(said) != 0)
        return;
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(ends[0], &handle, sizeof handle) != (ssize_t)sizeof handle ||
            cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess ||
            write(said[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    close(said[1]);
    int *own = device_array<int>(4);
    handle = handle_of(own);
    if (write(ends[1], &handle, sizeof handle) == (ssize_t)sizeof handle &&
        read(said[0], &handle, 1) == 1)
        cudaFree(own);
}

Test(runtime_ipc, what_another_process_has_open_is_not_freed)
{
    dies(free_what_is_open, SIGABRT, "freed that another process has opened and not closed");
}

Test(runtime_ipc, words_that_are_none_are_refused)
{
    int *memory = device_array<int>(4);
    cudaStream_t stream = stream_of(cudaStreamNonBlocking);

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
