/* kernels/cuda/attention/simple.cuh — tiles of floats in shared memory, for the plain kernels of
 * attention. Any head_dim up to 256; all arithmetic is fp32.
 *
 * A block has ROWS rows of the outer loop: queries, or keys in the gradient of keys. It walks over
 * COLUMNS columns at a time. A warp has ROWS_OF_WARP of the rows. While scores are computed, its
 * lanes are columns. While they are used, its lanes are elements of the head (lane, lane + 32,
 * ...). A tile is zero after head_dim. A tile of rows has `width` floats a row; all lanes read the
 * same one. A tile of columns has `pitch` floats a row. If head_dim is a multiple of 8, this makes
 * 16-byte reads of 8 lanes in 8 rows free of bank conflicts. */
#pragma once

#include "kernels/cuda/attention/attention.cuh"

namespace simple
{

enum {
    LANES = 32,
    WARPS = 4,
    THREADS = WARPS * LANES,
    ROWS_OF_WARP = 4,
    ROWS = WARPS * ROWS_OF_WARP,
    COLUMNS = LANES,
    PARTS = PP_CUDA_HEAD_DIM / LANES, /* elements of a head in a lane */
};

static inline __host__ __device__ constexpr int width_of(int head_dim)
{
    return (head_dim + 3) / 4 * 4;
}

static inline __host__ __device__ constexpr int pitch_of(int width)
{
    return width + 4;
}

static inline __device__ int least(int a, int b)
{
    return a < b ? a : b;
}

/* The first tile of columns, keys of split j, that queries from `first` on meet. */
static inline __device__ int first_column(struct pp_attention_shape s, int j, int first)
{
    const int key = pp_attention_first_key(s, j, first);

    return key > 0 ? key / COLUMNS * COLUMNS : 0;
}

/* tile [rows][pitch] = from [valid][stride], zero beyond. All threads of the block call it. */
template <typename T>
static __device__ void load(float *tile, int rows, int pitch, const T *from, size_t stride,
                            int valid, int head_dim)
{
    for (int r = (int)(threadIdx.x / LANES); r < rows; r += WARPS)
        for (int i = (int)(threadIdx.x % LANES); i < pitch; i += LANES)
            tile[r * pitch + i] = r < valid && i < head_dim ? pp_widen(from[r * stride + i]) : 0.0f;
}

/* sums[r] = product of row r of the warp and the lane's column. */
static inline __device__ void dot(float sums[ROWS_OF_WARP], const float *rows, const float *column,
                                  int width)
{
    for (int r = 0; r < ROWS_OF_WARP; r++)
        sums[r] = 0;
    for (int i = 0; i < width; i += 4) {
        const float4 y = *(const float4 *)(column + i);
#pragma unroll
        for (int r = 0; r < ROWS_OF_WARP; r++) {
            const float4 x = *(const float4 *)(rows + r * width + i);
            sums[r] += x.x * y.x;
            sums[r] += x.y * y.y;
            sums[r] += x.z * y.z;
            sums[r] += x.w * y.w;
        }
    }
}

/* sums [rows of the warp][elements of the lane] += weights [ROWS_OF_WARP][COLUMNS] columns. */
static inline __device__ void mix(float sums[ROWS_OF_WARP][PARTS], const float *weights,
                                  const float *columns, int width)
{
    const int lane = (int)(threadIdx.x % LANES);

    for (int c = 0; c < COLUMNS; c++)
#pragma unroll
        for (int i = 0; i < PARTS; i++)
            if (i * LANES < width) {
                const float y = columns[c * pitch_of(width) + least(i * LANES + lane, width)];
#pragma unroll
                for (int r = 0; r < ROWS_OF_WARP; r++)
                    sums[r][i] += weights[r * COLUMNS + c] * y;
            }
}

/* Shares the lane's scores of all rows with the warp. */
static inline __device__ void share(float *weights, const float scores[ROWS_OF_WARP])
{
    __syncwarp();
    for (int r = 0; r < ROWS_OF_WARP; r++)
        weights[r * COLUMNS + (int)(threadIdx.x % LANES)] = scores[r];
    __syncwarp();
}

/* to [head_dim] = x times factor, plus `to` when `add`. All lanes of a warp call it. */
template <typename T>
static __device__ void store(T *to, const float x[PARTS], float factor, int head_dim, bool add)
{
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        const int at = i * LANES + (int)(threadIdx.x % LANES);
        if (at < head_dim)
            pp_store(to + at, (add ? pp_widen(to[at]) : 0.0f) + x[i] * factor);
    }
}

} // namespace simple
