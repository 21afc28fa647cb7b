/* Bytes, the sum of two vectors, a vector times a factor, and a bias. Bytes moved: every vector of
 * the call once; y of add, and x of scale and add_bias, twice. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

namespace
{
template <class T> struct scale {
    T *x;
    float factor;

    template <int N> __device__ void run(int64_t i) const
    {
        pp_floats<N> product = pp_load<N>(x + i);

#pragma unroll
        for (int j = 0; j < N; j++)
            product.at[j] *= factor;
        pp_save(x + i, product);
    }
};

template <class T> struct add_bias {
    const T *bias;
    T *x;
    int width;

    template <int N> __device__ void run(int row, int column) const
    {
        T *const to = x + (int64_t)row * width + column;
        pp_floats<N> sum = pp_load<N>(to);

        pp_add(sum, pp_load<N>(bias + column));
        pp_save(to, sum);
    }
};
} // namespace

extern "C" {

void pp_cuda_copy(void *stream, size_t bytes, const void *from, void *to)
{
    if (bytes)
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, pp_cuda_of(stream));
}

void pp_cuda_zero(void *stream, size_t bytes, void *x)
{
    if (bytes)
        cudaMemsetAsync(x, 0, bytes, pp_cuda_of(stream));
}

void pp_cuda_add(void *stream, int64_t count, const void *x, void *y)
{
    pp_map<4>(stream, count, pp_are_aligned(x, y), pp_add_to<float>{(const float *)x, (float *)y});
}

} // extern "C"

#define BYTES(name, T)                                                                             \
    void pp_cuda_scale_##name(void *stream, int64_t count, double factor, void *x)                 \
    {                                                                                              \
        pp_map<PP_WIDE<T>>(stream, count, pp_are_aligned(x), scale<T>{(T *)x, (float)factor});     \
    }                                                                                              \
    void pp_cuda_add_bias_##name(void *stream, int rows, int width, const void *bias, void *x)     \
    {                                                                                              \
        pp_map_rows<PP_WIDE<T>>(stream, rows, width, pp_are_aligned(bias, x),                      \
                                add_bias<T>{(const T *)bias, (T *)x, width});                      \
    }
BYTES(fp32, float)
BYTES(bf16, pp_bf16)
