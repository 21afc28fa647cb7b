/* Takes Gauss-Newton steps of a fit: on all rows, and on those of all families but one. */
#include "sim/validate/refit.h"

#include <math.h>
#include <string.h>

/* Residuals up to this count by their square, larger ones by their size. */
static const double HUBER = 0.05;
/* Error of an observation. */
static const double NOISE = 0.08;
enum { REWEIGHTINGS = 25 };
/* Returns 1 for residuals that count by their square, less for larger ones. */
static double huber_weight(double residual)
{
    return fabs(residual) <= HUBER ? 1 : HUBER / fabs(residual);
}
static double huber(double residual)
{
    const double r = fabs(residual);

    return r <= HUBER ? r * r / 2 : HUBER * (r - HUBER / 2);
}

static double row_scale(const struct pp_refit_row *row)
{
    return row->weight / (NOISE * NOISE);
}

/* Prior of siblings, together a Gaussian. The inverse covariance has `own` on the diagonal and
 * `shared` everywhere. */
struct prior {
    double own, shared;
};
static struct prior prior_of(const struct pp_refit *refit, int value)
{
    const struct pp_refit_value *v = &refit->values[value];
    const double s2 = v->spread * v->spread, t2 = v->common * v->common;
    int siblings = 0;

    for (int i = 0; i < refit->value_count; i++)
        siblings += refit->values[i].siblings == v->siblings;
    return (struct prior){.own = 1 / s2, .shared = -t2 / (s2 * (s2 + siblings * t2))};
}

static double distance(const struct pp_refit *refit, int value)
{
    return refit->values[value].log_value - refit->values[value].mean;
}

static bool teaches(const struct pp_refit_row *row, int without)
{
    return row->weight > 0 && row->family != without && isfinite(row->residual);
}

static double prior_loss(const struct pp_refit *refit)
{
    double loss = 0;

    for (int i = 0; i < refit->value_count; i++) {
        const struct prior prior = prior_of(refit, i);
        const double di = distance(refit, i);
        loss += prior.own * di * di / 2;
        for (int j = 0; j < refit->value_count; j++)
            if (refit->values[j].siblings == refit->values[i].siblings)
                loss += prior.shared * di * distance(refit, j) / 2;
    }
    return loss;
}

double pp_refit_loss(const struct pp_refit *refit, int without)
{
    double loss = prior_loss(refit);

    for (int i = 0; i < refit->row_count; i++)
        if (teaches(&refit->rows[i], without))
            loss += row_scale(&refit->rows[i]) * huber(refit->rows[i].residual);
    return loss;
}

/* Adds the prior to the matrix, and its slope at the present values to the gradient. */
static void add_prior(const struct pp_refit *refit, double *matrix, double *gradient)
{
    const int n = refit->value_count;

    for (int i = 0; i < n; i++) {
        const struct prior prior = prior_of(refit, i);
        matrix[i * n + i] += prior.own;
        gradient[i] += prior.own * distance(refit, i);
        for (int j = 0; j < n; j++) {
            if (refit->values[j].siblings != refit->values[i].siblings)
                continue;
            matrix[i * n + j] += prior.shared;
            gradient[i] += prior.shared * distance(refit, j);
        }
    }
}

static double changed_residual(const struct pp_refit_row *row, const double *change)
{
    double residual = row->residual;

    for (int k = 0; k < row->count; k++)
        residual += row->slope[k] * change[row->index[k]];
    return residual;
}

static void add_row(const struct pp_refit *refit, const struct pp_refit_row *row,
                    const double *change, double *matrix, double *gradient)
{
    const double scale = row_scale(row) * huber_weight(changed_residual(row, change));

    for (int a = 0; a < row->count; a++) {
        const double left = scale * row->slope[a];
        gradient[row->index[a]] += left * row->residual;
        for (int b = 0; b < row->count; b++)
            matrix[row->index[a] * refit->value_count + row->index[b]] += left * row->slope[b];
    }
}

/* Solves matrix x = -gradient by Cholesky in place; the prior makes it positive definite. */
static void solve(int n, double *matrix, const double *gradient, double *x)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= matrix[i * n + k] * matrix[j * n + k];
            matrix[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / matrix[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        x[i] = -gradient[i];
        for (int k = 0; k < i; k++)
            x[i] -= matrix[i * n + k] * x[k];
        x[i] /= matrix[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= matrix[k * n + i] * x[k];
        x[i] /= matrix[i * n + i];
    }
}

static void clamp(const struct pp_refit *refit, double *change)
{
    for (int i = 0; i < refit->value_count; i++) {
        const struct pp_refit_value *value = &refit->values[i];
        const double low = log(value->constant->least) - value->log_value;
        const double high = log(value->constant->most) - value->log_value;
        change[i] = fmin(fmax(change[i], low), high);
    }
}

void pp_refit_step(const struct pp_refit *refit, int without, double *change)
{
    const int n = refit->value_count;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double *matrix = PP_ARRAY(arena, double, n *n), *gradient = PP_ARRAY(arena, double, n);

    memset(change, 0, sizeof(*change) * (size_t)n);
    for (int round = 0; round < REWEIGHTINGS; round++) {
        memset(matrix, 0, sizeof(*matrix) * (size_t)(n * n));
        memset(gradient, 0, sizeof(*gradient) * (size_t)n);
        add_prior(refit, matrix, gradient);
        for (int i = 0; i < refit->row_count; i++)
            if (teaches(&refit->rows[i], without))
                add_row(refit, &refit->rows[i], change, matrix, gradient);
        solve(n, matrix, gradient, change);
        clamp(refit, change);
    }
}

/* Largest change of a constant's logarithm in a Gauss-Newton step. */
static const double LONGEST_STEP = 0.7;
/* A step that lowers the loss by a smaller share is the last. */
static const double LEAST_GAIN = 2e-3;
/* The linear model around the fit on all rows is used if leaving out a family moves no constant's
 * logarithm by more. Its error is of the order of the square. */
static const double LINEAR_STEP = 0.01;
enum { HALVINGS = 4 };

static void move(struct pp_refit *refit, const double *from, const double *change, double share)
{
    for (int i = 0; i < refit->value_count; i++)
        refit->values[i].log_value =
            from[i] + share * fmin(fmax(change[i], -LONGEST_STEP), LONGEST_STEP);
}

/* Takes a step with the present slopes, shortened until the loss falls, or none. Residuals are
 * those of the new values. */
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

/* Returns a copy with its own values and rows; slopes are shared. */
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
