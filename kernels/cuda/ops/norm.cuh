/* kernels/cuda/ops/norm.cuh — what both directions of norms share: a row in registers, arguments.
 */
#pragma once

#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

enum { PP_NORM_THREADS = 128 }; /* of a block with several rows */

/* The row of this thread in COUNT tensors of the same shape. HELD vectors of each are in registers;
 * the rest of wider rows is read again. IS_WHOLE: no row is wider. */
template <class T, int N, int COUNT, int HELD, bool IS_WHOLE = false> struct pp_norm_rows {
    pp_packed<T, N> held[HELD][COUNT];
    const T *from[COUNT];
    int width;

    __device__ __forceinline__ int column(int vector) const
    {
        return (vector * (int)blockDim.x + (int)threadIdx.x) * N;
    }

    __device__ __forceinline__ void read()
    {
#pragma unroll
        for (int v = 0; v < HELD; v++)
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                if (column(v) < width)
                    held[v][k] = pp_fetch<N>(from[k] + column(v));
    }

    /* Calls visit(column, values, v): N neighbours of each of the tensors. v counts the vectors in
     * registers, and is -1 for others. */
    template <class F> __device__ __forceinline__ void each(F visit) const
    {
        pp_floats<N> values[COUNT];

#pragma unroll
        for (int v = 0; v < HELD; v++)
            if (column(v) < width) {
#pragma unroll
                for (int k = 0; k < COUNT; k++)
                    values[k] = pp_unpack<N>(held[v][k]);
                visit(column(v), values, v);
            }
        for (int v = HELD; !IS_WHOLE && column(v) < width; v++) {
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                values[k] = pp_load<N>(from[k] + column(v));
            visit(column(v), values, -1);
        }
    }
};

template <class T> struct pp_norm_call {
    int rows, width;
    bool is_rms;
    float epsilon;
    const T *x, *gamma, *beta, *dy, *base;
    T *y, *dx;
    float *stats;

    explicit pp_norm_call(const struct pp_norm *n)
        : rows(n->rows), width(n->width), is_rms(n->is_rms), epsilon((float)n->epsilon),
          x((const T *)n->x), gamma((const T *)n->gamma), beta((const T *)n->beta),
          dy((const T *)n->dy), base((const T *)n->base), y((T *)n->y), dx((T *)n->dx),
          stats((float *)n->stats)
    {
    }
};

/* A row gets the fewest threads, up to `most`, that hold all of it in `held` vectors, as a power of
 * two of warps. A block gets as many rows as make PP_NORM_THREADS. */
static inline dim3 pp_norm_block(int vectors, int held, unsigned most)
{
    unsigned threads = 32;

    while (threads < most && (int)threads * held < vectors)
        threads *= 2;
    return dim3(threads, threads < PP_NORM_THREADS ? PP_NORM_THREADS / threads : 1);
}
