/* Values derived from a configuration: ranks of its stages, inputs of costs, its outcome. */
#include "sim/config/config.h"

#include <stdio.h>

#define ROUNDING 1e-9 /* of step times */

int pp_config_stages(const struct pp_config *config)
{
    const int passes = config->generation.passes;

    return pp_shape_stages(&config->shape) / (passes ? passes : 1);
}

const uint16_t *pp_config_ranks(struct pp_arena *arena, const struct pp_config *config)
{
    return config->file_program ? config->file_program->rank_of
                                : pp_schedule_ranks(arena, config->schedule, &config->shape);
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
    inputs.stages = pp_config_stages(config);
    inputs.generation = config->generation.passes ? &config->generation : NULL;
    inputs.pipelines = shape->pipelines;
    inputs.splits = shape->splits;
    inputs.granules = shape->granules;
    inputs.rank_of = rank_of;
    inputs.blocks_per_stage = config->blocks_per_stage;
    inputs.state = config->state;
    inputs.has_bits_apart = pp_state_is_quantised(&config->state) && config->file_program &&
                            pp_program_has_kind(config->file_program, PP_Q);
    return inputs;
}

double pp_config_compared(const struct pp_config *c)
{
    return c->is_unit ? 1 : (double)c->layout.gbs / (c->generation.passes ? c->layout.dp : 1);
}

double pp_config_hurry(const struct pp_config *c)
{
    const double least_frac = 1 - c->engine_options.perturbation.jitter_frac;

    return least_frac > 0 ? 1 / least_frac : (double)INFINITY;
}

struct pp_outcome pp_outcome_of(const struct pp_result *result)
{
    const struct pp_rank_memory *fullest = &result->memory[result->peak_rank];
    const double step_s = result->metrics.iteration_s;

    return (struct pp_outcome){
        .fits = result->config.is_unit || result->fits,
        .is_tight = result->is_tight,
        .is_strained = pp_memory_is_strained(result->memory, result->program->ranks),
        .step_s = step_s,
        .s_per_sample = step_s / pp_config_compared(&result->config),
        .exposed_frac = result->metrics.exposed_comm_frac,
        .mfu = result->mfu,
        .tokens_per_s_per_gpu = result->tokens_per_s_per_gpu,
        .state_bytes = pp_memory_state_bytes(fullest),
        .peak_bytes = fullest->peak_bytes,
    };
}

struct pp_outcome pp_outcome_refused(const struct pp_error *err)
{
    struct pp_outcome outcome = {.is_refused = true};

    snprintf(outcome.reason, sizeof(outcome.reason), "%.*s", (int)sizeof(outcome.reason) - 1,
             err->message);
    return outcome;
}

bool pp_outcome_is_better(const struct pp_outcome *x, const struct pp_outcome *best)
{
    if (x->is_refused != best->is_refused)
        return best->is_refused;
    if (x->fits != best->fits)
        return x->fits;
    if (x->is_tight != best->is_tight)
        return best->is_tight;
    return x->fits ? x->s_per_sample < best->s_per_sample * (1 - ROUNDING)
                   : x->peak_bytes < best->peak_bytes;
}
