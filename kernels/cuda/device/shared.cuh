/* kernels/cuda/device/shared.cuh — much shared memory for a kernel. */
#pragma once

#include "kernels/cuda/device/device.cuh"

#include <atomic>

/* PP_LAUNCH of a kernel whose launches have up to `most` bytes of dynamic shared memory. */
#define PP_LAUNCH_SHARED(kernel, most, grid, block, shared_bytes, stream, ...)                     \
    do {                                                                                           \
        static std::atomic<uint64_t> allowed;                                                      \
        pp_cuda_allow(&allowed, (const void *)kernel, most);                                       \
        PP_LAUNCH(kernel, grid, block, shared_bytes, stream, __VA_ARGS__);                         \
    } while (0)

/* Allows a kernel 48 KiB or more of dynamic shared memory for each block, once on each device.
 * `done` belongs to the kernel and has a bit for each device. */
static inline void pp_cuda_allow(std::atomic<uint64_t> *done, const void *kernel,
                                 size_t shared_bytes)
{
    int device = 0;

    if (shared_bytes < 48 << 10 || cudaGetDevice(&device) != cudaSuccess)
        return;
    const uint64_t bit = device < 64 ? (uint64_t)1 << device : 0;
    if (done->load(std::memory_order_relaxed) & bit)
        return;
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             (int)shared_bytes) == cudaSuccess)
        done->fetch_or(bit, std::memory_order_relaxed);
}
