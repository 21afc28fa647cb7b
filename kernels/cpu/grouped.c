/* Work on the rows of each expert: the functions of the same table on one group after another. */
#include "kernels/cpu/grouped.h"

/* Rows of one expert, of one sender. */
struct group {
    int expert, rows;
    size_t first;
};

static struct group group_at(const struct pp_row_groups *g, int sender, int expert, size_t first)
{
    const int32_t *begin = &g->begin[sender * g->stride + expert];

    return (struct group){expert, begin[1] - begin[0], first};
}

/* Returns the first row of an expert of a sender. */
static size_t first_row(const struct pp_row_groups *g, int sender, int expert)
{
    struct pp_row_groups before = *g;

    before.senders = sender;
    const int32_t *begin = &g->begin[sender * g->stride];
    return (size_t)(pp_row_groups_rows(&before) + begin[expert] - begin[0]);
}

static const void *at(const void *x, size_t elements, size_t element_bytes)
{
    return x == NULL ? NULL : (const char *)x + elements * element_bytes;
}

static void *to(void *x, size_t elements, size_t element_bytes)
{
    return x == NULL ? NULL : (char *)x + elements * element_bytes;
}

static void multiply_group(const struct pp_kernels *k, void *stream, const struct pp_gemm *all,
                           struct group group)
{
    const size_t bytes = k->element_bytes, expert = (size_t)group.expert,
                 c = group.first * (size_t)all->ldc,
                 matrix = (size_t)(all->b_transposed ? all->n : all->k) * (size_t)all->ldb;
    struct pp_gemm g = *all;

    g.m = group.rows;
    g.a = at(g.a, group.first * (size_t)g.lda, bytes);
    g.b = at(g.b, expert * matrix, bytes);
    g.c = to(g.c, c, bytes);
    g.bias = at(g.bias, expert * (size_t)g.n, bytes);
    g.activated = to(g.activated, c, bytes);
    g.slope_of = at(g.slope_of, c, bytes);
    (g.is_few && g.m <= PP_FEW_ROWS ? k->gemm_few : k->gemm)(stream, &g);
}

static void clear_rest(const struct pp_kernels *k, void *stream, const struct pp_row_groups *groups,
                       int width, void *x)
{
    const size_t row = (size_t)width * k->element_bytes, used = (size_t)pp_row_groups_rows(groups);

    if (x != NULL)
        k->zero(stream, ((size_t)groups->rows - used) * row, (char *)x + used * row);
}

void pp_grouped_gemm(const struct pp_kernels *k, void *stream, const struct pp_row_groups *groups,
                     const struct pp_gemm *g)
{
    size_t first = 0;

    for (int s = 0; s < groups->senders; s++)
        for (int e = 0; e < groups->experts; e++) {
            const struct group group = group_at(groups, s, e, first);
            if (group.rows > 0)
                multiply_group(k, stream, g, group);
            first += (size_t)group.rows;
        }
    clear_rest(k, stream, groups, g->ldc, g->c);
    clear_rest(k, stream, groups, g->ldc, g->activated);
}

/* An expert without rows has no product: c stays, or becomes 0. */
void pp_grouped_weight_grad(const struct pp_kernels *k, void *stream,
                            const struct pp_row_groups *groups, struct pp_group_range range,
                            const struct pp_gemm *g)
{
    const size_t matrix = (size_t)g->m * (size_t)g->ldc, bytes = k->gradient_bytes;

    for (int e = range.from; e < range.until; e++) {
        const struct group group =
            group_at(groups, range.sender, e, first_row(groups, range.sender, e));
        const size_t c = (size_t)(e - range.from) * matrix;
        struct pp_gemm one = *g;

        one.k = group.rows;
        one.a = at(g->a, group.first * (size_t)g->lda, k->element_bytes);
        one.b = at(g->b, group.first * (size_t)g->ldb, k->element_bytes);
        one.c = to(g->c, c, bytes);
        one.base = at(g->base, c, bytes);
        if (group.rows > 0)
            k->gemm(stream, &one);
        else if (g->base == NULL)
            k->zero(stream, matrix * bytes, one.c);
    }
}

void pp_grouped_sum_rows(const struct pp_kernels *k, void *stream,
                         const struct pp_row_groups *groups, struct pp_group_range range, int width,
                         const void *dy, void *dbias, bool add)
{
    for (int e = range.from; e < range.until; e++) {
        const struct group group =
            group_at(groups, range.sender, e, first_row(groups, range.sender, e));

        k->sum_rows(stream, group.rows, width,
                    at(dy, group.first * (size_t)width, k->element_bytes),
                    to(dbias, (size_t)(e - range.from) * (size_t)width, k->gradient_bytes), add);
    }
}
