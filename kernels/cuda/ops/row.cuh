/* kernels/cuda/ops/row.cuh — a row of logits that a block reads, each thread some of it. */
#pragma once

#include "kernels/cuda/device/vector.cuh"

/* Two blocks share a multiprocessor, so that the loads of one hide the sums of the other. For
 * 50,000 words, the rows in progress on an H200 take 26 MB of bf16 and fit into its cache. */
enum { PP_ROW_THREADS = 768, PP_ROW_BLOCKS = 2, PP_ROW_WARPS = PP_ROW_THREADS / 32 };

/* A row of any length at any address. It has up to N - 1 single elements, then whole vectors from a
 * multiple of 16 bytes on, then up to N - 1 single elements. */
template <class T, int N> struct pp_row {
    T *row;
    int head, vectors, width;

    __device__ __forceinline__ pp_row(T *begin, int count)
    {
        const int misaligned = (int)((uintptr_t)begin / sizeof(T) % N);

        row = begin;
        width = count;
        head = misaligned == 0 ? 0 : N - misaligned;
        head = head < width ? head : width;
        vectors = (width - head) / N;
    }

    /* Index of this thread's single element at the ends, or -1. */
    __device__ __forceinline__ int single() const
    {
        const int i = (int)threadIdx.x, tail = head + vectors * N;

        return i < head ? i : tail + i - head < width ? tail + i - head : -1;
    }
};
