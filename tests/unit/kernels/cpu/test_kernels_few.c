/* Products of a few rows: against the reference, with every epilogue, at odd sizes. A row has the
 * same bits among any others. */
#include "tests/unit/kernels/cpu/bf16_pairs.h"
#include "tests/unit/kernels/cpu/kernel_tables.h"

struct shape {
    int m, n, k, gap; /* gap: elements after each row */
};
enum { BASE = 1, OTHER_BASE = 2, BIAS = 4, ACTIVATED = 8, PARTS = 16 };

/* Returns the product of the shape; tensors are set later. */
static struct pp_gemm gemm_of(const struct shape *s, int which)
{
    return (struct pp_gemm){.m = s->m,
                            .n = s->n,
                            .k = s->k,
                            .b_transposed = true,
                            .lda = s->k + s->gap,
                            .ldb = s->k + s->gap,
                            .ldc = s->n + s->gap,
                            .activation = (enum pp_activation)(which % PP_ACTIVATIONS)};
}

static size_t count_of(int rows, int ld)
{
    return (size_t)rows * (size_t)ld;
}

/* Each row alone, then the last three. */
static void check_rows(const struct pp_kernels *k, const struct pp_gemm *g)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t bytes = k->element_bytes, row = (size_t)g->ldc * bytes;
    char *const alone = pp_arena_alloc(arena, 3 * row);

    for (int i = 0; i < g->m; i++) {
        struct pp_gemm part = *g;
        part.m = i + 3 == g->m ? 3 : 1;
        part.a = (const char *)g->a + (size_t)i * (size_t)g->lda * bytes;
        part.c = alone;
        part.base = NULL;
        part.activated = NULL;
        k->gemm_few(NULL, &part);
        for (int r = 0; r < part.m; r++)
            cr_assert_arr_eq(alone + (size_t)r * row, (char *)g->c + (size_t)(i + r) * row,
                             (size_t)g->n * bytes, "%s: row %d of %d x %d x %d", k->name, i + r,
                             g->m, g->n, g->k);
    }
}

static void try_single(struct tables *t, const struct shape *s, int which)
{
    struct pp_gemm g = gemm_of(s, which);
    const struct tensor a = tensor_random(t, count_of(s->m, g.lda), 1),
                        b = tensor_random(t, count_of(s->n, g.ldb), 1),
                        c = tensor_random(t, count_of(s->m, g.ldc), 1),
                        base = tensor_random(t, c.count, 1), f = tensor_random(t, c.count, 1),
                        bias = tensor_random(t, (size_t)s->n, 1);

    for (int e = 0; e < t->count; e++) {
        g.a = a.of[e];
        g.b = b.of[e];
        g.c = c.of[e];
        g.base = which & BASE ? c.of[e] : which & OTHER_BASE ? base.of[e] : NULL;
        g.bias = which & BIAS ? bias.of[e] : NULL;
        g.activated = which & ACTIVATED ? f.of[e] : NULL;
        t->of[e]->gemm_few(NULL, &g);
        if (g.base == NULL)
            check_rows(t->of[e], &g);
    }
    tensor_close(t, c, 2e-6, "gemm_few");
    tensor_close(t, f, 2e-6, "its activation");
    tensor_same(c, 1, t->fused, "gemm_few");
    tensor_same(f, 1, t->fused, "its activation");
}

static void try_bf16(struct pairs *p, const struct shape *s, int which)
{
    const struct pp_kernels *const k[] = {&pp_kernels_bf16, &pp_kernels_reference};
    const struct pp_gemm form = gemm_of(s, which);
    const struct pair a = pair_random(p, OF_T, count_of(s->m, form.lda), 1),
                      b = pair_random(p, OF_T, count_of(s->n, form.ldb), 1),
                      c = pair_random(p, OF_T, count_of(s->m, form.ldc), 1),
                      base = pair_random(p, OF_T, c.count, 1), f = pair_random(p, OF_T, c.count, 1),
                      bias = pair_random(p, OF_T, (size_t)s->n, 1);

    for (int e = 0; e < 2; e++) {
        struct pp_gemm g = form;
        g.a = e ? a.real : a.of;
        g.b = e ? b.real : b.of;
        g.c = e ? c.real : c.of;
        g.base = which & BASE ? g.c : which & OTHER_BASE ? (e ? base.real : base.of) : NULL;
        g.bias = which & BIAS ? (e ? bias.real : bias.of) : NULL;
        g.activated = which & ACTIVATED ? (e ? f.real : f.of) : NULL;
        k[e]->gemm_few(NULL, &g);
        if (g.base == NULL && e == 0)
            check_rows(k[e], &g);
    }
    pair_close(c, 2e-6, "gemm_few of bf16");
    /* It is that of c after rounding. */
    if (which & ACTIVATED)
        pair_close(f, 0x1p-8, "its activation");
}

Test(kernels_few, epilogues)
{
    static const struct shape shapes[] = {
        {1, 1, 1, 0},    {1, 3, 15, 0},   {2, 9, 16, 1},   {3, 40, 17, 0}, {4, 33, 64, 3},
        {5, 8, 31, 0},   {6, 16, 100, 2}, {7, 65, 48, 0},  {8, 31, 33, 0}, {9, 20, 70, 5},
        {19, 34, 32, 0}, {1, 70, 768, 0}, {2, 5, 1000, 0},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    struct pairs p = {arena, 1};

    for (size_t i = 0; i < PP_COUNT(shapes); i++)
        for (int which = 0; which < PARTS; which++) {
            try_single(&t, &shapes[i], which);
            try_bf16(&p, &shapes[i], which);
        }
}

Test(kernels_few, random_shapes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    struct pairs p = {arena, 2};

    for (int i = 0; i < 100; i++) {
        const struct shape s = {tables_int(&t, 1, 12), tables_int(&t, 1, 80),
                                tables_int(&t, 1, 150), tables_int(&t, 0, 3)};
        try_single(&t, &s, i % PARTS);
        try_bf16(&p, &s, i % PARTS);
    }
}
