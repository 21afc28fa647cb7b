/* Quantiles of samples. */
#include "core/quantile.h"

#include <criterion/criterion.h>
#include <math.h>

Test(quantile, lies_between_neighbours)
{
    double values[] = {50, 10, 40, 20, 30};

    cr_assert_eq(pp_quantile(values, 5, 0), 10);
    cr_assert_eq(pp_quantile(values, 5, 1), 50);
    cr_assert_eq(pp_quantile(values, 5, 0.25), 20);
    cr_assert_float_eq(pp_quantile(values, 5, 0.05), 12, 1e-12);
    for (int i = 0; i < 5; i++)
        cr_assert_eq(values[i], 10 * (i + 1), "sorted");
}

Test(quantile, median)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};

    cr_assert_eq(pp_median(odd, 3), 2);
    cr_assert_eq(pp_median(even, 4), 2.5);
    cr_assert_eq(pp_median(one, 1), 7);
    cr_assert(isnan(pp_median(one, 0)));
}

Test(quantile, of_equal_values_is_just_that)
{
    double values[7];

    for (int i = 0; i < 7; i++)
        values[i] = 0.1;
    for (int percent = 0; percent <= 100; percent++)
        cr_assert_eq(pp_quantile(values, 7, percent / 100.0), 0.1);
}
