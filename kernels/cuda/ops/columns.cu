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
/* A block is LANES vectors wide, and has the rows of CHUNKS chunks. A thread adds the rows of one,
 * of which it reads AHEAD at once. */
enum { LANES = 32, CHUNKS = 4, AHEAD = 8, FINISH = 32 };

template <class T> struct columns {
    int rows, width, chunk;
    const T *dy;
    float *partials; /* [chunks][width] */
};

template <class T, int N>
__global__ __launch_bounds__(LANES *CHUNKS, 8) void columns_kernel(columns<T> c)
{
    const int column = (int)(blockIdx.x * LANES + threadIdx.x) * N;
    const int number = (int)(blockIdx.y * CHUNKS + threadIdx.y);
    const int first = number * c.chunk;
    const int end = first + c.chunk < c.rows ? first + c.chunk : c.rows;
    pp_floats<N> sum = {};

    if (first >= end || column >= c.width)
        return;
    for (int row = first; row < end; row += AHEAD) {
        pp_packed<T, N> x[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const int64_t at = (int64_t)(row + a) * c.width + column;
            x[a] = row + a < end ? pp_fetch<N>(c.dy + at) : pp_packed<T, N>{};
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++)
            pp_add(sum, pp_unpack<N>(x[a]));
    }
    pp_save(c.partials + (int64_t)number * c.width + column, sum);
}

__global__ __launch_bounds__(FINISH *FINISH) void finish_kernel(struct pp_cuda_sums sums)
{
    __shared__ float shared[FINISH][FINISH + 1];
    struct pp_cuda_sum s = sums.of[0]; /* by a number that is not known, it would be copied */
    const int from = (int)(blockIdx.x * FINISH + threadIdx.x);
    const int column = (int)(blockIdx.x * FINISH + threadIdx.y);
    float sum = 0;

#pragma unroll
    for (int i = 1; i < PP_SUMS; i++)
        if ((int)blockIdx.y == i)
            s = sums.of[i];
    if ((int)blockIdx.x * FINISH >= s.width)
        return;
    if (from < s.width)
#pragma unroll 8
        for (int chunk = (int)threadIdx.y; chunk < s.chunks; chunk += FINISH)
            sum += s.partials[(int64_t)chunk * s.width + from];
    shared[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (column >= s.width)
        return; /* all of the warp */
    sum = pp_warp_sum(shared[threadIdx.x][threadIdx.y]);
    if (threadIdx.x > 0)
        return;
    if (s.to)
        s.to[column] = sum;
    if (s.added)
        s.added[column] += sum;
}

template <class T, int N> void launch(struct pp_cuda_stream *s, columns<T> c, float *to, bool add)
{
    c.chunk = pp_cuda_chunk(c.rows, c.width);
    const int chunks = c.rows > 0 ? (c.rows + c.chunk - 1) / c.chunk : 0;
    const dim3 block(LANES, CHUNKS), grid((unsigned)((c.width + LANES * N - 1) / (LANES * N)),
                                          (unsigned)((chunks + CHUNKS - 1) / CHUNKS));
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
