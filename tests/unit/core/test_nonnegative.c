#include "core/nonnegative.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <math.h>

static double uniform(uint64_t *drawn)
{
    return (double)(pp_random_bits(7, (*drawn)++) >> 11) * 0x1p-53;
}

static double gradient(const struct pp_fit_row *rows, int count, const double *x, int k)
{
    double sum = 0;

    for (int r = 0; r < count; r++) {
        double left = -rows[r].value;
        for (int i = 0; i < PP_FIT_UNKNOWNS; i++)
            left += rows[r].factor[i] * x[i];
        sum += rows[r].factor[k] * left / rows[r].sigma / rows[r].sigma;
    }
    return sum;
}

/* The conditions of Karush, Kuhn and Tucker: no other way of solving needs to be trusted. */
Test(nonnegative, optimal_on_random_rows)
{
    uint64_t drawn = 0;
    int at_zero = 0;

    for (int trial = 0; trial < 2000; trial++) {
        struct pp_fit_row rows[9];
        double x[PP_FIT_UNKNOWNS];
        const int count = 4 + trial % 6;

        for (int r = 0; r < count; r++) {
            for (int k = 0; k < PP_FIT_UNKNOWNS; k++)
                rows[r].factor[k] = uniform(&drawn);
            rows[r].value = 2 * uniform(&drawn) - 0.5;
            rows[r].sigma = 0.1 + uniform(&drawn);
        }
        pp_fit_nonnegative(rows, count, PP_FIT_UNKNOWNS, x);
        for (int k = 0; k < PP_FIT_UNKNOWNS; k++) {
            const double g = gradient(rows, count, x, k);
            cr_assert(x[k] >= 0);
            cr_assert(x[k] > 0 ? fabs(g) < 1e-5 : g > -1e-5, "trial %d: x[%d] = %g, slope %g",
                      trial, k, x[k], g);
            at_zero += x[k] == 0;
        }
    }
    cr_assert(at_zero > 100, "the bound was tried");
}

Test(nonnegative, finds_parts_of_stages)
{
    /* block 3, embedding 0.5, head 1, outside 0.25; stages of two and of four ranks */
    const struct pp_fit_row rows[] = {{{4, 1, 0, 1}, 12.75, 1},
                                      {{4, 0, 1, 1}, 13.25, 1},
                                      {{2, 1, 0, 1}, 6.75, 1},
                                      {{2, 0, 0, 1}, 6.25, 1},
                                      {{2, 0, 1, 1}, 7.25, 1}};
    static const double want[] = {3, 0.5, 1, 0.25};
    double x[PP_FIT_UNKNOWNS];

    pp_fit_nonnegative(rows, 5, PP_FIT_UNKNOWNS, x);
    for (int k = 0; k < PP_FIT_UNKNOWNS; k++)
        cr_assert_float_eq(x[k], want[k], 1e-9, "%d: %g", k, x[k]);
}

Test(nonnegative, what_nothing_tells_apart_is_zero)
{
    const struct pp_fit_row rows[] = {{{1, 1}, 2, 1}, {{2, 2}, 4, 1}};
    double x[2];

    pp_fit_nonnegative(rows, 2, 2, x);
    cr_assert_float_eq(x[0] + x[1], 2, 1e-9);
    cr_assert(x[0] == 0 || x[1] == 0);
}
