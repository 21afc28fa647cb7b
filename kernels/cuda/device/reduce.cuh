/* kernels/cuda/device/reduce.cuh — sums over the threads of a warp or of a row of
 * threads. All additions are in a fixed order, and all threads get the same bits. */
#pragma once

#include "kernels/cuda/device/device.cuh"

template <class V> __device__ __forceinline__ V pp_warp_sum(V x)
{
#ifdef PP_CUDA_EMULATED
    if (pp_emulated_folds)
        return pp_emulated_fold(x, [](V a, V b) { return a + b; });
#endif
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    return x;
}

/* The sum over this lane and those before it. */
template <class V> __device__ __forceinline__ V pp_warp_sum_so_far(V x)
{
    const int lane = (int)threadIdx.x % 32;

#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const V before = __shfl_up_sync(0xffffffffu, x, distance);
        x += lane >= distance ? before : 0;
    }
    return x;
}

/* Sums of COUNT numbers over the threads with one threadIdx.y: blockDim.x of them, a multiple of
 * 32. `shared` has COUNT numbers for each warp of the block. All threads of the block call it. */
template <int COUNT, class V> __device__ __forceinline__ void pp_row_sums(V (&x)[COUNT], V *shared)
{
    const unsigned warps = blockDim.x / 32, first = threadIdx.y * warps;

#pragma unroll
    for (int k = 0; k < COUNT; k++)
        x[k] = pp_warp_sum(x[k]);
    if (warps == 1)
        return;
    __syncthreads(); /* earlier contents have been read */
    if (threadIdx.x % 32 == 0)
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            shared[(first + threadIdx.x / 32) * COUNT + k] = x[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        x[k] = 0;
        for (unsigned w = first; w < first + warps; w++)
            x[k] += shared[w * COUNT + k];
    }
}
