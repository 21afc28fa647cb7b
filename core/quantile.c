/* Quantiles of samples. */
#include "core/quantile.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

int pp_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int pp_ascending_ints(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

int pp_ascending_int64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

double pp_quantile(double *values, int count, double frac)
{
    if (count == 0)
        return (double)NAN;
    qsort(values, (size_t)count, sizeof(*values), pp_ascending);
    const double place = frac * (count - 1);
    const int below = (int)place;
    const double rest = place - below;

    /* equal neighbours give just that value */
    return rest > 0 ? values[below] + rest * (values[below + 1] - values[below]) : values[below];
}

double pp_median(double *values, int count)
{
    return pp_quantile(values, count, 0.5);
}
