/* Sums over the rows of a matrix: gradients of biases. Chunks of rows are summed first, then the
 * chunks, each in a fixed order. Bytes moved for [rows][width] of T: the tensor once. Partial sums
 * of the chunks are few, written and read. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/ops/sums.cuh"

#include <assert.h>

namespace
{
/* A block is LANES vectors wide and works on ROWS rows at a time, AHEAD times. BLOCKS are resident
 * on an H200, which has work for all of them. */
enum { LANES = 32, ROWS = 8, AHEAD = 8, BLOCKS = 528, FINISH = 32 };

template <class T> struct columns {
    int rows, width, chunk_rows;
    const T *dy;
    float *partials; /* [chunks][width] */
};

/* Sums the block's 8 rows of threads, column by column, into a row of partials. */
template <int N>
__device__ __forceinline__ void add_up(const pp_floats<N> &sum, float (*shared)[LANES * N],
                                       int width, float *to)
{
    const int thread = (int)(threadIdx.y * LANES + threadIdx.x);
    const int column = (int)blockIdx.x * LANES * N + thread;
    float total = 0;

    pp_save(&shared[threadIdx.y][threadIdx.x * N], sum);
    __syncthreads();
    if (thread >= LANES * N || column >= width)
        return;
    for (int y = 0; y < ROWS; y++)
        total += shared[y][thread];
    to[column] = total;
}

template <class T, int N>
__global__ __launch_bounds__(LANES *ROWS, 4) void columns_kernel(columns<T> c)
{
    alignas(16) __shared__ float shared[ROWS][LANES * N];
    const int column = (int)(blockIdx.x * LANES + threadIdx.x) * N;
    const int first = (int)blockIdx.y * c.chunk_rows;
    const int end = first + c.chunk_rows < c.rows ? first + c.chunk_rows : c.rows;
    pp_floats<N> sum = {};

    for (int row = first + (int)threadIdx.y; row < end && column < c.width; row += AHEAD * ROWS) {
        pp_packed<T, N> x[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t at = (int64_t)(row + a * ROWS) * c.width + column;
            x[a] = row + a * ROWS < end ? pp_fetch<N>(c.dy + at) : pp_packed<T, N>{};
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            pp_add(sum, pp_unpack<N>(x[a]));
    }
    add_up<N>(sum, shared, c.width, c.partials + (int64_t)blockIdx.y * c.width);
}

__global__ __launch_bounds__(FINISH *FINISH) void finish_kernel(struct pp_cuda_sums sums)
{
    __shared__ float shared[FINISH][FINISH + 1];
    const struct pp_cuda_sum s = sums.of[blockIdx.y];
    const int from = (int)(blockIdx.x * FINISH + threadIdx.x);
    const int column = (int)(blockIdx.x * FINISH + threadIdx.y);
    float sum = 0;

    if ((int)blockIdx.x * FINISH >= s.width)
        return;
    if (from < s.width)
#pragma unroll 8
        for (int chunk = (int)threadIdx.y; chunk < s.chunks; chunk += FINISH)
            sum += s.partials[(int64_t)chunk * s.width + from];
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = pp_warp_sum(shared[threadIdx.x][threadIdx.y]);
    if (threadIdx.x > 0 || column >= s.width)
        return;
    if (s.to)
        s.to[column] = sum;
    if (s.added)
        s.added[column] += sum;
}

template <class T, int N> void launch(struct pp_cuda_stream *s, columns<T> c, float *to, bool add)
{
    const int tiles = (c.width + LANES * N - 1) / (LANES * N);
    const int most = tiles < BLOCKS ? BLOCKS / tiles : 1, least = (c.rows + most - 1) / most;

    c.chunk_rows = pp_cuda_chunk(c.rows, c.width, (least + ROWS - 1) / ROWS * ROWS);
    const int chunks = c.rows > 0 ? (c.rows + c.chunk_rows - 1) / c.chunk_rows : 0;
    const dim3 grid((unsigned)tiles, (unsigned)chunks), block(LANES, ROWS);
    const struct pp_cuda_sums sums = {
        {{c.partials, add ? NULL : to, add ? to : NULL, chunks, c.width}}};

    assert(sizeof(float) * (size_t)chunks * (size_t)c.width <= s->workspace_bytes);
    if (chunks > 0)
        PP_LAUNCH((columns_kernel<T, N>), grid, block, 0, s->stream, c);
    pp_cuda_finish_sums(s->stream, &sums, 1);
}

template <class T>
void sum_rows(void *stream, int rows, int width, const void *dy, void *dbias, bool add)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    const columns<T> c = {rows, width, 0, (const T *)dy, (float *)s->workspace};

    if (width % PP_WIDE<T> == 0 && pp_are_aligned(dy))
        launch<T, PP_WIDE<T>>(s, c, (float *)dbias, add);
    else
        launch<T, 1>(s, c, (float *)dbias, add);
}
} // namespace

void pp_cuda_finish_sums(cudaStream_t stream, const struct pp_cuda_sums *sums, int count)
{
    int widest = 0;

    for (int i = 0; i < count; i++)
        widest = sums->of[i].width > widest ? sums->of[i].width : widest;
    const dim3 grid((unsigned)(widest + FINISH - 1) / FINISH, (unsigned)count);
    const dim3 block(FINISH, FINISH);
    PP_LAUNCH(finish_kernel, grid, block, 0, stream, *sums);
}

#define COLUMNS(name, T)                                                                           \
    void pp_cuda_sum_rows_##name(void *stream, int rows, int width, const void *dy, void *dbias,   \
                                 bool add)                                                         \
    {                                                                                              \
        sum_rows<T>(stream, rows, width, dy, dbias, add);                                          \
    }
COLUMNS(fp32, float)
COLUMNS(bf16, pp_bf16)
