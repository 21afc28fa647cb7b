/* Sums over the rows of a matrix: gradients of biases, and of the gains and biases of norms. Chunks
 * of rows are summed first, then the chunks, each in a fixed order. The shape alone fixes the
 * chunks. Bytes moved for [rows][width] of T: sum_rows reads that tensor once, norm_weights reads x
 * and dy once each. The workspace takes at most 1/16 of it, written and read. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <assert.h>

namespace
{
/* A block is LANES vectors wide and works on ROWS rows at a time. */
enum { LANES = 32, ROWS = 8, CHUNK_ROWS = 64, FINISH = 32, PARTIALS_BYTES = 4 << 20 };

/* dbeta = sum of dy; with x also dgamma = sum of dy (x - mean) / deviation. */
template <class T> struct columns {
    int rows, width, chunk_rows;
    const T *dy, *x;
    const float *stats; /* [rows][2] */
    float *partials;    /* sums of dy, then of dgamma: [chunks][width] each */
};

/* Sums the block's 8 rows of threads, column by column, into a row of partials. */
template <int N>
__device__ __forceinline__ void add_up(const pp_floats<N> &sum, float (*shared)[LANES * N],
                                       int width, float *to)
{
    const int thread = (int)(threadIdx.y * LANES + threadIdx.x);
    const int column = (int)blockIdx.x * LANES * N + thread;
    float total = 0;

    __syncthreads(); /* earlier contents have been read */
    pp_save(&shared[threadIdx.y][threadIdx.x * N], sum);
    __syncthreads();
    if (thread >= LANES * N || column >= width)
        return;
    for (int y = 0; y < ROWS; y++)
        total += shared[y][thread];
    to[column] = total;
}

template <class T, int N, bool IS_NORM>
__global__ __launch_bounds__(LANES *ROWS) void columns_kernel(columns<T> c)
{
    alignas(16) __shared__ float shared[ROWS][LANES * N];
    const int column = (int)(blockIdx.x * LANES + threadIdx.x) * N;
    const int first = (int)blockIdx.y * c.chunk_rows;
    const int end = first + c.chunk_rows < c.rows ? first + c.chunk_rows : c.rows;
    pp_floats<N> bias = {}, gain = {};

    if (column < c.width)
#pragma unroll 4
        for (int row = first + (int)threadIdx.y; row < end; row += ROWS) {
            const pp_floats<N> dy = pp_load<N>(c.dy + (int64_t)row * c.width + column);
            pp_add(bias, dy);
            if (IS_NORM) {
                const pp_floats<N> x = pp_load<N>(c.x + (int64_t)row * c.width + column);
                const float mean = c.stats[2 * (int64_t)row];
                const float inverse = c.stats[2 * (int64_t)row + 1];
#pragma unroll
                for (int j = 0; j < N; j++)
                    gain.at[j] += dy.at[j] * ((x.at[j] - mean) * inverse);
            }
        }
    float *const to = c.partials + (int64_t)blockIdx.y * c.width;
    add_up<N>(bias, shared, c.width, to);
    if (IS_NORM)
        add_up<N>(gain, shared, c.width, to + (int64_t)gridDim.y * c.width);
}

/* to [width] = the sum over chunks of partials [chunks][width], plus `to` when `add`. */
__global__ __launch_bounds__(FINISH *FINISH) void finish_kernel(int chunks, int width,
                                                                const float *partials, float *to,
                                                                bool add)
{
    __shared__ float shared[FINISH][FINISH + 1];
    const int from = (int)(blockIdx.x * FINISH + threadIdx.x);
    const int column = (int)(blockIdx.x * FINISH + threadIdx.y);
    float sum = 0;

    if (from < width)
        for (int chunk = (int)threadIdx.y; chunk < chunks; chunk += FINISH)
            sum += partials[(int64_t)chunk * width + from];
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = pp_warp_sum(shared[threadIdx.x][threadIdx.y]);
    if (threadIdx.x == 0 && column < width)
        to[column] = add ? to[column] + sum : sum;
}

/* 64 rows, or as many more as make the partials fit. */
int chunk_rows_of(int rows, int width, int tensors)
{
    int64_t chunk = CHUNK_ROWS;

    while ((rows + chunk - 1) / chunk * width * tensors * (int)sizeof(float) > PARTIALS_BYTES &&
           chunk < rows)
        chunk *= 2;
    return (int)chunk;
}

template <class T, int N>
void launch(struct pp_cuda_stream *s, columns<T> c, float *dgamma, float *dbeta, bool add)
{
    const int tensors = dgamma ? 2 : 1, chunks = (c.rows + c.chunk_rows - 1) / c.chunk_rows;
    const int tiles = (c.width + LANES * N - 1) / (LANES * N);
    const int finish = (c.width + FINISH - 1) / FINISH;
    const dim3 grid((unsigned)tiles, (unsigned)chunks), block(LANES, ROWS), square(FINISH, FINISH);

    assert(sizeof(float) * (size_t)chunks * (size_t)c.width * tensors <= s->workspace_bytes);
    if (dgamma)
        PP_LAUNCH((columns_kernel<T, N, true>), grid, block, 0, s->stream, c);
    else
        PP_LAUNCH((columns_kernel<T, N, false>), grid, block, 0, s->stream, c);
    if (dbeta)
        PP_LAUNCH(finish_kernel, finish, square, 0, s->stream, chunks, c.width, c.partials, dbeta,
                  add);
    if (dgamma)
        PP_LAUNCH(finish_kernel, finish, square, 0, s->stream, chunks, c.width,
                  c.partials + (int64_t)chunks * c.width, dgamma, add);
}

template <class T>
void sum_columns(void *stream, int rows, int width, const void *dy, const void *x,
                 const void *stats, void *dgamma, void *dbeta, bool add)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    const columns<T> c = {rows,
                          width,
                          chunk_rows_of(rows, width, x ? 2 : 1),
                          (const T *)dy,
                          (const T *)x,
                          (const float *)stats,
                          (float *)s->workspace};

    if (width % PP_WIDE<T> == 0 && pp_are_aligned(dy, x))
        launch<T, PP_WIDE<T>>(s, c, (float *)dgamma, (float *)dbeta, add);
    else
        launch<T, 1>(s, c, (float *)dgamma, (float *)dbeta, add);
}
} // namespace

#define COLUMNS(name, T)                                                                           \
    void pp_cuda_sum_rows_##name(void *stream, int rows, int width, const void *dy, void *dbias,   \
                                 bool add)                                                         \
    {                                                                                              \
        sum_columns<T>(stream, rows, width, dy, NULL, NULL, NULL, dbias, add);                     \
    }                                                                                              \
    void pp_cuda_norm_weights_##name(void *stream, const struct pp_norm *n, void *dgamma,          \
                                     void *dbeta, bool add)                                        \
    {                                                                                              \
        sum_columns<T>(stream, n->rows, n->width, n->dy, n->x, n->stats, dgamma, dbeta, add);      \
    }
COLUMNS(fp32, float)
COLUMNS(bf16, pp_bf16)
