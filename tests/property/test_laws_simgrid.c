/* The fair shares of the oracle are those of SimGrid, for small programs on all platforms. Every
 * rank, channel and stream is an actor of SimGrid, and SimGrid computes all times. */
#include "tests/oracle/simgrid_plain.h"
#include "tests/property/laws.h"

#include <criterion/criterion.h>
#include <math.h>

static int shared_cases; /* in which transfers met */

static void oracle_is_simgrid(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const struct fluid_times *s = simgrid_plain_run(c->arena, c->program, c->costs, &options);
    const size_t rows =
        (size_t)pp_program_size(c->program) * (size_t)options.replicas * (size_t)options.steps;

    cr_assert_not_null(s, "%s: SimGrid failed", c->text);
    for (size_t k = 0; k < rows; k++)
        cr_assert(fabs(s->end_s[k] - x->end_s[k]) <= 1e-9 * x->makespan_s,
                  "%s: row %zu: end %.15g, oracle %.15g", c->text, k, s->end_s[k], x->end_s[k]);
    shared_cases += x->most_shared > 1;
}

Test(laws_simgrid, oracle_is_simgrid)
{
    shared_cases = 0;
    law_for_each(LAW_ANY, LAW_SMALL | LAW_FREE, 33, 1, oracle_is_simgrid);
    cr_assert_gt(shared_cases, 5);
}

Test(laws_simgrid, rings_too)
{
    shared_cases = 0;
    law_for_each(LAW_ANY, LAW_SMALL | LAW_FREE | LAW_RINGS, 22, 1, oracle_is_simgrid);
    cr_assert_gt(shared_cases, 5);
}
