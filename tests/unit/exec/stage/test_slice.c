/* Slices of tensors, initial weights of devices that share blocks, and the rounding of a sum of
 * parts. */
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

static const struct pp_net net = {.name = "test",
                                  .layers = 2,
                                  .hidden = 24,
                                  .heads = 8,
                                  .kv_heads = 4,
                                  .head_dim = 3,
                                  .ffn = 20,
                                  .vocab = 33, /* not a multiple */
                                  .seq = 4,
                                  .is_gated = true,
                                  .activation = PP_SILU,
                                  .is_rms = true,
                                  .has_bias_qkv = true,
                                  .has_bias_out = true,
                                  .has_bias_mlp = true,
                                  .norm_epsilon = 1e-5,
                                  .rotary.theta = 10000};

static struct pp_stage *part_of(struct pp_arena *arena, const struct pp_kernels *k, int tp, int t)
{
    return pp_stage_whole_of(arena, &net, 1, 1, (struct pp_stage_share){.tp = tp, .tp_index = t},
                             k);
}

/* Whole runs from an element on are where each of their elements is. */
static void check_runs(const struct pp_param *part, int64_t i)
{
    for (int64_t most = 1; most <= part->count - i; most = 3 * most + 1) {
        const struct pp_slice_piece runs = pp_slice_runs(&part->slice, i, most);
        int64_t run, ignored;

        pp_slice_at(&part->slice, i, &run);
        cr_assert(runs.run * runs.runs <= most && runs.runs >= 1 && runs.run >= 1);
        cr_assert(runs.run == run || runs.runs == 1, "%s: more than a torn run", part->name);
        for (int64_t e = 0; e < runs.run * runs.runs; e++)
            cr_assert_eq(runs.first + e / runs.run * runs.stride + e % runs.run,
                         pp_slice_at(&part->slice, i + e, &ignored), "%s", part->name);
    }
}

/* Marks where the elements of a part are in the whole tensor, and compares their weights. */
static void check_param(const struct pp_param *part, const struct pp_param *whole,
                        const double *weights, const double *all, int *seen)
{
    int64_t last = -1, left = 0;

    for (int64_t i = 0; i < part->count; i++) {
        int64_t run;
        const int64_t at = pp_slice_at(&part->slice, i, &run);

        cr_assert(at >= 0 && at < whole->count, "%s: element %lld", part->name, (long long)i);
        cr_assert(left == 0 || at == last + 1, "%s: a run is torn", part->name);
        left = run - 1;
        last = at;
        check_runs(part, i);
        seen[at]++;
        cr_assert(weights[part->offset + i] == all[whole->offset + at], "%s: element %lld",
                  part->name, (long long)i);
    }
}

Test(slice, devices_have_each_weight_once_or_all)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_kernels *k = &pp_kernels_reference;
    const struct pp_stage *whole = pp_stage_whole(arena, &net, 1, 1, k);
    const char *all = rig_weights(arena, whole, k);
    int cut = 0;

    for (int tp = 2; tp <= 4; tp *= 2)
        for (int p = 0; p < whole->param_count; p++) {
            const struct pp_param *param = &whole->params[p];
            int *seen = PP_ARRAY(arena, int, param->count);
            int64_t expected = 1;

            for (int t = 0; t < tp; t++) {
                const struct pp_stage *stage = part_of(arena, k, tp, t);
                const struct pp_param *part = &stage->params[p];
                cr_assert_eq(part->id, param->id);
                cr_assert(part->slice.whole == 0 || part->slice.whole == param->count, "%s",
                          param->name);
                expected = part->slice.whole > 0 ? 1 : tp;
                cut += part->slice.whole > 0;
                check_param(part, param, (const double *)(const void *)rig_weights(arena, stage, k),
                            (const double *)(const void *)all, seen);
            }
            for (int64_t i = 0; i < param->count; i++)
                cr_assert_eq(seen[i], expected, "%s: element %lld", param->name, (long long)i);
        }
    cr_assert_geq(cut, (2 + 4) * (2 * 4 + 2)); /* matrices of two blocks, embedding and head */
}

/* Let a be the sum of the absolute values of k products. In any order, their sum has an error of at
 * most gamma(k) a: Higham 2002, section 3.1. */
static double gamma_of(int k)
{
    const double u = 0x1p-24;

    return k * u / (1 - k * u);
}

enum { ROWS = 8, COLUMNS = 16, INNER = 96 };
static float x[ROWS][INNER], w[COLUMNS][INNER], parts[4][ROWS][COLUMNS], sum[ROWS][COLUMNS];

static void fill(void)
{
    for (int i = 0; i < INNER; i++) {
        for (int r = 0; r < ROWS; r++)
            x[r][i] = (float)rig_random(1, (uint64_t)(r * INNER + i));
        for (int c = 0; c < COLUMNS; c++)
            w[c][i] = (float)rig_random(2, (uint64_t)(c * INNER + i));
    }
}

static void add_up(int tp)
{
    const struct pp_kernels *k = pp_kernels_fp32(true);
    const void *from[4];

    for (int t = 0; t < tp; t++) {
        k->gemm(NULL, &(struct pp_gemm){.m = ROWS,
                                        .n = COLUMNS,
                                        .k = INNER / tp,
                                        .b_transposed = true,
                                        .a = &x[0][t * INNER / tp],
                                        .b = &w[0][t * INNER / tp],
                                        .c = parts[t],
                                        .lda = INNER,
                                        .ldb = INNER,
                                        .ldc = COLUMNS});
        from[t] = parts[t];
    }
    pp_group_exchange_run(k, NULL, &(struct pp_group_exchange){ROWS * COLUMNS, parts[0], sum}, tp,
                          from);
}

Test(slice, a_sum_of_parts_is_within_its_bound)
{
    fill();
    for (int tp = 1; tp <= 4; tp++) {
        if (INNER % tp != 0)
            continue;
        add_up(tp);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++) {
                double exact = 0, absolute = 0;
                for (int i = 0; i < INNER; i++) {
                    exact += (double)x[r][i] * (double)w[c][i];
                    absolute += fabs((double)x[r][i] * (double)w[c][i]);
                }
                cr_assert_leq(fabs((double)sum[r][c] - exact), gamma_of(INNER) * absolute,
                              "tp %d, row %d, column %d", tp, r, c);
            }
    }
}
