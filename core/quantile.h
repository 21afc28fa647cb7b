/* core/quantile.h — quantiles of samples, interpolated between neighbours. */
#pragma once

/* Returns the value below which `frac` in [0, 1] of the values lie; NAN for none. Sorts them. */
double pp_quantile(double *values, int count, double frac);
double pp_median(double *values, int count);
/* Order for qsort: doubles, ints or int64_t, the smallest first. */
int pp_ascending(const void *a, const void *b);
int pp_ascending_ints(const void *a, const void *b);
int pp_ascending_int64(const void *a, const void *b);
