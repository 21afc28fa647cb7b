/* Activations and gated ones, element by element. Bytes moved: every tensor of the call once. */
#include "kernels/cuda/device/activations.cuh"
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

namespace
{

template <class T, class Activation> struct forward {
    const T *x;
    T *y;

    template <int N> __device__ void run(int64_t i) const
    {
        pp_floats<N> to = pp_load<N>(x + i);

#pragma unroll
        for (int j = 0; j < N; j++) {
            const pp_activation_point f = Activation::at(to.at[j]);
            to.at[j] = f.value * f.common;
        }
        pp_save(y + i, to);
    }
};

template <class T, class Activation> struct backward {
    const T *x, *dy;
    T *dx;

    template <int N> __device__ void run(int64_t i) const
    {
        const pp_floats<N> at = pp_load<N>(x + i);
        pp_floats<N> d = pp_load<N>(dy + i);

#pragma unroll
        for (int j = 0; j < N; j++) {
            const pp_activation_point f = Activation::at(at.at[j]);
            d.at[j] *= f.common * f.slope;
        }
        pp_save(dx + i, d);
    }
};

template <class T, class Activation> struct gate_forward {
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
        for (int j = 0; j < N; j++) {
            const pp_activation_point f = Activation::at(gate.at[j]);
            to.at[j] = f.value * f.common * value.at[j];
        }
        pp_save(y + at, to);
    }
};

template <class T, class Activation> struct gate_backward {
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
            const pp_activation_point f = Activation::at(gate.at[j]);
            const float df = d.at[j] * f.common;
            d_gate.at[j] = df * value.at[j] * f.slope;
            d_value.at[j] = df * f.value;
        }
        pp_save(dx + at, d_gate);
        pp_save(dx + at + width, d_value);
    }
};

} // namespace

#define ACTIVATION(name, T)                                                                        \
    void pp_cuda_activate_forward_##name(void *stream, enum pp_activation f, int64_t count,        \
                                         const void *x, void *y)                                   \
    {                                                                                              \
        pp_with_activation(f, [=](auto activation) {                                               \
            pp_map<PP_WIDE<T>>(stream, count, pp_are_aligned(x, y),                                \
                               forward<T, decltype(activation)>{(const T *)x, (T *)y});            \
        });                                                                                        \
    }                                                                                              \
    void pp_cuda_activate_backward_##name(void *stream, enum pp_activation f, int64_t count,       \
                                          const void *x, const void *dy, void *dx)                 \
    {                                                                                              \
        pp_with_activation(f, [=](auto activation) {                                               \
            pp_map<PP_WIDE<T>>(                                                                    \
                stream, count, pp_are_aligned(x, dy, dx),                                          \
                backward<T, decltype(activation)>{(const T *)x, (const T *)dy, (T *)dx});          \
        });                                                                                        \
    }                                                                                              \
    void pp_cuda_gate_forward_##name(void *stream, enum pp_activation f, int rows, int width,      \
                                     const void *x, void *y)                                       \
    {                                                                                              \
        pp_with_activation(f, [=](auto activation) {                                               \
            pp_map_rows<PP_WIDE<T>>(                                                               \
                stream, rows, width, pp_are_aligned(x, y),                                         \
                gate_forward<T, decltype(activation)>{(const T *)x, (T *)y, width});               \
        });                                                                                        \
    }                                                                                              \
    void pp_cuda_gate_backward_##name(void *stream, enum pp_activation f, int rows, int width,     \
                                      const void *x, const void *dy, void *dx)                     \
    {                                                                                              \
        pp_with_activation(f, [=](auto activation) {                                               \
            pp_map_rows<PP_WIDE<T>>(stream, rows, width, pp_are_aligned(x, dy, dx),                \
                                    gate_backward<T, decltype(activation)>{                        \
                                        (const T *)x, (const T *)dy, (T *)dx, width});             \
        });                                                                                        \
    }
ACTIVATION(fp32, float)
ACTIVATION(bf16, pp_bf16)
