/* kernels/cuda/device/device.cuh — include of every kernel file: CUDA, or its emulation in
 * tests/cuda/ if PP_CUDA_EMULATED is defined. Both define:
 *
 *   PP_LAUNCH(kernel, grid, block, shared_bytes, stream, arguments...)
 *                        starts a kernel; a template is in parentheses
 *   PP_SHARED(T, name)   dynamic shared memory as T *name, aligned to 256 bytes
 *   pp_multiprocessor()  the number of the thread's multiprocessor */
#pragma once

#ifdef PP_CUDA_EMULATED
#include <emulated_device.h>
#else
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define PP_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                  \
    kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
#define PP_SHARED(T, name)                                                                         \
    extern __shared__ __align__(256) uint4 pp_shared_memory[];                                     \
    T *const name = reinterpret_cast<T *>(pp_shared_memory)

static __device__ __forceinline__ unsigned pp_multiprocessor()
{
    unsigned number;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}
#endif

#include <math.h>
#include <stdint.h>
