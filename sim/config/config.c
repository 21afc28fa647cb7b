/* What follows from a configuration: the ranks of its stages, the inputs of the cost model. */
#include "sim/config/config.h"

const uint16_t *pp_config_ranks(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_shape *shape = &config->shape;

    return config->file_program ? config->file_program->rank_of
                                : pp_placement_make(arena, config->schedule->placement,
                                                    shape->ranks, shape->chunks, shape->pipelines);
}

struct pp_layout pp_config_unit_layout(const struct pp_shape *shape)
{
    return (struct pp_layout){.gpus = shape->ranks,
                              .tp = 1,
                              .pp = shape->ranks,
                              .dp = 1,
                              .cp = 1,
                              .ep = 1,
                              .vp = shape->chunks,
                              .micro_batches = shape->micro_batches,
                              .mbs = 1,
                              .gbs = shape->micro_batches};
}

struct pp_cost_inputs pp_config_costs(const struct pp_config *config, const uint16_t *rank_of)
{
    const struct pp_shape *shape = &config->shape;
    struct pp_cost_inputs inputs = config->costs;

    inputs.model = &config->model;
    inputs.cluster = &config->cluster;
    inputs.layout = config->layout;
    inputs.map = pp_map_make(config->map, &config->layout);
    inputs.stages = pp_shape_stages(shape);
    inputs.pipelines = shape->pipelines;
    inputs.splits = shape->splits;
    inputs.granules = shape->granules;
    inputs.rank_of = rank_of;
    inputs.blocks_per_stage = config->blocks_per_stage;
    inputs.state = config->state;
    return inputs;
}
