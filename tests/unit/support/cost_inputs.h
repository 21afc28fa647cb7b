/* A model on a cluster with linear placement, for tests of costs. */
#ifndef PP_TESTS_COST_INPUTS_H
#define PP_TESTS_COST_INPUTS_H

#include "core/cost/analytic/roofline.h"
#include "core/cost/framework.h"

#include <criterion/criterion.h>

struct setting {
    const char *model, *cluster;
    int tp, pp, dp, cp, mbs, seq;
};

/* Loads everything into `arena`; `model` and `cluster` must outlive the result. */
static inline struct pp_cost_inputs inputs_of(struct pp_arena *arena, struct setting s,
                                              struct pp_model *model, struct pp_cluster *cluster)
{
    struct pp_error err = {0};
    uint16_t *ranks = PP_ARRAY(arena, uint16_t, s.pp);
    int *blocks = NULL;

    cr_assert_eq(pp_model_load(arena, s.model, model, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_cluster_load(arena, s.cluster, cluster, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_partition_blocks(arena, model->layers, s.pp, 0, 0, &blocks, &err), PP_OK, "%s",
                 err.message);
    for (int i = 0; i < s.pp; i++)
        ranks[i] = (uint16_t)i;
    const struct pp_layout layout = {.gpus = s.tp * s.pp * s.dp * s.cp,
                                     .tp = s.tp,
                                     .pp = s.pp,
                                     .dp = s.dp,
                                     .cp = s.cp,
                                     .ep = 1,
                                     .vp = 1,
                                     .micro_batches = 8,
                                     .mbs = s.mbs,
                                     .gbs = (int64_t)s.dp * s.mbs * 8,
                                     .seq = s.seq};
    return (struct pp_cost_inputs){
        .model = model,
        .cluster = cluster,
        .layout = layout,
        .map = pp_map_make(pp_map_default, &layout),
        .stages = s.pp,
        .pipelines = 1,
        .splits = 1,
        .granules = 1,
        .rank_of = ranks,
        .blocks_per_stage = blocks,
        .recompute = PP_RECOMPUTE_NONE,
        .intra_factor = 1,
        .inter_factor = 1,
    };
}

static inline const struct pp_framework *framework_of(const char *name)
{
    const struct pp_framework *found = NULL;
    struct pp_error err = {0};

    cr_assert_eq(pp_framework_find(name, &found, &err), PP_OK, "%s", err.message);
    return found;
}

static inline struct pp_costs *costs_of(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    struct pp_error err = {0};
    struct pp_costs *costs = NULL;

    cr_assert_eq(pp_costs_analytic(arena, in, &costs, &err), PP_OK, "%s", err.message);
    return costs;
}

#endif
