/* Predicted over measured durations: the pairs are those of the comparison, and are drawn. */
#define _GNU_SOURCE /* open_memstream */
#include "tests/unit/plots/memory/drawn.h"
#include "tests/unit/support/gnuplot.h"
#include "tests/unit/support/sim_run.h"

#include "plots/plot.h"
#include "traces/compare/compare.h"

#include <math.h>

static const char LINE[] = "--schedule zbv --model gpt2-64 --pp 4 --tp 1 --dp 2 --mbs 1 "
                           "--micro-batches 8 --recompute none --zero 0 --engine dag --no-fold "
                           "--steps 1";

static const struct pp_trace *trace_of(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result.trace;
}

static const struct pp_trace *jittered(struct pp_arena *arena)
{
    return trace_of(arena, pp_arena_printf(arena, "%s --jitter 0.2", LINE));
}

/* As many pairs of a kind as the comparison has, with the same means; a message once. */
Test(plot_error, pairs_are_those_of_the_comparison)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *predicted = trace_of(arena, LINE), *measured = jittered(arena);
    const struct pp_compare_options options = {.keeps_pairs = true};
    struct pp_comparison c;
    int64_t pairs = 0;

    cr_assert_eq(pp_compare(arena, predicted, measured, &options, &c, NULL), PP_OK);
    for (int k = 0; k < c.kind_count; k++) {
        const struct pp_compare_row *row = &c.kinds[k];
        double predicted_s = 0, measured_s = 0;
        int64_t count = 0;
        if (pp_op_is_send(row->kind))
            continue;
        for (int i = 0; i < c.pair_count; i++) {
            const struct pp_compare_pair *pair = &c.pairs[i];
            if (pair->kind != row->kind || pair->is_fused != row->is_fused)
                continue;
            count++;
            predicted_s += pair->predicted_s;
            measured_s += pair->measured_s;
        }
        cr_assert_eq(count, row->count);
        cr_assert_float_eq(predicted_s / (double)count, row->predicted_mean_s, 1e-12);
        cr_assert_float_eq(measured_s / (double)count, row->measured_mean_s, 1e-12);
        pairs += count;
    }
    cr_assert_eq(pairs, c.pair_count);
    const struct pp_compare_options plain = {0};
    cr_assert_eq(pp_compare(arena, predicted, measured, &plain, &c, NULL), PP_OK);
    cr_assert_eq(c.pair_count, 0);
}

static struct pp_trace_event op(const char *cell, uint8_t kind, double start_s, double end_s)
{
    return (struct pp_trace_event){.kind = kind,
                                   .stream = (uint8_t)pp_op_kinds[kind].stream,
                                   .cell = cell,
                                   .posted_s = NAN,
                                   .matched_s = NAN,
                                   .start_s = start_s,
                                   .end_s = end_s,
                                   .forward_frac = NAN,
                                   .waits_for = -1};
}

static struct pp_trace small(struct pp_trace_event *events, int count)
{
    return (struct pp_trace){.program = "small.csv",
                             .program_hash = 1,
                             .engine = "file",
                             .ranks = 1,
                             .replicas = 1,
                             .steps = 1,
                             .events = events,
                             .count = count};
}

static enum pp_status draw(struct pp_arena *arena, struct drawn *d, const struct pp_trace *a,
                           const struct pp_trace *b, bool is_script, struct pp_error *err)
{
    (void)arena;
    drawn_open(d, is_script);
    return pp_plot_error(arena, a, b, &d->target, err);
}

Test(plot_error, small_ones_are_drawn)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event p[] = {op("0F0", PP_F, 0, 0.010), op("0F1", PP_F, 0.010, 0.020),
                                 op("0B0", PP_B, 0.020, 0.040), op("0B1", PP_B, 0.040, 0.060),
                                 op("0U", PP_U, 0.060, 0.060)};
    struct pp_trace_event q[] = {op("0F0", PP_F, 0, 0.011), op("0F1", PP_F, 0.011, 0.020),
                                 op("0B0", PP_B, 0.020, 0.050), op("0B1", PP_B, 0.050, 0.066),
                                 op("0U", PP_U, 0.066, 0.067)};
    const struct pp_trace a = small(p, 5), b = small(q, 5);
    struct drawn d;
    struct pp_error err = {0};

    cr_assert_eq(draw(arena, &d, &a, &b, true, &err), PP_OK, "%s", err.message);
    const char *script = drawn_text(arena, &d);
    cr_assert(strstr(script, "predicted 60.0 ms, measured 67.0 ms, -10.4 %"), "%s", script);
    cr_assert(strstr(script, "1 of no duration left out"), "%s", script);
    drawn_is(arena, script, "error.gp");
    if (!has_gnuplot())
        cr_skip_test("gnuplot is not installed");
    cr_assert_eq(draw(arena, &d, &a, &b, false, &err), PP_OK, "%s", err.message);
    cr_assert(strstr(drawn_text(arena, &d), "forward"));
}

/* Of many points those are left out that would lie on others. */
Test(plot_error, scripts_stay_small)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    enum { COUNT = 50000 };
    struct pp_trace_event *p = PP_ARRAY(arena, struct pp_trace_event, COUNT),
                          *q = PP_ARRAY(arena, struct pp_trace_event, COUNT);
    double at_p = 0, at_q = 0;
    struct drawn d;

    for (int i = 0; i < COUNT; i++) {
        const char *cell = pp_arena_printf(arena, "0F%d", i);
        const double p_s = 1e-3, q_s = 1e-3 * (0.5 + (i * 7919 % COUNT) / (double)COUNT);
        p[i] = op(cell, PP_F, at_p, at_p + p_s);
        q[i] = op(cell, PP_F, at_q, at_q + q_s);
        at_p += p_s;
        at_q += q_s;
    }
    const struct pp_trace a = small(p, COUNT), b = small(q, COUNT);
    cr_assert_eq(draw(arena, &d, &a, &b, true, NULL), PP_OK);
    const char *script = drawn_text(arena, &d);
    cr_assert_lt(strlen(script), 20000);
    cr_assert_gt(strlen(script), 1500);
}

Test(plot_error, what_cannot_be_compared_is_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_trace_event p[] = {op("0F0", PP_F, 0, 0), op("0B0", PP_B, 0, 0.1)},
                          q[] = {op("0F0", PP_F, 0, 0.1), op("0B0", PP_B, 0.1, 0.1)};
    struct pp_trace a = small(p, 2);
    const struct pp_trace b = small(q, 2);
    struct drawn d;
    struct pp_error err = {0};

    cr_assert_eq(draw(arena, &d, &a, &b, false, &err), PP_EINVAL);
    drawn_text(arena, &d);
    cr_assert(strstr(err.message, "no op takes any time in both"), "%s", err.message);
    a.program_hash = 2;
    cr_assert_eq(draw(arena, &d, &a, &b, false, &err), PP_EINVAL);
    drawn_text(arena, &d);
    cr_assert(strstr(err.message, "program 0000000000000002"), "%s", err.message);
}
