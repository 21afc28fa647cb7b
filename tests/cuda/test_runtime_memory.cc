/* The emulated runtime: memory that is not the host's, devices, times, and what goes wrong. */
#include "tests/cuda/emulated_case.h"
#include "tests/cuda/include/cuda.h"

#include <math.h>

enum { COUNT = 64 };

__global__ void fill(int *x, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        x[i] = i;
}

/* Pageable memory is read at once, pinned memory later. */
Test(runtime_memory, copies)
{
    int *device = device_array<int>(COUNT), host[COUNT], *pinned = shared_array<int>(COUNT);

    pinned[0] = host[0] = 100;
    OK(cudaMemcpyAsync(device, host, sizeof(int), cudaMemcpyHostToDevice, NULL));
    OK(cudaMemcpyAsync(device + 1, pinned, sizeof(int), cudaMemcpyHostToDevice, NULL));
    pinned[0] = host[0] = 200;
    OK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, NULL));
    cr_assert_eq(host[0], 100);
    cr_assert_eq(host[1], 200);
    cr_assert_eq(cudaMemcpy(host, device, sizeof host, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
}

Test(runtime_memory, fresh_memory_is_poison)
{
    float *device = device_array<float>(COUNT), host[COUNT];

    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDefault));
    for (float x : host)
        cr_assert(isnan(x));
}

Test(runtime_memory, host_must_not_touch_device_memory)
{
    static volatile int *touched;

    touched = device_array<int>(COUNT);
    PP_LAUNCH(put, 1, 1, 0, 0, (int *)touched, 1);
    OK(cudaDeviceSynchronize());
    dies([] { *touched = 1; }, SIGSEGV,
         "the host touched memory of the device: byte 0 of an allocation of 256 ");
}

Test(runtime_memory, work_beyond_an_allocation)
{
    const auto overrun = [] {
        PP_LAUNCH(fill, 1, 32, 0, 0, device_array<int>(COUNT), COUNT + 1);
        cudaDeviceSynchronize();
    };

    dies(overrun, SIGSEGV, "work of the device touched byte 256 of an allocation of 256 bytes");
}

Test(runtime_memory, freed_memory)
{
    const auto use_freed = [] {
        int *x = device_array<int>(COUNT);
        cudaFree(x);
        PP_LAUNCH(fill, 1, 32, 0, 0, x, COUNT);
    };

    dies(use_freed, SIGABRT, "which is no memory of a device");
}

Test(runtime_memory, memory_of_another_device)
{
    const auto use = [] {
        int *x = device_array<int>(1);
        cudaSetDevice(1);
        PP_LAUNCH(put, 1, 1, 0, 0, x, 1);
    };

    setenv("PP_EMULATED_DEVICES", "2", 1);
    dies(use, SIGABRT, "runs on device 1, but is given");
}

static void make_part(CUgreenCtx *part, CUstream *stream)
{
    CUdevResource all, half;
    CUdevResourceDesc description;
    unsigned groups = 1;

    cr_assert_eq(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    cr_assert_eq(cuDevSmResourceSplitByCount(&half, &groups, &all, NULL, 0, all.sm.smCount / 2),
                 CUDA_SUCCESS);
    cr_assert_eq(cuDevResourceGenerateDesc(&description, &half, 1), CUDA_SUCCESS);
    cr_assert_eq(cuGreenCtxCreate(part, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    cr_assert_neq(cuGreenCtxStreamCreate(stream, *part, 0, 0), CUDA_SUCCESS);
    cr_assert_eq(cuGreenCtxStreamCreate(stream, *part, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
}

Test(runtime_memory, parts)
{
    const auto destroy_part_first = [] {
        CUgreenCtx part;
        CUstream stream;
        make_part(&part, &stream);
        cuGreenCtxDestroy(part);
    };
    CUgreenCtx part;
    CUstream stream;

    make_part(&part, &stream);
    OK(cudaStreamDestroy(stream));
    cr_assert_eq(cuGreenCtxDestroy(part), CUDA_SUCCESS);
    dies(destroy_part_first, SIGABRT, "a part of the device is destroyed before its streams");
}

Test(runtime_memory, launches_that_cannot_be)
{
    int *x = shared_array<int>(1);

    PP_LAUNCH(put, 1, 1025, 0, 0, x, 1);
    cr_assert_eq(cudaGetLastError(), cudaErrorInvalidConfiguration);
    PP_LAUNCH(put, 1, 1, 50000, 0, x, 1);
    cr_assert_eq(cudaGetLastError(), cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(put, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000));
    PP_LAUNCH(put, 1, 1, 50000, 0, x, 1);
    OK(cudaDeviceSynchronize());
    cr_assert_eq(*x, 1);
}

Test(runtime_memory, times)
{
    cudaEvent_t start = event_of(cudaEventDefault), end = event_of(cudaEventDefault);
    cudaEvent_t without = event_of(cudaEventDisableTiming);
    int *x = device_array<int>(1 << 20);
    float ms;

    cr_assert_eq(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start, NULL));
    PP_LAUNCH(fill, 1, 1, 0, 0, x, 1 << 20);
    OK(cudaEventRecord(end, NULL));
    OK(cudaEventRecord(without, NULL));
    cr_assert_eq(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
    OK(cudaDeviceSynchronize());
    cr_assert_eq(cudaEventElapsedTime(&ms, start, without), cudaErrorInvalidResourceHandle);
}
