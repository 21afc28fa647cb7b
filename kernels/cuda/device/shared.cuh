/* kernels/cuda/device/shared.cuh — much shared memory for a kernel. */
#pragma once

#include "kernels/cuda/device/device.cuh"

#include <atomic>

/* Allows a kernel 48 KiB or more of dynamic shared memory for each block, once on each device.
 * `done` belongs to the kernel and has a bit for each device. */
struct pp_cuda_allowed {
    std::atomic<uint64_t> devices;
};
static inline void pp_cuda_allow(struct pp_cuda_allowed *done, const void *kernel,
                                 size_t shared_bytes)
{
    int device = 0;

    if (shared_bytes < 48 << 10 || cudaGetDevice(&device) != cudaSuccess)
        return;
    const uint64_t bit = device < 64 ? (uint64_t)1 << device : 0;
    if (done->devices.load(std::memory_order_relaxed) & bit)
        return;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_bytes) == cudaSuccess)
        done->devices.fetch_or(bit, std::memory_order_relaxed);
}
