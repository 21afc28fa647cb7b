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

/* Rows of a chunk: `rows`, or as many more as make the partials fit. */
static inline int pp_cuda_chunk(int rows, int width, int chunk)
{
    while (chunk < rows && /* without rows a chunk may be 0 */
           (int64_t)((rows + chunk - 1) / chunk) * width * (int)sizeof(float) > PP_SUM_BYTES)
        chunk *= 2;
    return chunk;
}

/* Completes the first `count` of `sums`, with one launch. */
void pp_cuda_finish_sums(cudaStream_t stream, const struct pp_cuda_sums *sums, int count);
