/* Options that the user left to `auto`. Every order that the schedule names is simulated with the
 * costs of the run, and the fastest that fits is taken. The configuration keeps all outcomes. */
#include "sim/resolve/resolve.h"

bool pp_resolve_is_open(const struct pp_config *config)
{
    return config->schedule && pp_schedule_variants(config->schedule, &config->shape) != NULL;
}

enum pp_status pp_resolve_granules(const struct pp_config *config, struct pp_error *err)
{
    const int granules = config->shape.granules, mbs = config->layout.mbs;

    if (config->is_unit || granules <= 1 || mbs % granules == 0)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "--mbs %d: backwards of 1/%d micro-batch need a multiple of %d; ",
                 mbs, granules, granules);
    return mbs < granules ? pp_error_append(err, "nearest: %d", granules)
                          : pp_error_append(err, "nearest: %d or %d", mbs / granules * granules,
                                            (mbs / granules + 1) * granules);
}

/* Chooses the state, if there is any; unit mode has none. */
static enum pp_status settle(struct pp_arena *arena, struct pp_config *config,
                             struct pp_prepared *prepared, struct pp_result *result,
                             struct pp_error *err)
{
    return config->is_unit ? pp_simulate(arena, config, PP_QUICK, prepared, result, err)
                           : pp_resolve_state(arena, config, prepared, result, err);
}

/* Simulates in full depth if ranks are slow or jitter: the quick depth ignores both. */
static enum pp_status simulate_variant(struct pp_arena *arena, struct pp_config *config,
                                       struct pp_prepared *prepared, struct pp_result *result,
                                       struct pp_error *err)
{
    PP_TRY(pp_schedule_check(config->schedule, &config->shape, err));
    PP_TRY(pp_resolve_granules(config, err));
    PP_TRY(settle(arena, config, prepared, result, err));
    if (config->slow_count == 0 && config->engine_options.perturbation.jitter_frac == 0)
        return PP_OK;
    return pp_simulate(arena, config, PP_FULL, prepared, result, err);
}

static struct pp_trial trial_of(const char *value, enum pp_status status,
                                const struct pp_result *result, const struct pp_error *refusal)
{
    if (status != PP_OK)
        return (struct pp_trial){.value = value, .outcome = pp_outcome_refused(refusal)};
    return (struct pp_trial){.value = value,
                             .outcome = pp_outcome_of(result),
                             .zero = pp_state_zero(&result->config.state),
                             .recompute = result->config.costs.recompute,
                             .again = result->config.costs.again};
}

enum pp_status pp_resolve_choice(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_prepared *prepared, struct pp_result *result,
                                 struct pp_error *err)
{
    const struct pp_schedule_variant *variant =
        config->schedule ? pp_schedule_variants(config->schedule, &config->shape) : NULL;
    struct pp_trials *trials;
    struct pp_outcome best = {.is_refused = true};
    struct pp_error first = {0};

    if (!variant)
        return settle(arena, config, prepared, result, err);
    trials = PP_NEW(arena, struct pp_trials);
    trials->option = variant->option;
    for (; variant->option && trials->count < PP_TRIALS; variant++) {
        struct pp_trial *trial = &trials->list[trials->count++];
        struct pp_config config_i = *config;
        struct pp_prepared prepared_i = {.programs = prepared->programs};
        struct pp_result result_i;
        struct pp_error refusal = {0};
        variant->choose(&config_i.shape, variant->number);
        const enum pp_status status =
            simulate_variant(arena, &config_i, &prepared_i, &result_i, &refusal);
        *trial = trial_of(variant->value, status, &result_i, &refusal);
        if (first.status == PP_OK)
            first = refusal;
        if (!pp_outcome_is_better(&trial->outcome, &best))
            continue;
        best = trial->outcome;
        trials->chosen = trial->value;
        *result = result_i;
        *prepared = prepared_i;
    }
    if (best.is_refused) {
        if (err)
            *err = first;
        return first.status;
    }
    result->config.origin.trials = trials;
    *config = result->config;
    return PP_OK;
}
