#include "core/clock.h"

#include <criterion/criterion.h>

/* A process that slept for a minute has waited for a second, once. */
Test(clock, what_has_passed_is_cut)
{
    double last_s = pp_clock_s() - 60;

    cr_assert_eq(pp_clock_passed_s(&last_s, 1), 1);
    cr_assert_leq(last_s, pp_clock_s());
    const double passed_s = pp_clock_passed_s(&last_s, 50);
    cr_assert(passed_s >= 0 && passed_s < 50, "%g", passed_s);
}

Test(clock, what_has_passed_adds_up)
{
    const double begin_s = pp_clock_s();
    double last_s = begin_s, sum_s = 0;

    for (int k = 0; k < 1000; k++)
        sum_s += pp_clock_passed_s(&last_s, 1000);
    cr_assert_float_eq(sum_s, last_s - begin_s, 1e-6);
}
