/* Given durations: whatever the ops of a run took, given back they make the same run. */
#include "core/units.h"
#include "schedules/evaluate/eval.h"
#include "sim/simgrid/engines.h"
#include "tests/property/laws.h"
#include "tests/unit/support/random_program.h"

#include <math.h>
#include <string.h>

/* Of all instructions; of a fused pair both ops have that of the pair. */
static int64_t *durations_of(struct pp_arena *arena, const struct pp_program *p,
                             const struct pp_times *times)
{
    const size_t count =
        (size_t)pp_program_size(p) * (size_t)times->replicas * (size_t)times->steps;
    int64_t *ps = PP_ARRAY(arena, int64_t, count);

    for (size_t k = 0; k < count; k++) {
        const int i = (int)(k / (size_t)times->replicas % (size_t)pp_program_size(p));
        ps[k] = pp_op_is_compute(p->kind[i]) ? times->end_ps[k] - times->start_ps[k] : -1;
    }
    return ps;
}

/* Costs whose compute ops take no time at all. */
static struct pp_costs *without_compute(struct pp_arena *arena, const struct pp_costs *costs)
{
    struct pp_costs *c = PP_NEW(arena, struct pp_costs);

    *c = *costs;
    c->overlap = c->overlap_all = NULL;
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (pp_op_is_compute(kind))
            c->op[kind] = NULL;
    return c;
}

static void columns_equal(const struct law_case *c, const struct pp_times *a,
                          const struct pp_times *b, const char *kernel)
{
    const struct pp_program *p = c->program;
    const int size = pp_program_size(p), replicas = a->replicas;

    cr_assert_eq(b->makespan_ps, a->makespan_ps, "%s: %s", c->text, kernel);
    for (int k = 0; k < size * replicas * a->steps; k++) {
        const int stream = pp_op_kinds[p->kind[k / replicas % size]].stream;
        const bool is_posted = stream != PP_STREAM_COMPUTE && stream != PP_STREAM_CONTROL;
        const bool is_matched = stream == PP_STREAM_CHANNEL;
        cr_assert(b->start_ps[k] == a->start_ps[k] && b->end_ps[k] == a->end_ps[k] &&
                      (!is_posted || b->posted_ps[k] == a->posted_ps[k]) &&
                      (!is_matched || b->matched_ps[k] == a->matched_ps[k]),
                  "%s: %s, instruction %d of replica %d", c->text, kernel, k / replicas % size,
                  k % replicas);
    }
}

static int inside_buckets;

static void count_inside(const struct pp_program *p)
{
    int numerator, denominator;

    for (int i = 0; i < pp_program_size(p); i++)
        inside_buckets += pp_program_posted_inside(p, i, &numerator, &denominator) >= 0;
}

static void evaluator_replays(const struct law_case *c)
{
    const int replicas = c->options.replicas;
    struct pp_eval *plan, *bare;
    struct pp_error err = {0};

    cr_assert_eq(pp_eval_create(c->arena, c->program, c->costs, &c->options.eval, &plan, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(pp_eval_create(c->arena, c->program, without_compute(c->arena, c->costs),
                                &c->options.eval, &bare, &err),
                 PP_OK, "%s", err.message);
    const struct pp_times *times =
        pp_eval_run(c->arena, plan, replicas, &c->options.perturbation, PP_TIMES_ALL);
    struct pp_perturbation given = c->options.perturbation; /* has no say any more */
    given.compute_ps = durations_of(c->arena, c->program, times);
    for (const struct pp_eval_kernel *kernel = pp_kernels; kernel->name; kernel++) {
        if (!kernel->is_usable())
            continue;
        columns_equal(c, times,
                      pp_eval_run_with(c->arena, bare, replicas, &given, PP_TIMES_ALL, kernel),
                      kernel->name);
        cr_assert_eq(pp_eval_run_with(c->arena, bare, replicas, &given, PP_TIMES_MAKESPAN, kernel)
                         ->makespan_ps,
                     times->makespan_ps, "%s: %s", c->text, kernel->name);
    }
    count_inside(c->program);
}

Test(laws_durations, of_a_run_make_the_same_run)
{
    inside_buckets = 0;
    law_for_each(LAW_ANY, 0, 42, 3, evaluator_replays);
    law_for_each(LAW_ANY, LAW_JITTER, 84, 3, evaluator_replays);
    cr_assert_gt(inside_buckets, 100, "%d buckets posted inside a backward", inside_buckets);
}

static const struct pp_engine *contention(void)
{
    const struct pp_engine *engine = NULL;

    if (pp_engine_find("simgrid", &engine, NULL) != PP_OK)
        cr_skip_test("this build has no SimGrid");
    return engine;
}

static void engine_replays(const struct law_case *c)
{
    const struct pp_engine *engine = contention();
    const struct pp_trace *trace = law_run(c, engine);
    struct law_case again = *c;

    again.options.perturbation.compute_ps = law_durations(c, trace);
    again.costs = without_compute(c->arena, c->costs);
    const char *difference = law_difference(c->arena, trace, law_run(&again, engine), 0);
    cr_assert_null(difference, "%s: %s", c->text, difference);
}

Test(laws_durations, of_a_run_with_shared_links_make_the_same_run)
{
    contention();
    law_for_each(LAW_ANY, LAW_JITTER, 42, 1, engine_replays);
}

/* Both engines take them alike, whatever they are. */
static bool is_same(uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, seed, &p, &compute);
    const int replicas = rng_int(&g->rng, 1, 9), steps = rng_int(&g->rng, 1, 3);
    const int count = pp_program_size(p) * replicas * steps;
    struct pp_engine_options options = {.eval = {.is_buffered = rng_chance(&g->rng, 50),
                                                 .buffered = rng_int(&g->rng, 0, 3),
                                                 .steps = steps,
                                                 .is_barrier_free = rng_chance(&g->rng, 50)},
                                        .replicas = replicas};
    int64_t *ps = PP_ARRAY(arena, int64_t, count);
    struct pp_engine_run a, b;
    struct pp_error err = {0};

    for (int k = 0; k < count; k++)
        ps[k] = rng_int(&g->rng, 0, 1000);
    options.perturbation.compute_ps = ps;
    const struct law_case c = {
        .arena = arena, .program = p, .costs = random_costs(g, replicas), .options = options};
    if (law_try(&c, &pp_engine_dag, &a, &err) != PP_OK)
        return false;
    cr_assert_eq(law_try(&c, contention(), &b, &err), PP_OK, "%s", err.message);
    const char *difference =
        law_difference(arena, pp_engine_trace(arena, &a), pp_engine_trace(arena, &b), 0);
    cr_assert_null(difference, "seed %llu: %s", (unsigned long long)seed, difference);
    return true;
}

Test(laws_durations, mean_the_same_to_both_engines)
{
    int ran = 0;

    contention();
    for (int seed = 1; seed <= 200; seed++)
        ran += is_same((uint64_t)seed + 70000);
    cr_assert_gt(ran, 100);
}
