/* tests/cuda/emulated_case.h — for tests of the emulation by kernels of their own. */
#ifndef PP_TESTS_CUDA_EMULATED_CASE_H
#define PP_TESTS_CUDA_EMULATED_CASE_H

#include "kernels/cuda/device/mma.cuh"
#include "tests/cuda/dies.h"

#include <stdlib.h>

#define OK(call) cr_assert_eq(call, cudaSuccess)

/* Memory that both sides see; zeros. */
template <class T> static T *shared_array(size_t count)
{
    void *memory;

    OK(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped));
    memset(memory, 0, count * sizeof(T));
    return (T *)memory;
}

template <class T> static T *device_array(size_t count)
{
    T *memory;

    OK(cudaMalloc(&memory, count * sizeof(T)));
    return memory;
}

static inline cudaStream_t stream_of(unsigned flags)
{
    cudaStream_t stream;

    OK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static inline cudaEvent_t event_of(unsigned flags)
{
    cudaEvent_t event;

    OK(cudaEventCreateWithFlags(&event, flags));
    return event;
}

static inline void finish(void)
{
    OK(cudaDeviceSynchronize());
    OK(cudaGetLastError());
}

static inline __global__ void put(int *x, int value)
{
    *x = value;
}

#endif
