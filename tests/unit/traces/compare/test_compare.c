#include "traces/compare/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { CAPACITY = 256 };

/* Two stages, one micro-batch: messages take 1 s on the wire, the step 9 s. */
static const struct {
    int rank;
    const char *cell;
    double posted_s, matched_s, start_s, end_s;
} step[] = {
    {0, "0F0", NAN, NAN, 0, 2},
    {0, "0SEND_F0", 2, 2, 2, 3},
    {0, "0RECV_B0", 2, 6, 6, 7},
    {0, "(0RECV_B0)WAIT", NAN, NAN, 2, 7},
    {0, "0B0", NAN, NAN, 7, 9},
    {1, "1RECV_F0", 0, 2, 2, 3},
    {1, "(1RECV_F0)WAIT", NAN, NAN, 0, 3},
    {1, "1F0", NAN, NAN, 3, 4},
    {1, "1B0", NAN, NAN, 4, 6},
    {1, "1SEND_B0", 6, 6, 6, 7},
};
enum { EVENTS = sizeof(step) / sizeof(*step) };

struct maker {
    struct pp_arena *arena;
    struct pp_trace *trace;
};

static struct maker begin(struct pp_arena *arena, const char *name, int replicas)
{
    struct maker maker = {arena, PP_NEW(arena, struct pp_trace)};

    *maker.trace = (struct pp_trace){
        .program = name, .program_hash = 0xabc, .engine = "test", .ranks = 2, .replicas = replicas};
    maker.trace->events = PP_ARRAY(arena, struct pp_trace_event, CAPACITY);
    return maker;
}

static struct pp_trace_event *add(struct maker *maker, int number, int rank, int replica,
                                  const char *cell)
{
    struct pp_op ops[2];
    int count;

    cr_assert_eq(pp_op_parse(cell, ops, &count, NULL), PP_OK, "%s", cell);
    cr_assert_lt(maker->trace->count, CAPACITY);
    struct pp_trace_event *event = &maker->trace->events[maker->trace->count++];
    *event = (struct pp_trace_event){.step = number,
                                     .rank = rank,
                                     .replica = replica,
                                     .kind = ops[0].kind,
                                     .target = ops[0].kind == PP_WAIT ? ops[0].aux : 0,
                                     .is_fused = count == 2,
                                     .stream = (uint8_t)pp_op_kinds[ops[0].kind].stream,
                                     .cell = cell,
                                     .posted_s = NAN,
                                     .matched_s = NAN,
                                     .forward_frac = NAN,
                                     .waits_for = -1};
    if (number >= maker->trace->steps)
        maker->trace->steps = number + 1;
    return event;
}

static void compute(struct maker *maker, int number, int rank, const char *cell, double start_s,
                    double end_s)
{
    struct pp_trace_event *event = add(maker, number, rank, 0, cell);

    event->start_s = start_s;
    event->end_s = end_s;
}

/* Steps of one replica, each `stretch[i]` times as long and begun at `begin_s[i]`. */
static void add_replica(struct maker *maker, int replica, int steps, const double *begin_s,
                        const double *stretch)
{
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; i < steps; i++)
            for (int k = 0; k < EVENTS; k++) {
                if (step[k].rank != rank)
                    continue;
                struct pp_trace_event *e = add(maker, i, rank, replica, step[k].cell);
                e->posted_s = begin_s[i] + stretch[i] * step[k].posted_s;
                e->matched_s = begin_s[i] + stretch[i] * step[k].matched_s;
                e->start_s = begin_s[i] + stretch[i] * step[k].start_s;
                e->end_s = begin_s[i] + stretch[i] * step[k].end_s;
            }
}

static struct pp_trace *finish(struct maker *maker)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_trace_link_waits(maker->arena, maker->trace, &err), PP_OK, "%s", err.message);
    return maker->trace;
}

static struct pp_trace *steps_of(struct pp_arena *arena, const char *name, int replicas, int steps,
                                 const double *begin_s, const double *stretch)
{
    struct maker maker = begin(arena, name, replicas);

    for (int r = 0; r < replicas; r++)
        add_replica(&maker, r, steps, begin_s, stretch);
    return finish(&maker);
}

static struct pp_trace *one_step(struct pp_arena *arena, const char *name)
{
    return steps_of(arena, name, 1, 1, (const double[]){0}, (const double[]){1});
}

static struct pp_trace_event *find(struct pp_trace *trace, const char *cell)
{
    for (int i = 0; i < trace->count; i++)
        if (strcmp(trace->events[i].cell, cell) == 0)
            return &trace->events[i];
    cr_assert_fail("no %s", cell);
    return NULL;
}

static struct pp_comparison compared(struct pp_arena *arena, const struct pp_trace *predicted,
                                     const struct pp_trace *measured,
                                     struct pp_compare_options options)
{
    struct pp_comparison result;
    struct pp_error err = {0};

    options.worst = options.worst ? options.worst : 3;
    cr_assert_eq(pp_compare(arena, predicted, measured, &options, &result, &err), PP_OK, "%s",
                 err.message);
    return result;
}

static const struct pp_compare_row *row_of(const struct pp_compare_row *rows, int count, int kind)
{
    for (int i = 0; i < count; i++)
        if (rows[i].kind == kind)
            return &rows[i];
    cr_assert_fail("no row of kind %d", kind);
    return NULL;
}

static void expect(double actual, double wanted, const char *what)
{
    cr_assert(fabs(actual - wanted) < 1e-9, "%s is %.17g, not %.17g", what, actual, wanted);
}

static void assert_nothing_differs(const struct pp_comparison *c)
{
    cr_assert(c->step_error_s == 0 && c->step_error_frac == 0);
    cr_assert_eq(c->predicted.bubble_frac, c->measured.bubble_frac);
    cr_assert_eq(c->predicted.span_bubble_frac, c->measured.span_bubble_frac);
    for (int part = 0; part < PP_TIME_PARTS; part++)
        cr_assert_eq(c->predicted.part_s[part], c->measured.part_s[part]);
    for (int i = 0; i < c->kind_count; i++)
        cr_assert(c->kinds[i].error_frac == 0 && c->kinds[i].share_frac == 0);
    for (int i = 0; i < c->wait_count; i++)
        cr_assert_eq(c->waits[i].error_frac, 0);
    for (int i = 0; i < c->step_count; i++)
        cr_assert_eq(c->steps[i].error_frac, 0);
    for (int r = 0; r < 2; r++)
        cr_assert(c->predicted.ranks[r].busy_s == c->measured.ranks[r].busy_s &&
                  c->predicted.ranks[r].idle_s == c->measured.ranks[r].idle_s &&
                  c->predicted.ranks[r].span_s == c->measured.ranks[r].span_s);
    cr_assert(c->worst_count == 0 && c->missing.count == 0 && c->extra.count == 0);
}

Test(compare, a_trace_and_itself_differ_in_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = one_step(arena, "p");
    const struct pp_comparison c =
        compared(arena, trace, one_step(arena, "m"), (struct pp_compare_options){0});

    assert_nothing_differs(&c);
    cr_assert_eq(c.matched, EVENTS - 2);
    cr_assert(c.is_same_program && c.is_pairwise && !c.is_folded);
    expect(c.predicted.step_s, 9, "step");
    expect(c.predicted.bubble_frac, 11.0 / 18, "bubble");
    expect(c.predicted.part_s[PP_TIME_P2P], 1, "p2p");
    expect(c.predicted.ranks[0].busy_s, 4, "busy");
}

Test(compare, a_step_is_the_same_wherever_it_lies)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    /* thirds and tenths: no sum of them is exact in binary */
    const double third = 1.0 / 3, begins[] = {0, 3, 6, 9}, stretch[] = {third, third, third, third};
    const struct pp_trace *one = steps_of(arena, "p", 1, 1, begins, stretch),
                          *four = steps_of(arena, "m", 1, 4, begins, stretch);
    const struct pp_comparison c = compared(arena, one, four, (struct pp_compare_options){0});

    assert_nothing_differs(&c);
    cr_assert(!c.is_pairwise && c.step_count == 4);
    cr_assert(c.steps[3].predicted == 0 && c.steps[3].measured == 3);
    cr_assert_eq(c.matched, 4 * (EVENTS - 2));
}

Test(compare, one_longer_op_is_the_worst_event)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *measured = one_step(arena, "m");

    find(measured, "0B0")->end_s = 10.5;
    find(measured, "1SEND_B0")->end_s = find(measured, "0RECV_B0")->end_s = 6.75;
    const struct pp_comparison c =
        compared(arena, one_step(arena, "p"), measured, (struct pp_compare_options){0});
    expect(c.step_error_s, -1.5, "error");
    expect(c.step_error_frac, 9 / 10.5 - 1, "error");
    cr_assert_eq(c.worst_count, 2, "a message counts once");
    cr_assert_str_eq(c.worst[0].cell, "0B0");
    cr_assert(c.worst[0].rank == 0 && c.worst[0].step == 0 && c.worst[0].replica == 0);
    expect(c.worst[0].error_s, -1.5, "error of the worst");
    expect(c.worst[0].predicted_start_s, 7, "start");
    expect(c.worst[0].predicted_s, 2, "predicted");
    expect(c.worst[0].measured_s, 3.5, "measured");
    cr_assert_str_eq(c.worst[1].cell, "0RECV_B0");
    expect(c.worst[1].error_s, 0.25, "error of the message");
    const struct pp_compare_row *b = row_of(c.kinds, c.kind_count, PP_B),
                                *recv = row_of(c.kinds, c.kind_count, PP_RECV_B),
                                *f = row_of(c.kinds, c.kind_count, PP_F);
    expect(b->predicted_mean_s, 2, "mean");
    expect(b->measured_mean_s, 2.75, "mean");
    expect(b->error_frac, 4 / 5.5 - 1, "error of B");
    expect(b->share_frac, 1.5 / 1.75, "share of B");
    expect(recv->share_frac, 0.125 / 1.75, "share of the receiving half");
    expect(f->share_frac, 0, "share of F");
    double sum_s = 0;
    for (int part = 0; part < PP_TIME_PARTS; part++)
        sum_s += c.predicted.part_s[part] - c.measured.part_s[part];
    expect(sum_s, c.step_error_s, "the parts together");
}

Test(compare, waiting_is_apart_from_transfer)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace *measured = one_step(arena, "m");

    find(measured, "1RECV_F0")->matched_s = 2.5; /* the sender came later */
    const struct pp_comparison c =
        compared(arena, one_step(arena, "p"), measured, (struct pp_compare_options){0});
    expect(row_of(c.kinds, c.kind_count, PP_RECV_F)->error_frac, 0, "transfer");
    const struct pp_compare_row *wait = row_of(c.waits, c.wait_count, PP_RECV_F);
    expect(wait->predicted_mean_s, 2, "wait");
    expect(wait->measured_mean_s, 2.5, "wait");
    expect(wait->error_frac, -0.2, "error of the wait");
    expect(row_of(c.waits, c.wait_count, PP_SEND_F)->measured_mean_s, 0, "wait of the sender");
}

Test(compare, the_step_is_the_median_and_gaps_belong_to_it)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    /* steps of 18, 9 + 1 before it, 13.5 and 9 s */
    const double begins[] = {5, 24, 33, 46.5}, stretch[] = {2, 1, 1.5, 1};
    const struct pp_trace *measured = steps_of(arena, "m", 1, 4, begins, stretch),
                          *predicted = one_step(arena, "p");
    struct pp_comparison c = compared(arena, predicted, measured, (struct pp_compare_options){0});

    expect(c.steps[0].measured_s, 18, "step 0: the trace begins with it");
    expect(c.steps[1].measured_s, 10, "step 1");
    expect(c.measured.step_s, (10 + 13.5) / 2, "the mean of the middle two");
    expect(c.measured.before_s, 0.5, "gap");
    expect(c.measured.ranks[0].busy_s, (4 + 6) / 2.0, "busy");
    expect(c.measured.ranks[0].busy_s + c.measured.ranks[0].idle_s, c.measured.step_s, "all");
    c = compared(arena, predicted, measured, (struct pp_compare_options){.skip_steps = 1});
    cr_assert(c.step_count == 3 && c.steps[0].measured == 1);
    expect(c.steps[0].measured_s, 10, "step 1 still begins with the end of step 0");
    expect(c.measured.step_s, 10, "the median of 10, 13.5, 9");
    expect(c.measured.before_s, 1, "gap");
    expect(c.worst[0].error_s, -1, "a stretched op");
    cr_assert_eq(c.worst[0].step, 2);
}

Test(compare, equally_many_steps_are_compared_in_pairs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double begins[] = {0, 9}, stretch[] = {1, 2};
    const struct pp_trace *p = steps_of(arena, "p", 1, 2, begins, stretch),
                          *m = steps_of(arena, "m", 1, 2, begins, stretch);
    struct pp_comparison c = compared(arena, p, m, (struct pp_compare_options){0});

    assert_nothing_differs(&c);
    expect(c.predicted.step_s, 13.5, "median");
    c = compared(arena, p, m, (struct pp_compare_options){.skip_steps = 1});
    assert_nothing_differs(&c);
    expect(c.predicted.step_s, 18, "the second");
    cr_assert_eq(c.steps[0].predicted, 1);
    c = compared(arena, p, one_step(arena, "m"), (struct pp_compare_options){0});
    cr_assert_eq(c.steps[0].predicted, 1, "else the last predicted step stands for all");
    expect(c.step_error_s, 9, "error");
}

Test(compare, one_predicted_replica_stands_for_all)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double begins[] = {0}, stretch[] = {1};
    struct pp_trace *measured = steps_of(arena, "m", 3, 1, begins, stretch);

    struct pp_comparison c =
        compared(arena, one_step(arena, "p"), measured, (struct pp_compare_options){0});
    assert_nothing_differs(&c);
    cr_assert(c.is_folded && c.matched == 3 * (EVENTS - 2));
    measured->events[2 * EVENTS + 4].end_s += 0.5; /* 0B0 of replica 2 */
    c = compared(arena, one_step(arena, "p"), measured, (struct pp_compare_options){0});
    cr_assert_str_eq(c.worst[0].cell, "0B0");
    cr_assert_eq(c.worst[0].replica, 2);
    expect(c.measured.step_s, 9.5, "the slowest replica");
}

Test(compare, events_are_matched_by_cell_not_by_place)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct maker p = begin(arena, "p", 1), m = begin(arena, "m", 1);

    compute(&p, 0, 0, "0F0", 0, 1);
    compute(&p, 0, 0, "0F1", 1, 3);
    compute(&p, 0, 0, "0B0", 3, 6);
    compute(&p, 0, 1, "1F0", 0, 1);
    compute(&m, 0, 0, "0F1", 0, 2);
    compute(&m, 0, 0, "0F0", 2, 3);
    compute(&m, 0, 0, "0B1", 3, 4);
    compute(&m, 0, 1, "1F0", 0, 1);
    compute(&m, 0, 1, "1F0", 1, 3);
    const struct pp_comparison c =
        compared(arena, finish(&p), finish(&m), (struct pp_compare_options){0});
    cr_assert_eq(c.matched, 3);
    cr_assert_eq(c.worst_count, 0);
    cr_assert(c.missing.count == 1 && c.extra.count == 2);
    cr_assert_str_eq(c.missing.first[0].cell, "0B0");
    cr_assert(isnan(c.missing.first[0].measured_s));
    expect(c.missing.first[0].predicted_start_s, 3, "start");
    cr_assert_str_eq(c.extra.first[0].cell, "0B1");
    cr_assert_str_eq(c.extra.first[1].cell, "1F0");
    cr_assert_eq(c.extra.first[1].rank, 1);
    expect(c.extra.first[1].measured_s, 2, "the second of equal cells");
}
