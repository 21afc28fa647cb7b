/* LayerNorm and RMSNorm, backward. A block takes a chunk of rows, a few at a time. Each thread has
 * the same columns in all rows, mostly one vector, so that many threads hide each other's latency.
 * A row is read from memory once, and the next one is fetched before the additions of a row. Bytes
 * moved for [rows][width] of T: 4 of these tensors (x, dy, base, dx). Partial sums of the chunks
 * are 1/16 of a tensor or less, written and read. */
#include "kernels/cuda/ops/norm.cuh"
#include "kernels/cuda/ops/sums.cuh"

#include <assert.h>

namespace
{
/* Most threads of a block; two such blocks or the same warps in smaller ones are resident on each
 * multiprocessor of an H200. All blocks are resident at once, so none waits for others to end. */
enum { THREADS = 320, WARPS = THREADS / 32, SMALL = THREADS / 2, MULTIPROCESSORS = 132 };

/* Sums over the threads of a row, the same bits in each. A half of the warp takes one sum to its
 * end. `shared` has two buffers in turns, so one barrier is enough. All threads of the block call
 * it. */
__device__ __forceinline__ float2 row_sums(float2 x, float2 (*shared)[WARPS], bool is_odd)
{
    const int lane = (int)threadIdx.x % 32, warps = (int)blockDim.x / 32;
    const int first = (int)threadIdx.y * warps;
    float sum = lane < 16 ? x.x : x.y;

    sum += __shfl_xor_sync(0xffffffffu, lane < 16 ? x.y : x.x, 16);
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (lane % 16 == 0)
        ((float *)&shared[is_odd][first + (int)threadIdx.x / 32])[lane / 16] = sum;
    __syncthreads();
    x = shared[is_odd][first];
    for (int w = first + 1; w < first + warps; w++) {
        x.x += shared[is_odd][w].x;
        x.y += shared[is_odd][w].y;
    }
    return x;
}

/* Sums of a thread's columns over the rows of its block. Columns that are not in registers belong
 * to blocks with one row at a time, and are added in memory. */
template <int N, int HELD> struct column_sums {
    pp_floats<N> held[HELD];
    float *all; /* [blocks][width] */
    int width;

    __device__ __forceinline__ float *at(int column) const
    {
        return all + (int64_t)blockIdx.x * width + column;
    }

    __device__ __forceinline__ void add(int column, int v, const pp_floats<N> &x, bool is_first)
    {
        if (HELD == 1 || v >= 0) {
            pp_add(held[v], x);
            return;
        }
        pp_floats<N> sum = x;
        if (!is_first)
            pp_add(sum, pp_load<N>(at(column)));
        pp_save(at(column), sum);
    }

    /* Writes the sums over the block's rows of threads. All threads of the block call it. */
    __device__ __forceinline__ void finish(float *shared)
    {
        const int strip = (int)blockDim.x * N;
        const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);

#pragma unroll
        for (int v = 0; v < HELD; v++) {
            __syncthreads(); /* earlier contents have been read */
            pp_save(shared + thread * N, held[v]);
            __syncthreads();
            for (int i = thread; i < strip && v * strip + i < width;
                 i += (int)(blockDim.x * blockDim.y)) {
                float total = 0;
                for (int y = 0; y < (int)blockDim.y; y++)
                    total += shared[y * strip + i];
                *at(v * strip + i) = total;
            }
        }
    }
};

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = base + (g - mean(g) - h mean(g h)) / deviation
 *   dgamma = sum of dy h, dbeta = sum of dy
 * Without a mean in the forward, mean(g) is left out. */
template <class T, int N, int HELD>
__global__
__launch_bounds__(THREADS, HELD == 1 ? 2 : 1) void norm_backward_kernel(pp_norm_call<T> n,
                                                                        int chunk, float *partials)
{
    __shared__ float2 shared[2][WARPS];
    alignas(16) __shared__ float strips[THREADS * N];
    const int first = (int)blockIdx.x * chunk, end = min(first + chunk, n.rows);
    column_sums<N, HELD> gain = {{}, partials, n.width};
    column_sums<N, HELD> bias = {{}, partials + (int64_t)gridDim.x * n.width, n.width};
    pp_norm_rows<T, N, 1, HELD, HELD == 1> gammas;
    auto gamma_of = [&](int column, int v) {
        return HELD == 1 || v >= 0 ? pp_unpack<N>(gammas.held[v][0]) : pp_load<N>(n.gamma + column);
    };

    gammas.from[0] = n.gamma;
    gammas.width = n.width;
    gammas.read();
    pp_norm_rows<T, N, 3, HELD, HELD == 1> next; /* x, dy, base */
    float2 next_stats;
    auto fetch_next = [&](int from) {
        /* rows beyond the last are computed as the last, for __syncthreads, and not written */
        const int64_t row = min(from + (int)threadIdx.y, end - 1), at = row * n.width;
        next.from[0] = n.x + at;
        next.from[1] = n.dy + at;
        next.from[2] = (n.base ? n.base : n.dy) + at; /* not used without a base */
        next.width = n.width;
        next.read();
        next_stats = ((const float2 *)n.stats)[row];
    };
    fetch_next(first);
    bool is_odd = false;
    for (int from = first; from < end; from += (int)blockDim.y, is_odd = !is_odd) {
        const int row = from + (int)threadIdx.y;
        const pp_norm_rows<T, N, 3, HELD, HELD == 1> r = next;
        const float mean = next_stats.x, inverse = next_stats.y;
        if (from + (int)blockDim.y < end)
            fetch_next(from + (int)blockDim.y);
        float2 sums = {0, 0}; /* of g, of g (x - mean) */
        r.each([&](int column, const pp_floats<N>(&x)[3], int v) {
            const pp_floats<N> gamma = gamma_of(column, v);
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float g = x[1].at[j] * gamma.at[j];
                sums.x += g;
                sums.y += g * (x[0].at[j] - mean);
            }
        });
        sums = row_sums(sums, shared, is_odd);
        if (row >= end)
            continue;
        const float shift = n.is_rms ? 0 : -inverse * (sums.x / (float)n.width);
        const float slope = -inverse * inverse * inverse * (sums.y / (float)n.width);
        r.each([&](int column, const pp_floats<N>(&x)[3], int v) {
            const pp_floats<N> gamma = gamma_of(column, v);
            pp_floats<N> dx, dgamma;
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float scaled = x[1].at[j] * inverse, centred = x[0].at[j] - mean;
                const float base = n.base ? x[2].at[j] : 0.0f;
                dx.at[j] = fmaf(scaled, gamma.at[j], fmaf(slope, centred, base + shift));
                dgamma.at[j] = scaled * centred;
            }
            gain.add(column, v, dgamma, from == first);
            bias.add(column, v, x[1], from == first);
            pp_save(n.dx + (int64_t)row * n.width + column, dx);
        });
    }
    gain.finish(strips);
    bias.finish(strips);
}

template <class T, int N, int HELD> void launch(void *stream, const struct pp_norm *n, dim3 block)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    const int at_once = (int)block.y, warps = (int)(block.x * block.y) / 32;
    const int most = MULTIPROCESSORS * ((HELD == 1 ? 2 : 1) * WARPS / warps);
    const int least = (n->rows + most - 1) / most;
    const int chunk = pp_cuda_chunk(n->rows, n->width, (least + at_once - 1) / at_once * at_once);
    const int chunks = chunk > 0 ? (n->rows + chunk - 1) / chunk : 0;
    float *const partials = (float *)s->workspace;
    const size_t count = (size_t)chunks * (size_t)n->width;
    const struct pp_cuda_sums sums = {
        {{partials, (float *)n->dgamma, (float *)n->dgamma_sum, chunks, n->width},
         {partials + count, (float *)n->dbeta, (float *)n->dbeta_sum, chunks, n->width}}};

    assert(2 * sizeof(float) * count <= s->workspace_bytes);
    if (chunks > 0)
        PP_LAUNCH((norm_backward_kernel<T, N, HELD>), (unsigned)chunks, block, 0, s->stream,
                  pp_norm_call<T>(n), chunk, partials);
    pp_cuda_finish_sums(s->stream, &sums, n->dbeta ? 2 : 1);
}

/* A row gets a thread for each vector, and a block the rows that make SMALL threads. Smaller blocks
 * have fewer warps that wait at a barrier. Wider rows have a block, with two vectors a thread in
 * registers. */
template <class T, int N> void launch_by_width(void *stream, const struct pp_norm *n)
{
    const unsigned threads = ((unsigned)(n->width + N - 1) / N + 31) / 32 * 32;

    if (threads <= THREADS)
        launch<T, N, 1>(stream, n, dim3(threads, threads < SMALL ? SMALL / threads : 1));
    else
        launch<T, N, 2>(stream, n, dim3(THREADS));
}
} // namespace

#define NORM_BACKWARD(name, T)                                                                     \
    void pp_cuda_norm_backward_##name(void *stream, const struct pp_norm *n)                       \
    {                                                                                              \
        if (n->width % PP_WIDE<T> == 0 && pp_are_aligned(n->x, n->gamma, n->dy, n->base, n->dx))   \
            launch_by_width<T, PP_WIDE<T>>(stream, n);                                             \
        else                                                                                       \
            launch_by_width<T, 1>(stream, n);                                                      \
    }
NORM_BACKWARD(fp32, float)
NORM_BACKWARD(bf16, pp_bf16)
