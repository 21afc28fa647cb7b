#include "traces/metrics.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define COMPUTE(r, k, text, from, to)                                                              \
    {                                                                                              \
        .rank = (r), .kind = PP_##k, .stream = PP_STREAM_COMPUTE, .cell = (text),                  \
        .start_s = (from), .end_s = (to), .forward_frac = NAN, .waits_for = -1                     \
    }
#define POSTED(r, k, on, text, at, from, to)                                                       \
    {                                                                                              \
        .rank = (r), .kind = PP_##k, .stream = PP_STREAM_##on, .cell = (text), .posted_s = (at),   \
        .start_s = (from), .end_s = (to), .waits_for = -1                                          \
    }
#define WAIT(r, what, text, from, to, index)                                                       \
    {                                                                                              \
        .rank = (r), .kind = PP_WAIT, .target = PP_##what, .stream = PP_STREAM_CONTROL,            \
        .cell = (text), .start_s = (from), .end_s = (to), .waits_for = (index)                     \
    }

static struct pp_trace trace_of(struct pp_trace_event *events, int count, int ranks)
{
    return (struct pp_trace){
        .ranks = ranks, .replicas = 1, .steps = 1, .events = events, .count = count};
}

/* Two stages, one micro-batch: messages take 1 s on the wire, the sum of gradients 0.5 s. */
static const struct pp_trace_event two_ranks[] = {
    COMPUTE(0, F, "0F0", 0, 2),
    POSTED(0, SEND_F, CHANNEL, "0SEND_F0", 2, 2, 3),
    POSTED(0, RECV_B, CHANNEL, "0RECV_B0", 2, 6, 7),
    WAIT(0, RECV_B, "(0RECV_B0)WAIT", 2, 7, 2),
    COMPUTE(0, B, "0B0", 7, 9),
    POSTED(0, AR, REDUCE, "0AR", 9, 9.5, 10),
    WAIT(0, AR, "(0AR)WAIT", 9, 10, 5),
    POSTED(1, RECV_F, CHANNEL, "1RECV_F0", 0, 2, 3),
    WAIT(1, RECV_F, "(1RECV_F0)WAIT", 0, 3, 7),
    COMPUTE(1, F, "1F0", 3, 4),
    COMPUTE(1, B, "1B0", 4, 6),
    POSTED(1, SEND_B, CHANNEL, "1SEND_B0", 6, 6, 7),
    POSTED(1, AR, REDUCE, "1AR", 6, 9.5, 10),
    WAIT(1, AR, "(1AR)WAIT", 6, 10, 12),
};
enum { TWO_RANKS = sizeof(two_ranks) / sizeof(*two_ranks) };

static void expect(double actual, double wanted, const char *what)
{
    cr_assert(fabs(actual - wanted) < 1e-12, "%s is %.17g, not %.17g", what, actual, wanted);
}

Test(metrics, idle_is_explained_by_what_the_next_op_waits_for)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[TWO_RANKS];
    struct pp_metrics m;
    struct pp_error err = {0};

    memcpy(events, two_ranks, sizeof(events));
    events[0].share_s[PP_SHARE_TP] = 0.5;
    const struct pp_trace trace = trace_of(events, TWO_RANKS, 2);
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    static const double seconds[PP_TIME_PARTS] = {
        [PP_TIME_FORWARD] = 2.5, [PP_TIME_BACKWARD] = 4, [PP_TIME_TP_COMM] = 0.5,
        [PP_TIME_P2P] = 2,       [PP_TIME_DP_SYNC] = 5,  [PP_TIME_BUBBLE] = 6};
    for (int part = 0; part < PP_TIME_PARTS; part++)
        expect(m.time_frac[part], seconds[part] / 20, pp_time_part_names[part]);
    expect(m.iteration_s, 10, "iteration_s");
    expect(m.bubble_frac, 8.0 / 20, "bubble_frac");
    expect(m.exposed_comm_frac, 7.5 / 20, "exposed_comm_frac");
    expect(m.span_bubble_frac, 1 - 4.0 / 9, "span_bubble_frac");
    expect(m.ranks[0].busy_s, 4, "busy of rank 0");
    expect(m.ranks[0].idle_s, 6, "idle of rank 0");
    expect(m.ranks[0].span_s, 9, "span of rank 0");
    expect(m.ranks[1].busy_s, 3, "busy of rank 1");
    expect(m.ranks[1].span_s, 3, "span of rank 1");
    expect(m.ranks[1].part_s[PP_TIME_BUBBLE], 2, "bubble of rank 1");
}

/* W concurrent with other compute counts only where the rank does nothing else. 0W0 fills the first
 * half of a wait for a message that is in transit in the second half. 0W1 fills the last second.
 * Half of 0W0 overlaps a forward, and does not count. */
Test(metrics, weights_fill_what_other_compute_leaves)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[] = {
        COMPUTE(0, F, "0F0", 0, 2), POSTED(0, RECV_B, CHANNEL, "0RECV_B0", 0, 3, 4),
        COMPUTE(0, W, "0W0", 1, 3), WAIT(0, RECV_B, "(0RECV_B0)WAIT", 2, 4, 1),
        COMPUTE(0, I, "0I0", 4, 5), COMPUTE(0, W, "0W1", 5, 6),
        COMPUTE(0, F, "0F1", 7, 8),
    };
    const struct pp_trace trace = trace_of(events, 7, 1);
    struct pp_metrics m;
    struct pp_error err = {0};

    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "while another op computes"), "%s", err.message);
    events[2].is_concurrent = events[5].is_concurrent = 1;
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    static const double seconds[PP_TIME_PARTS] = {
        [PP_TIME_FORWARD] = 3, [PP_TIME_BACKWARD] = 3, [PP_TIME_P2P] = 1, [PP_TIME_BUBBLE] = 1};
    for (int part = 0; part < PP_TIME_PARTS; part++)
        expect(m.time_frac[part], seconds[part] / 8, pp_time_part_names[part]);
    expect(m.ranks[0].busy_s, 6, "busy");
    expect(m.ranks[0].idle_s, 2, "idle");
    expect(m.span_bubble_frac, 2.0 / 8, "span_bubble_frac");
    events[5].start_s = 2.5;
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "0W1 starts at 2.5 s while W before it runs until 3 s"), "%s",
              err.message);
}

Test(metrics, without_waits_all_idle_is_bubble)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[] = {COMPUTE(0, F, "0F0", 0, 1), COMPUTE(0, B, "0B0", 4, 6),
                                      COMPUTE(1, F, "1F0", 1, 2), COMPUTE(1, I, "1I0", 2, 3),
                                      COMPUTE(1, W, "1W0", 3, 4)};
    const struct pp_trace trace = trace_of(events, 5, 2);
    struct pp_metrics m;
    struct pp_error err = {0};

    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    expect(m.bubble_frac, 6.0 / 12, "bubble_frac");
    expect(m.time_frac[PP_TIME_BUBBLE], 6.0 / 12, "bubble");
    expect(m.time_frac[PP_TIME_BACKWARD], 4.0 / 12, "backward");
    expect(m.span_bubble_frac, 1 - 3.0 / 6, "span_bubble_frac");
}

Test(metrics, every_kind_of_work_and_wait_has_its_part)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[] = {
        COMPUTE(0, F, "(0F3;0B1)OVERLAP_F_B", 0, 4),
        POSTED(0, COPY, COPY, "0COPY1", 4, 5, 6),
        WAIT(0, COPY, "(0COPY1)WAIT", 4, 6, 1),
        COMPUTE(0, R, "0R1", 6, 7),
        COMPUTE(0, U, "0U", 7, 7.5),
        POSTED(0, A2A, REDUCE, "0A2A1", 7, 7, 8),
        WAIT(0, A2A, "(0A2A1)WAIT", 7.5, 8, 5),
        {.kind = PP_BAR,
         .stream = PP_STREAM_CONTROL,
         .cell = "BAR",
         .start_s = 8,
         .end_s = 8.25,
         .waits_for = -1},
    };
    const struct pp_trace trace = trace_of(events, 8, 1);
    struct pp_metrics m;
    struct pp_error err = {0};

    events[0].is_fused = 1;
    events[0].forward_frac = 0.25;
    events[0].share_s[PP_SHARE_CP] = 1;
    events[0].share_s[PP_SHARE_EP] = 1;
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    static const double seconds[PP_TIME_PARTS] = {
        [PP_TIME_FORWARD] = 0.5, [PP_TIME_BACKWARD] = 1.5, [PP_TIME_RECOMPUTE] = 1,
        [PP_TIME_CP_COMM] = 1,   [PP_TIME_EP_COMM] = 1.5,  [PP_TIME_OPTIMIZER] = 0.5,
        [PP_TIME_MOVES] = 2,     [PP_TIME_BUBBLE] = 0.25};
    for (int part = 0; part < PP_TIME_PARTS; part++)
        expect(m.time_frac[part], seconds[part] / 8.25, pp_time_part_names[part]);
}

Test(metrics, several_steps_are_taken_from_the_first_end_to_the_last)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[] = {
        COMPUTE(0, F, "0F0", 0, 2), COMPUTE(0, F, "0F0", 2.5, 5), COMPUTE(0, F, "0F0", 5.5, 8),
        COMPUTE(1, F, "1F0", 0, 3), COMPUTE(1, F, "1F0", 3, 4),   COMPUTE(1, F, "1F0", 6, 7),
    };
    struct pp_trace trace = trace_of(events, 6, 2);
    struct pp_metrics m;
    struct pp_error err = {0};

    for (int i = 0; i < 6; i++)
        events[i].step = i % 3;
    trace.steps = 3;
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    expect(m.iteration_s, (8.0 - 3) / 2, "iteration_s");
    expect(m.ranks[0].busy_s, (2 + 2.5) / 2, "busy of rank 0"); /* 0.5 s lie before the window */
    expect(m.ranks[1].busy_s, (1 + 1) / 2.0, "busy of rank 1");
    expect(m.ranks[0].busy_s + m.ranks[0].idle_s, m.iteration_s, "busy + idle");
    expect(m.time_frac[PP_TIME_FORWARD], 6.5 / 10, "forward");
    expect(m.ranks[0].span_s, 2.5, "span of the last step");
    expect(m.span_bubble_frac, 0, "span_bubble_frac");
}

Test(metrics, the_worst_replica_is_the_step)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event events[] = {COMPUTE(0, F, "0F0", 0, 1), COMPUTE(0, F, "0F0", 0, 4)};
    struct pp_trace trace = trace_of(events, 2, 1);
    struct pp_metrics m;
    struct pp_error err = {0};

    events[1].replica = 1;
    trace.replicas = 2;
    cr_assert_eq(pp_metrics_compute(arena, &trace, &m, &err), PP_OK, "%s", err.message);
    expect(m.iteration_s, 4, "iteration_s");
    expect(m.time_frac[PP_TIME_FORWARD], 5.0 / 8, "forward");
    expect(m.ranks[0].busy_s, 4, "busy of the longer replica");
}

static void expect_refusal(struct pp_trace *trace, const char *part)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_metrics m;
    struct pp_error err = {0};

    cr_assert_eq(pp_metrics_compute(arena, trace, &m, &err), PP_EFAIL, "accepted: %s", part);
    cr_assert_not_null(strstr(err.message, part), "'%s' lacks '%s'", err.message, part);
}

Test(metrics, impossible_traces_are_refused)
{
    struct pp_trace_event events[TWO_RANKS];
    struct pp_trace trace = trace_of(events, TWO_RANKS, 2);

    memcpy(events, two_ranks, sizeof(events));
    events[4].start_s = 6.5; /* computes while it waits */
    expect_refusal(&trace, "0B0 starts at 6.5 s");
    memcpy(events, two_ranks, sizeof(events));
    events[4].end_s = 6;
    expect_refusal(&trace, "0B0 runs from 7 s to 6 s");
    memcpy(events, two_ranks, sizeof(events));
    events[4].share_s[PP_SHARE_TP] = 3;
    expect_refusal(&trace, "longer than it takes");
    memcpy(events, two_ranks, sizeof(events));
    events[5].rank = 1;
    expect_refusal(&trace, "out of place");
    memcpy(events, two_ranks, sizeof(events));
    events[0].end_s = NAN;
    expect_refusal(&trace, "0F0 runs from");
    trace.count = 0;
    expect_refusal(&trace, "takes 0 s");
}
