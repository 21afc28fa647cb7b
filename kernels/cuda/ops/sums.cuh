/* kernels/cuda/ops/sums.cuh — the end of sums over rows: partial sums of chunks of rows are added
 * in a fixed order. The shape alone fixes the chunks. */
#pragma once

#include "kernels/cuda/device/device.cuh"

enum { PP_SUMS = 4, PP_SUM_BYTES = 4 << 20 }; /* of a launch; most partials of one sum */

/* Adds up partials [chunks][width]: `to` [width] is written, `added` is added to; NULL = none. */
struct pp_cuda_sum {
    const float *partials;
    float *to, *added;
    int chunks, width;
};
struct pp_cuda_sums {
    struct pp_cuda_sum of[PP_SUMS];
};

/* Rows of a chunk of [rows][width], at least 8 and even. The chunks are as many as an H200 has
 * threads for at once, a thread for 8 columns, but their partial sums fit. */
static inline int pp_cuda_chunk(int rows, int width)
{
    enum { MULTIPROCESSORS = 132, THREADS = 768, LEAST = 8 };
    const int64_t threads = ((int64_t)width + 255) / 256 * 32;
    const int64_t resident = threads > 0 && threads < THREADS ? THREADS / threads : 1;
    const int64_t fitting = PP_SUM_BYTES / (int)sizeof(float) / (width > 0 ? width : 1);
    int64_t most = MULTIPROCESSORS * resident;

    if (most > fitting)
        most = fitting > 0 ? fitting : 1;
    const int64_t chunk = (rows + 2 * most - 1) / (2 * most) * 2;
    return chunk > LEAST ? (int)chunk : LEAST;
}

/* Completes the first `count` of `sums`, with one launch. */
void pp_cuda_finish_sums(cudaStream_t stream, const struct pp_cuda_sums *sums, int count);
