/* What the user left to `auto`: every order that the schedule names is laid out and simulated at
 * the run's costs; the fastest that fits is taken, and the config remembers what the others took.
 */
#include "sim/resolve/resolve.h"

#include <math.h>
#include <stdio.h>

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

/* Nothing left to choose but the state; unit mode has none. */
static enum pp_status settle(struct pp_arena *arena, struct pp_config *config,
                             struct pp_prepared *prepared, struct pp_result *result,
                             struct pp_error *err)
{
    return config->is_unit ? pp_simulate(arena, config, PP_QUICK, prepared, result, err)
                           : pp_resolve_state(arena, config, prepared, result, err);
}

/* The quick depth knows nothing of slow ranks and jitter. */
static enum pp_status simulate_variant(struct pp_arena *arena, struct pp_config *config,
                                       struct pp_prepared *prepared, struct pp_result *result,
                                       struct pp_error *err)
{
    PP_TRY(pp_schedule_check(config->schedule, &config->shape, err));
    PP_TRY(pp_resolve_granules(config, err));
    PP_TRY(settle(arena, config, prepared, result, err));
    if (config->slow_count == 0 && config->jitter_frac == 0)
        return PP_OK;
    return pp_simulate(arena, config, PP_FULL, prepared, result, err);
}

static void remember(struct pp_trial *trial, enum pp_status status, const struct pp_result *result,
                     const struct pp_error *err)
{
    trial->is_refused = status != PP_OK;
    if (trial->is_refused) {
        snprintf(trial->reason, sizeof(trial->reason), "%.*s", (int)sizeof(trial->reason) - 1,
                 err->message);
        return;
    }
    trial->fits = result->config.is_unit || result->fits;
    trial->iteration_s = result->metrics.iteration_s;
    trial->peak_bytes = result->memory[result->peak_rank].peak_bytes;
    trial->zero = pp_state_zero(&result->config.state);
    trial->recompute = result->config.costs.recompute;
}

/* Fits before not, then faster by more than rounding, then less memory when nothing fits. */
static bool is_better(const struct pp_trial *trial, const struct pp_trial *best)
{
    if (!best || trial->fits != best->fits)
        return !best || trial->fits;
    return trial->fits ? trial->iteration_s < best->iteration_s * (1 - 1e-9)
                       : trial->peak_bytes < best->peak_bytes;
}

enum pp_status pp_resolve_choice(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_prepared *prepared, struct pp_result *result,
                                 struct pp_error *err)
{
    const struct pp_schedule_variant *variant =
        config->schedule ? pp_schedule_variants(config->schedule, &config->shape) : NULL;
    struct pp_trials *trials;
    const struct pp_trial *best = NULL;
    struct pp_error first = {0};

    if (!variant)
        return settle(arena, config, prepared, result, err);
    trials = PP_NEW(arena, struct pp_trials);
    trials->option = variant->option;
    for (; variant->option && trials->count < PP_TRIALS; variant++) {
        struct pp_trial *trial = &trials->list[trials->count++];
        struct pp_config config_i = *config;
        struct pp_prepared prepared_i = {0};
        struct pp_result result_i;
        struct pp_error refusal = {0};
        variant->choose(&config_i.shape);
        const enum pp_status status =
            simulate_variant(arena, &config_i, &prepared_i, &result_i, &refusal);
        trial->value = variant->value;
        remember(trial, status, &result_i, &refusal);
        if (trial->is_refused) {
            first = first.status == PP_OK ? refusal : first;
        } else if (is_better(trial, best)) {
            best = trial;
            *result = result_i;
            *prepared = prepared_i;
        }
    }
    if (!best) {
        if (err)
            *err = first;
        return first.status;
    }
    trials->chosen = best->value;
    result->config.trials = trials;
    *config = result->config;
    return PP_OK;
}
