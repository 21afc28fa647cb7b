/* Laws that bind the engines together, over the schedules of the registry, layouts and platforms.
 * PIPESIM_LONG=1 runs every schedule on every platform, several times. */
#include "tests/property/laws.h"

#include <criterion/criterion.h>
#include <math.h>

static const double NEAR_S = 1e-9;

/* ---- the oracle, without an engine that shares links -------------------------------------------
 */

static void oracle_is_dag(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const char *difference = law_fluid_difference(c, law_run(c, &pp_engine_dag), x, NEAR_S);

    cr_assert_null(difference, "%s: %s", c->text, difference);
}

Test(laws, oracle_is_the_evaluator_on_ideal_links)
{
    law_for_each(LAW_IDEAL, LAW_ANALYTIC, 63, 20, oracle_is_dag);
}

static void dag_is_below_oracle(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const double dag_s = law_makespan_s(law_run(c, &pp_engine_dag));

    cr_assert_leq(dag_s, x->makespan_s * (1 + 1e-9), "%s: %.15g, oracle %.15g", c->text, dag_s,
                  x->makespan_s);
}

Test(laws, evaluator_is_below_the_oracle)
{
    law_for_each(LAW_ANY, LAW_ANALYTIC, 63, 3, dag_is_below_oracle);
}
