/* Memory of a rank on a tier, at the times of a trace. */
#include "plots/plot.h"
#include "traces/rows.h"

#include <math.h>

/* Times at which a rank reaches an instruction and leaves it: a post takes no time. */
static double arrival_s(const struct pp_trace_event *e)
{
    return pp_op_is_posted(e->kind) && !isnan(e->posted_s) ? e->posted_s : e->start_s;
}
static double leave_s(const struct pp_trace_event *e)
{
    return pp_op_is_posted(e->kind) ? arrival_s(e) : e->end_s;
}

/* Adds an instruction's changes. A fused pair takes at its start and gives back at its end. */
static double add_event(struct pp_held_curve *c, const struct pp_plot_tier *tier, int i,
                        double held, double from_s, double until_s)
{
    if (tier->taken_bytes[i] != 0)
        pp_held_add(c, from_s, held += tier->taken_bytes[i]);
    if (tier->given_bytes[i] != 0)
        pp_held_add(c, until_s, held -= tier->given_bytes[i]);
    return held;
}

/* Returns the curve of a rank, whose events are first .. end - 1. */
static struct pp_held_curve curve_of(struct pp_arena *arena, const struct pp_program *p,
                                     const struct pp_trace *trace, const struct pp_plot_tier *tier,
                                     const struct pp_figure_events *events, int rank, int first,
                                     int end)
{
    const size_t room = 4 * (size_t)(end - first) + 2;
    struct pp_held_curve c = {PP_ARRAY(arena, double, room), PP_ARRAY(arena, double, room), 0};
    double held = tier->base_bytes;

    pp_held_add(&c, 0, held);
    if (!tier->taken_bytes)
        return c;
    for (int k = first; k < end; k++) {
        const struct pp_trace_event *e = &trace->events[k];
        const int i = events->instruction[k];
        const bool is_pair = pp_figure_is_pair(p, i);
        if (i == p->begin[rank]) /* every step begins alike */
            held = tier->base_bytes;
        held = add_event(&c, tier, i, held, arrival_s(e), is_pair ? arrival_s(e) : leave_s(e));
        if (is_pair)
            held = add_event(&c, tier, i + 1, held, arrival_s(e), leave_s(e));
    }
    return c;
}

void pp_held_cut(struct pp_held_curve *c, double from_s, double to_s)
{
    const struct pp_held_curve whole = *c;
    double held = whole.held[0];
    int i = 0;

    for (; i < whole.count && whole.time_s[i] <= from_s; i++)
        held = whole.held[i];
    c->count = 0;
    pp_held_add(c, 0, held);
    for (; i < whole.count && whole.time_s[i] <= to_s; i++)
        pp_held_add(c, whole.time_s[i] - from_s, whole.held[i]);
}

struct pp_held_curve pp_plot_tier_curve(struct pp_arena *arena, const struct pp_program *program,
                                        const struct pp_trace *trace,
                                        const struct pp_figure_events *events, int rank,
                                        const struct pp_plot_tier *tier)
{
    int first = 0, end;

    while (first < events->count && trace->events[first].rank < rank)
        first++;
    for (end = first; end < events->count && trace->events[end].rank == rank;)
        end++;
    return curve_of(arena, program, trace, tier, events, rank, first, end);
}
