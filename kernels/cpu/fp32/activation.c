/* Activation functions and gates. Each function is a value and a slope; loops are made for each. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

static const float TWICE_SCALE = 1.5957691216057308f; /* 2 sqrt(2 / pi) */
static const float CUBE = 0.044715f;

/* x sigmoid(2 u) = x (1 + tanh u) / 2, precise for tanh u near -1. */
PP_INLINE vf gelu_tanh(vf x)
{
    return x * sigmoid_lanes(TWICE_SCALE * x * multiply_add(all(CUBE), x * x, all(1)));
}

PP_INLINE vf gelu_tanh_slope(vf x)
{
    const vf square = x * x;
    const vf s = sigmoid_lanes(TWICE_SCALE * x * multiply_add(all(CUBE), square, all(1)));
    const vf slope = multiply_add(all(3 * CUBE * TWICE_SCALE), square, all(TWICE_SCALE));

    return multiply_add(x * s * (1.0f - s), slope, s);
}

/* Half of erfc(|x| / sqrt(2)), the share of a normal distribution beyond |x|, within 1.2e-7 of its
 * value (Press et al. 1992, section 6.2). */
PP_INLINE vf normal_tail(vf x)
{
    static const float COEFFICIENTS[] = {-0.82215223f, 1.48851587f,  -1.13520398f,
                                         0.27886807f,  -0.18628806f, 0.09678418f,
                                         0.37409196f,  1.00002368f,  -1.26551223f};
    const vf z = choose(x < 0.0f, -x, x) * 0x1.6a09e6p-1f, t = 1.0f / (1.0f + 0.5f * z);
    vf p = all(0.17087277f);

    for (size_t i = 0; i < sizeof(COEFFICIENTS) / sizeof(*COEFFICIENTS); i++)
        p = multiply_add(p, t, all(COEFFICIENTS[i]));
    return 0.5f * t * exp_lanes(p - z * z);
}

/* The share below x. */
PP_INLINE vf normal_share(vf x)
{
    const vf tail = normal_tail(x);

    return choose(x < 0.0f, tail, 1.0f - tail);
}

/* NaN and infinities are as their product with a share. */
PP_INLINE vf gelu_erf(vf x)
{
    return x * normal_share(x);
}

PP_INLINE vf gelu_erf_slope(vf x)
{
    return multiply_add(0x1.988454p-2f * x, exp_lanes(-0.5f * x * x), normal_share(x));
}

PP_INLINE vf relu(vf x)
{
    return choose(x < 0.0f, all(0), x);
}

PP_INLINE vf relu_slope(vf x)
{
    return choose(x > 0.0f, all(1), all(0));
}

PP_INLINE vf silu(vf x)
{
    return x * sigmoid_lanes(x);
}

PP_INLINE vf silu_slope(vf x)
{
    const vf s = sigmoid_lanes(x);

    return s * (1.0f + x * (1.0f - s));
}

/* ---- loops ----------------------------------------------------------------------------------- */

struct rows {
    void (*forward)(size_t count, const float *x, float *y);
    void (*backward)(size_t count, const float *x, const float *dy, float *dx);
    void (*gate)(size_t count, const float *gate, const float *value, float *y);
    void (*gate_backward)(size_t count, const float *gate, const float *dy, float *dx);
};

/* The row functions of f: dx of a gate has the width of x. */
#define ROWS(f)                                                                                    \
    static void f##_forward(size_t count, const float *x, float *y)                                \
    {                                                                                              \
        for (size_t i = 0; i < count; i += LANES)                                                  \
            store_some(y + i, count - i, f(load_some(x + i, count - i)));                          \
    }                                                                                              \
    static void f##_backward(size_t count, const float *x, const float *dy, float *dx)             \
    {                                                                                              \
        for (size_t i = 0; i < count; i += LANES) {                                                \
            const vf slope = f##_slope(load_some(x + i, count - i));                               \
            store_some(dx + i, count - i, load_some(dy + i, count - i) * slope);                   \
        }                                                                                          \
    }                                                                                              \
    static void f##_gate(size_t count, const float *gate, const float *value, float *y)            \
    {                                                                                              \
        for (size_t i = 0; i < count; i += LANES) {                                                \
            const vf g = f(load_some(gate + i, count - i));                                        \
            store_some(y + i, count - i, g * load_some(value + i, count - i));                     \
        }                                                                                          \
    }                                                                                              \
    static void f##_gate_backward(size_t count, const float *gate, const float *dy, float *dx)     \
    {                                                                                              \
        for (size_t i = 0; i < count; i += LANES) {                                                \
            const size_t rest = count - i;                                                         \
            const vf g = load_some(gate + i, rest), value = load_some(gate + count + i, rest);     \
            const vf d = load_some(dy + i, rest);                                                  \
            store_some(dx + i, rest, d * value * f##_slope(g));                                    \
            store_some(dx + count + i, rest, d * f(g));                                            \
        }                                                                                          \
    }
ROWS(gelu_tanh)
ROWS(gelu_erf)
ROWS(relu)
ROWS(silu)

#define ROW(f)                                                                                     \
    {                                                                                              \
        f##_forward, f##_backward, f##_gate, f##_gate_backward                                     \
    }
static const struct rows FUNCTIONS[PP_ACTIVATIONS] = {[PP_GELU_TANH] = ROW(gelu_tanh),
                                                      [PP_GELU_ERF] = ROW(gelu_erf),
                                                      [PP_RELU] = ROW(relu),
                                                      [PP_SILU] = ROW(silu)};

void PP_AT(activate_forward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                             void *y)
{
    (void)stream;
    FUNCTIONS[f].forward((size_t)count, x, y);
}

void PP_AT(activate_backward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                              const void *dy, void *dx)
{
    (void)stream;
    FUNCTIONS[f].backward((size_t)count, x, dy, dx);
}

void PP_AT(gate_forward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                         void *y)
{
    const size_t columns = (size_t)width;
    const float *gate = x;
    float *to = y;

    (void)stream;
    for (int r = 0; r < rows; r++, gate += 2 * columns, to += columns)
        FUNCTIONS[f].gate(columns, gate, gate + columns, to);
}

void PP_AT(gate_backward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                          const void *dy, void *dx)
{
    const size_t columns = (size_t)width;
    const float *gate = x, *from = dy;
    float *to = dx;

    (void)stream;
    for (int r = 0; r < rows; r++, gate += 2 * columns, to += 2 * columns, from += columns)
        FUNCTIONS[f].gate_backward(columns, gate, from, to);
}

void PP_AT(scale)(void *stream, int64_t count, double factor, void *x)
{
    float *at = x;

    (void)stream;
    for (size_t i = 0; i < (size_t)count; i += LANES)
        store_some(at + i, (size_t)count - i, load_some(at + i, (size_t)count - i) * (float)factor);
}
