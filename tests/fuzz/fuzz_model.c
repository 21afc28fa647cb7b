/* A config.json is either refused with a message or a model whose sizes, flops and costs are finite
 * and positive. */
#include "core/cost/analytic/roofline.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_costs(struct pp_arena *arena, const struct pp_model *model)
{
    static const uint16_t ranks[] = {0, 1};
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_costs *costs;
    const struct pp_layout layout = {
        .tp = 1, .pp = 2, .dp = 2, .cp = 1, .ep = 1, .mbs = 1, .seq = model->seq};
    struct pp_cost_inputs in = {
        .model = model,
        .cluster = &cluster,
        .layout = layout,
        .map = pp_map_make(pp_map_default, &layout),
        .stages = 2,
        .pipelines = 1,
        .splits = 1,
        .granules = 1,
        .rank_of = ranks,
        .recompute = PP_RECOMPUTE_FULL,
    };
    int *blocks;

    FUZZ_CHECK(pp_cluster_load(arena, "h100", &cluster, &err) == PP_OK);
    if (pp_partition_blocks(arena, model->layers, 2, 0, 0, &blocks, &err) != PP_OK)
        return;
    in.blocks_per_stage = blocks;
    FUZZ_CHECK(blocks[0] + blocks[1] == model->layers);
    if (pp_costs_analytic(arena, &in, &costs, &err) != PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return;
    }
    for (int s = 0; s < 2; s++) {
        FUZZ_CHECK(costs->op[PP_F][s].ps > 0 && costs->op[PP_B][s].ps > 0);
        FUZZ_CHECK(isfinite(costs->memory[s].saved_bytes) && costs->memory[s].saved_bytes > 0);
        FUZZ_CHECK(costs->memory[s].weight_grad_frac >= 0 &&
                   costs->memory[s].weight_grad_frac <= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;

    if (pp_model_from_json(arena, "c.json", (const char *)data, size, &model, &err) == PP_OK) {
        const double flops = pp_model_flops_per_sample(&model, model.seq, PP_FLOPS_PALM);
        FUZZ_CHECK(pp_model_check(&model, &err) == PP_OK);
        FUZZ_CHECK(isfinite(pp_model_params(&model)) && pp_model_params(&model) > 0);
        FUZZ_CHECK(isfinite(flops) && flops > 0);
        FUZZ_CHECK(model.name && model.family && model.source && model.notes);
        check_costs(arena, &model);
    } else {
        FUZZ_CHECK(err.status == PP_EINVAL && strncmp(err.message, "c.json", 6) == 0);
    }
    pp_arena_destroy(arena);
    return 0;
}
