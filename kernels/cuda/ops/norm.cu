/* LayerNorm and RMSNorm, forward. A row has 32 .. 256 threads, which keep its elements in
 * registers, so that it is read from memory once. The next row is fetched before the sums of a row.
 * Bytes moved for [rows][width] of T: 2 of these tensors (x, y); statistics and gains are little.
 */
#include "kernels/cuda/ops/norm.cuh"

namespace
{
enum { THREADS_MAX = 256, MULTIPROCESSORS = 132 }; /* of an H200 */
enum { THREADS_SHARED = 128 };                     /* of a block with several rows */

/* The row of this thread. HELD vectors are in registers; the rest of a wider row is read again. */
template <class T, int N, int HELD> struct held_row {
    pp_packed<T, N> held[HELD];
    const T *from;
    int width;

    __device__ __forceinline__ int column(int vector) const
    {
        return (vector * (int)blockDim.x + (int)threadIdx.x) * N;
    }

    __device__ __forceinline__ void read()
    {
#pragma unroll
        for (int v = 0; v < HELD; v++)
            if (column(v) < width)
                held[v] = pp_fetch<N>(from + column(v));
    }

    /* Calls visit(column, values) for N neighbours each. */
    template <class F> __device__ __forceinline__ void each(F visit) const
    {
#pragma unroll
        for (int v = 0; v < HELD; v++)
            if (column(v) < width)
                visit(column(v), pp_unpack<N>(held[v]));
        for (int v = HELD; column(v) < width; v++)
            visit(column(v), pp_load<N>(from + column(v)));
    }
};

/* Warps that are resident on a multiprocessor, by the registers of a row. */
template <int HELD> constexpr int RESIDENT = HELD == 4 ? 24 : 16;

template <class T, bool IS_GROUPED, int N, int HELD>
__global__
__launch_bounds__(THREADS_MAX,
                  RESIDENT<HELD> * 32 /
                      THREADS_MAX) void norm_forward_kernel(pp_norm_call<T, IS_GROUPED> n)
{
    __shared__ float shared[THREADS_MAX / 32];
    const int step = (int)(gridDim.x * blockDim.y);
    held_row<T, N, HELD> next;
    auto fetch_next = [&](int from) {
        /* rows beyond the last are computed as the last, for __syncthreads, and not written */
        next.from = n.x + n.places.at(min(from + (int)threadIdx.y, n.rows - 1));
        next.width = n.width;
        next.read();
    };

    fetch_next((int)(blockIdx.x * blockDim.y));
    for (int from = (int)(blockIdx.x * blockDim.y); from < n.rows; from += step) {
        const held_row<T, N, HELD> r = next;
        const int row = from + (int)threadIdx.y;
        float mean[1] = {0}, variance[1] = {0};
        if (from + step < n.rows)
            fetch_next(from + step);
        if (!n.is_rms) {
            r.each([&](int, const pp_floats<N> &x) {
#pragma unroll
                for (int j = 0; j < N; j++)
                    mean[0] += x.at[j];
            });
            pp_row_sums(mean, shared);
            mean[0] /= (float)n.width;
        }
        r.each([&](int, const pp_floats<N> &x) {
#pragma unroll
            for (int j = 0; j < N; j++)
                variance[0] += (x.at[j] - mean[0]) * (x.at[j] - mean[0]);
        });
        pp_row_sums(variance, shared);
        const float inverse = 1.0f / sqrtf(variance[0] / (float)n.width + n.epsilon);
        if (row >= n.rows)
            continue;
        r.each([&](int column, const pp_floats<N> &x) {
            const pp_floats<N> gamma = pp_load<N>(n.gamma + column);
            pp_floats<N> y;
#pragma unroll
            for (int j = 0; j < N; j++)
                y.at[j] = (x.at[j] - mean[0]) * inverse * gamma.at[j];
            if (n.beta)
                pp_add(y, pp_load<N>(n.beta + column));
            pp_save(n.y + n.places.at(row) + column, y);
        });
        if (threadIdx.x == 0)
            ((float2 *)n.stats)[row] = {mean[0], inverse};
    }
}

/* A row gets the fewest threads that hold all of it, as a power of two of warps, or the most. */
template <class T, bool IS_GROUPED, int N, int HELD>
void launch_held(void *stream, const pp_norm_call<T, IS_GROUPED> &n)
{
    unsigned threads = 32;

    while (threads < THREADS_MAX && (int)threads * HELD * N < n.width)
        threads *= 2;
    const dim3 block(threads, threads < THREADS_SHARED ? THREADS_SHARED / threads : 1);
    const int blocks = (n.rows + (int)block.y - 1) / (int)block.y;
    const int most = MULTIPROCESSORS * (RESIDENT<HELD> * 32 / (int)(block.x * block.y));

    if (n.rows > 0)
        PP_LAUNCH((norm_forward_kernel<T, IS_GROUPED, N, HELD>),
                  (unsigned)(blocks < most ? blocks : most), block, 0, pp_cuda_of(stream), n);
}

/* A warp alone needs no barrier, so wider rows keep more in registers. */
template <class T, bool IS_GROUPED, int N>
void launch(void *stream, const pp_norm_call<T, IS_GROUPED> &n)
{
    if (n.width <= 32 * 4 * N)
        launch_held<T, IS_GROUPED, N, 4>(stream, n);
    else
        launch_held<T, IS_GROUPED, N, 7>(stream, n);
}
} // namespace

#define NORM_FORWARD(name, T)                                                                      \
    void pp_cuda_norm_forward_##name(void *stream, const struct pp_norm *n)                        \
    {                                                                                              \
        pp_norm_launch<T>(                                                                         \
            n,                                                                                     \
            [=](auto grouped, auto at_once) {                                                      \
                launch<T, grouped, at_once>(stream, pp_norm_call<T, grouped>(n));                  \
            },                                                                                     \
            n->x, n->gamma, n->beta, n->y);                                                        \
    }
NORM_FORWARD(fp32, float)
NORM_FORWARD(bf16, pp_bf16)
