/* Figures derived from a run: the spread of its steps, and whether gradients agree. */
#include "exec/report/report.h"

#include "core/quantile.h"

#include <math.h>
#include <string.h>

struct pp_exec_spread pp_exec_spread(const struct pp_exec_run *run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_training_result *r = &run->result;
    const int steps = r->steps_done - r->first_judged;
    double *sorted = PP_ARRAY(arena, double, steps);
    struct pp_exec_spread spread = {.steps = steps};

    memcpy(sorted, r->step_s + r->first_judged, sizeof(*sorted) * (size_t)steps);
    spread.low_s = pp_quantile(sorted, steps, 0.1);
    spread.high_s = pp_quantile(sorted, steps, 0.9);
    spread.width_frac = (spread.high_s - spread.low_s) / pp_median(sorted, steps);
    return spread;
}

/* Error of accumulating m terms in another order. In single precision at most 5e-7 sqrt(m) was
 * measured, about four units of rounding. Double has the same number of units. */
double pp_exec_check_bound(const struct pp_exec_run *run)
{
    const struct pp_batch *b = &run->plan.batch;
    const double terms = (double)b->replicas * b->micro_batches * b->granules * b->splits;
    const bool is_single = run->config.kernels->gradient_bytes == sizeof(float);

    if (run->config.recipe.is_exact)
        return 0;
    return (is_single ? 5e-7 : 1e-15) * sqrt(terms);
}

double pp_difference_rel_l2(const struct pp_difference *difference)
{
    if (difference->squares == 0)
        return 0;
    return sqrt(difference->squares / difference->reference_squares);
}

double pp_difference_cosine(const struct pp_difference *d)
{
    return (d->own_squares + d->reference_squares - d->squares) / 2 /
           sqrt(d->own_squares * d->reference_squares);
}

/* Rounding differences grow with the training; only exact gradients keep all steps comparable. */
bool pp_exec_check_holds(const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const double loose = 1e-2;

    if (!r->is_checked)
        return true;
    if (run->config.recipe.is_exact)
        return r->gradients.differing == 0 && r->weights.differing == 0 && r->is_loss_equal;
    const double bound = run->training.check == PP_CHECK_ALL ? loose : pp_exec_check_bound(run);
    return pp_difference_rel_l2(&r->gradients) <= bound;
}
