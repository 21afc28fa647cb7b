/* tests/cuda/runtime_case.h — for tests of the emulated runtime. */
#ifndef PP_TESTS_CUDA_RUNTIME_CASE_H
#define PP_TESTS_CUDA_RUNTIME_CASE_H

#include "kernels/cuda/device/device.cuh"
#include "tests/cuda/dies.h"

#include <stdlib.h>

#define OK(call) cr_assert_eq(call, cudaSuccess)

static inline int *pinned_array(size_t count)
{
    void *memory;

    OK(cudaHostAlloc(&memory, count * sizeof(int), cudaHostAllocMapped));
    memset(memory, 0, count * sizeof(int));
    return (int *)memory;
}

static inline cudaEvent_t event_of(unsigned flags)
{
    cudaEvent_t event;

    OK(cudaEventCreateWithFlags(&event, flags));
    return event;
}

static inline __global__ void put(int *x, int value)
{
    *x = value;
}

#endif
