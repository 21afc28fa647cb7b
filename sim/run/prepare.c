/* Costs, program and memory of a simulation, reused where the configuration is the same. */
#include "sim/run/prepare.h"

#include "core/cost/measured/file.h"
#include "schedules/order/schedule.h"
#include "schedules/search/eager.h"
#include "schedules/verify/verify.h"
#include "sim/config/buckets.h"
#include "sim/config/steps.h"
#include "sim/config/tiers.h"
#include "sim/run/simulate.h"

#include <stddef.h>
#include <string.h>

enum pp_status pp_prepare_check(const struct pp_config *config, struct pp_error *err)
{
    return config->costs.fabric ? pp_fabric_check(config->costs.fabric, err) : PP_OK;
}

enum pp_status pp_simulate_costs(struct pp_arena *arena, const struct pp_config *config,
                                 const uint16_t *rank_of, struct pp_cost_inputs *inputs,
                                 struct pp_costs **costs, struct pp_error *err)
{
    const struct pp_shape *shape = &config->shape;

    if (config->is_unit) {
        *costs = pp_costs_unit(arena, &config->unit, shape->ranks, pp_shape_stages(shape),
                               shape->splits, shape->granules);
        return PP_OK;
    }
    *inputs = pp_config_costs(config, rank_of);
    PP_TRY(pp_costs_analytic(arena, inputs, costs, err));
    if (config->cost)
        PP_TRY(pp_cost_file_apply(arena, config->cost, inputs, *costs, err));
    if (config->engine_options.plan.ring_flows)
        pp_costs_rings(arena, inputs, *costs);
    return pp_prepare_check(config, err);
}

/* The input of lowering: a compute-only program, or the lists of one. */
struct compute {
    const struct pp_program *program; /* NULL: lists */
    struct pp_orders *lists;
    struct pp_program_head head; /* of the lists */
};

static enum pp_program_mode mode_of(const struct compute *compute)
{
    return compute->program ? compute->program->mode : compute->head.mode;
}

/* What costs were made of stays where it is when the result is moved. */
static void keep_inputs(struct pp_arena *arena, struct pp_result *result)
{
    struct pp_model *model = PP_NEW(arena, struct pp_model);
    struct pp_cluster *cluster = PP_NEW(arena, struct pp_cluster);

    *model = result->config.model;
    *cluster = result->config.cluster;
    result->cost_inputs.model = model;
    result->cost_inputs.cluster = cluster;
}

/* Bytes between members may differ where nothing else does: then it is made again. */
static bool is_of(const struct pp_prepared *prepared, const struct pp_config *config)
{
    return prepared->costs &&
           !memcmp(&prepared->config, config, offsetof(struct pp_config, chosen));
}

static enum pp_status find_costs(struct pp_arena *arena, const uint16_t *rank_of,
                                 struct pp_prepared *prepared, struct pp_result *result,
                                 struct pp_error *err)
{
    if (!prepared->costs) {
        PP_TRY(pp_simulate_costs(arena, &result->config, rank_of, &result->cost_inputs,
                                 &result->costs, err));
        keep_inputs(arena, result);
        prepared->config = result->config;
        prepared->costs = result->costs;
        prepared->cost_inputs = result->cost_inputs;
    }
    result->costs = prepared->costs;
    result->cost_inputs = prepared->cost_inputs;
    return PP_OK;
}

/* Costs first: a schedule that searches needs them. */
static enum pp_status find_compute(struct pp_arena *arena, struct pp_prepared *prepared,
                                   struct pp_result *result, struct compute *compute,
                                   struct pp_error *err)
{
    const struct pp_config *c = &result->config;
    const uint16_t *rank_of = c->file_program
                                  ? c->file_program->rank_of
                                  : pp_placement_make(arena, c->schedule->placement, c->shape.ranks,
                                                      c->shape.chunks, c->shape.pipelines);
    struct pp_program *made;
    struct pp_shape shape;

    PP_TRY(find_costs(arena, rank_of, prepared, result, err));
    *compute = (struct compute){.program = c->file_program};
    if (c->file_program)
        return PP_OK;
    PP_TRY(pp_steps_shape(c, &shape, err));
    if (!c->is_eager)
        return pp_schedule_lists(arena, c->schedule, &shape, result->costs, &compute->lists,
                                 &compute->head, err);
    PP_TRY(pp_schedule_program(arena, c->schedule, &shape, result->costs, &made, err));
    compute->program = made;
    return PP_OK;
}

/* NULL: nothing is recomputed before a backward. */
static const double *recompute_fracs(struct pp_arena *arena, const struct pp_result *result)
{
    return !result->config.is_unit && result->config.costs.recompute != PP_RECOMPUTE_NONE
               ? pp_recompute_fracs(arena, &result->cost_inputs)
               : NULL;
}

static enum pp_status order_program(struct pp_arena *arena, const struct pp_result *result,
                                    const struct pp_program **program, struct pp_error *err)
{
    const struct pp_eager_options options = {.limit = result->config.eager_limit,
                                             .recompute_frac = recompute_fracs(arena, result)};
    struct pp_program *eager;

    if (!result->config.is_eager)
        return PP_OK;
    PP_TRY(pp_eager_program(arena, *program, result->costs, &options, &eager, err));
    *program = eager;
    return PP_OK;
}

/* A forward-only program keeps neither gradients nor optimizer state. */
static void drop_training_state(enum pp_program_mode mode, struct pp_costs *costs)
{
    for (int s = 0; mode == PP_MODE_INFER && costs->memory && s < costs->stages; s++)
        costs->memory[s].grads_bytes = costs->memory[s].optimizer_bytes = 0;
}

/* NULL: parameters are not fetched. */
static const int *fetched_units(struct pp_arena *arena, const struct pp_state_spec *state,
                                const struct pp_costs *costs)
{
    int *units;

    if (!pp_state_is_fetched(state))
        return NULL;
    units = PP_ARRAY(arena, int, costs->stages);
    for (int s = 0; s < costs->stages; s++)
        units[s] = costs->gathers[s].units;
    return units;
}

static enum pp_status lower_program(struct pp_arena *arena, const struct pp_config *config,
                                    const struct compute *compute, bool is_bare,
                                    struct pp_result *result, struct pp_error *err)
{
    struct pp_lower_options options = config->lower;

    options.no_slots = is_bare;
    if (!config->is_unit) {
        const bool is_training = mode_of(compute) == PP_MODE_TRAIN;
        options.has_sync = is_training && pp_config_is_summed(config);
        options.has_optimizer = is_training;
        options.state = config->state;
        options.units = fetched_units(arena, &config->state, result->costs);
        options.has_tied = is_training && result->costs->tied != NULL;
        options.recompute_frac = recompute_fracs(arena, result);
    }
    options.update_every = pp_schedule_update_every(config->schedule, config->shape.micro_batches);
    pp_buckets_lower(arena, config, result->costs, &options);
    return compute->program ? pp_lower(arena, compute->program, &options, &result->program, err)
                            : pp_lower_lists(arena, &compute->head, &options, compute->lists,
                                             &result->program, err);
}

static void peak_of(struct pp_result *result)
{
    for (int r = 1; r < result->program->ranks; r++)
        if (result->memory[r].peak_bytes > result->memory[result->peak_rank].peak_bytes)
            result->peak_rank = r;
    if (!result->config.is_unit)
        result->fits = result->memory[result->peak_rank].peak_bytes <=
                           result->config.cluster.device.memory_bytes &&
                       pp_tiers_full(result) == PP_TIER_DEVICE;
}

/* Costs that are known are taken; the rest is made anew. */
static enum pp_status prepare(struct pp_arena *arena, bool is_bare, struct pp_prepared *prepared,
                              struct pp_result *result, struct pp_error *err)
{
    const struct pp_config *config = &result->config;
    const struct pp_verify_options verify = {0};
    struct compute compute;

    PP_TRY(find_compute(arena, prepared, result, &compute, err));
    PP_TRY(order_program(arena, result, &compute.program, err));
    drop_training_state(mode_of(&compute), result->costs);
    if (config->file_program && !is_bare) /* in the user's own cells */
        PP_TRY(pp_verify(compute.program, &verify, err));
    PP_TRY(lower_program(arena, config, &compute, is_bare, result, err));
    result->memory = pp_memory_peaks(arena, result->program, result->costs);
    peak_of(result);
    return is_bare ? PP_OK : pp_verify(result->program, &verify, err);
}

enum pp_status pp_prepare(struct pp_arena *arena, bool is_bare, struct pp_prepared *prepared,
                          struct pp_result *result, struct pp_error *err)
{
    if (!is_of(prepared, &result->config))
        *prepared = (struct pp_prepared){0};
    if (!is_bare || !prepared->program) {
        PP_TRY(prepare(arena, is_bare, prepared, result, err));
        if (!is_bare)
            return PP_OK;
        prepared->program = result->program;
        prepared->memory = result->memory;
        prepared->peak_rank = result->peak_rank;
        prepared->fits = result->fits;
        return PP_OK;
    }
    result->costs = prepared->costs;
    result->cost_inputs = prepared->cost_inputs;
    result->program = prepared->program;
    result->memory = prepared->memory;
    result->peak_rank = prepared->peak_rank;
    result->fits = prepared->fits;
    return PP_OK;
}

static bool is_same(const struct pp_eval_options *a, const struct pp_eval_options *b)
{
    return a->is_buffered == b->is_buffered && a->buffered == b->buffered &&
           a->nic_fifo == b->nic_fifo && a->ring_flows == b->ring_flows && a->steps == b->steps &&
           a->is_barrier_free == b->is_barrier_free;
}

const struct pp_eval *pp_prepared_known_plan(const struct pp_prepared *prepared,
                                             const struct pp_program *program,
                                             const struct pp_eval_options *options)
{
    return prepared->program == program && prepared->plan &&
                   is_same(&prepared->plan_options, options)
               ? prepared->plan
               : NULL;
}

enum pp_status pp_prepared_plan(struct pp_arena *arena, struct pp_prepared *prepared,
                                const struct pp_eval_options *options, const struct pp_eval **plan,
                                struct pp_error *err)
{
    *plan = pp_prepared_known_plan(prepared, prepared->program, options);
    if (*plan)
        return PP_OK;
    PP_TRY(
        pp_eval_create(arena, prepared->program, prepared->costs, options, &prepared->plan, err));
    prepared->plan_options = *options;
    *plan = prepared->plan;
    return PP_OK;
}
