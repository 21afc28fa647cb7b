/* Attention windows in the times of stages, against closed forms of the keys that are met. */
#include "core/cost/analytic/parts.h"

#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <string.h>

/* Blocks 0, 2, 4, ... look back 4,096 tokens: with a block a stage every other stage is faster. */
static const struct setting gemma = {"gemma2-2b", "h100", 1, 26, 1, 1, 1, 16384};

static const struct pp_kernel *attention_of(struct pp_layer_kernels *list,
                                            const struct pp_cost_inputs *in,
                                            struct pp_layer_work work, enum pp_pass pass)
{
    pp_layer_kernels(in, PP_LAYER_BLOCK, work, pass, list);
    int i = 0;
    while (i < list->count && strcmp(list->kernel[i].name, "attention") != 0)
        i++;
    cr_assert_lt(i, list->count);
    return &list->kernel[i];
}

/* A block of 128 queries computes the blocks on both edges of its window whole. */
Test(window_costs, attention_multiplies_with_the_keys_of_the_window)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, gemma, &model, &cluster);
    const struct pp_layer_work near = pp_analytic_near_work(&in, 0),
                               full = pp_analytic_work(&in, 0);
    const double s = 16384, w = 4096, d = 2048, met = w - w * w / (2 * s);
    struct pp_layer_kernels list;

    cr_assert_float_eq(attention_of(&list, &in, near, PP_PASS_F)->flops, 4 * s * (met + 128) * d,
                       1);
    cr_assert_float_eq(attention_of(&list, &in, full, PP_PASS_F)->flops, 4 * s * (s / 2 + 64) * d,
                       1);
    cr_assert_float_eq(attention_of(&list, &in, near, PP_PASS_I)->flops, 10 * s * (met + 128) * d,
                       1);
}

Test(window_costs, only_stages_of_windowed_blocks_are_faster)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gemma, &model, &cluster);
    const double full_s = pp_analytic_attention(&in, pp_analytic_work(&in, 0)).s,
                 near_s = pp_analytic_attention(&in, pp_analytic_near_work(&in, 0)).s;
    in.recompute = PP_RECOMPUTE_FULL;
    const struct pp_costs *with = costs_of(arena, &in);
    model.window.keys = 0;
    const struct pp_costs *without = costs_of(arena, &in);

    cr_assert_gt(full_s, 1.5 * near_s);
    for (int stage = 0; stage < 26; stage++) {
        const double saved_s = stage % 2 == 0 ? full_s - near_s : 0;
        const int64_t saved_ps = without->op[PP_F][stage].ps - with->op[PP_F][stage].ps;
        cr_assert_leq(llabs(saved_ps - llround(saved_s * 1e12)), 2, "stage %d", stage);
        cr_assert_leq(llabs(without->op[PP_R][stage].ps - with->op[PP_R][stage].ps - saved_ps), 2);
        cr_assert_eq(with->op[PP_B][stage].ps < without->op[PP_B][stage].ps, stage % 2 == 0);
    }
}

/* Sequence splits of a sample meet together what the sample meets. */
Test(window_costs, splits_add_up)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gemma, &model, &cluster);
    const double whole = pp_analytic_near_work(&in, 0).context;
    double met = 0;

    in.splits = 8;
    for (int q = 0; q < in.splits; q++)
        met += pp_analytic_near_work(&in, q).context / in.splits;
    cr_assert_float_eq(met, whole, 1e-9);
}

/* What stores all scores computes them all and masks; what is shorter than the window meets all. */
Test(window_costs, nothing_is_saved_where_nothing_is_skipped)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gemma, &model, &cluster);

    cluster.device.is_attention_unfused = true;
    cr_assert_eq(pp_analytic_near_work(&in, 0).context, 16384);
    cluster.device.is_attention_unfused = false;
    in.layout.seq = 4096;
    cr_assert_eq(pp_analytic_near_work(&in, 0).context, 2048);
    cr_assert_not(pp_analytic_near_work(&in, 0).is_near);
}
