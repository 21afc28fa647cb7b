/* A program played once ends when its plan says. Two evaluators are compared over the schedules of
 * the registry and random programs. */
#include "schedules/evaluate/makespan.h"
#include "schedules/registry.h"
#include "tests/property/laws.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct pp_eval_options ways[] = {
    {0},
    {.is_buffered = true},
    {.is_buffered = true, .buffered = 1},
    {.is_buffered = true, .buffered = 3},
    {.steps = 4, .is_barrier_free = true},
    {.steps = 3, .is_barrier_free = true, .is_buffered = true, .buffered = 2},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

enum { MOST_STEPS = 4 };

/* Whether it ends at all. */
static bool plan_ps(const struct law_case *c, const struct pp_eval_options *options,
                    int64_t ps[MOST_STEPS])
{
    struct pp_eval *plan;
    struct pp_error err;

    if (pp_eval_create(c->arena, c->program, c->costs, options, &plan, &err) != PP_OK)
        return false;
    const struct pp_times *times = pp_eval_run(c->arena, plan, 1, NULL, PP_TIMES_MAKESPAN);
    memcpy(ps, times->step_end_ps, sizeof(*ps) * (size_t)times->steps);
    cr_assert_eq(times->makespan_ps, ps[times->steps - 1]);
    return true;
}

/* Start, end and post of every instruction, too. */
static void check_spans(const struct law_case *c, const struct pp_eval_options *options, bool ends,
                        int way)
{
    const struct pp_times *played =
        pp_makespan_spans(c->arena, c->program, c->costs, options, PP_TIMES_POSTS);
    struct pp_eval *plan;

    cr_assert_eq(played != NULL, ends, "%s, way %d", c->text, way);
    if (!ends)
        return;
    cr_assert_eq(pp_eval_create(c->arena, c->program, c->costs, options, &plan, NULL), PP_OK);
    const struct pp_times *times = pp_eval_run(c->arena, plan, 1, NULL, PP_TIMES_POSTS);
    const int size = pp_program_size(c->program);
    cr_assert(played->makespan_ps == times->makespan_ps && played->steps == times->steps);
    for (int k = 0; k < size * times->steps; k++)
        cr_assert(
            played->start_ps[k] == times->start_ps[k] && played->end_ps[k] == times->end_ps[k],
            "%s, way %d, step %d, instruction %d: %lld to %lld ps, plan %lld to %lld ps", c->text,
            way, k / size, k % size, (long long)played->start_ps[k], (long long)played->end_ps[k],
            (long long)times->start_ps[k], (long long)times->end_ps[k]);
}

static void played_is_planned(const struct law_case *c)
{
    for (int k = 0; k < WAYS; k++) {
        int64_t planned_ps[MOST_STEPS] = {0}, played_ps[MOST_STEPS] = {0};
        const bool ends = plan_ps(c, &ways[k], planned_ps);
        cr_assert_eq(pp_makespan(c->program, c->costs, &ways[k], played_ps), ends, "%s, way %d",
                     c->text, k);
        for (int s = 0; ends && s < MOST_STEPS; s++)
            cr_assert_eq(played_ps[s], planned_ps[s], "%s, way %d, step %d: %lld ps, plan %lld ps",
                         c->text, k, s, (long long)played_ps[s], (long long)planned_ps[s]);
        check_spans(c, &ways[k], ends, k);
    }
}

Test(makespan, is_that_of_the_plan)
{
    law_for_each(LAW_IDEAL, 0, 400, 20, played_is_planned);
}

/* Those may deadlock: then neither has an answer. */
Test(makespan, is_that_of_the_plan_of_random_programs)
{
    int ended = 0, stuck = 0;

    for (uint64_t seed = 1; seed <= 1500; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct law_case c;
        int64_t ps[MOST_STEPS];
        law_make_random(arena, LAW_IDEAL, seed, &c);
        played_is_planned(&c);
        plan_ps(&c, &ways[0], ps) ? ended++ : stuck++;
    }
    cr_assert_gt(ended, 200, "%d end, %d do not", ended, stuck);
    cr_assert_gt(stuck, 20, "%d end, %d do not", ended, stuck);
}

/* What it does not play, and times that cannot be added up, it leaves to the plan. */
Test(makespan, leaves_the_rest_to_the_plan)
{
    static const struct pp_eval_options others[] = {
        {.steps = 2}, {.nic_fifo = true}, {.ring_flows = true}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct law_case c;
    int64_t ps;
    uint64_t seed = 1;

    while (!law_make(arena, pp_schedules[0], LAW_IDEAL, LAW_ONE_STEP, seed, &c))
        seed++;
    cr_assert(pp_makespan(c.program, c.costs, &ways[0], &ps));
    for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++)
        cr_assert_not(pp_makespan(c.program, c.costs, &others[k], &ps), "%zu", k);
    c.costs->op[PP_F][0].ps = INT64_MAX / 3;
    cr_assert_not(pp_makespan(c.program, c.costs, &ways[0], &ps));
    struct pp_program compute = *c.program;
    compute.level = PP_LEVEL_COMPUTE;
    cr_assert_not(pp_makespan(&compute, c.costs, &ways[0], &ps));
}
