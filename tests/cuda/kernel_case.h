/* tests/cuda/kernel_case.h — for tests of single kernels of their own on the emulated device. */
#ifndef PP_TESTS_CUDA_KERNEL_CASE_H
#define PP_TESTS_CUDA_KERNEL_CASE_H

#include "kernels/cuda/attention/mma.cuh"

#include <criterion/criterion.h>

/* Memory that both sides see; zeros. */
template <class T> static T *shared_array(size_t count)
{
    void *memory;

    cr_assert_eq(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped), cudaSuccess);
    memset(memory, 0, count * sizeof(T));
    return (T *)memory;
}

static inline void finish(void)
{
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    cr_assert_eq(cudaGetLastError(), cudaSuccess);
}

#endif
