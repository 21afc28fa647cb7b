#include "tests/scenarios/chimera_model.h"

#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <assert.h>
#include <math.h>

static double op_s(const struct pp_costs *costs, enum pp_op_kind kind, int stage)
{
    return pp_units_s(costs->op[kind][stage].ps);
}

/* Rabenseifner's all-reduce of the gradients of a stage over its 2 W replicas. */
static double reduce_s(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_link link = pp_analytic_links(in).inter;
    const double r = 2.0 * in->layout.dp;
    const double bytes = pp_cost_stage_params(in, stage) * pp_cost_state_bytes(in).grads;

    return 2 * log2(r) * link.alpha_s + 2 * (r - 1) / r * bytes / link.bytes_per_s;
}

/* Worker w < D/2 finishes its stage D-1-w, then stage w: D-1-w and w backwards before the step's
 * compute ends. In that time their all-reduces may hide. The two workers in the middle have no
 * bubble between the two, so they sum both at their end (eager-opt). */
static double unoverlapped_s(const struct pp_cost_inputs *in, double backward_s)
{
    const int d = in->stages;
    double most_s = 0;

    for (int w = 0; w < d / 2; w++) {
        const int up_lies_back = w == d / 2 - 1 ? w : d - 1 - w;
        const double up_ends_s = reduce_s(in, d - 1 - w) - up_lies_back * backward_s;
        const double down_ends_s = fmax(up_ends_s, -w * backward_s) + reduce_s(in, w);
        most_s = fmax(most_s, down_ends_s);
    }
    return most_s;
}

static double step_s(const struct pp_cost_inputs *in, const struct pp_costs *costs, int n)
{
    const struct pp_link link = pp_analytic_links(in).inter;
    const double p2p_s = link.alpha_s + pp_analytic_boundary_bytes(in) / link.bytes_per_s;
    const double forward_s = op_s(costs, PP_F, 0);
    const double backward_s = op_s(costs, PP_B, 0) + op_s(costs, PP_R, 0);

    return (forward_s + p2p_s) * n + (backward_s + p2p_s) * (n + in->stages - 2) +
           unoverlapped_s(in, backward_s);
}

double chimera_model_s(const struct chimera_model *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_costs *costs = NULL;
    uint16_t *rank_of = PP_ARRAY(arena, uint16_t, 2 * run->d);
    int *blocks = NULL;

    enum pp_status status = pp_model_load(arena, run->model, &model, &err);
    assert(status == PP_OK);
    status = pp_cluster_load(arena, "p100-daint", &cluster, &err);
    assert(status == PP_OK);
    for (int s = 0; s < run->d; s++) {
        rank_of[s] = (uint16_t)s;
        rank_of[run->d + s] = (uint16_t)(run->d - 1 - s);
    }
    struct pp_cost_inputs in = {
        .model = &model,
        .cluster = &cluster,
        .layout = {.gpus = run->w * run->d,
                   .tp = 1,
                   .pp = run->d,
                   .dp = run->w,
                   .cp = 1,
                   .ep = 1,
                   .vp = 1,
                   .micro_batches = run->n,
                   .mbs = run->b,
                   .gbs = (int64_t)run->n * run->b * run->w,
                   .seq = run->seq},
        .stages = run->d,
        .pipelines = 2,
        .splits = 1,
        .granules = 1,
        .rank_of = rank_of,
        .head = PP_HEAD_IGNORED,
        .recompute = run->is_recomputed ? PP_RECOMPUTE_FULL : PP_RECOMPUTE_NONE,
        .intra_factor = 1,
        .inter_factor = 1,
    };
    in.map = pp_map_make(pp_map_default, &in.layout);
    status = pp_partition_blocks(arena, model.layers, run->d, 0, 0, &blocks, &err);
    assert(status == PP_OK);
    in.blocks_per_stage = blocks;
    status = pp_costs_analytic(arena, &in, &costs, &err);
    assert(status == PP_OK);
    (void)status;
    return step_s(&in, costs, run->n);
}
