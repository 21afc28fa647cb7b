/* Blocks in parts by rows. The closed form is compared with two resources that are played, and
 * layers of models with kernels priced at their rows. */
#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

/* Plays the parts: products one after the other, and each part's exchange after its products and
 * the exchange before. Returns the end of the last exchange. */
static double played_s(int parts, double compute_s, double exchange_s)
{
    double computed_s = 0, exchanged_s = 0;

    for (int i = 0; i < parts; i++) {
        computed_s += compute_s;
        exchanged_s = fmax(computed_s, exchanged_s) + exchange_s;
    }
    return exchanged_s;
}

/* A layer of products C = 6 and exchanges A = 4 takes 10 whole, 8 and 7 in parts, at last 6. */
Test(split, parts_take_the_golden_times)
{
    static const struct {
        int parts;
        double total_s;
    } rows[] = {{1, 10}, {2, 8}, {4, 7}, {1000000, 6}};

    for (size_t i = 0; i < PP_COUNT(rows); i++)
        cr_expect_float_eq(
            6 + pp_analytic_split_s(rows[i].parts, 6.0 / rows[i].parts, 4.0 / rows[i].parts),
            rows[i].total_s, 1e-5, "%d parts", rows[i].parts);
}

Test(split, the_closed_form_is_what_is_played)
{
    for (int parts = 1; parts <= 16; parts++)
        for (int c = 0; c <= 12; c++)
            for (int a = 0; a <= 12; a++) {
                const double closed_s = parts * c + pp_analytic_split_s(parts, c, a);
                cr_expect_float_eq(closed_s, played_s(parts, c, a), 1e-9, "n %d, c %d, a %d", parts,
                                   c, a);
                cr_expect_float_eq(closed_s, c + (parts - 1) * fmax(c, a) + a, 1e-9);
            }
}

static const enum pp_layer_kind kinds[] = {PP_LAYER_BLOCK, PP_LAYER_MOE, PP_LAYER_HEAD,
                                           PP_LAYER_EMBEDDING};

/* Each pass of a layer takes the closed form of one part, whose kernels have the rows of a part. */
static void check_layer(struct pp_cost_inputs in, enum pp_layer_kind kind, enum pp_pass pass)
{
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    const bool is_block = kind == PP_LAYER_BLOCK || kind == PP_LAYER_MOE;
    struct pp_cost_inputs whole = in;
    struct pp_layer_work rows = work;

    whole.tp_split = 1;
    const int parts = is_block ? in.tp_split : 1;
    rows.tokens /= parts;
    const struct pp_layer_sum one = pp_analytic_layer_sum(&whole, kind, rows, pass),
                              all = pp_analytic_layer_sum(&in, kind, work, pass);
    const double c = one.s - one.tp_s, a = one.tp_s;
    cr_expect_float_eq(all.s, c + (parts - 1) * fmax(c, a) + a, 1e-12 * all.s, "kind %d pass %d",
                       kind, pass);
    cr_expect_float_eq(all.tp_s, all.s - parts * c, 1e-12 * all.s);
    cr_expect_float_eq(all.launches, parts * one.launches, 1e-9);
    cr_expect_float_eq(all.bytes, parts * one.bytes, 1e-9 * all.bytes + 1);
}

Test(split, layers_are_parts_of_their_rows)
{
    static const struct setting settings[] = {{"gpt-22b", "a100", 8, 1, 1, 1, 4, 2048},
                                              {"llama3-70b", "h100", 4, 2, 1, 1, 2, 4096},
                                              {"mixtral-8x7b", "h100", 2, 2, 2, 1, 2, 4096},
                                              {"gpt3-175b", "a100", 16, 2, 1, 1, 1, 2048}};
    static const int splits[] = {1, 2, 4, 8, 16};
    static const char *const frameworks[] = {"plain", "megatron", "torchtitan"};

    for (size_t i = 0; i < PP_COUNT(settings); i++)
        for (size_t n = 0; n < PP_COUNT(splits); n++)
            for (size_t f = 0; f < PP_COUNT(frameworks); f++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct pp_model model;
                struct pp_cluster cluster;
                struct pp_cost_inputs in = inputs_of(arena, settings[i], &model, &cluster);
                in.framework = framework_of(frameworks[f]);
                in.tp_split = splits[n];
                in.is_tp_only = n % 2;
                for (size_t k = 0; k < PP_COUNT(kinds); k++)
                    for (int pass = 0; pass < PP_PASSES; pass++)
                        if (kinds[k] != PP_LAYER_MOE || model.experts.count > 0)
                            check_layer(in, kinds[k], (enum pp_pass)pass);
            }
}

static double step_of(struct pp_arena *arena, struct pp_cost_inputs in, int split)
{
    in.tp_split = split;
    const struct pp_costs *costs = costs_of(arena, &in);
    return (double)(costs->op[PP_F][0].ps + costs->op[PP_B][0].ps + costs->op[PP_R][0].ps);
}

/* Where launches, latencies and small kernels cost nothing, more parts are never slower. */
Test(split, parts_of_proportional_costs_are_never_slower)
{
    for (int n = 1; n < 16; n++)
        for (int c = 1; c <= 9; c++)
            for (int a = 0; a <= 9; a++)
                cr_expect_leq(pp_analytic_split_s(n + 1, (double)c / (n + 1), (double)a / (n + 1)),
                              pp_analytic_split_s(n, (double)c / n, (double)a / n) + 1e-12);
}

/* Real kernels have a best number of parts; recomputation is cut as well. */
Test(split, some_parts_are_best_and_the_neutral_ones_change_nothing)
{
    static const struct setting setting = {"gpt-22b", "a100", 8, 1, 1, 1, 4, 2048};
    static const enum pp_recompute levels[] = {PP_RECOMPUTE_NONE, PP_RECOMPUTE_SELECTIVE,
                                               PP_RECOMPUTE_FULL, PP_RECOMPUTE_STAGE};

    for (size_t i = 0; i < PP_COUNT(levels); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        in.recompute = levels[i];
        in.again = levels[i] == PP_RECOMPUTE_SELECTIVE ? PP_AGAIN_MLP : 0;
        const double whole = step_of(arena, in, 0);
        cr_expect_eq(step_of(arena, in, 1), whole);
        cr_expect_lt(step_of(arena, in, 2), whole);
        cr_expect_lt(step_of(arena, in, 4), step_of(arena, in, 2));
        cr_expect_gt(step_of(arena, in, 16), step_of(arena, in, 4));
        in.layout.tp = 1;
        cr_expect_eq(step_of(arena, in, 4), step_of(arena, in, 1), "tp 1");
    }
}
