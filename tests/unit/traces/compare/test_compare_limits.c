/* What may not be compared, and where figures come from many events or steps. */
#include "traces/compare/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { CAPACITY = 256 };

/* A trace of compute ops alone: no waits, so that all idle time is bubble. */
static struct pp_trace *trace_of(struct pp_arena *arena, const char *name, int ranks, int replicas,
                                 int steps)
{
    struct pp_trace *trace = PP_NEW(arena, struct pp_trace);

    *trace = (struct pp_trace){.program = name,
                               .program_hash = 0xabc,
                               .engine = "test",
                               .ranks = ranks,
                               .replicas = replicas,
                               .steps = steps};
    trace->events = PP_ARRAY(arena, struct pp_trace_event, CAPACITY);
    return trace;
}

static void add(struct pp_trace *trace, int step, int rank, int replica, const char *cell,
                double start_s, double end_s)
{
    struct pp_op ops[2];
    int count;

    cr_assert_eq(pp_op_parse(cell, ops, &count, NULL), PP_OK, "%s", cell);
    cr_assert_lt(trace->count, CAPACITY);
    trace->events[trace->count++] = (struct pp_trace_event){.step = step,
                                                            .rank = rank,
                                                            .replica = replica,
                                                            .kind = ops[0].kind,
                                                            .is_fused = count == 2,
                                                            .stream = PP_STREAM_COMPUTE,
                                                            .cell = cell,
                                                            .posted_s = NAN,
                                                            .matched_s = NAN,
                                                            .start_s = start_s,
                                                            .end_s = end_s,
                                                            .forward_frac = NAN,
                                                            .waits_for = -1};
}

static void expect(double actual, double wanted, const char *what)
{
    cr_assert(fabs(actual - wanted) < 1e-9, "%s is %.17g, not %.17g", what, actual, wanted);
}

/* One F a rank, replica and step, one after the other. */
static struct pp_trace *simple(struct pp_arena *arena, const char *name, int ranks, int replicas,
                               int steps)
{
    struct pp_trace *trace = trace_of(arena, name, ranks, replicas, steps);

    for (int replica = 0; replica < replicas; replica++)
        for (int rank = 0; rank < ranks; rank++)
            for (int step = 0; step < steps; step++)
                add(trace, step, rank, replica, "0F0", step, step + 1);
    return trace;
}

static struct pp_compare_options different = {.allows_different = true};

static void refused(const struct pp_trace *predicted, const struct pp_trace *measured,
                    struct pp_compare_options options, const char *reason)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_comparison result;
    struct pp_error err = {0};

    cr_assert_eq(pp_compare(arena, predicted, measured, &options, &result, &err), PP_EINVAL,
                 "not refused: %s", reason);
    cr_assert_eq(err.status, PP_EINVAL);
    cr_assert_not_null(strstr(err.message, reason), "'%s' lacks '%s'", err.message, reason);
}

Test(compare_limits, what_differs_is_refused_or_compared_on_demand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_compare_options strict = {0};
    struct pp_trace *p = simple(arena, "p", 2, 1, 1), *m = simple(arena, "m", 2, 1, 1);
    struct pp_comparison c;
    struct pp_error err = {0};

    m->program_hash = 0xdef;
    refused(p, m, strict, "p is of program 0000000000000abc, m of program 0000000000000def");
    cr_assert_eq(pp_compare(arena, p, m, &different, &c, &err), PP_OK, "%s", err.message);
    cr_assert(!c.is_same_program && c.matched == 2 && c.step_error_s == 0);
    m = simple(arena, "m", 3, 1, 1);
    refused(p, m, strict, "p has 2 ranks, m has 3");
    cr_assert_eq(pp_compare(arena, p, m, &different, &c, &err), PP_OK, "%s", err.message);
    cr_assert(c.matched == 2 && c.extra.count == 1 && c.extra.first[0].rank == 2);
    cr_assert_eq(pp_compare(arena, m, p, &different, &c, &err), PP_OK, "%s", err.message);
    cr_assert(c.matched == 2 && c.missing.count == 1 && c.missing.first[0].rank == 2);
    p = simple(arena, "p", 3, 2, 1);
    refused(p, m, strict, "p has 2 replicas, m has 1");
    cr_assert_eq(pp_compare(arena, p, m, &different, &c, &err), PP_OK, "%s", err.message);
    cr_assert_eq(c.matched, 3);
    m = simple(arena, "m", 3, 3, 1);
    refused(p, m, strict, "p has 2 replicas, m has 3");
    cr_assert_eq(pp_compare(arena, p, m, &different, &c, &err), PP_OK, "%s", err.message);
    cr_assert_eq(c.matched, 9);
}

static struct pp_trace *list_of(struct pp_arena *arena, const char *name, uint64_t hash,
                                const char *const *cells)
{
    struct pp_trace *trace = trace_of(arena, name, 1, 1, 1);

    trace->program_hash = hash;
    for (int i = 0; cells[i]; i++) {
        add(trace, 0, 0, 0, cells[i], i, i + 1);
        if (trace->events[i].kind == PP_BAR)
            trace->events[i].stream = PP_STREAM_CONTROL;
    }
    return trace;
}
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(compare_limits, programs_may_differ_by_a_barrier_before_updates_alone)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_compare_options strict = {0};
    struct pp_trace *p = list_of(arena, "p", 1, LIST("0F0", "0B0", "0U", "1F0", "1B0", "1U")),
                    *m = list_of(arena, "m", 2,
                                 LIST("0F0", "0B0", "1F0", "1B0", "0BAR", "0U", "1U"));
    struct pp_comparison c;
    struct pp_error err = {0};

    cr_assert_eq(pp_compare(arena, p, m, &strict, &c, &err), PP_OK, "%s", err.message);
    cr_assert(c.differs_by_barrier && c.measured_has_barrier && !c.is_same_program);
    cr_assert_eq(c.matched, 6);
    cr_assert_eq(pp_compare(arena, m, p, &strict, &c, &err), PP_OK, "%s", err.message);
    cr_assert(c.differs_by_barrier && !c.measured_has_barrier);
    m = list_of(arena, "m", 2, LIST("0F0", "0B0", "1F0", "1B0", "0U", "1U"));
    refused(p, m, strict, "they have the same ops, but wait elsewhere; see --update-barrier");
    m = list_of(arena, "m", 2, LIST("0F0", "1F0", "0B0", "1B0", "0BAR", "0U", "1U"));
    refused(p, m, strict, "their ops have another order on rank 0, from 1F0 on");
    m = list_of(arena, "m", 2, LIST("0F0", "0B0", "1F0", "1B0", "0BAR", "1U"));
    refused(p, m, strict, "1 op is not in both, such as 0U of rank 0, which is only in p;");
    m = list_of(arena, "m", 2, LIST("0F0", "0R0", "0B0", "1F0", "1B0", "0BAR", "0U", "1U"));
    refused(p, m, strict, "such as 0R0 of rank 0, which is only in m; see --recompute");
}

Test(compare_limits, nothing_in_common_is_no_comparison)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *p = simple(arena, "p", 1, 1, 1), *m = simple(arena, "m", 1, 1, 1);

    m->events[0].cell = "0F7";
    refused(p, m, different, "p and m have no event in common");
}

Test(compare_limits, a_trace_that_contradicts_itself_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_compare_options strict = {0};
    struct pp_trace *p = simple(arena, "p", 2, 2, 2), *m = simple(arena, "m", 2, 2, 2);

    m->count--; /* the last step of the last rank */
    refused(p, m, strict, "m: 7 events are too few");
    add(m, 0, 1, 1, "0F1", 0, 1);
    refused(p, m, strict, "m: the events of rank 1 of replica 1 in step 1 are missing");
    m = simple(arena, "m", 2, 2, 2);
    m->events[1].start_s = 0.5;
    refused(m, p, strict, "m: trace: rank 0 replica 0: 0F0 starts at");
    m = simple(arena, "m", 2, 2, 2);
    m->events[3].end_s = 5e6;
    refused(p, m, strict, "m: rank 1: 0F0 runs from 1 s to 5e+06 s");
    m = simple(arena, "m", 2, 2, 2);
    m->events[3].rank = 2;
    refused(p, m, strict, "lies outside of the 2 ranks");
    m = simple(arena, "m", 2, 2, 2);
    m->events[3].waits_for = 0;
    refused(p, m, strict, "waits for another step or rank");
    m->count = 0;
    refused(p, m, strict, "m: no events");
}

Test(compare_limits, steps_must_remain)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *p = simple(arena, "p", 1, 1, 1), *m = simple(arena, "m", 1, 1, 3);

    refused(p, m, (struct pp_compare_options){.skip_steps = 3},
            "m has 3 steps: --skip-steps 3 leaves too few; at most 2");
    refused(p, p, (struct pp_compare_options){.skip_steps = 1},
            "p has 1 step: --skip-steps 1 leaves too few; at most 0");
}

Test(compare_limits, percentiles_are_those_of_the_measured_durations)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *p = trace_of(arena, "p", 1, 1, 1), *m = trace_of(arena, "m", 1, 1, 1);
    double at_s = 0;

    for (int i = 1; i <= 40; i++) { /* 1 to 40 s, against 20 */
        const char *cell = pp_arena_printf(arena, "0F%d", i);
        add(p, 0, 0, 0, cell, 20 * (i - 1), 20 * i);
        add(m, 0, 0, 0, cell, at_s, at_s + i);
        at_s += i;
    }
    const struct pp_compare_options options = {.worst = 4};
    struct pp_comparison c;
    struct pp_error err = {0};
    cr_assert_eq(pp_compare(arena, p, m, &options, &c, &err), PP_OK, "%s", err.message);
    cr_assert(c.kind_count == 1 && c.kinds[0].count == 40 && c.wait_count == 0);
    expect(c.kinds[0].predicted_mean_s, 20, "predicted");
    expect(c.kinds[0].measured_mean_s, 20.5, "mean");
    expect(c.kinds[0].measured_p50_s, 20.5, "p50");
    expect(c.kinds[0].measured_p95_s, 38, "p95: 38 of 40 are at most that");
    expect(c.kinds[0].share_frac, 1, "share");
    cr_assert_eq(c.worst_count, 4);
    expect(c.worst[0].error_s, -20, "worst");
    expect(c.worst[1].error_s, 19, "1 s against 20, in front of 39 s: it came first");
    expect(c.worst[2].error_s, -19, "39 s");
    expect(c.worst[3].error_s, 18, "2 s");
}

/* Rank 1 is still busy with step k when rank 0 begins step k + 1: 2 s a step. */
static struct pp_trace *overlapping(struct pp_arena *arena, const char *name, int steps,
                                    double extra_s)
{
    struct pp_trace *trace = trace_of(arena, name, 2, 1, steps);

    for (int step = 0; step < steps; step++)
        add(trace, step, 0, 0, "0F0", 1 + (2 + extra_s) * step, 2 + (2 + extra_s) * step);
    for (int step = 0; step < steps; step++)
        add(trace, step, 1, 0, "1F0", 2 + (2 + extra_s) * step, 4 + (2 + extra_s) * step);
    return trace;
}

Test(compare_limits, steps_that_run_into_each_other_have_a_steady_step)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_compare_options options = {.worst = 2};
    struct pp_comparison c;
    struct pp_error err = {0};

    cr_assert_eq(pp_compare(arena, overlapping(arena, "p", 4, 0), overlapping(arena, "m", 4, 0.25),
                            &options, &c, &err),
                 PP_OK, "%s", err.message);
    cr_assert(c.predicted.is_overlapping && c.measured.is_overlapping && c.is_pairwise);
    expect(c.predicted.step_s, 2, "predicted");
    expect(c.measured.step_s, 2.25, "measured");
    expect(c.measured.ranks[1].busy_s, 2, "busy");
    expect(c.steps[2].measured_s, 2.25, "step 2");
    expect(c.steps[0].measured_s, 3, "step 0 has nothing before it");
    cr_assert_eq(c.worst_count, 0);
    options.skip_steps = 2;
    cr_assert_eq(pp_compare(arena, overlapping(arena, "p", 1, 0), overlapping(arena, "m", 4, 0.25),
                            &options, &c, &err),
                 PP_OK, "%s", err.message);
    cr_assert(!c.predicted.is_overlapping && c.measured.is_overlapping);
    expect(c.measured.step_s, 2.25, "measured");
    options.skip_steps = 3;
    refused(overlapping(arena, "p", 4, 0), overlapping(arena, "m", 4, 0.25), options,
            "m has 4 steps that run into each other: --skip-steps 3 leaves too few; at most 2");
}

Test(compare_limits, numbers_of_steps_need_not_begin_at_0)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *m = trace_of(arena, "m", 1, 1, 2000000001);
    const struct pp_compare_options options = {0};
    struct pp_comparison c;
    struct pp_error err = {0};

    add(m, 7, 0, 0, "0F0", 100, 101);
    add(m, 8, 0, 0, "0F0", 101, 103);
    add(m, 2000000000, 0, 0, "0F0", 500, 501);
    cr_assert_eq(pp_compare(arena, simple(arena, "p", 1, 1, 1), m, &options, &c, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(c.step_count, 3);
    expect(c.steps[0].measured_s, 1, "the first of a trace begins with its first event");
    expect(c.steps[1].measured_s, 2, "the next one with its end");
    expect(c.steps[2].measured_s, 1, "after a gap in the numbers with its first event again");
    cr_assert_eq(c.steps[2].measured, 2000000000);
}
