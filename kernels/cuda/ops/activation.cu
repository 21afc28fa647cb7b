/* SwiGLU, element by element. Bytes moved: every tensor of the call once. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

namespace
{

template <class T> struct swiglu_forward {
    const T *x; /* [rows][2 width] */
    T *y;
    int width;

    template <int N> __device__ void run(int row, int column) const
    {
        const int64_t at = (int64_t)row * width + column;
        const T *from = x + 2 * (int64_t)row * width + column;
        const pp_floats<N> gate = pp_load<N>(from), value = pp_load<N>(from + width);
        pp_floats<N> to;

#pragma unroll
        for (int j = 0; j < N; j++)
            to.at[j] = gate.at[j] * pp_sigmoid(gate.at[j]) * value.at[j];
        pp_save(y + at, to);
    }
};

/* The gate's slope is s (1 + g (1 - s)), with s the sigmoid of the gate g. */
template <class T> struct swiglu_backward {
    const T *x, *dy;
    T *dx;
    int width;

    template <int N> __device__ void run(int row, int column) const
    {
        const int64_t at = 2 * (int64_t)row * width + column;
        const pp_floats<N> gate = pp_load<N>(x + at), value = pp_load<N>(x + at + width);
        const pp_floats<N> d = pp_load<N>(dy + (int64_t)row * width + column);
        pp_floats<N> d_gate, d_value;

#pragma unroll
        for (int j = 0; j < N; j++) {
            const float g = gate.at[j], s = pp_sigmoid(g), ds = d.at[j] * s;
            d_gate.at[j] = ds * value.at[j] * fmaf(g, 1.0f - s, 1.0f);
            d_value.at[j] = ds * g;
        }
        pp_save(dx + at, d_gate);
        pp_save(dx + at + width, d_value);
    }
};

} // namespace

#define ACTIVATION(name, T)                                                                        \
    void pp_cuda_gate_forward_##name(void *stream, enum pp_activation, int rows, int width,        \
                                     const void *x, void *y)                                       \
    {                                                                                              \
        pp_map_rows<PP_WIDE<T>>(stream, rows, width, pp_are_aligned(x, y),                         \
                                swiglu_forward<T>{(const T *)x, (T *)y, width});                   \
    }                                                                                              \
    void pp_cuda_gate_backward_##name(void *stream, enum pp_activation, int rows, int width,       \
                                      const void *x, const void *dy, void *dx)                     \
    {                                                                                              \
        pp_map_rows<PP_WIDE<T>>(stream, rows, width, pp_are_aligned(x, dy, dx),                    \
                                swiglu_backward<T>{(const T *)x, (const T *)dy, (T *)dx, width});  \
    }
ACTIVATION(fp32, float)
ACTIVATION(bf16, pp_bf16)
