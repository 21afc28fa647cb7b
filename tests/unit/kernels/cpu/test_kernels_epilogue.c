/* The epilogue of a multiplication against separate calls on dense tensors: equal to the bit in
 * every table. */
#include "tests/unit/kernels/cpu/kernel_tables.h"

enum { BASE = 1, IN_PLACE = 2, BIAS = 4, ACTIVATED = 8, GELU_OF = 16, IS_GRADIENT = 32 };
static const int combinations[] = {
    0,
    BASE,
    BASE | IN_PLACE,
    BASE | IN_PLACE | IS_GRADIENT,
    IS_GRADIENT,
    BIAS,
    BASE | BIAS,
    BASE | IN_PLACE | BIAS,
    ACTIVATED,
    BIAS | ACTIVATED,
    GELU_OF,
};

/* Tensors of one multiplication; what is [m][n] has rows of ldc. */
struct scene {
    struct pp_gemm shape;
    int flags;
    struct tensor a, b, base, bias, slope_of, c, activated, c_before, activated_before;
};

static struct scene scene_of(struct tables *t, int m, int n, int k, int gap, int flags)
{
    const size_t size = (size_t)(m * (n + gap));
    const uint64_t seed = t->seed;
    struct scene s = {.shape = {.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n + gap},
                      .flags = flags};

    s.c = tensor_random(t, size, 2);
    s.activated = tensor_random(t, size, 2);
    t->seed = seed;
    s.c_before = tensor_random(t, size, 2);
    s.activated_before = tensor_random(t, size, 2);
    s.a = tensor_random(t, (size_t)(m * k), 1);
    s.b = tensor_random(t, (size_t)(k * n), 1);
    s.base = tensor_random(t, size, 2);
    s.bias = tensor_random(t, (size_t)n, 1);
    s.slope_of = tensor_random(t, size, 2);
    return s;
}

static void run_fused(const struct scene *s, const struct pp_kernels *k, int e)
{
    struct pp_gemm g = s->shape;

    g.is_gradient = s->flags & IS_GRADIENT;
    g.activation = (enum pp_activation)(s->shape.m % PP_ACTIVATIONS);
    g.a = s->a.of[e];
    g.b = s->b.of[e];
    g.c = s->c.of[e];
    g.base = !(s->flags & BASE) ? NULL : s->flags & IN_PLACE ? g.c : s->base.of[e];
    g.bias = s->flags & BIAS ? s->bias.of[e] : NULL;
    g.activated = s->flags & ACTIVATED ? s->activated.of[e] : NULL;
    g.slope_of = s->flags & GELU_OF ? s->slope_of.of[e] : NULL;
    k->gemm(NULL, &g);
}

/* Rows of a tensor, one after the other. */
static void *packed(const struct tables *t, const struct scene *s, struct tensor x, int e)
{
    const size_t element_bytes = t->of[e]->element_bytes, n = (size_t)s->shape.n,
                 ldc = (size_t)s->shape.ldc;
    char *to = pp_arena_alloc(t->arena, x.count * element_bytes);

    for (size_t i = 0; i < (size_t)s->shape.m; i++)
        memcpy(to + i * n * element_bytes, (const char *)x.of[e] + i * ldc * element_bytes,
               n * element_bytes);
    return to;
}

/* c and gelu(c), or NULL, by calls of their own. */
static void run_alone(const struct tables *t, const struct scene *s, int e, void **c,
                      void **activated)
{
    const struct pp_kernels *k = t->of[e];
    const int64_t count = (int64_t)s->shape.m * s->shape.n;
    struct pp_gemm g = s->shape;

    *c = packed(t, s, s->flags & IN_PLACE ? s->c_before : s->base, e);
    g.a = s->a.of[e];
    g.b = s->b.of[e];
    g.c = *c;
    g.ldc = g.n;
    g.base = s->flags & BASE ? *c : NULL;
    k->gemm(NULL, &g);
    if (s->flags & BIAS)
        k->add_bias(NULL, g.m, g.n, s->bias.of[e], *c);
    if (s->flags & GELU_OF)
        k->activate_backward(NULL, (enum pp_activation)(s->shape.m % PP_ACTIVATIONS), count,
                             packed(t, s, s->slope_of, e), *c, *c);
    *activated = packed(t, s, s->activated_before, e);
    if (s->flags & ACTIVATED)
        k->activate_forward(NULL, (enum pp_activation)(s->shape.m % PP_ACTIVATIONS), count, *c,
                            *activated);
}

/* The rows are those expected, and what lies between them is as before. */
static void check_rows(const struct tables *t, const struct scene *s, int e, struct tensor x,
                       struct tensor before, const void *expected, const char *what)
{
    const size_t element_bytes = t->of[e]->element_bytes;
    const size_t row = (size_t)s->shape.n * element_bytes,
                 stride = (size_t)s->shape.ldc * element_bytes;

    for (size_t i = 0; i < (size_t)s->shape.m; i++) {
        const char *got = (const char *)x.of[e] + i * stride;
        cr_assert(memcmp(got, (const char *)expected + i * row, row) == 0,
                  "%s, table %d, flags %d: row %zu of %d", what, e, s->flags, i, s->shape.m);
        cr_assert(memcmp(got + row, (const char *)before.of[e] + i * stride + row, stride - row) ==
                      0,
                  "%s, table %d, flags %d: after row %zu", what, e, s->flags, i);
    }
}

Test(kernels_epilogue, is_what_calls_of_their_own_do)
{
    static const int sizes[][4] = {{1, 1, 1, 0},   {3, 17, 5, 0},  {3, 17, 5, 2},
                                   {16, 32, 8, 0}, {9, 33, 70, 7}, {31, 48, 300, 1}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof combinations / sizeof *combinations; j++) {
            const struct scene s =
                scene_of(&t, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], combinations[j]);
            for (int e = 0; e < t.count; e++) {
                void *c, *activated;
                run_fused(&s, t.of[e], e);
                run_alone(&t, &s, e, &c, &activated);
                check_rows(&t, &s, e, s.c, s.c_before, c, "c");
                check_rows(&t, &s, e, s.activated, s.activated_before, activated, "activated");
            }
        }
}

/* (base + a b) + bias, and gelu, by hand. */
Test(kernels_epilogue, has_the_order_that_is_stated)
{
    const struct pp_kernels *k = pp_kernels_fp32(false);
    const float a = 1, b = 0x1p-24f, base = 1, bias = -1;
    float c, activated;

    k->gemm(NULL, &(struct pp_gemm){.m = 1,
                                    .n = 1,
                                    .k = 1,
                                    .a = &a,
                                    .b = &b,
                                    .c = &c,
                                    .lda = 1,
                                    .ldb = 1,
                                    .ldc = 1,
                                    .base = &base,
                                    .bias = &bias,
                                    .activated = &activated});
    cr_assert_eq(c, 0.0f, "1 + 2^-24 is 1 in single precision, and only then comes the bias");
    cr_assert_eq(activated, 0.0f);
}
