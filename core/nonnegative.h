/* core/nonnegative.h — least squares of a few unknowns, none of which may be negative: durations of
 * parts from durations of sums of them. */
#pragma once

enum { PP_FIT_UNKNOWNS = 4 };

/* Sum of factor[k] * x[k] = value, known up to `sigma` (> 0). */
struct pp_fit_row {
    double factor[PP_FIT_UNKNOWNS];
    double value, sigma;
};

/* The x >= 0 with the least sum of ((factor * x - value) / sigma)^2. Exact: an optimum has some
 * unknowns at 0 and solves the normal equations of the others, so all subsets are tried. Unknowns
 * that no row tells apart are 0. */
void pp_fit_nonnegative(const struct pp_fit_row *rows, int count, int unknowns, double *x);
