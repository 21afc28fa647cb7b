/* Laws that bind the engines together, over the schedules of the registry, layouts and platforms.
 * PIPESIM_LONG=1 runs every schedule on every platform, several times. */
#include "sim/run/fold.h"
#include "sim/simgrid/engines.h"
#include "tests/oracle/traffic.h"
#include "tests/property/laws.h"
#include "tests/unit/support/random_program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- without an engine that shares links -------------------------------------------------- */

static void oracle_is_dag(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const char *difference = law_fluid_difference(c, law_run(c, &pp_engine_dag), x, 1e-9);

    cr_assert_null(difference, "%s: %s", c->text, difference);
}

Test(laws, oracle_is_the_evaluator_on_ideal_links)
{
    law_for_each(LAW_IDEAL, 0, 63, 20, oracle_is_dag);
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
    law_for_each(LAW_ANY, 0, 63, 6, dag_is_below_oracle);
}

/* One op, message or collective takes longer: the step must not get shorter. */
static void longer_is_not_shorter(const struct law_case *c)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_U, PP_AR, PP_RS, PP_AG};
    const double before_s = law_makespan_s(law_run(c, &pp_engine_dag));

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        int64_t *ps = &c->costs->op[kinds[k]][(int)k % c->costs->stages].ps;
        const int64_t was_ps = *ps;
        *ps += was_ps / 3;
        const double s = law_makespan_s(law_run(c, &pp_engine_dag));
        *ps = was_ps;
        cr_assert_geq(s, before_s, "%s: longer %s", c->text, pp_op_kinds[kinds[k]].text);
    }
    for (int link = 0; link < c->costs->links; link += 3) {
        c->costs->alpha_ps[link] += 1000000000;
        const double s = law_makespan_s(law_run(c, &pp_engine_dag));
        c->costs->alpha_ps[link] -= 1000000000;
        cr_assert_geq(s, before_s, "%s: slower link %d", c->text, link);
    }
}

Test(laws, a_longer_op_never_shortens_a_step)
{
    law_for_each(LAW_ANY, 0, 63, 3, longer_is_not_shorter);
}

/* ---- replays ------------------------------------------------------------------------------ */

static int64_t ps_of(double s)
{
    return llround(s * 1e12);
}

static void check_replay(const struct law_case *c, const struct pp_trace *trace)
{
    struct fluid_options options = law_fluid_options(c);

    options.replay_ps = law_durations(c, trace);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    cr_assert_not(x->is_stuck, "%s", c->text);
    cr_assert_eq((int64_t)x->makespan_s, ps_of(law_makespan_s(trace)), "%s (%s): %.17g ps", c->text,
                 trace->engine, x->makespan_s);
}

static void dag_replays(const struct law_case *c)
{
    check_replay(c, law_run(c, &pp_engine_dag));
}

Test(laws, traces_of_the_evaluator_replay)
{
    law_for_each(LAW_ANY, 0, 42, 3, dag_replays);
    law_for_each(LAW_ANY, LAW_JITTER, 21, 1, dag_replays);
}

/* ---- folding ------------------------------------------------------------------------------ */

static int folded_cases;

/* Where one replica may stand for all, all are as it is alone. */
static void folded_is_unfolded(const struct law_case *c)
{
    struct fluid_options options = law_fluid_options(c);
    const int size = pp_program_size(c->program), all = options.replicas;

    if (all == 1 || pp_fold_network(c->program, &c->network).obstacle != PP_FOLD_EXACT)
        return;
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    options.replicas = 1;
    const struct fluid_times *one = fluid_run(c->arena, c->program, c->costs, &options);
    folded_cases += one->most_shared > 1;
    for (int i = 0; i < size * options.steps; i++)
        for (int replica = 0; replica < all; replica++)
            cr_assert(fabs(x->end_s[(size_t)i * (size_t)all + (size_t)replica] - one->end_s[i]) <=
                          1e-9 * one->makespan_s,
                      "%s: instruction %d of replica %d ends at %.15g, folded %.15g", c->text,
                      i % size, replica, x->end_s[(size_t)i * (size_t)all + (size_t)replica],
                      one->end_s[i]);
}

Test(laws, folded_is_unfolded_where_that_is_exact)
{
    folded_cases = 0;
    law_for_each(LAW_ANY, LAW_ANALYTIC, 84, 8, folded_is_unfolded);
    cr_assert_gt(folded_cases, 5, "%d cases in which the messages of a replica meet", folded_cases);
}

/* ---- with one ----------------------------------------------------------------------------- */

static void simgrid_is_dag(const struct law_case *c)
{
    const char *difference =
        law_difference(c->arena, law_run(c, &pp_engine_dag), law_run(c, &pp_engine_shared), 1e-9);

    cr_assert_null(difference, "%s: %s", c->text, difference);
}

Test(laws, simgrid_is_the_evaluator_on_ideal_links)
{
    law_for_each(LAW_IDEAL, 0, 42, 6, simgrid_is_dag);
    law_for_each(LAW_IDEAL, LAW_JITTER, 21, 2, simgrid_is_dag);
}

static int shared_cases, steady_cases, cases;

/* Engines count in picoseconds. Where many transfers wait for each other, a difference of one may
 * grow: as far as it does in the oracle itself. */
static double slack_s(const struct law_case *c, const struct fluid_times *x)
{
    struct fluid_options options = law_fluid_options(c);
    const size_t rows =
        (size_t)pp_program_size(c->program) * (size_t)options.replicas * (size_t)options.steps;
    double grown_s = 0;

    options.quantum_s = 1e-12;
    const struct fluid_times *rounded = fluid_run(c->arena, c->program, c->costs, &options);
    for (size_t k = 0; k < rows; k++)
        grown_s = fmax(grown_s, fabs(rounded->end_s[k] - x->end_s[k]));
    steady_cases += grown_s < 1e-10 * x->makespan_s;
    return 1e-9 * x->makespan_s + 10 * grown_s;
}

/* Given when messages start, they end as fair shares of the links make them: tight whatever the
 * program makes of small differences. Steps of rings are not in a trace. */
static void check_traffic(const struct law_case *c, const struct pp_trace *trace)
{
    const struct pp_program *p = c->program;
    const struct pp_network *n = &c->network;
    struct traffic *t = PP_ARRAY(c->arena, struct traffic, trace->count * n->lanes);
    double *end_s = PP_ARRAY(c->arena, double, trace->count * n->lanes);
    int count = 0, e = 0;

    for (int replica = 0; replica < trace->replicas; replica++)
        for (int r = 0; r < p->ranks; r++)
            for (int step = 0; step < trace->steps; step++)
                for (int i = p->begin[r]; i < p->begin[r + 1]; i++, e++) {
                    const struct pp_trace_event *event = &trace->events[e];
                    i += event->is_fused;
                    for (int lane = 0; pp_op_is_send(event->kind) && lane < n->lanes; lane++)
                        t[count++] = (struct traffic){
                            .source = pp_network_device(n, r, replica, lane),
                            .dest = pp_network_device(n, p->peer[i], replica, lane),
                            .bytes = event->bytes,
                            .start_s = event->start_s,
                            .event = e};
                }
    traffic_run(c->arena, n->fabric, t, count);
    for (int k = 0; k < count; k++)
        end_s[t[k].event] = fmax(end_s[t[k].event], t[k].end_s);
    for (int k = 0; k < count; k++) {
        const struct pp_trace_event *event = &trace->events[t[k].event];
        cr_assert(fabs(end_s[t[k].event] - event->end_s) <= 1e-9 * law_makespan_s(trace),
                  "%s: %s of rank %d.%d starts at %.15g and ends at %.15g, by its shares at %.15g",
                  c->text, event->cell, event->rank, event->replica, event->start_s, event->end_s,
                  end_s[t[k].event]);
    }
}

/* Above the evaluator, equal to the oracle, replayed by its own durations. */
static void simgrid_shares(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const struct pp_trace *dag = law_run(c, &pp_engine_dag), *trace = law_run(c, &pp_engine_shared);
    const double makespan_s = law_makespan_s(trace), dag_s = law_makespan_s(dag);
    const char *difference = law_fluid_difference(c, trace, x, slack_s(c, x));

    cr_assert_null(difference, "%s: %s", c->text, difference);
    cr_assert_leq(dag_s, makespan_s * (1 + 1e-9), "%s: %.15g (dag), %.15g", c->text, dag_s,
                  makespan_s);
    check_replay(c, trace);
    if (!c->options.eval.ring_flows)
        check_traffic(c, trace);
    shared_cases += x->most_shared > 1;
    cases++;
}

Test(laws, simgrid_shares_links)
{
    shared_cases = steady_cases = cases = 0;
    law_for_each(LAW_ANY, 0, 63, 3, simgrid_shares);
    cr_assert_gt(shared_cases, 20, "%d cases in which transfers meet", shared_cases);
    cr_assert_geq(steady_cases, cases * 9 / 10, "%d of %d cases are steady", steady_cases, cases);
}

/* What the oracle knows nothing of, or sees otherwise. */
static void simgrid_is_above_dag(const struct law_case *c)
{
    const struct pp_trace *dag = law_run(c, &pp_engine_dag), *trace = law_run(c, &pp_engine_shared);

    cr_assert_leq(law_makespan_s(dag), law_makespan_s(trace) * (1 + 1e-9), "%s", c->text);
    check_replay(c, trace);
}

Test(laws, simgrid_with_jitter_replays)
{
    law_for_each(LAW_ANY, LAW_JITTER, 21, 1, simgrid_is_above_dag);
}

/* Ends of slowed ops are rounded up. */
static void slowed_as_in_oracle(const struct law_case *c)
{
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const struct pp_trace *trace = law_run(c, &pp_engine_shared);
    const char *difference = law_fluid_difference(c, trace, x, slack_s(c, x));

    cr_assert_null(difference, "%s: share %g: %s", c->text, c->options.sync_share, difference);
}

Test(laws, collectives_slow_compute)
{
    law_for_each(LAW_ANY, LAW_SHARE, 42, 3, slowed_as_in_oracle);
}

/* Shares by SimGrid: of the transfers that meet others, and of all. */
static void simgrid_is_lmm(const struct law_case *c)
{
    struct law_case plain = *c;
    const struct fluid_options options = law_fluid_options(c);
    const struct fluid_times *x = fluid_run(c->arena, c->program, c->costs, &options);
    const struct pp_engine *lmm = NULL;

    if (pp_engine_find("simgrid-lmm", &lmm, NULL) != PP_OK)
        cr_skip_test("this build has no SimGrid");
    plain.options.is_plain = true;
    const struct pp_trace *trace = law_run(c, &pp_engine_shared);
    const struct pp_trace *others[] = {law_run(&plain, &pp_engine_shared), law_run(c, lmm),
                                       law_run(&plain, lmm)};
    for (int k = 0; k < 3; k++) {
        const char *difference = law_difference(c->arena, trace, others[k], slack_s(c, x));
        cr_assert_null(difference, "%s: %d: %s", c->text, k, difference);
    }
}

Test(laws, shares_are_those_of_simgrid_itself)
{
    law_for_each(LAW_ANY, LAW_SMALL, 11, 1, simgrid_is_lmm);
    law_for_each(LAW_ANY, LAW_RINGS, 11, 1, simgrid_is_lmm);
}

static void twice_the_same(const struct law_case *c)
{
    const struct pp_trace *a = law_run(c, &pp_engine_shared), *b = law_run(c, &pp_engine_shared);

    for (int i = 0; i < a->count; i++)
        cr_assert(memcmp(&a->events[i].start_s, &b->events[i].start_s, sizeof(double)) == 0 &&
                      memcmp(&a->events[i].end_s, &b->events[i].end_s, sizeof(double)) == 0,
                  "%s: event %d", c->text, i);
}

Test(laws, simgrid_is_deterministic)
{
    law_for_each(LAW_ANY, LAW_RINGS, 11, 1, twice_the_same);
}

/* ---- random programs ---------------------------------------------------------------------- */

/* Without a network: equal to the picosecond, deadlocks included. */
static bool is_same(uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p, *compute;
    struct random_program *g = random_program(arena, seed, &p, &compute);
    struct rng *rng = &g->rng;
    const int replicas = rng_int(rng, 1, 5), steps = rng_int(rng, 1, 3);
    const struct pp_engine_options options = {
        .eval = {.is_buffered = rng_chance(rng, 50),
                 .buffered = rng_int(rng, 0, 3),
                 .steps = steps,
                 .is_barrier_free = rng_chance(rng, 50)},
        .replicas = replicas,
        .perturbation = {.jitter_frac = rng_chance(rng, 30) ? 0.3 : 0, .seed = seed}};
    const struct law_case c = {
        .arena = arena, .program = p, .costs = random_costs(g, replicas), .options = options};
    struct pp_engine_run a, b;
    struct pp_error err = {0};
    const enum pp_status status = law_try(&c, &pp_engine_dag, &a, &err);

    cr_assert_eq(law_try(&c, &pp_engine_shared, &b, &err), status, "seed %llu: %s",
                 (unsigned long long)seed, err.message);
    if (status != PP_OK)
        return false;
    const char *difference =
        law_difference(arena, pp_engine_trace(arena, &a), pp_engine_trace(arena, &b), 0);
    cr_assert_null(difference, "seed %llu: %s", (unsigned long long)seed, difference);
    return true;
}

Test(laws, simgrid_without_a_network_is_the_evaluator)
{
    const int programs = getenv("PIPESIM_LONG") ? 2000 : 300;
    int ran = 0;

    for (int seed = 1; seed <= programs; seed++)
        ran += is_same((uint64_t)seed + 50000);
    cr_assert_gt(ran, programs / 2);
    cr_assert_lt(ran, programs, "no deadlock was met");
}

/* With one: as the oracle, which gets stuck where the engine says so. */
static bool shares_alike(int platform, uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct law_case c;
    struct pp_engine_run run;
    struct pp_error err = {0};
    const bool is_odd = law_make_random(arena, platform, seed, &c);
    const struct fluid_options options = law_fluid_options(&c);
    const struct fluid_times *x = fluid_run(arena, c.program, c.costs, &options);
    const enum pp_status status = law_try(&c, &pp_engine_shared, &run, &err);

    cr_assert_eq(status, x->is_stuck ? PP_EPROGRAM : PP_OK, "%s: %s", c.text, err.message);
    cr_assert(is_odd || !x->is_stuck, "%s", c.text);
    if (status != PP_OK)
        return false;
    const struct pp_trace *trace = pp_engine_trace(arena, &run);
    const char *difference = law_fluid_difference(&c, trace, x, slack_s(&c, x));
    cr_assert_null(difference, "%s: %s", c.text, difference);
    check_replay(&c, trace);
    return true;
}

Test(laws, random_programs_share_links)
{
    const int programs = getenv("PIPESIM_LONG") ? 40 * LAW_PLATFORMS : 6 * LAW_PLATFORMS;
    int ran = 0;

    for (int k = 0; k < programs; k++)
        ran += shares_alike(k % LAW_PLATFORMS, (uint64_t)k + 90000);
    cr_assert_gt(ran, programs / 2);
    cr_assert_lt(ran, programs, "no deadlock was met");
}
