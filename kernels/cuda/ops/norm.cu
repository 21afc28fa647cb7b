/* LayerNorm and RMSNorm, forward. A row has 32 .. 512 threads, which keep its elements in
 * registers, so that it is read from memory once. Bytes moved for [rows][width] of T: 2 of these
 * tensors (x, y); statistics and gains are little. */
#include "kernels/cuda/ops/norm.cuh"

namespace
{
enum { HELD = 4, THREADS_MAX = 512 };

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

template <class T, int N>
__global__ __launch_bounds__(THREADS_MAX, 2) void norm_forward_kernel(pp_norm_call<T> n)
{
    __shared__ float shared[THREADS_MAX / 32];
    const row_of r(n.rows);
    const int64_t at = (int64_t)r.row * n.width;
    pp_norm_rows<T, N, 1, HELD> row;
    float mean[1] = {0}, variance[1] = {0};

    row.from[0] = n.x + at;
    row.width = n.width;
    row.read();
    if (!n.is_rms) {
        row.each([&](int, const pp_floats<N>(&x)[1], int) {
#pragma unroll
            for (int j = 0; j < N; j++)
                mean[0] += x[0].at[j];
        });
        pp_row_sums(mean, shared);
        mean[0] /= (float)n.width;
    }
    row.each([&](int, const pp_floats<N>(&x)[1], int) {
#pragma unroll
        for (int j = 0; j < N; j++)
            variance[0] += (x[0].at[j] - mean[0]) * (x[0].at[j] - mean[0]);
    });
    pp_row_sums(variance, shared);
    const float inverse = 1.0f / sqrtf(variance[0] / (float)n.width + n.epsilon);
    if (!r.is_written)
        return;
    row.each([&](int column, const pp_floats<N>(&x)[1], int) {
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

template <class T, int N> void launch(void *stream, const pp_norm_call<T> &n)
{
    const dim3 block = pp_norm_block((n.width + N - 1) / N, HELD, THREADS_MAX);
    const unsigned blocks = ((unsigned)n.rows + block.y - 1) / block.y;

    if (n.rows > 0)
        PP_LAUNCH((norm_forward_kernel<T, N>), blocks, block, 0, pp_cuda_of(stream), n);
}
} // namespace

#define NORM_FORWARD(name, T)                                                                      \
    void pp_cuda_norm_forward_##name(void *stream, const struct pp_norm *n)                        \
    {                                                                                              \
        if (n->width % PP_WIDE<T> == 0 && pp_are_aligned(n->x, n->gamma, n->beta, n->y))           \
            launch<T, PP_WIDE<T>>(stream, pp_norm_call<T>(n));                                     \
        else                                                                                       \
            launch<T, 1>(stream, pp_norm_call<T>(n));                                              \
    }
NORM_FORWARD(fp32, float)
NORM_FORWARD(bf16, pp_bf16)
