/* Costs, program and memory of a simulation, reused for the same configuration. */
#include "sim/run/prepare.h"

#include "core/cost/fitted.h"
#include "core/cost/generation/generation.h"
#include "core/cost/measured/file.h"
#include "schedules/lower/lower.h"
#include "schedules/verify/verify.h"
#include "sim/config/buckets.h"
#include "sim/config/steps.h"
#include "sim/config/tiers.h"
#include "sim/run/follow.h"
#include "sim/run/overlap.h"
#include "sim/run/simulate.h"

#include <stddef.h>
#include <string.h>

enum pp_status pp_prepare_check(const struct pp_config *config, struct pp_error *err)
{
    return config->costs.fabric ? pp_fabric_check(config->costs.fabric, err) : PP_OK;
}

/* Returns the share of each stage that is recomputed. */
static double *shares_of(struct pp_arena *arena, const struct pp_config *config, int stages)
{
    return pp_recompute_shares(arena, config->costs.recompute, config->costs.first_stage_ratio,
                               stages);
}

enum pp_status pp_simulate_costs(struct pp_arena *arena, const struct pp_config *config,
                                 const uint16_t *rank_of, struct pp_cost_inputs *inputs,
                                 struct pp_costs **costs, struct pp_error *err)
{
    const struct pp_shape *shape = &config->shape;

    if (config->is_unit) {
        *costs = pp_costs_unit(arena, &config->unit, shape->ranks, pp_shape_stages(shape),
                               shape->splits, shape->granules);
        if (config->generation.passes)
            pp_costs_unit_prompts(&config->unit, pp_config_stages(config), *costs);
        pp_costs_unit_share(shares_of(arena, config, (*costs)->stages), *costs);
        return PP_OK;
    }
    *inputs = pp_config_costs(config, rank_of);
    PP_TRY(
        (inputs->generation ? pp_costs_generation : pp_costs_analytic)(arena, inputs, costs, err));
    if (config->fitted) {
        (*costs)->source = pp_fitted_text(arena, config->fitted, &config->model);
        (*costs)->is_calibrated = true;
    }
    if (config->cost)
        PP_TRY(pp_cost_file_apply(arena, config->cost, inputs, *costs, err));
    if (config->engine_options.eval.ring_flows)
        pp_costs_rings(arena, inputs, *costs);
    return pp_prepare_check(config, err);
}

/* Copies the inputs of costs into the arena: results are moved. */
static void keep_inputs(struct pp_arena *arena, struct pp_result *result)
{
    struct pp_model *model = PP_NEW(arena, struct pp_model);
    struct pp_cluster *cluster = PP_NEW(arena, struct pp_cluster);
    struct pp_generation *generation = PP_NEW(arena, struct pp_generation);

    *model = result->config.model;
    *cluster = result->config.cluster;
    result->cost_inputs.model = model;
    result->cost_inputs.cluster = cluster;
    *generation = result->config.generation;
    result->cost_inputs.generation = generation->passes ? generation : NULL;
}

/* Is true for the same configuration. Padding may differ: then the inputs are made again. */
static bool is_of(const struct pp_prepared *prepared, const struct pp_config *config)
{
    return prepared->known.costs &&
           !memcmp(&prepared->known.config, config, offsetof(struct pp_config, origin));
}

static enum pp_status find_costs(struct pp_arena *arena, struct pp_prepared *prepared,
                                 struct pp_result *result, struct pp_error *err)
{
    const struct pp_config *c = &result->config;

    result->costs = prepared->known.costs;
    result->cost_inputs = prepared->known.cost_inputs;
    if (result->costs)
        return PP_OK;
    PP_TRY(pp_simulate_costs(arena, c, pp_config_ranks(arena, c), &result->cost_inputs,
                             &result->costs, err));
    keep_inputs(arena, result);
    prepared->known = *result;
    return PP_OK;
}

/* Drops gradients and optimizer state of a forward-only program. */
static void drop_training_state(const struct pp_program *file, struct pp_costs *costs)
{
    const bool is_forward = file && file->mode == PP_MODE_INFER;

    for (int s = 0; is_forward && costs->memory && s < costs->stages; s++)
        costs->memory[s].grads_bytes = costs->memory[s].optimizer_bytes = 0;
}

/* Describes the program of a configuration; `result` has its costs. */
static enum pp_status build_of(struct pp_arena *arena, enum pp_made made, double most_bytes,
                               const struct pp_result *result, struct pp_build *build,
                               struct pp_error *err)
{
    const struct pp_config *c = &result->config;
    const bool is_bare = made < PP_MADE_WHOLE;

    *build = (struct pp_build){.schedule = c->schedule,
                               .given = c->file_program,
                               .costs = result->costs,
                               .order = c->order,
                               .wishes = c->lower,
                               .no_slots = is_bare,
                               .may_cut = made == PP_MADE_CUT,
                               .most_bytes = is_bare ? most_bytes : 0,
                               .proves_given = !is_bare,
                               .proves_result = !is_bare};
    PP_TRY(pp_steps_shape(c, &build->shape, err));
    if (c->costs.recompute != PP_RECOMPUTE_NONE)
        build->recompute_frac = shares_of(arena, c, result->costs->stages);
    if (c->is_unit)
        return PP_OK;
    build->state = c->state;
    build->has_update = true;
    build->has_tied = result->costs->tied != NULL;
    if (result->costs->op[PP_AR])
        build->buckets = pp_buckets_of(arena, c, result->costs);
    return PP_OK;
}

static void peak_of(struct pp_result *result)
{
    for (int r = 1; r < result->program->ranks; r++)
        if (result->memory[r].peak_bytes > result->memory[result->peak_rank].peak_bytes)
            result->peak_rank = r;
    if (result->config.is_unit)
        return;
    const double peak_bytes = result->memory[result->peak_rank].peak_bytes;
    result->fits = peak_bytes <= pp_config_capacity_bytes(&result->config) &&
                   pp_tiers_full(result) == PP_TIER_DEVICE;
    result->is_tight = result->fits && peak_bytes > pp_config_room_bytes(&result->config);
}

/* Lets a generating program keep the places of its tensors: its memory is found for many batches.
 */
static void keep_forms(struct pp_arena *arena, struct pp_program *program)
{
    if (program->passes == 0 || program->forms)
        return;
    program->forms = PP_NEW(arena, struct pp_program_forms);
    program->forms->arena = arena;
}

/* Takes known costs; makes the rest anew. */
static enum pp_status prepare(struct pp_arena *arena, enum pp_made made,
                              struct pp_prepared *prepared, struct pp_result *result,
                              struct pp_error *err)
{
    struct pp_follow follow;
    struct pp_build build;

    PP_TRY(find_costs(arena, prepared, result, err));
    drop_training_state(result->config.file_program, result->costs);
    PP_TRY(build_of(arena, made, prepared->most_bytes, result, &build, err));
    PP_TRY(pp_follow_begin(arena, &result->config, &build, &follow, err));
    PP_TRY(pp_build_known(arena, prepared->programs, &build, &result->program, err));
    if (!result->program)
        return PP_OK;
    keep_forms(arena, result->program);
    if (!result->config.is_unit && result->costs->op[PP_U])
        pp_overlap_settle(result->program, result->costs);
    result->compute_ps =
        pp_follow_durations(arena, &result->config, &follow, result->costs, result->program);
    result->memory = pp_memory_peaks(arena, result->program, result->costs);
    peak_of(result);
    return PP_OK;
}

enum pp_status pp_prepare_proof(struct pp_arena *arena, struct pp_result *result,
                                struct pp_error *err)
{
    result->program = pp_lower_complete(arena, result->program);
    return pp_verify(result->program, NULL, err);
}

/* Forgets what is known of another configuration. */
static void open_prepared(struct pp_prepared *prepared, const struct pp_config *config)
{
    if (!is_of(prepared, config))
        *prepared = (struct pp_prepared){.programs = prepared->programs,
                                         .most_bytes = prepared->most_bytes};
}

enum pp_status pp_prepare_least(struct pp_arena *arena, const struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_least *least,
                                struct pp_error *err)
{
    struct pp_result result = {.config = *config};
    struct pp_build build;

    open_prepared(prepared, config);
    PP_TRY(find_costs(arena, prepared, &result, err));
    PP_TRY(build_of(arena, PP_MADE_CUT, 0, &result, &build, err));
    return pp_build_known_least(arena, prepared->programs, &build, least, err);
}

enum pp_status pp_prepare(struct pp_arena *arena, enum pp_made made, struct pp_prepared *prepared,
                          struct pp_result *result, struct pp_error *err)
{
    open_prepared(prepared, &result->config);
    if (made > PP_MADE_CUT && prepared->known.program && prepared->known.program->cut)
        prepared->known.program = NULL, prepared->eval = NULL;
    const bool is_bare = made < PP_MADE_WHOLE;
    const bool is_given =
        result->config.file_program || result->config.order.rule != PP_ORDER_STRICT;
    if (!prepared->known.program || (!is_bare && is_given)) {
        PP_TRY(prepare(arena, made, prepared, result, err));
        if (is_bare)
            prepared->known = *result;
        return PP_OK;
    }
    const struct pp_config config = result->config;
    *result = prepared->known;
    result->config = config;
    return is_bare ? PP_OK : pp_prepare_proof(arena, result, err);
}

const struct pp_eval *pp_prepared_known_plan(const struct pp_prepared *prepared,
                                             const struct pp_program *program,
                                             const struct pp_eval_options *options)
{
    return prepared->known.program == program && prepared->eval &&
                   pp_eval_options_are_same(&prepared->eval_options, options)
               ? prepared->eval
               : NULL;
}

enum pp_status pp_prepared_plan(struct pp_arena *arena, struct pp_prepared *prepared,
                                const struct pp_eval_options *options, const struct pp_eval **eval,
                                struct pp_error *err)
{
    *eval = pp_prepared_known_plan(prepared, prepared->known.program, options);
    if (*eval)
        return PP_OK;
    PP_TRY(pp_eval_create(arena, prepared->known.program, prepared->known.costs, options,
                          &prepared->eval, err));
    prepared->eval_options = *options;
    *eval = prepared->eval;
    return PP_OK;
}
