/* LayerNorm and RMSNorm. A row has 32 .. 512 threads, which keep its elements in registers, so that
 * it is read from memory once. Bytes moved for [rows][width] of T: forward 2 of these tensors (x,
 * y), backward 4 (x, dy, base, dx); statistics and gains are little. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

namespace
{

/* CACHED: vectors of a row in a thread's registers; the rest of wider rows is read again */
enum { CACHED = 4, ROW_THREADS = 256, ROW_THREADS_MAX = 512 };

/* The row of this thread in COUNT tensors of the same shape. */
template <class T, int N, int COUNT> struct cached_rows {
    pp_packed<T, N> held[CACHED][COUNT];
    const T *from[COUNT];
    int width;

    __device__ __forceinline__ int column(int vector) const
    {
        return (vector * (int)blockDim.x + (int)threadIdx.x) * N;
    }

    __device__ __forceinline__ void read()
    {
#pragma unroll
        for (int v = 0; v < CACHED; v++)
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                if (column(v) < width)
                    held[v][k] = fetch(k, column(v));
    }

    /* The last of three tensors may be NULL: zeros. */
    __device__ __forceinline__ pp_packed<T, N> fetch(int k, int column) const
    {
        return k < 2 || from[k] ? pp_fetch<N>(from[k] + column) : pp_packed<T, N>{};
    }

    /* Calls visit(column, values): N neighbours of each of the tensors. */
    template <class F> __device__ __forceinline__ void each(F visit) const
    {
        pp_floats<N> values[COUNT];

#pragma unroll
        for (int v = 0; v < CACHED; v++)
            if (column(v) < width) {
#pragma unroll
                for (int k = 0; k < COUNT; k++)
                    values[k] = pp_unpack<N>(held[v][k]);
                visit(column(v), values);
            }
        for (int v = CACHED; column(v) < width; v++) {
#pragma unroll
            for (int k = 0; k < COUNT; k++)
                values[k] = pp_unpack<N>(fetch(k, column(v)));
            visit(column(v), values);
        }
    }
};

/* Rows beyond the last are computed as the last, for __syncthreads, and not written. */
struct row_of {
    int row;
    bool is_written;

    __device__ __forceinline__ row_of(int rows)
    {
        const int wanted = (int)(blockIdx.x * blockDim.y + threadIdx.y);

        row = wanted < rows ? wanted : rows - 1;
        is_written = wanted < rows;
    }
};

template <class T> struct norm_call {
    int rows, width;
    bool is_rms;
    float epsilon;
    const T *x, *gamma, *beta, *dy, *base;
    T *y, *dx;
    float *stats;
};

template <class T, int N>
__global__ __launch_bounds__(ROW_THREADS_MAX, 2) void norm_forward_kernel(norm_call<T> n)
{
    __shared__ float shared[ROW_THREADS_MAX / 32];
    const row_of r(n.rows);
    const int64_t at = (int64_t)r.row * n.width;
    cached_rows<T, N, 1> row;
    float mean[1] = {0}, variance[1] = {0};

    row.from[0] = n.x + at;
    row.width = n.width;
    row.read();
    if (!n.is_rms) {
        row.each([&](int, const pp_floats<N>(&x)[1]) {
#pragma unroll
            for (int j = 0; j < N; j++)
                mean[0] += x[0].at[j];
        });
        pp_row_sums(mean, shared);
        mean[0] /= (float)n.width;
    }
    row.each([&](int, const pp_floats<N>(&x)[1]) {
#pragma unroll
        for (int j = 0; j < N; j++)
            variance[0] += (x[0].at[j] - mean[0]) * (x[0].at[j] - mean[0]);
    });
    pp_row_sums(variance, shared);
    const float inverse = 1.0f / sqrtf(variance[0] / (float)n.width + n.epsilon);
    if (!r.is_written)
        return;
    row.each([&](int column, const pp_floats<N>(&x)[1]) {
        const pp_floats<N> gamma = pp_load<N>(n.gamma + column);
        pp_floats<N> y;
#pragma unroll
        for (int j = 0; j < N; j++)
            y.at[j] = (x[0].at[j] - mean[0]) * inverse * gamma.at[j];
        if (n.beta)
            pp_add(y, pp_load<N>(n.beta + column));
        pp_save(n.y + at + column, y);
    });
    if (threadIdx.x == 0) {
        n.stats[2 * (int64_t)r.row] = mean[0];
        n.stats[2 * (int64_t)r.row + 1] = inverse;
    }
}

/* With h = (x - mean) / deviation and g = dy gamma:
 *   dx = base + (g - mean(g) - h mean(g h)) / deviation
 * Without a mean in the forward, mean(g) is left out. All three tensors are fetched before any
 * addition: 2 blocks on a multiprocessor have 48 KB or more in flight. */
template <class T, int N>
__global__ __launch_bounds__(ROW_THREADS_MAX, 1) void norm_backward_kernel(norm_call<T> n)
{
    __shared__ float shared[2 * ROW_THREADS_MAX / 32];
    const row_of r(n.rows);
    const int64_t at = (int64_t)r.row * n.width;
    const float mean = n.stats[2 * (int64_t)r.row], inverse = n.stats[2 * (int64_t)r.row + 1];
    cached_rows<T, N, 3> row; /* x, dy, base */
    float sums[2] = {0, 0};   /* sums of g, of g h */

    row.from[0] = n.x + at;
    row.from[1] = n.dy + at;
    row.from[2] = n.base ? n.base + at : NULL;
    row.width = n.width;
    row.read();
    row.each([&](int column, const pp_floats<N>(&v)[3]) {
        const pp_floats<N> gamma = pp_load<N>(n.gamma + column);
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float g = v[1].at[j] * gamma.at[j];
            sums[0] += g;
            sums[1] += g * ((v[0].at[j] - mean) * inverse);
        }
    });
    pp_row_sums(sums, shared);
    if (!r.is_written)
        return;
    const float mean_g = n.is_rms ? 0 : sums[0] / (float)n.width;
    const float mean_gh = sums[1] / (float)n.width;
    row.each([&](int column, const pp_floats<N>(&v)[3]) {
        const pp_floats<N> gamma = pp_load<N>(n.gamma + column);
        pp_floats<N> dx = v[2];
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float h = (v[0].at[j] - mean) * inverse;
            dx.at[j] += inverse * (v[1].at[j] * gamma.at[j] - mean_g - h * mean_gh);
        }
        pp_save(n.dx + at + column, dx);
    });
}

/* A row gets the fewest threads that can hold all of it, as a power of two of warps. A block gets
 * as many rows as make 256 threads. */
dim3 block_of(int vectors)
{
    unsigned threads = 32;

    while (threads < ROW_THREADS_MAX && (int)threads * CACHED < vectors)
        threads *= 2;
    return dim3(threads, threads < ROW_THREADS ? ROW_THREADS / threads : 1);
}

template <class T> norm_call<T> norm_of(const struct pp_norm *n)
{
    return {n->rows,
            n->width,
            n->is_rms,
            (float)n->epsilon,
            (const T *)n->x,
            (const T *)n->gamma,
            (const T *)n->beta,
            (const T *)n->dy,
            (const T *)n->base,
            (T *)n->y,
            (T *)n->dx,
            (float *)n->stats};
}

template <class T, int N> void launch(void *stream, const norm_call<T> &n, bool is_backward)
{
    const dim3 block = block_of((n.width + N - 1) / N);
    const unsigned blocks = ((unsigned)n.rows + block.y - 1) / block.y;

    if (n.rows == 0)
        return;
    if (is_backward)
        PP_LAUNCH((norm_backward_kernel<T, N>), blocks, block, 0, pp_cuda_of(stream), n);
    else
        PP_LAUNCH((norm_forward_kernel<T, N>), blocks, block, 0, pp_cuda_of(stream), n);
}

template <class T> void launch_any(void *stream, const norm_call<T> &n, bool is_backward)
{
    if (n.width % PP_WIDE<T> == 0 && pp_are_aligned(n.x, n.gamma, n.beta, n.dy, n.base, n.y, n.dx))
        launch<T, PP_WIDE<T>>(stream, n, is_backward);
    else
        launch<T, 1>(stream, n, is_backward);
}

} // namespace

#define NORM(name, T)                                                                              \
    void pp_cuda_norm_forward_##name(void *stream, const struct pp_norm *n)                        \
    {                                                                                              \
        launch_any(stream, norm_of<T>(n), false);                                                  \
    }                                                                                              \
    void pp_cuda_norm_backward_##name(void *stream, const struct pp_norm *n)                       \
    {                                                                                              \
        launch_any(stream, norm_of<T>(n), true);                                                   \
    }
NORM(fp32, float)
NORM(bf16, pp_bf16)
