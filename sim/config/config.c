/* The inputs of the cost model that a configuration says. */
#include "sim/config/config.h"

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
