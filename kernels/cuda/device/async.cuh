/* kernels/cuda/device/async.cuh — asynchronous copies into shared memory: PTX for sm_80 and later,
 * or the emulation's functions of the same names.
 *
 * A copy has 16 bytes, aligned at both ends. It completes before a wait for its group returns.
 * wait<N> leaves the last N committed groups of the thread in flight. Addresses of type
 * pp_shared_at allow arithmetic on bits. */
#pragma once

#include "kernels/cuda/device/device.cuh"

#ifndef PP_CUDA_EMULATED

typedef uint32_t pp_shared_at;

static __device__ __forceinline__ pp_shared_at pp_shared_address(const void *shared)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/* Copies zeros if not `is_valid`; does not read `global` then. */
static __device__ __forceinline__ void pp_cp_async_16(void *shared, const void *global,
                                                      bool is_valid)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n"
                 :
                 : "r"(pp_shared_address(shared)), "l"(__cvta_generic_to_global(global)),
                   "r"(is_valid ? 16 : 0)
                 : "memory");
}

static __device__ __forceinline__ void pp_cp_async_commit()
{
    asm volatile("cp.async.commit_group;\n" ::: "memory");
}

template <int N> static __device__ __forceinline__ void pp_cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;\n" : : "n"(N) : "memory");
}

#else

typedef uintptr_t pp_shared_at;

static inline pp_shared_at pp_shared_address(const void *shared)
{
    return (pp_shared_at)shared;
}

#endif
