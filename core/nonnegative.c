/* Least squares without negative unknowns: the best subset of unknowns by normal equations. */
#include "core/nonnegative.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

struct equations {
    double a[PP_FIT_UNKNOWNS][PP_FIT_UNKNOWNS], b[PP_FIT_UNKNOWNS];
};

static struct equations normal(const struct pp_fit_row *rows, int count)
{
    struct equations e = {0};

    for (int r = 0; r < count; r++)
        for (int i = 0; i < PP_FIT_UNKNOWNS; i++) {
            const double f = rows[r].factor[i] / rows[r].sigma / rows[r].sigma;
            e.b[i] += f * rows[r].value;
            for (int j = 0; j < PP_FIT_UNKNOWNS; j++)
                e.a[i][j] += f * rows[r].factor[j];
        }
    return e;
}

/* Cholesky on the unknowns of `subset`; false when they cannot be told apart. */
static bool solve(const struct equations *e, unsigned subset, double *x)
{
    double l[PP_FIT_UNKNOWNS][PP_FIT_UNKNOWNS] = {{0}}, y[PP_FIT_UNKNOWNS];
    int at[PP_FIT_UNKNOWNS], n = 0;

    for (int i = 0; i < PP_FIT_UNKNOWNS; i++)
        if (subset & 1U << i)
            at[n++] = i;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = e->a[at[i]][at[j]];
            for (int k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 1e-12 * e->a[at[i]][at[i]]))
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        y[i] = e->b[at[i]];
        for (int k = 0; k < i; k++)
            y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    memset(x, 0, sizeof(*x) * PP_FIT_UNKNOWNS);
    for (int i = n - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < n; k++)
            sum -= l[k][i] * x[at[k]];
        x[at[i]] = sum / l[i][i];
    }
    return true;
}

static double misfit(const struct pp_fit_row *rows, int count, const double *x)
{
    double sum = 0;

    for (int r = 0; r < count; r++) {
        double left = -rows[r].value;
        for (int i = 0; i < PP_FIT_UNKNOWNS; i++)
            left += rows[r].factor[i] * x[i];
        sum += left * left / rows[r].sigma / rows[r].sigma;
    }
    return sum;
}

static bool is_feasible(const double *x)
{
    for (int i = 0; i < PP_FIT_UNKNOWNS; i++)
        if (!(x[i] >= 0))
            return false;
    return true;
}

void pp_fit_nonnegative(const struct pp_fit_row *rows, int count, int unknowns, double *x)
{
    const struct equations e = normal(rows, count);
    double best[PP_FIT_UNKNOWNS] = {0}, least = misfit(rows, count, best);

    for (unsigned subset = 1; subset < 1U << unknowns; subset++) {
        double trial[PP_FIT_UNKNOWNS];
        if (!solve(&e, subset, trial) || !is_feasible(trial))
            continue;
        const double sum = misfit(rows, count, trial);
        if (sum < least) {
            least = sum;
            memcpy(best, trial, sizeof(best));
        }
    }
    memcpy(x, best, sizeof(*x) * (size_t)unknowns);
}
