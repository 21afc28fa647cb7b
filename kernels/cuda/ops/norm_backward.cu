/* LayerNorm and RMSNorm, backward. A block takes a chunk of rows, one after the other. A row has
 * 32 .. 256 threads, which keep its elements in registers, so that it is read from memory once.
 * Each thread has the same columns in all rows, and adds up the gradients of their gains and biases
 * on the way. Bytes moved for [rows][width] of T: 4 of these tensors (x, dy, base, dx). Partial
 * sums of the chunks are 1/16 of a tensor or less, written and read. */
#include "kernels/cuda/ops/norm.cuh"
#include "kernels/cuda/ops/sums.cuh"

#include <assert.h>

namespace
{
/* HELD: two rows and the sums of their columns fit into registers. CHUNKS: almost a block for each
 * of the 132 multiprocessors of an H200. */
enum { HELD = 3, THREADS_MAX = PP_NORM_THREADS, CHUNKS = 128 };

/* Sums of a thread's columns over the rows of its block. Columns that are not in registers belong
 * to blocks with one row at a time, and are added in memory. */
template <int N> struct column_sums {
    pp_floats<N> held[HELD];
    float *to; /* [width] */

    __device__ __forceinline__ void add(int column, int v, const pp_floats<N> &x, bool is_first)
    {
        if (v >= 0) {
            pp_add(held[v], x);
            return;
        }
        pp_floats<N> sum = x;
        if (!is_first)
            pp_add(sum, pp_load<N>(to + column));
        pp_save(to + column, sum);
    }

    /* Writes the sums over the block's rows of threads. All threads of the block call it. */
    __device__ __forceinline__ void finish(int width, float *shared)
    {
        const int strip = (int)blockDim.x * N;
        const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);

#pragma unroll
        for (int v = 0; v < HELD; v++) {
            __syncthreads(); /* earlier contents have been read */
            pp_save(shared + thread * N, held[v]);
            __syncthreads();
            for (int i = thread; i < strip && v * strip + i < width; i += THREADS_MAX) {
                float total = 0;
                for (int y = 0; y < (int)blockDim.y; y++)
                    total += shared[y * strip + i];
                to[v * strip + i] = total;
            }
        }
    }
};

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = base + (g - mean(g) - h mean(g h)) / deviation
 *   dgamma = sum of dy h, dbeta = sum of dy
 * Without a mean in the forward, mean(g) is left out. The next row is
 * fetched before the additions of a row. */
template <class T, int N>
__global__ __launch_bounds__(THREADS_MAX, 1) void norm_backward_kernel(pp_norm_call<T> n, int chunk,
                                                                       float *partials)
{
    __shared__ float shared[2 * THREADS_MAX / 32];
    alignas(16) __shared__ float strips[THREADS_MAX * N];
    const int first = (int)blockIdx.x * chunk, end = min(first + chunk, n.rows);
    float *const to = partials + (int64_t)blockIdx.x * n.width;
    column_sums<N> gain = {{}, to}, bias = {{}, to + (int64_t)gridDim.x * n.width};
    pp_norm_rows<T, N, 1, HELD> gammas;
    auto gamma_of = [&](int column, int v) {
        return v >= 0 ? pp_unpack<N>(gammas.held[v][0]) : pp_load<N>(n.gamma + column);
    };

    gammas.from[0] = n.gamma;
    gammas.width = n.width;
    gammas.read();
    pp_norm_rows<T, N, 3, HELD> next; /* x, dy, base */
    float2 next_stats;
    auto fetch_next = [&](int from) {
        /* rows beyond the last are computed as the last, for __syncthreads, and not written */
        const int64_t row = min(from + (int)threadIdx.y, end - 1), at = row * n.width;
        next.from[0] = n.x + at;
        next.from[1] = n.dy + at;
        next.from[2] = n.base ? n.base + at : NULL;
        next.width = n.width;
        next.read();
        next_stats = ((const float2 *)n.stats)[row];
    };
    fetch_next(first);
    for (int from = first; from < end; from += (int)blockDim.y) {
        const int row = from + (int)threadIdx.y;
        const pp_norm_rows<T, N, 3, HELD> r = next;
        const float mean = next_stats.x, inverse = next_stats.y;
        if (from + (int)blockDim.y < end)
            fetch_next(from + (int)blockDim.y);
        float sums[2] = {0, 0}; /* of g, of g h */
        r.each([&](int column, const pp_floats<N>(&x)[3], int v) {
            const pp_floats<N> gamma = gamma_of(column, v);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float g = x[1].at[j] * gamma.at[j];
                sums[0] += g;
                sums[1] += g * ((x[0].at[j] - mean) * inverse);
            }
        });
        pp_row_sums(sums, shared);
        if (row >= end)
            continue;
        const float mean_g = n.is_rms ? 0 : sums[0] / (float)n.width;
        const float mean_gh = sums[1] / (float)n.width;
        r.each([&](int column, const pp_floats<N>(&x)[3], int v) {
            const pp_floats<N> gamma = gamma_of(column, v);
            pp_floats<N> dx = x[2], slope;
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float h = (x[0].at[j] - mean) * inverse;
                dx.at[j] += inverse * (x[1].at[j] * gamma.at[j] - mean_g - h * mean_gh);
                slope.at[j] = x[1].at[j] * h;
            }
            gain.add(column, v, slope, from == first);
            bias.add(column, v, x[1], from == first);
            pp_save(n.dx + (int64_t)row * n.width + column, dx);
        });
    }
    gain.finish(n.width, strips);
    bias.finish(n.width, strips);
}

template <class T, int N> void launch(void *stream, const struct pp_norm *n)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    const dim3 block = pp_norm_block((n->width + N - 1) / N, HELD, THREADS_MAX);
    const int at_once = (int)block.y, least = (n->rows + CHUNKS - 1) / CHUNKS;
    const int chunk = pp_cuda_chunk(n->rows, n->width, (least + at_once - 1) / at_once * at_once);
    const int chunks = chunk > 0 ? (n->rows + chunk - 1) / chunk : 0;
    float *const partials = (float *)s->workspace;
    const size_t count = (size_t)chunks * (size_t)n->width;
    const struct pp_cuda_sums sums = {
        {{partials, (float *)n->dgamma, (float *)n->dgamma_sum, chunks, n->width},
         {partials + count, (float *)n->dbeta, (float *)n->dbeta_sum, chunks, n->width}}};

    assert(2 * sizeof(float) * count <= s->workspace_bytes);
    if (chunks > 0)
        PP_LAUNCH((norm_backward_kernel<T, N>), (unsigned)chunks, block, 0, s->stream,
                  pp_norm_call<T>(n), chunk, partials);
    pp_cuda_finish_sums(s->stream, &sums, n->dbeta ? 2 : 1);
}
} // namespace

#define NORM_BACKWARD(name, T)                                                                     \
    void pp_cuda_norm_backward_##name(void *stream, const struct pp_norm *n)                       \
    {                                                                                              \
        if (n->width % PP_WIDE<T> == 0 && pp_are_aligned(n->x, n->gamma, n->dy, n->base, n->dx))   \
            launch<T, PP_WIDE<T>>(stream, n);                                                      \
        else                                                                                       \
            launch<T, 1>(stream, n);                                                               \
    }
NORM_BACKWARD(fp32, float)
NORM_BACKWARD(bf16, pp_bf16)
