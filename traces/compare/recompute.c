/* Recomputation as part of backwards, as in a trace of PyTorch. */
#include "traces/compare/parts.h"

#include "core/units.h"

#include <math.h>

static bool is_list(const struct pp_trace_event *a, const struct pp_trace_event *b)
{
    return a->rank == b->rank && a->replica == b->replica && a->step == b->step;
}

/* The next compute op of the same rank; `at` if there is none. */
static int next_compute(const struct pp_trace *trace, int at)
{
    for (int i = at + 1; i < trace->count && is_list(&trace->events[i], &trace->events[at]); i++)
        if (trace->events[i].stream == PP_STREAM_COMPUTE)
            return i;
    return at;
}

static double earlier_s(double seconds, int64_t ps)
{
    return isnan(seconds) ? seconds : pp_units_s(pp_units_ps(seconds) - ps);
}

/* Nothing computes between the two: the backward begins earlier, and waits between move with it. */
static void move(struct pp_trace_event *recompute, struct pp_trace_event *backward)
{
    const int64_t ps = pp_units_ps(recompute->end_s - recompute->start_s);

    for (struct pp_trace_event *between = recompute + 1; between < backward; between++) {
        if (between->stream != PP_STREAM_CONTROL)
            continue;
        between->posted_s = earlier_s(between->posted_s, ps);
        between->start_s = earlier_s(between->start_s, ps);
        between->end_s = earlier_s(between->end_s, ps);
    }
    backward->start_s = earlier_s(backward->start_s, ps);
    recompute->end_s = recompute->start_s;
    for (int k = 0; k < PP_SHARES; k++) {
        backward->share_s[k] += recompute->share_s[k];
        recompute->share_s[k] = 0;
    }
}

const struct pp_trace *pp_compare_join_recompute(struct pp_arena *arena,
                                                 const struct pp_trace *trace)
{
    struct pp_trace *joined = PP_NEW(arena, struct pp_trace);

    *joined = *trace;
    joined->events =
        pp_arena_grow(arena, trace->events, sizeof(*trace->events) * (size_t)trace->count,
                      sizeof(*trace->events) * (size_t)trace->count);
    for (int i = 0; i < joined->count; i++) {
        struct pp_trace_event *recompute = &joined->events[i];
        if (recompute->kind != PP_R)
            continue;
        struct pp_trace_event *next = &joined->events[next_compute(joined, i)];
        if (!next->is_fused && (next->kind == PP_B || next->kind == PP_I))
            move(recompute, next);
    }
    return joined;
}
