/* core/nonnegative.h — nonnegative least squares: durations of parts from those of their sums. */
#pragma once

enum { PP_FIT_UNKNOWNS = 4 };

/* One equation: the sum of factor[k] * x[k] is `value`, known up to `sigma` (> 0). */
struct pp_fit_row {
    double factor[PP_FIT_UNKNOWNS];
    double value, sigma;
};

/* Finds the x >= 0 with the least sum of ((factor * x - value) / sigma)^2. Exact: an optimum has
 * some unknowns at 0 and solves the normal equations of the others, so all subsets are tried. Of
 * unknowns that no row tells apart, only the first may be above 0. */
void pp_fit_nonnegative(const struct pp_fit_row *rows, int count, int unknowns, double *x);
