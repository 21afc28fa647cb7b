/* SwiGLU and GELU: gelu(x) = x sigmoid(2 u) = x (1 + tanh u) / 2, precise for tanh u near -1. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

static const float TWICE_SCALE = 1.5957691216057308f; /* 2 sqrt(2 / pi) */
static const float CUBE = 0.044715f;

PP_INLINE vf gelu(vf x)
{
    return x * sigmoid_lanes(TWICE_SCALE * x * multiply_add(all(CUBE), x * x, all(1)));
}

PP_INLINE vf gelu_slope(vf x)
{
    const vf square = x * x;
    const vf s = sigmoid_lanes(TWICE_SCALE * x * multiply_add(all(CUBE), square, all(1)));
    const vf slope = multiply_add(all(3 * CUBE * TWICE_SCALE), square, all(TWICE_SCALE));

    return multiply_add(x * s * (1.0f - s), slope, s);
}

void PP_AT(gelu_forward)(void *stream, int64_t count, const void *x, void *y)
{
    const float *from = x;
    float *to = y;

    (void)stream;
    for (size_t i = 0; i < (size_t)count; i += LANES)
        store_some(to + i, (size_t)count - i, gelu(load_some(from + i, (size_t)count - i)));
}

void PP_AT(gelu_backward)(void *stream, int64_t count, const void *x, const void *dy, void *dx)
{
    (void)stream;
    for (size_t i = 0; i < (size_t)count; i += LANES) {
        const size_t rest = (size_t)count - i;
        const vf slope = gelu_slope(load_some((const float *)x + i, rest));
        store_some((float *)dx + i, rest, load_some((const float *)dy + i, rest) * slope);
    }
}

void PP_AT(swiglu_forward)(void *stream, int rows, int width, const void *x, void *y)
{
    const size_t columns = (size_t)width;
    const float *gate = x;
    float *to = y;

    (void)stream;
    for (int r = 0; r < rows; r++, gate += 2 * columns, to += columns)
        for (size_t i = 0; i < columns; i += LANES) {
            const vf g = load_some(gate + i, columns - i);
            const vf value = load_some(gate + columns + i, columns - i);
            store_some(to + i, columns - i, g * sigmoid_lanes(g) * value);
        }
}

void PP_AT(swiglu_backward)(void *stream, int rows, int width, const void *x, const void *dy,
                            void *dx)
{
    const size_t columns = (size_t)width;
    const float *gate = x, *from = dy;
    float *to = dx;

    (void)stream;
    for (int r = 0; r < rows; r++, gate += 2 * columns, to += 2 * columns, from += columns)
        for (size_t i = 0; i < columns; i += LANES) {
            const size_t rest = columns - i;
            const vf g = load_some(gate + i, rest), value = load_some(gate + columns + i, rest);
            const vf d = load_some(from + i, rest), s = sigmoid_lanes(g), ds = d * s;
            store_some(to + i, rest, ds * value * (1.0f + g * (1.0f - s)));
            store_some(to + columns + i, rest, ds * g);
        }
}
