/* Gauss-Newton steps of a fit: on all rows, and on those of all families but one. */
#include "sim/validate/refit.h"

#include <math.h>
#include <string.h>

/* A Gauss-Newton step changes no constant by more than this factor's logarithm. */
static const double LONGEST_STEP = 0.7;
/* A step that lowers the loss by less than this share is the last. */
static const double LEAST_GAIN = 2e-3;
/* The linear model around the fit on all rows is used where leaving out a family moves no
 * constant by more than this logarithm. Its error is of the order of the square. */
static const double LINEAR_STEP = 0.01;
enum { HALVINGS = 4 };

static void move(struct pp_refit *refit, const double *from, const double *change, double share)
{
    for (int i = 0; i < refit->value_count; i++)
        refit->values[i].log_value =
            from[i] + share * fmin(fmax(change[i], -LONGEST_STEP), LONGEST_STEP);
}

/* One step with the slopes that are there, shortened until the loss falls; none when it does not.
 * Residuals are those of the new values. */
static enum pp_status step_down(struct pp_refit *refit, int without, bool *is_done,
                                struct pp_error *err)
{
    const double before = pp_refit_loss(refit, without);
    double *from = PP_ARRAY(refit->arena, double, refit->value_count + 1);
    double *change = PP_ARRAY(refit->arena, double, refit->value_count + 1);
    double share = 1;

    for (int i = 0; i < refit->value_count; i++)
        from[i] = refit->values[i].log_value;
    pp_refit_step(refit, without, change);
    move(refit, from, change, share);
    PP_TRY(pp_refit_residuals(refit, without, err));
    for (int k = 0; k < HALVINGS && pp_refit_loss(refit, without) > before; k++) {
        move(refit, from, change, k + 1 < HALVINGS ? share /= 3 : 0);
        PP_TRY(pp_refit_residuals(refit, without, err));
    }
    *is_done = pp_refit_loss(refit, without) > before * (1 - LEAST_GAIN);
    return PP_OK;
}

enum pp_status pp_refit_solve(struct pp_refit *refit, int steps, struct pp_error *err)
{
    bool is_done = false;

    PP_TRY(pp_refit_evaluate(refit, err));
    for (refit->steps = 0; refit->steps < steps && !is_done; refit->steps++) {
        PP_TRY(step_down(refit, -1, &is_done, err));
        PP_TRY(pp_refit_evaluate(refit, err));
    }
    return PP_OK;
}

static bool is_linear(const double *change, int count)
{
    for (int i = 0; i < count; i++)
        if (fabs(change[i]) > LINEAR_STEP)
            return false;
    return true;
}

/* A copy that may move; slopes are shared. */
static struct pp_refit copy_of(const struct pp_refit *refit)
{
    struct pp_refit copy = *refit;

    copy.values = PP_ARRAY(refit->arena, struct pp_refit_value, refit->value_count + 1);
    copy.rows = PP_ARRAY(refit->arena, struct pp_refit_row, refit->row_count + 1);
    memcpy(copy.values, refit->values, sizeof(*copy.values) * (size_t)refit->value_count);
    memcpy(copy.rows, refit->rows, sizeof(*copy.rows) * (size_t)refit->row_count);
    return copy;
}

enum pp_status pp_refit_without(const struct pp_refit *refit, int family, int steps,
                                double *log_values, struct pp_error *err)
{
    const struct pp_arena_mark mark = pp_arena_mark(refit->arena);
    struct pp_refit left = copy_of(refit);
    bool is_done = false;

    pp_refit_step(&left, family, log_values);
    if (is_linear(log_values, left.value_count)) {
        for (int i = 0; i < left.value_count; i++)
            log_values[i] += left.values[i].log_value;
        pp_arena_release(refit->arena, mark);
        return PP_OK;
    }
    for (int k = 0; k < steps && !is_done; k++)
        PP_TRY(step_down(&left, family, &is_done, err));
    for (int i = 0; i < left.value_count; i++)
        log_values[i] = left.values[i].log_value;
    pp_arena_release(refit->arena, mark);
    return PP_OK;
}
