/* Durations of copies between memory tiers on the wall clock, as multiples of their costs. A copy
 * begins when its stream is free, so waiting for others does not count. */
#include "exec/predict/calibration.h"

#include <math.h>

/* Copies of saved activations have one cost for both directions. */
static int key_of(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_COPY ? PP_FOR_DOWN : p->purpose[i];
}

void pp_calibration_copies(struct pp_calibration *c, const struct pp_program *p,
                           const struct pp_costs *costs, const struct pp_step_times *times)
{
    for (int i = 0; i < pp_program_size(p); i++) {
        if (!pp_op_is_move(p->kind[i]))
            continue;
        const struct pp_op op = pp_program_op(p, i);
        const int64_t cost_ps = pp_costs_op_ps(costs, &op, NULL);
        for (int replica = 0; replica < times->replicas && cost_ps > 0; replica++) {
            const size_t row = pp_step_row(times, i, replica);
            pp_samples_add(c, &c->copied[key_of(p, i)],
                           (double)pp_later_ps(0, times->end_ps[row] - times->start_ps[row]) /
                               (double)cost_ps);
        }
    }
}

/* Returns a table whose times are multiples of those of another. */
static struct pp_cost *scaled(struct pp_arena *arena, const struct pp_cost *costs, int count,
                              const struct pp_samples *samples)
{
    const double factor = pp_samples_median(samples);
    struct pp_cost *own = PP_ARRAY(arena, struct pp_cost, count);

    for (int k = 0; k < count; k++) {
        own[k] = costs[k];
        own[k].ps = llround(factor * (double)costs[k].ps);
    }
    return own;
}

void pp_calibration_fill_copies(struct pp_arena *arena, const struct pp_calibration *c,
                                struct pp_costs *costs)
{
    const struct pp_samples *saved = &c->copied[PP_FOR_DOWN];

    if (costs->op[PP_COPY] && saved->count > 0)
        costs->op[PP_COPY] =
            scaled(arena, costs->op[PP_COPY], costs->stages * costs->splits, saved);
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        if (purpose != PP_FOR_DOWN && costs->purpose[purpose] && c->copied[purpose].count > 0)
            costs->purpose[purpose] =
                scaled(arena, costs->purpose[purpose], costs->stages, &c->copied[purpose]);
}
