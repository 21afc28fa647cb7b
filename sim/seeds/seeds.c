/* One simulation for each seed. */
#include "sim/seeds/seeds.h"

#include "sim/run/simulate.h"

#include <math.h>

static struct pp_spread spread_of(const double *values, int count)
{
    struct pp_spread s = {0, values[0], values[0]};

    for (int k = 0; k < count; k++) {
        s.mean += values[k] / count;
        s.least = fmin(s.least, values[k]);
        s.greatest = fmax(s.greatest, values[k]);
    }
    return s;
}

static enum pp_status step_of(const struct pp_config *config, int seed, double *step_s,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_config shifted = *config;
    struct pp_result result;

    shifted.engine_options.perturbation.seed += (uint64_t)seed;
    PP_TRY(pp_simulate(scratch, &shifted, PP_METRICS, NULL, &result, err));
    *step_s = result.metrics.iteration_s;
    return PP_OK;
}

enum pp_status pp_seeds_run(struct pp_arena *arena, const struct pp_config *config, int count,
                            const struct pp_seeds **seeds, struct pp_error *err)
{
    const bool is_strict = config->order.rule == PP_ORDER_STRICT;
    struct pp_config strict = *config;
    struct pp_seeds *s = PP_NEW(arena, struct pp_seeds);
    double *step_s = PP_ARRAY(arena, double, count), *strict_s = PP_ARRAY(arena, double, count),
           *gain = PP_ARRAY(arena, double, count);

    strict.order = (struct pp_order_choice){.rule = PP_ORDER_STRICT};
    *s = (struct pp_seeds){.first = (int64_t)config->engine_options.perturbation.seed,
                           .count = count,
                           .step_s = step_s,
                           .strict_s = is_strict ? NULL : strict_s};
    for (int k = 0; k < count; k++) {
        PP_TRY(step_of(config, k, &step_s[k], err));
        if (!is_strict)
            PP_TRY(step_of(&strict, k, &strict_s[k], err));
        gain[k] = is_strict ? 1 : strict_s[k] / step_s[k];
        s->slower += gain[k] < 1;
    }
    s->step = spread_of(step_s, count);
    s->strict = is_strict ? s->step : spread_of(strict_s, count);
    s->gain = spread_of(gain, count);
    *seeds = s;
    return PP_OK;
}
