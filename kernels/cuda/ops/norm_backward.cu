/* LayerNorm and RMSNorm, backward. A row has a thread for each vector of 16 bytes. The threads of a
 * row work through a chunk of rows, ROWS at a time, so that a barrier serves several rows. Each
 * thread copies its vectors of later rows into shared memory meanwhile, and alone reads them. Bytes
 * moved for [rows][width] of T: 4 of these tensors (x, dy, base, dx). Partial sums of the chunks
 * are 1/16 of a tensor or less, written and read. */
#include "kernels/cuda/device/async.cuh"
#include "kernels/cuda/device/shared.cuh"
#include "kernels/cuda/ops/norm.cuh"
#include "kernels/cuda/ops/sums.cuh"

#include <assert.h>

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, SMALL = 96 };
enum { X, DY, BASE, INPUTS };
enum { GAIN, BIAS, SUM, SUMS };

/* Sums of COUNT numbers over a warp, each in a part of its lanes: half of what is left is exchanged
 * in each step. Lane l gets number l / (32 / COUNT). */
template <int COUNT> __device__ __forceinline__ float warp_sums(float (&x)[COUNT])
{
    const int lane = (int)threadIdx.x % 32;
    int distance = 16;

#pragma unroll
    for (int left = COUNT / 2; left > 0; left /= 2, distance /= 2)
#pragma unroll
        for (int k = 0; k < left; k++) {
            const bool is_upper = lane & distance;
            const float sent = is_upper ? x[k] : x[k + left];
            x[k] = (is_upper ? x[k + left] : x[k]) + __shfl_xor_sync(0xffffffffu, sent, distance);
        }
#pragma unroll
    for (distance = 16 / COUNT; distance > 0; distance /= 2)
        x[0] += __shfl_xor_sync(0xffffffffu, x[0], distance);
    return x[0];
}

/* Sums over the threads of a row, the same bits in each. `shared` has a buffer for every other
 * call, so one barrier is enough. All threads of the block call it. */
template <int COUNT>
__device__ __forceinline__ void row_sums(float (&x)[COUNT], float (*shared)[WARPS][COUNT],
                                         bool is_odd)
{
    const int lane = (int)threadIdx.x % 32, warps = (int)blockDim.x / 32;
    const int first = (int)threadIdx.y * warps;
    const float sum = warp_sums(x);

    if (lane % (32 / COUNT) == 0)
        shared[is_odd][first + (int)threadIdx.x / 32][lane / (32 / COUNT)] = sum;
    __syncthreads();
    pp_floats<COUNT> total = pp_load<COUNT>(shared[is_odd][first]);
    for (int w = first + 1; w < first + warps; w++)
        pp_add(total, pp_load<COUNT>(shared[is_odd][w]));
#pragma unroll
    for (int k = 0; k < COUNT; k++)
        x[k] = total.at[k];
}

/* Rows on their way through shared memory: a place for each vector of DEPTH steps of ROWS rows. */
template <class T, bool IS_GROUPED, int N, int HELD, int ROWS, int DEPTH> struct ring {
    pp_packed<T, N> *places; /* [DEPTH][ROWS][INPUTS][HELD][threads of the block] */
    const T *from[INPUTS];
    pp_norm_places<IS_GROUPED> of_rows;

    __device__ __forceinline__ pp_packed<T, N> *at(int step, int row, int input, int v) const
    {
        const int place = (((step % DEPTH) * ROWS + row) * INPUTS + input) * HELD + v;

        return places + place * (int)(blockDim.x * blockDim.y) +
               (int)(threadIdx.y * blockDim.x + threadIdx.x);
    }

    __device__ __forceinline__ int column(int v) const
    {
        return (v * (int)blockDim.x + (int)threadIdx.x) * N;
    }

    /* Begins to copy the rows of a step. Rows beyond `end` are not read. */
    __device__ __forceinline__ void fetch(int step, int first, int end) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int row = first + step * ROWS + r;
#pragma unroll
            for (int v = 0; v < HELD; v++)
                if (row < end && column(v) < of_rows.width)
#pragma unroll
                    for (int i = 0; i < INPUTS; i++)
                        if (from[i]) {
                            const T *const x = from[i] + of_rows.at(row) + column(v);
                            if (sizeof(pp_packed<T, N>) == 16)
                                pp_cp_async_16(at(step, r, i, v), x, true);
                            else
                                *at(step, r, i, v) = pp_fetch<N>(x);
                        }
        }
        pp_cp_async_commit();
    }
};

/* Blocks that are resident on a multiprocessor. */
template <bool IS_GROUPED, int HELD> constexpr int RESIDENT = HELD > 1 ? 1 : IS_GROUPED ? 2 : 3;

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = base + (g - mean(g) - h mean(g h)) / deviation
 *   dgamma = sum of dy h, dbeta = sum of dy, dx_sum = sum of dx
 * Without a mean in the forward, mean(g) is left out. Columns that are not in registers are read
 * again, and their sums are added in memory. */
template <class T, bool IS_GROUPED, int N, int HELD, int ROWS, int DEPTH>
__global__ __launch_bounds__(THREADS, RESIDENT<IS_GROUPED, HELD>) void norm_backward_kernel(
    pp_norm_call<T, IS_GROUPED> n, int chunk, int chunks, float *partials)
{
    alignas(16) __shared__ float shared[2][WARPS][2 * ROWS];
    PP_SHARED(char, places);
    const int number = (int)(blockIdx.x * blockDim.y + threadIdx.y);
    const int first = number * chunk, end = min(first + chunk, n.rows);
    const ring<T, IS_GROUPED, N, HELD, ROWS, DEPTH> rows = {
        (pp_packed<T, N> *)places, {n.x, n.dy, n.base}, n.places};
    pp_floats<N> sums[SUMS][HELD] = {};
    pp_packed<T, N> gammas[HELD];
    float *const to = partials + (int64_t)number * n.width;
    const int64_t all = (int64_t)chunks * n.width; /* partial sums of one kind */
    const int64_t last = n.rows - 1;
    float2 next[ROWS];
    auto fetch_stats = [&](int row) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            next[r] = ((const float2 *)n.stats)[min((int64_t)row + r, last)];
    };
    /* Calls visit(column, x, dy, v) for the thread's vectors of a row; v is -1 beyond those held.
     */
    auto each = [&](int step, int r, int row, auto visit) {
#pragma unroll
        for (int v = 0; v < HELD; v++)
            if (rows.column(v) < n.width)
                visit(rows.column(v), pp_unpack<N>(*rows.at(step, r, X, v)),
                      pp_unpack<N>(*rows.at(step, r, DY, v)), v);
        for (int v = HELD; HELD > 1 && rows.column(v) < n.width; v++) {
            const int64_t at = n.places.at(row) + rows.column(v);
            visit(rows.column(v), pp_load<N>(n.x + at), pp_load<N>(n.dy + at), -1);
        }
    };
    auto gamma_of = [&](int column, int v) {
        return HELD == 1 || v >= 0 ? pp_unpack<N>(gammas[v]) : pp_load<N>(n.gamma + column);
    };

#pragma unroll
    for (int step = 0; step + 1 < DEPTH; step++)
        rows.fetch(step, first, end);
    fetch_stats(first);
#pragma unroll
    for (int v = 0; v < HELD; v++)
        if (rows.column(v) < n.width)
            gammas[v] = pp_fetch<N>(n.gamma + rows.column(v));
    for (int step = 0; step * ROWS < chunk; step++) {
        const int row0 = first + step * ROWS;
        float2 stats[ROWS];          /* mean, 1 / deviation */
        float of_row[2 * ROWS] = {}; /* sums of g, of g (x - mean) */
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            stats[r] = next[r];
        fetch_stats(row0 + ROWS);
        rows.fetch(step + DEPTH - 1, first, end);
        pp_cp_async_wait<DEPTH - 1>();
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (row0 + r < end)
                each(step, r, row0 + r,
                     [&](int column, const pp_floats<N> &x, const pp_floats<N> &dy, int v) {
                         const pp_floats<N> gamma = gamma_of(column, v);
#pragma unroll
                         for (int j = 0; j < N; j++) {
                             const float g = dy.at[j] * gamma.at[j];
                             of_row[2 * r] += g;
                             of_row[2 * r + 1] += g * (x.at[j] - stats[r].x);
                         }
                     });
        row_sums(of_row, shared, step % 2);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const int row = row0 + r;
            if (row >= end)
                continue;
            const float mean = stats[r].x, inverse = stats[r].y;
            const float shift = n.is_rms ? 0 : -inverse * (of_row[2 * r] / (float)n.width);
            const float slope = -inverse * inverse * inverse * (of_row[2 * r + 1] / (float)n.width);
            each(step, r, row,
                 [&](int column, const pp_floats<N> &x, const pp_floats<N> &dy, int v) {
                     const int64_t at = n.places.at(row) + column;
                     const pp_floats<N> gamma = gamma_of(column, v);
                     pp_floats<N> base = {}, dx, add[SUMS];
                     pp_packed<T, N> rounded;
                     if (n.base)
                         base = HELD == 1 || v >= 0 ? pp_unpack<N>(*rows.at(step, r, BASE, v))
                                                    : pp_load<N>(n.base + at);
#pragma unroll
                     for (int j = 0; j < N; j++) {
                         const float scaled = dy.at[j] * inverse, centred = x.at[j] - mean;
                         dx.at[j] =
                             fmaf(scaled, gamma.at[j], fmaf(slope, centred, base.at[j] + shift));
                         add[GAIN].at[j] = scaled * centred;
                     }
                     pp_pack(rounded, dx);
                     *(pp_packed<T, N> *)(n.dx + at) = rounded;
                     add[BIAS] = dy;
                     add[SUM] = pp_unpack<N>(rounded);
#pragma unroll
                     for (int s = 0; s < SUMS; s++)
                         if (HELD == 1 || v >= 0) {
                             pp_add(sums[s][v], add[s]);
                         } else {
                             if (row > first)
                                 pp_add(add[s], pp_load<N>(to + s * all + column));
                             pp_save(to + s * all + column, add[s]);
                         }
                 });
        }
    }
#pragma unroll
    for (int v = 0; v < HELD; v++)
        if (number < chunks && rows.column(v) < n.width)
#pragma unroll
            for (int s = 0; s < SUMS; s++)
                pp_save(to + s * all + rows.column(v), sums[s][v]);
}

template <class T, bool IS_GROUPED, int N, int HELD, int ROWS, int DEPTH>
void launch(void *stream, const struct pp_norm *n, dim3 block)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    const int chunk = pp_cuda_chunk(n->rows, n->width);
    const int chunks = n->rows > 0 ? (n->rows + chunk - 1) / chunk : 0;
    const unsigned blocks = ((unsigned)chunks + block.y - 1) / block.y;
    const size_t bytes =
        (size_t)(DEPTH * ROWS * INPUTS * HELD) * sizeof(pp_packed<T, N>) * block.x * block.y;
    float *const partials = (float *)s->workspace;
    const size_t count = (size_t)chunks * (size_t)n->width;
    const struct pp_cuda_sums sums = {
        {{partials, (float *)n->dgamma, (float *)n->dgamma_added, chunks, n->width},
         {partials + count, (float *)n->dbeta, (float *)n->dbeta_added, chunks, n->width},
         {partials + 2 * count, (float *)n->dx_sum, (float *)n->dx_added, chunks, n->width}}};

    assert(SUMS * sizeof(float) * count <= s->workspace_bytes);
    if (chunks > 0)
        PP_LAUNCH_SHARED((norm_backward_kernel<T, IS_GROUPED, N, HELD, ROWS, DEPTH>), bytes, blocks,
                         block, bytes, s->stream, pp_norm_call<T, IS_GROUPED>(n), chunk, chunks,
                         partials);
    pp_cuda_finish_sums(s->stream, &sums, n->dx_sum || n->dx_added ? 3 : n->dbeta ? 2 : 1);
}

/* Rows of less than SMALL threads share a block. Rows of more than THREADS vectors have two a
 * thread in registers. */
template <class T, bool IS_GROUPED, int N>
void launch_by_width(void *stream, const struct pp_norm *n)
{
    const unsigned threads = ((unsigned)(n->width + N - 1) / N + 31) / 32 * 32;

    if (threads <= THREADS)
        launch<T, IS_GROUPED, N, 1, 2, 2>(stream, n,
                                          dim3(threads, threads < SMALL ? SMALL / threads : 1));
    else
        launch<T, IS_GROUPED, N, 2, 1, 2>(stream, n, dim3(THREADS));
}
} // namespace

#define NORM_BACKWARD(name, T)                                                                     \
    void pp_cuda_norm_backward_##name(void *stream, const struct pp_norm *n)                       \
    {                                                                                              \
        pp_norm_launch<T>(                                                                         \
            n,                                                                                     \
            [=](auto grouped, auto at_once) { launch_by_width<T, grouped, at_once>(stream, n); },  \
            n->x, n->gamma, n->dy, n->base, n->dx);                                                \
    }
NORM_BACKWARD(fp32, float)
NORM_BACKWARD(bf16, pp_bf16)
