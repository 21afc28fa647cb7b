/* kernels/cuda/device/map.cuh — the same operation on every element of flat vectors, or of rows.
 *
 * An operation is a struct of pointers and numbers, passed by value, with
 *     template <int N> __device__ void run(...) const
 * for N neighbouring elements. run(int64_t i) begins at element i of a vector, and
 * run(int row, int column) lies within a row. A thread has one call, so that threads hide the
 * latency of memory. On an H200, 2,048 threads with 16 bytes each keep more bytes in flight than a
 * multiprocessor needs. Every element is read and written once. */
#pragma once

#include "kernels/cuda/device/stream.h"
#include "kernels/cuda/device/vector.cuh"

enum { PP_MAP_THREADS = 256 };

static inline cudaStream_t pp_cuda_of(void *stream)
{
    return ((const struct pp_cuda_stream *)stream)->stream;
}

template <class Op, int N>
__global__ __launch_bounds__(PP_MAP_THREADS) void pp_map_kernel(Op op, int64_t count)
{
    const int64_t i = ((int64_t)blockIdx.x * PP_MAP_THREADS + threadIdx.x) * N;

    if (i + N <= count)
        op.template run<N>(i);
    else
        for (int64_t j = i; j < count; j++)
            op.template run<1>(j);
}

/* Runs elements 0 .. count - 1; N at once when `is_aligned`. */
template <int N, class Op>
static void pp_map(void *stream, int64_t count, bool is_aligned, const Op &op)
{
    const int64_t at_once = PP_MAP_THREADS * (int64_t)(is_aligned ? N : 1);
    const unsigned blocks = (unsigned)((count + at_once - 1) / at_once);

    if (count == 0)
        return;
    if (is_aligned)
        PP_LAUNCH((pp_map_kernel<Op, N>), blocks, PP_MAP_THREADS, 0, pp_cuda_of(stream), op, count);
    else
        PP_LAUNCH((pp_map_kernel<Op, 1>), blocks, PP_MAP_THREADS, 0, pp_cuda_of(stream), op, count);
}

/* Adds a vector to one of T. */
template <class T> struct pp_add_to {
    const float *x;
    T *y;

    template <int N> __device__ void run(int64_t i) const
    {
        pp_floats<N> sum = pp_load<N>(y + i);

        pp_add(sum, pp_load<N>(x + i));
        pp_save(y + i, sum);
    }
};

/* A row is cut into `tiles`, a block each. */
template <class Op, int N>
__global__ __launch_bounds__(PP_MAP_THREADS) void pp_map_rows_kernel(Op op, int width, int tiles)
{
    const int row = (int)(blockIdx.x / (unsigned)tiles), tile = (int)(blockIdx.x % (unsigned)tiles);
    const int column = (tile * (int)blockDim.x + (int)threadIdx.x) * N;

    if (column < width)
        op.template run<N>(row, column);
}

template <int N, class Op>
static void pp_map_rows_by(void *stream, int rows, int width, const Op &op)
{
    const int vectors = width / N, tiles = (vectors + PP_MAP_THREADS - 1) / PP_MAP_THREADS;
    const int threads = ((vectors + tiles - 1) / tiles + 31) / 32 * 32;

    PP_LAUNCH((pp_map_rows_kernel<Op, N>), (unsigned)rows * (unsigned)tiles, threads, 0,
              pp_cuda_of(stream), op, width, tiles);
}

/* Runs columns 0 .. width - 1 of all rows; N at once if `is_aligned` and N divides the width. */
template <int N, class Op>
static void pp_map_rows(void *stream, int rows, int width, bool is_aligned, const Op &op)
{
    if (rows == 0 || width == 0)
        return;
    if (is_aligned && width % N == 0)
        pp_map_rows_by<N>(stream, rows, width, op);
    else
        pp_map_rows_by<1>(stream, rows, width, op);
}
