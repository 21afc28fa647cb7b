/* Rows, norms, activations, ends: single precision against the reference, at odd sizes and
 * alignments. All instruction set levels with fused multiply-add are compared with each other to
 * the bit. */
#include "tests/unit/kernels/cpu/kernel_tables.h"

static const int widths[] = {1, 7, 15, 16, 17, 31, 64, 65, 100, 128, 200};
enum { WIDTHS = sizeof widths / sizeof *widths };

static void check(const struct tables *t, struct tensor x, double tolerance, const char *what)
{
    tensor_close(t, x, tolerance, what);
    tensor_same(x, 1, t->fused, what);
}

Test(kernels, rows)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < 2 * WIDTHS; i++) {
        const int width = widths[i / 2], rows = tables_int(&t, 1, 40);
        const size_t size = (size_t)(rows * width);
        const struct tensor x = tensor_random(&t, size, 1), bias = tensor_random(&t, size, 1);
        const struct tensor sum = tensor_random(&t, (size_t)width, 1);
        for (int e = 0; e < t.count; e++) {
            t.of[e]->add_bias(NULL, rows, width, bias.of[e], x.of[e]);
            t.of[e]->sum_rows(NULL, rows, width, x.of[e], sum.of[e], i % 2);
            t.of[e]->add(NULL, (int64_t)size, x.of[e], bias.of[e]);
        }
        check(&t, x, 2e-7, "add_bias");
        check(&t, bias, 2e-7, "add");
        check(&t, sum, 2e-6, "sum_rows");
    }
}

static void norm_case(struct tables *t, int width, bool is_rms, bool has_beta, bool add)
{
    const int rows = tables_int(t, 1, 20);
    const size_t size = (size_t)(rows * width), columns = (size_t)width;
    const struct tensor x = tensor_random(t, size, 3), dy = tensor_random(t, size, 1);
    const struct tensor y = tensor_random(t, size, 1), dx = tensor_random(t, size, 1);
    const struct tensor stats = tensor_random(t, 2 * (size_t)rows, 1);
    const struct tensor gamma = tensor_random(t, columns, 1), beta = tensor_random(t, columns, 1);
    const struct tensor dgamma = tensor_random(t, columns, 1), dbeta = tensor_random(t, columns, 1);
    const struct tensor sums[] = {tensor_random(t, columns, 1), tensor_random(t, columns, 1),
                                  tensor_random(t, columns, 1), tensor_random(t, columns, 1)};

    for (int e = 0; e < t->count; e++) {
        const struct pp_norm n = {.rows = rows,
                                  .width = width,
                                  .is_rms = is_rms,
                                  .epsilon = 1e-2,
                                  .x = x.of[e],
                                  .gamma = gamma.of[e],
                                  .beta = has_beta ? beta.of[e] : NULL,
                                  .y = y.of[e],
                                  .stats = stats.of[e],
                                  .dy = dy.of[e],
                                  .base = add        ? dx.of[e]
                                          : has_beta ? y.of[e]
                                                     : NULL,
                                  .dx = dx.of[e],
                                  .dgamma = dgamma.of[e],
                                  .dbeta = has_beta ? dbeta.of[e] : NULL,
                                  .dgamma_added = add ? sums[0].of[e] : NULL,
                                  .dbeta_added = add && has_beta ? sums[1].of[e] : NULL,
                                  .dx_sum = sums[2].of[e],
                                  .dx_added = add ? sums[3].of[e] : NULL};
        t->of[e]->norm_forward(NULL, &n);
        t->of[e]->norm_backward(NULL, &n);
    }
    check(t, y, 2e-6, "norm_forward");
    check(t, stats, 2e-6, "stats");
    check(t, dx, 5e-6, "norm_backward");
    check(t, dgamma, 5e-6, "dgamma");
    check(t, dbeta, 5e-6, "dbeta");
    check(t, sums[0], 5e-6, "sum of dgamma");
    check(t, sums[1], 5e-6, "sum of dbeta");
    check(t, sums[2], 5e-6, "sum of dx");
    check(t, sums[3], 5e-6, "sum with dx");
}

Test(kernels, norm)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < 8 * WIDTHS; i++)
        norm_case(&t, widths[i / 8], i & 1, i & 2, i & 4);
}

/* Rows in groups, with something after each group that stays, and gradients in place. Every table
 * has the bits of its own dense rows. */
static void group_case(struct tables *t, int width)
{
    enum { GROUPS = 5, GROUP = 3, ROWS = GROUPS * GROUP };
    const int stride = GROUP * width + 2;
    const size_t dense = (size_t)(ROWS * width), sparse = (size_t)(GROUPS * stride);
    struct tensor x[2], y[2], dy[2], stats[2], dgamma[2];
    const struct tensor gamma = tensor_random(t, (size_t)width, 1);

    for (int i = 0; i < 2; i++) {
        x[i] = tensor_random(t, i ? sparse : dense, 1);
        y[i] = tensor_random(t, i ? sparse : dense, 1);
        dy[i] = tensor_random(t, i ? sparse : dense, 1);
        stats[i] = tensor_random(t, 2 * ROWS, 1);
        dgamma[i] = tensor_random(t, (size_t)width, 1);
    }
    for (int e = 0; e < t->count; e++) {
        const size_t bytes = t->of[e]->element_bytes, of_group = (size_t)(GROUP * width) * bytes;
        for (size_t g = 0; g < GROUPS; g++) {
            memcpy((char *)x[0].of[e] + g * of_group,
                   (char *)x[1].of[e] + g * (size_t)stride * bytes, of_group);
            memcpy((char *)dy[0].of[e] + g * of_group,
                   (char *)dy[1].of[e] + g * (size_t)stride * bytes, of_group);
        }
        for (int i = 0; i < 2; i++) {
            const struct pp_norm n = {.rows = ROWS,
                                      .width = width,
                                      .group = i ? GROUP : 0,
                                      .stride = stride,
                                      .is_rms = true,
                                      .epsilon = 1e-5,
                                      .x = x[i].of[e],
                                      .gamma = gamma.of[e],
                                      .y = y[i].of[e],
                                      .stats = stats[i].of[e],
                                      .dy = dy[i].of[e],
                                      .dx = dy[i].of[e],
                                      .dgamma = dgamma[i].of[e]};
            t->of[e]->norm_forward(NULL, &n);
            t->of[e]->norm_backward(NULL, &n);
        }
        for (size_t g = 0; g < GROUPS; g++) {
            const size_t at = g * (size_t)stride * bytes;
            cr_assert_arr_eq((char *)y[0].of[e] + g * of_group, (char *)y[1].of[e] + at, of_group);
            cr_assert_arr_eq((char *)dy[0].of[e] + g * of_group, (char *)dy[1].of[e] + at,
                             of_group);
        }
        cr_assert_arr_eq(dgamma[0].of[e], dgamma[1].of[e], (size_t)width * bytes);
    }
    check(t, y[1], 2e-6, "norm_forward in groups");
    check(t, dy[1], 5e-6, "norm_backward in groups");
}

Test(kernels, norms_of_groups)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < WIDTHS; i++)
        group_case(&t, widths[i]);
}

Test(kernels, activations)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < WIDTHS * PP_ACTIVATIONS; i++) {
        const enum pp_activation f = (enum pp_activation)(i % PP_ACTIVATIONS);
        const int64_t count = widths[i / PP_ACTIVATIONS] * 3;
        const struct tensor x = tensor_random(&t, (size_t)count, i % 3 ? 1 : 12);
        const struct tensor y = tensor_random(&t, (size_t)count, 1);
        const struct tensor dy = tensor_random(&t, (size_t)count, 1);
        for (int e = 0; e < t.count; e++) {
            t.of[e]->activate_forward(NULL, f, count, x.of[e], y.of[e]);
            void *const dx = i % 3 == 0 ? dy.of[e] : x.of[e];
            t.of[e]->activate_backward(NULL, f, count, x.of[e], dy.of[e], dx);
        }
        check(&t, y, 1e-6, "activate_forward");
        check(&t, i % 3 == 0 ? dy : x, 2e-6, "activate_backward");
    }
}

Test(kernels, gates)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < WIDTHS * PP_ACTIVATIONS; i++) {
        const enum pp_activation f = (enum pp_activation)(i % PP_ACTIVATIONS);
        const int width = widths[i / PP_ACTIVATIONS], rows = tables_int(&t, 1, 9);
        const size_t size = (size_t)(rows * width);
        const struct tensor x = tensor_random(&t, 2 * size, 5), y = tensor_random(&t, size, 1);
        const struct tensor dy = tensor_random(&t, size, 1), dx = tensor_random(&t, 2 * size, 1);
        for (int e = 0; e < t.count; e++) {
            t.of[e]->gate_forward(NULL, f, rows, width, x.of[e], y.of[e]);
            t.of[e]->gate_backward(NULL, f, rows, width, x.of[e], dy.of[e],
                                   i % 3 ? dx.of[e] : x.of[e]);
        }
        check(&t, y, 1e-6, "gate_forward");
        check(&t, i % 3 ? dx : x, 2e-6, "gate_backward");
    }
}

static int32_t *random_ids(struct tables *t, int count, int vocab)
{
    int32_t *ids = PP_ARRAY(t->arena, int32_t, count);

    for (int i = 0; i < count; i++)
        ids[i] = tables_int(t, 0, vocab - 1);
    return ids;
}

Test(kernels, embed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < 4 * WIDTHS; i++) {
        enum { BATCH = 3, TOKENS = 5, FIRST = 6, STRIDE = 13, VOCAB = 10 };
        const int width = widths[i / 4];
        const int32_t *ids = random_ids(&t, BATCH * STRIDE, VOCAB);
        const struct tensor table = tensor_random(&t, (size_t)(VOCAB * width), 1);
        const struct tensor places = tensor_random(&t, (size_t)(STRIDE * width), 1);
        const struct tensor y = tensor_random(&t, (size_t)(BATCH * TOKENS * width), 1);
        const struct tensor dtable = tensor_random(&t, (size_t)(VOCAB * width), 1);
        const struct tensor dplaces = tensor_random(&t, (size_t)(STRIDE * width), 1);
        for (int e = 0; e < t.count; e++) {
            const struct pp_embedding embedding = {.batch = BATCH,
                                                   .tokens = TOKENS,
                                                   .first = FIRST,
                                                   .stride = STRIDE,
                                                   .width = width,
                                                   .words = VOCAB,
                                                   .ids = ids,
                                                   .table = table.of[e],
                                                   .positions = i & 1 ? places.of[e] : NULL,
                                                   .y = y.of[e],
                                                   .dy = y.of[e],
                                                   .dtable = dtable.of[e],
                                                   .dpositions = i & 1 ? dplaces.of[e] : NULL,
                                                   .add = i & 2};
            t.of[e]->embed_forward(NULL, &embedding);
            t.of[e]->embed_backward(NULL, &embedding);
        }
        check(&t, y, 2e-7, "embed_forward");
        check(&t, dtable, 2e-6, "dtable");
        check(&t, dplaces, 2e-6, "dpositions");
    }
}

Test(kernels, cross_entropy)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int i = 0; i < WIDTHS; i++) {
        enum { BATCH = 2, TOKENS = 3, FIRST = 4, STRIDE = 7 };
        const int vocab = widths[i];
        const int32_t *targets = random_ids(&t, BATCH * STRIDE, vocab);
        const int ld = vocab + i % 3 * 5;
        const struct tensor x = tensor_random(&t, (size_t)(BATCH * TOKENS * ld), 20);
        double loss[MAX_TABLES][BATCH * TOKENS];
        for (int e = 0; e < t.count; e++)
            t.of[e]->cross_entropy(NULL, BATCH, TOKENS, FIRST, STRIDE, vocab, ld, targets, 0.5,
                                   x.of[e], loss[e]);
        check(&t, x, 1e-6, "cross_entropy");
        for (int j = 0; j < BATCH * TOKENS; j++) {
            cr_assert_float_eq(loss[1][j], loss[0][j], 2e-6 * (1 + loss[0][j]));
            for (int e = 2; e < t.fused; e++)
                cr_assert(memcmp(&loss[e][j], &loss[1][j], sizeof(double)) == 0);
        }
    }
}

/* The others are as without them; a row that is not a number does not matter either. */
Test(kernels, rows_without_a_target_do_not_count)
{
    enum { ROWS = 4, VOCAB = 21, LD = 24, NONE = 2 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);
    const struct tensor x = tensor_random(&t, (size_t)(ROWS * LD), 20),
                        all = tensor_random(&t, (size_t)(ROWS * LD), 20);
    const int32_t some[ROWS] = {3, 20, -1, 0}, each[ROWS] = {3, 20, 5, 0};

    for (int e = 0; e < t.count; e++) {
        const size_t row = LD * t.of[e]->element_bytes;
        char *rows = x.of[e], *same = all.of[e];
        double loss[ROWS], loss_of_all[ROWS];
        memcpy(same, rows, ROWS * row);
        memset(rows + NONE * row, 0xff, row);
        t.of[e]->cross_entropy(NULL, 1, ROWS, 0, ROWS, VOCAB, LD, some, 0.5, rows, loss);
        t.of[e]->cross_entropy(NULL, 1, ROWS, 0, ROWS, VOCAB, LD, each, 0.5, same, loss_of_all);
        memset(same + NONE * row, 0, row);
        loss_of_all[NONE] = 0;
        cr_assert_eq(memcmp(rows, same, ROWS * row), 0);
        cr_assert_eq(memcmp(loss, loss_of_all, sizeof(loss)), 0);
    }
}

Test(kernels, rotate)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct tables t = tables_all(arena);

    for (int half = 1; half < 40; half += 3) {
        enum { BATCH = 2, TOKENS = 9, HEADS = 3, FIRST = 1000 };
        const int head_dim = 2 * half + half % 4, stride = (HEADS + 1) * head_dim;
        const struct tensor x = tensor_random(&t, (size_t)(BATCH * TOKENS * stride), 1);
        const struct tensor back = tensor_random(&t, x.count, 1);
        struct pp_rotation r = {BATCH,  TOKENS, HEADS,           head_dim,
                                stride, FIRST,  angles_of(half), false};
        for (int e = 0; e < t.count; e++) {
            r.is_inverse = false;
            t.of[e]->rotate(NULL, &r, x.of[e]);
            t.of[e]->copy(NULL, x.count * t.of[e]->element_bytes, x.of[e], back.of[e]);
            r.is_inverse = true;
            t.of[e]->rotate(NULL, &r, back.of[e]);
        }
        check(&t, x, 1e-6, "rotate");
        check(&t, back, 1e-6, "rotate back");
    }
}
