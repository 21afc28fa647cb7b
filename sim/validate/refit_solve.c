/* The linear algebra of a fit: normal equations of a robust least-squares problem with a prior. */
#include "sim/validate/refit.h"

#include <math.h>
#include <string.h>

/* Residuals up to this count by their square, larger ones by their size. */
static const double HUBER = 0.05;
/* Error of an observation. */
static const double NOISE = 0.08;
enum { REWEIGHTINGS = 25 };
/* A constant's siblings as a whole may be as far from its typical value as so many spreads. */
static const double COMMON_SPREADS = 2;

/* 1 for residuals that count by their square. */
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

/* The owners of one constant are together a Gaussian. Each differs from their common value by
 * `spread`, and that from the typical one by COMMON_SPREADS of it. Its inverse covariance has
 * `own` on the diagonal and `shared` everywhere. */
struct prior {
    double own, shared, mean;
};
static struct prior prior_of(const struct pp_refit *refit, int value)
{
    const struct pp_constant *constant = refit->values[value].constant;
    const double s2 = constant->spread * constant->spread;
    const double t2 = s2 * COMMON_SPREADS * COMMON_SPREADS;
    int owners = 0;

    for (int i = 0; i < refit->value_count; i++)
        owners += refit->values[i].constant == constant;
    return (struct prior){
        .own = 1 / s2, .shared = -t2 / (s2 * (s2 + owners * t2)), .mean = log(constant->typical)};
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
        const double di = refit->values[i].log_value - prior.mean;
        loss += prior.own * di * di / 2;
        for (int j = 0; j < refit->value_count; j++)
            if (refit->values[j].constant == refit->values[i].constant)
                loss += prior.shared * di * (refit->values[j].log_value - prior.mean) / 2;
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

/* matrix += prior, gradient += its slope at the present values + change */
static void add_prior(const struct pp_refit *refit, double *matrix, double *gradient)
{
    const int n = refit->value_count;

    for (int i = 0; i < n; i++) {
        const struct prior prior = prior_of(refit, i);
        matrix[i * n + i] += prior.own;
        gradient[i] += prior.own * (refit->values[i].log_value - prior.mean);
        for (int j = 0; j < n; j++) {
            if (refit->values[j].constant != refit->values[i].constant)
                continue;
            matrix[i * n + j] += prior.shared;
            gradient[i] += prior.shared * (refit->values[j].log_value - prior.mean);
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

/* Solve matrix x = -gradient; the matrix is positive definite thanks to the prior. Cholesky in
 * place. */
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

/* Keep within the bounds of the constants. */
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
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
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
