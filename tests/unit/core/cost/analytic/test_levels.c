#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

/* Along the levels of recomputation the time rises and the bytes fall. No subset of the modules is
 * much better than the first level that keeps as little. */

static const struct setting SETTINGS[] = {
    {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048},   {"gpt3-175b", "a100", 1, 1, 1, 1, 4, 2048},
    {"llama3-70b", "h100", 4, 4, 4, 1, 1, 8192},    {"gpt2-64", "p100-daint", 1, 4, 1, 1, 1, 632},
    {"mixtral-8x7b", "h100", 2, 4, 8, 1, 1, 4096},  {"deepseek-v3", "h800", 1, 1, 64, 1, 1, 4096},
    {"gemma-2b", "v100-dgx1", 1, 1, 1, 1, 1, 4096},
};
static const char *const FRAMEWORKS[] = {"plain",     "megatron", "torchtitan",
                                         "deepspeed", "nemo",     "hai-llm"};

static struct pp_cost_inputs in_setting(struct pp_arena *arena, size_t i, size_t framework,
                                        struct pp_model *model, struct pp_cluster *cluster)
{
    struct pp_cost_inputs in = inputs_of(arena, SETTINGS[i], model, cluster);
    struct pp_error err;

    cr_assert_eq(pp_framework_find(FRAMEWORKS[framework], &in.framework, &err), PP_OK);
    return in;
}

/* Seconds and bytes of a recomputation, by the functions that price a run. */
static double block_sum(const struct pp_cost_inputs *in, enum pp_recompute how, unsigned again,
                        double (*of)(const struct pp_cost_inputs *in, enum pp_layer_kind kind))
{
    struct pp_cost_inputs other = *in;
    const double moe = pp_model_moe_blocks(in->model, 0, in->model->layers),
                 dense = in->model->layers - moe;

    other.recompute = how;
    other.again = again;
    return (dense > 0 ? dense * of(&other, PP_LAYER_BLOCK) : 0) +
           (moe > 0 ? moe * of(&other, PP_LAYER_MOE) : 0);
}

static int check_levels(enum pp_precision precision)
{
    int sets = 0;

    for (size_t i = 0; i < PP_COUNT(SETTINGS); i++)
        for (size_t f = 0; f < PP_COUNT(FRAMEWORKS); f++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_model model;
            struct pp_cluster cluster;
            struct pp_error err;
            const struct pp_cost_inputs in = in_setting(arena, i, f, &model, &cluster);
            if (pp_device_set_precision(&cluster.device, precision, &err) != PP_OK)
                continue; /* the device has no such peak */
            struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
            const int count = pp_recompute_levels(&in, levels);
            cr_assert_geq(count, 2);
            cr_assert_leq(count, PP_RECOMPUTE_LEVELS);
            cr_assert_eq(levels[0].recompute, PP_RECOMPUTE_NONE);
            cr_assert_eq(levels[count - 1].recompute, PP_RECOMPUTE_FULL);
            for (int k = 1; k < count; k++) {
                cr_assert_gt(levels[k].added_s, levels[k - 1].added_s, "%s %s %d",
                             SETTINGS[i].model, FRAMEWORKS[f], k);
                cr_assert_lt(levels[k].kept_bytes, levels[k - 1].kept_bytes, "%s %s %d",
                             SETTINGS[i].model, FRAMEWORKS[f], k);
            }
            sets += count - 2;
        }
    return sets;
}

Test(levels, time_rises_and_bytes_fall)
{
    cr_assert_gt(check_levels(PP_PRECISION_FP16), 40, "hardly any sets");
    cr_assert_gt(check_levels(PP_PRECISION_FP8), 30, "hardly any sets in fp8");
}

/* The first level with at most so many bytes. */
static double level_s(const struct pp_recompute_level *levels, int count, double bytes)
{
    for (int k = 0; k < count; k++)
        if (levels[k].kept_bytes <= bytes * (1 + 1e-9))
            return levels[k].added_s;
    return INFINITY;
}

/* The bytes of each subset of the modules are the memory that is there. Then a step at the first
 * level that fits is at most 6 % longer than with the best subset that fits. */
Test(levels, no_subset_is_much_better)
{
    double worst = 0;

    for (size_t i = 0; i < PP_COUNT(SETTINGS); i++)
        for (size_t f = 0; f < PP_COUNT(FRAMEWORKS); f++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_model model;
            struct pp_cluster cluster;
            const struct pp_cost_inputs in = in_setting(arena, i, f, &model, &cluster);
            struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
            const int count = pp_recompute_levels(&in, levels);
            const double plain_s = block_sum(&in, PP_RECOMPUTE_NONE, 0, pp_analytic_layer_s);
            unsigned all = in.framework->modules;
            if (in.framework->is_act_of_experts && model.experts.count == 0)
                all &= ~(unsigned)PP_AGAIN_ACT;
            for (unsigned set = 1; set <= all && !in.framework->is_selective_per_op; set++) {
                if (set & ~all)
                    continue;
                const double set_s =
                                 block_sum(&in, PP_RECOMPUTE_SELECTIVE, set, pp_analytic_again_s),
                             bytes = block_sum(&in, PP_RECOMPUTE_SELECTIVE, set,
                                               pp_analytic_kept_bytes);
                worst = fmax(worst, (plain_s + level_s(levels, count, bytes)) / (plain_s + set_s));
                cr_assert_lt(worst, 1.06, "%s %s set %u", SETTINGS[i].model, FRAMEWORKS[f], set);
            }
        }
}
