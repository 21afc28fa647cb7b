#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <string.h>

/* A legal division exists when every free stage can have a block and the rest has a place. */
static bool is_possible(int blocks, int stages, int first, int last)
{
    if (blocks < stages)
        return false;
    if (stages == 1)
        return (first == 0 || first == blocks) && (last == 0 || last == blocks);
    const int free_stages = stages - (first > 0) - (last > 0), rest = blocks - first - last;
    return free_stages == 0 ? rest == 0 : rest >= free_stages;
}

static void check_division(const int *share, const int sizes[4])
{
    const int blocks = sizes[0], stages = sizes[1], first = sizes[2], last = sizes[3];
    int sum = 0, low = blocks, high = 0;

    for (int s = 0; s < stages; s++) {
        sum += share[s];
        cr_assert(share[s] >= 1);
        if ((s == 0 && first > 0) || (s == stages - 1 && last > 0))
            continue;
        low = share[s] < low ? share[s] : low;
        high = share[s] > high ? share[s] : high;
    }
    cr_assert_eq(sum, blocks);
    cr_assert(high - low <= 1 || high == 0);
    cr_assert(first == 0 || share[0] == first);
    cr_assert(last == 0 || share[stages - 1] == last);
    /* an end that is free never holds more than an inner stage */
    for (int s = 1; s < stages - 1; s++) {
        cr_assert(first > 0 || share[0] <= share[s]);
        cr_assert(last > 0 || share[stages - 1] <= share[s]);
    }
    /* nor the stage of the head more than that of the embedding */
    cr_assert(first > 0 || last > 0 || share[stages - 1] <= share[0]);
}

Test(partition, every_block_is_placed_evenly_and_the_ends_are_light)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int possible = 0;

    for (int blocks = 1; blocks <= 33; blocks++)
        for (int stages = 1; stages <= 11; stages++)
            for (int first = 0; first <= 5; first++)
                for (int last = 0; last <= 5; last++) {
                    struct pp_error err = {0};
                    int *share = NULL;
                    const enum pp_status status =
                        pp_partition_blocks(arena, blocks, stages, first, last, &share, &err);
                    cr_assert_eq(status == PP_OK, is_possible(blocks, stages, first, last),
                                 "%d blocks, %d stages, first %d, last %d: %s", blocks, stages,
                                 first, last, err.message);
                    if (status != PP_OK)
                        continue;
                    check_division(share, (int[]){blocks, stages, first, last});
                    possible++;
                }
    cr_assert(possible > 5000);
}

Test(partition, refusals_name_what_was_given_and_what_would_fit)
{
    static const struct {
        int blocks, stages, first, last;
        const char *message;
    } refused[] = {
        {96, 128, 0, 0,
         "96 layers cannot fill 128 stages with at least one each: use at most 96 stages (lower "
         "--pp or --vp)"},
        {1, 2, 0, 0,
         "1 layer cannot fill 2 stages with at least one each: use at most 1 stage (lower --pp or "
         "--vp)"},
        {10, 4, 5, 5,
         "--first-stage-layers 5 and --last-stage-layers 5: 10 layers must leave at least one for "
         "each of the other stages: expected at most 8 for both together"},
        {32, 4, 40, 0,
         "--first-stage-layers 40: 32 layers must leave at least one for each of the other stages: "
         "expected at most 29"},
        {32, 2, 0, 32,
         "--last-stage-layers 32: 32 layers must leave at least one for the other stage: expected "
         "at most 31"},
        {10, 2, 5, 6,
         "--first-stage-layers 5 and --last-stage-layers 6: the two stages hold all 10 layers: "
         "expected 10 for both together"},
        {10, 1, 0, 6,
         "--last-stage-layers 6: the only stage holds all 10 layers: expected 10 or nothing"},
        {10, 0, 0, 0,
         "cannot divide 10 layers among 0 stages (first 0, last 0): layers and stages are at least "
         "1, the ends not negative"},
        {10, 2, INT32_MAX, INT32_MAX,
         "--first-stage-layers 2147483647 and --last-stage-layers 2147483647: the two stages hold "
         "all 10 layers: expected 10 for both together"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct pp_error err = {0};
        int *share;
        cr_assert_eq(pp_partition_blocks(arena, refused[i].blocks, refused[i].stages,
                                         refused[i].first, refused[i].last, &share, &err),
                     PP_EINVAL);
        cr_assert_str_eq(err.message, refused[i].message);
    }
}

/* Embedding and head count where blocks are shared out: every stage has something, and of any two
 * stages none has two more than the other. */
Test(partition, counted_ends_are_a_block_each)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int blocks = 1; blocks <= 40; blocks++)
        for (int stages = 2; stages <= 43; stages++) {
            struct pp_error err = {0};
            int *share = NULL, sum = 0, low = INT32_MAX, high = 0;
            const enum pp_status status = pp_partition_counted(arena, blocks, stages, &share, &err);
            cr_assert_eq(status == PP_OK, stages <= blocks + 2, "%d blocks, %d stages: %s", blocks,
                         stages, err.message);
            for (int s = 0; status == PP_OK && s < stages; s++) {
                const int held = share[s] + (s == 0) + (s == stages - 1);
                sum += share[s];
                low = held < low ? held : low;
                high = held > high ? held : high;
            }
            cr_assert(status != PP_OK || (sum == blocks && low >= 1 && high - low <= 1));
        }
}

/* Layouts that were published: 22 blocks of 8 stages and of 24 (Qi et al. 2024, zero bubble, table
 * 3: one layer fewer in the first and in the last stage), Llama 405B of 16 x 8 stages. */
Test(partition, counted_as_published)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        int blocks, stages, first, inner, last;
    } published[] = {{22, 8, 2, 3, 2},   {22, 24, 0, 1, 0},   {30, 32, 0, 1, 0}, {62, 32, 1, 2, 1},
                     {126, 16, 7, 8, 7}, {126, 128, 0, 1, 0}, {9, 1, 9, 0, 9}};

    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct pp_error err = {0};
        int *share;
        const int stages = published[i].stages;
        cr_assert_eq(pp_partition_counted(arena, published[i].blocks, stages, &share, &err), PP_OK,
                     "%s", err.message);
        cr_assert_eq(share[0], published[i].first);
        cr_assert_eq(share[stages - 1], published[i].last);
        for (int s = 1; s < stages - 1; s++)
            cr_assert_eq(share[s], published[i].inner);
    }
}

Test(partition, counted_refuses_with_the_most_that_fits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    int *share;

    cr_assert_eq(pp_partition_counted(arena, 22, 25, &share, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "22 layers, embedding and head cannot fill 25 stages with at "
                                  "least one each: use at most 24 stages (lower --pp or --vp)");
    cr_assert_eq(pp_partition_counted(arena, INT32_MAX, 8, &share, &err), PP_EINVAL);
    cr_assert_eq(pp_partition_counted(arena, 0, 1, &share, &err), PP_EINVAL);
    cr_assert_eq(pp_partition_blocks(arena, 22, 24, 0, 0, &share, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "or --head counted"));
    cr_assert_eq(pp_partition_blocks(arena, 22, 25, 0, 0, &share, &err), PP_EINVAL);
    cr_assert_null(strstr(err.message, "counted"));
}

/* A stage without blocks computes its embedding or head alone, and nothing else changes. */
Test(partition, stages_of_an_end_alone_cost_its_time)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_cost_inputs in =
        inputs_of(arena, (struct setting){"gpt2", "a100", 1, 12, 1, 1, 1, 1024}, &model, &cluster);
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    int *share;

    model.layers = 10;
    in.head = PP_HEAD_COUNTED;
    cr_assert_eq(pp_partition_counted(arena, 10, 12, &share, &err), PP_OK);
    in.blocks_per_stage = share;
    const struct pp_costs *costs = costs_of(arena, &in);
    const double embedding_s = pp_analytic_layer(&in, PP_LAYER_EMBEDDING, work, PP_PASS_F).s,
                 block_s = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_F).s,
                 head_s = pp_analytic_layer(&in, PP_LAYER_HEAD, work, PP_PASS_F).s;
    cr_assert_float_eq(1e-12 * (double)costs->op[PP_F][0].ps / embedding_s, 1, 1e-6);
    for (int s = 1; s < 11; s++)
        cr_assert_float_eq(1e-12 * (double)costs->op[PP_F][s].ps / block_s, 1, 1e-6);
    cr_assert_float_eq(1e-12 * (double)costs->op[PP_F][11].ps / head_s, 1, 1e-6);
}

struct layer_times {
    int stages;
    double embedding_s, block_s, head_s;
};

static double slowest_s(const struct layer_times *t, const int *share)
{
    double most_s = 0;

    for (int s = 0; s < t->stages; s++) {
        double stage_s = share[s] * t->block_s;
        stage_s += s == 0 ? t->embedding_s : 0;
        stage_s += s == t->stages - 1 ? t->head_s : 0;
        most_s = fmax(most_s, stage_s);
    }
    return most_s;
}

/* The slowest stage of the best of all divisions, tried one by one. */
static double least_s(const struct layer_times *t, int *share, int stage, int left)
{
    double best_s = INFINITY;

    if (stage == t->stages - 1) {
        share[stage] = left;
        return slowest_s(t, share);
    }
    for (share[stage] = 0; share[stage] <= left; share[stage]++) {
        const int here = share[stage];
        best_s = fmin(best_s, least_s(t, share, stage + 1, left - here));
        share[stage] = here;
    }
    return best_s;
}

Test(partition, balanced_is_the_best_of_all_divisions)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(
        arena, (struct setting){"gpt2-64", "p100-daint", 1, 1, 1, 1, 1, 632}, &model, &cluster);

    for (int recompute = PP_RECOMPUTE_NONE; recompute <= PP_RECOMPUTE_FULL; recompute++)
        for (model.vocab = 1000; model.vocab < 200000; model.vocab *= 3)
            for (model.layers = 2; model.layers <= 14; model.layers += 3)
                for (in.stages = 2; in.stages <= 5 && in.stages <= model.layers; in.stages++) {
                    struct pp_error err = {0};
                    int *share, any[5], sum = 0;
                    in.recompute = (enum pp_recompute)recompute;
                    cr_assert_eq(pp_partition_balanced(arena, &in, &share, &err), PP_OK);
                    for (int s = 0; s < in.stages; s++)
                        sum += share[s];
                    cr_assert_eq(sum, model.layers);
                    const struct layer_times t = {
                        .stages = in.stages,
                        .embedding_s = pp_analytic_layer_s(&in, PP_LAYER_EMBEDDING),
                        .block_s = pp_analytic_layer_s(&in, PP_LAYER_BLOCK),
                        .head_s = pp_analytic_layer_s(&in, PP_LAYER_HEAD)};
                    cr_assert_float_eq(slowest_s(&t, share) / least_s(&t, any, 0, model.layers), 1,
                                       1e-12);
                }
}

Test(partition, balanced_needs_a_block_for_each_stage_too)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_cost_inputs in = inputs_of(
        arena, (struct setting){"gpt2-64", "p100-daint", 1, 1, 1, 1, 1, 632}, &model, &cluster);
    int *share;

    in.stages = 65;
    cr_assert_eq(pp_partition_balanced(arena, &in, &share, &err), PP_EINVAL);
    in.stages = 1;
    cr_assert_eq(pp_partition_balanced(arena, &in, &share, &err), PP_OK);
    cr_assert_eq(share[0], 64);
}
