/* tests/cuda/gemm_problem.h — multiplications to try on a device, with drawn tensors of any shape
 * and combination of fields. The expected results are from loops in double over the same rounded
 * inputs. */
#ifndef PP_TESTS_CUDA_GEMM_PROBLEM_H
#define PP_TESTS_CUDA_GEMM_PROBLEM_H

#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/gemm/gemm.h"
#include "tests/cuda/device.h"

#include <math.h>

/* ---- a case: one multiplication, on the device and by loops ---------------------------------- */

/* IN_PLACE: base is c. The activation function is flags / ACTIVATION. */
enum {
    BASE = 1,
    IN_PLACE = 2,
    BIAS = 4,
    ACTIVATED = 8,
    SLOPE_OF = 16,
    GRADIENT = 32,
    ACTIVATION = 64
};

struct shape {
    int m, n, k;
    int pad_a, pad_b, pad_c; /* what rows are longer than they need to be */
    int offset;              /* elements by which a, b and c miss 16 bytes */
};

struct problem {
    struct pp_gemm g;
    int flags;
    bool is_bf16;
    struct drawn_tensor a, b, c, base, bias, activated, slope_of;
};

static inline size_t stored(int rows, int ld)
{
    return (size_t)rows * (size_t)ld;
}

static inline struct problem problem_of(const struct shape *s, bool a_transposed, bool b_transposed,
                                        int flags, bool is_bf16)
{
    const int lda = (a_transposed ? s->m : s->k) + s->pad_a;
    const int ldb = (b_transposed ? s->k : s->n) + s->pad_b, ldc = s->n + s->pad_c;
    const bool c_is_bf16 = is_bf16 && !(flags & GRADIENT);
    const size_t size = stored(s->m, ldc);
    struct problem p = {.flags = flags, .is_bf16 = is_bf16};

    p.a = drawn_tensor(stored(a_transposed ? s->k : s->m, lda), is_bf16, 1, s->offset);
    p.b = drawn_tensor(stored(b_transposed ? s->n : s->k, ldb), is_bf16, 1, s->offset);
    p.c = drawn_tensor(size, c_is_bf16, 1, s->offset);
    p.base = drawn_tensor(flags & BASE ? size : 0, c_is_bf16, 1, 0);
    p.bias = drawn_tensor(flags & BIAS ? (size_t)s->n : 0, is_bf16, 1, 0);
    p.activated = drawn_tensor(flags & ACTIVATED ? size : 0, is_bf16, 1, 0);
    p.slope_of = drawn_tensor(flags & SLOPE_OF ? size : 0, is_bf16, 1, 0);
    p.g = (struct pp_gemm){.m = s->m,
                           .n = s->n,
                           .k = s->k,
                           .a_transposed = a_transposed,
                           .b_transposed = b_transposed,
                           .is_gradient = flags & GRADIENT,
                           .a = p.a.device,
                           .b = p.b.device,
                           .c = p.c.device,
                           .lda = lda,
                           .ldb = ldb,
                           .ldc = ldc,
                           .base = flags & IN_PLACE ? p.c.device : p.base.device,
                           .bias = p.bias.device,
                           .activation = (enum pp_activation)(flags / ACTIVATION),
                           .activated = p.activated.device,
                           .slope_of = p.slope_of.device};
    return p;
}

static inline void end(struct problem *p)
{
    struct drawn_tensor *all[] = {&p->a,    &p->b,         &p->c,       &p->base,
                                  &p->bias, &p->activated, &p->slope_of};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        drawn_tensor_free(all[i]);
}

/* ---- what it should be ----------------------------------------------------------------------- */

static inline double activation(enum pp_activation f, double x)
{
    return f == PP_RELU       ? fmax(x, 0)
           : f == PP_SILU     ? x / (1 + exp(-x))
           : f == PP_GELU_ERF ? 0.5 * x * (1 + erf(x / sqrt(2)))
                              : 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

/* Central difference: an independent slope, but where there is none. */
static inline double slope(enum pp_activation f, double x)
{
    return f == PP_RELU ? x > 0 : (activation(f, x + 1e-5) - activation(f, x - 1e-5)) / 2e-5;
}

/* A value, and the sum of what was added without its sign: errors are parts of that. */
struct sum {
    double value, size;
};

static inline struct sum product(const struct problem *p, int row, int column)
{
    const struct pp_gemm *g = &p->g;
    const size_t i = (size_t)row, j = (size_t)column;
    struct sum s = {0};

    for (size_t q = 0; q < (size_t)g->k; q++) {
        const double a =
            p->a.host[g->a_transposed ? q * (size_t)g->lda + i : i * (size_t)g->lda + q];
        const double b =
            p->b.host[g->b_transposed ? j * (size_t)g->ldb + q : q * (size_t)g->ldb + j];
        s.value += a * b;
        s.size += fabs(a * b);
    }
    return s;
}

static inline struct sum expected(const struct problem *p, int row, int column)
{
    const size_t at = (size_t)row * (size_t)p->g.ldc + (size_t)column;
    struct sum s = product(p, row, column);
    double more = 0;

    if (p->flags & BASE)
        more += p->base.host[at];
    if (p->flags & IN_PLACE)
        more += p->c.host[at];
    if (p->flags & BIAS)
        more += p->bias.host[column];
    s.value += more;
    s.size += 2; /* base and bias are at most 1 */
    if (p->flags & SLOPE_OF)
        s.value *= slope(p->g.activation, p->slope_of.host[at]);
    return s;
}

/* The emulation rounds bf16 once. The library may also round before it adds base and bias. */
#ifdef PP_CUDA_EMULATED
#define BF16_ROUNDING (0x1p-8 * 1.1)
#else
#define BF16_ROUNDING (0x1p-7 * 1.1)
#endif

/* Float: as many roundings as there are products. Bf16: the output's, and where the epilogue is a
 * kernel after it, that of what it reads. No slope is above 1.13. */
static inline double allowed(const struct problem *p, bool is_bf16, double size)
{
    return size * (is_bf16 ? BF16_ROUNDING : 1e-6 + 0x1p-24 * p->g.k) + 1e-6;
}

static inline void compare(const struct problem *p, const char *what)
{
    double *c = drawn_tensor_read(&p->c), *y = drawn_tensor_read(&p->activated);

    for (size_t at = 0; at < p->c.count; at++) {
        const int row = (int)(at / (size_t)p->g.ldc), column = (int)(at % (size_t)p->g.ldc);
        if (column >= p->g.n) {
            cr_assert(c[at] == p->c.host[at], "%s: wrote outside of c [%d][%d]", what, row, column);
            continue;
        }
        const struct sum s = expected(p, row, column);
        const double bound = allowed(p, p->c.is_bf16, s.size);
        cr_assert(fabs(c[at] - s.value) <= bound, "%s: c [%d][%d] is %.9g, not %.9g", what, row,
                  column, c[at], s.value);
        if (p->flags & ACTIVATED)
            cr_assert(fabs(y[at] - activation(p->g.activation, s.value)) <=
                          1.13 * bound + allowed(p, p->is_bf16, fabs(y[at])),
                      "%s: activated [%d][%d] is %.9g, not %.9g", what, row, column, y[at],
                      activation(p->g.activation, s.value));
    }
    free(c);
    free(y);
}

#endif
