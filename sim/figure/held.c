/* Memory of each rank of a run over time. */
#include "sim/figure/figure.h"

#include "sim/run/trace_rows.h"

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
static double add_event(struct pp_held_curve *c, const struct pp_memory_changes *changes, int i,
                        double held, double from_s, double until_s)
{
    if (changes->taken_bytes[i] != 0)
        pp_held_add(c, from_s, held += changes->taken_bytes[i]);
    if (changes->given_bytes[i] != 0)
        pp_held_add(c, until_s, held -= changes->given_bytes[i]);
    return held;
}

static struct pp_held_curve curve_of(struct pp_arena *arena, const struct pp_result *r,
                                     const struct pp_memory_changes *changes,
                                     const struct pp_figure_events *events, int rank, int first,
                                     int end)
{
    const struct pp_program *p = r->program;
    const size_t room = 4 * (size_t)(end - first) + 2;
    struct pp_held_curve c = {PP_ARRAY(arena, double, room), PP_ARRAY(arena, double, room), 0};
    double held = changes->base_bytes[rank];

    pp_held_add(&c, 0, held);
    for (int k = first; k < end; k++) {
        const struct pp_trace_event *e = &r->trace->events[k];
        const int i = events->instruction[k];
        const bool is_pair = pp_figure_is_pair(p, i);
        if (i == p->begin[rank]) /* every step begins alike */
            held = changes->base_bytes[rank];
        held = add_event(&c, changes, i, held, arrival_s(e), is_pair ? arrival_s(e) : leave_s(e));
        if (is_pair)
            held = add_event(&c, changes, i + 1, held, arrival_s(e), leave_s(e));
    }
    return c;
}

/* Cuts a curve to a part of the time; what is held at its begin is kept. */
static void cut(struct pp_held_curve *c, double from_s, double to_s)
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

static void show_bytes(struct pp_arena *arena, const struct pp_result *r, struct pp_plot_held *held)
{
    const struct pp_trace *trace = r->trace;
    const struct pp_memory_changes changes = pp_memory_changes(arena, r->program, r->costs);
    const struct pp_figure_events events = pp_figure_events(arena, r->program, trace);
    const struct pp_plot_step step = pp_figure_step(arena, r);
    const bool is_part = !isnan(step.to_s);
    struct pp_held_curve *curves = PP_ARRAY(arena, struct pp_held_curve, trace->ranks);

    for (int rank = 0, first = 0, next = 0; rank < trace->ranks; rank++, first = next) {
        while (next < events.count && trace->events[next].rank == rank)
            next++;
        curves[rank] = curve_of(arena, r, &changes, &events, rank, first, next);
        if (is_part)
            cut(&curves[rank], step.from_s, step.to_s);
    }
    *held =
        (struct pp_plot_held){.quantity = "memory",
                              .is_bytes = true,
                              .ranks = trace->ranks,
                              .curves = curves,
                              .end_s = is_part ? step.to_s - step.from_s : pp_figure_end_s(trace),
                              .capacity = r->config.cluster.device.memory_bytes};
}

enum pp_status pp_figure_held(struct pp_arena *arena, const struct pp_result *r,
                              struct pp_plot_held *held, struct pp_error *err)
{
    if (r->config.is_unit) {
        PP_TRY(pp_plot_held_trace(arena, r->trace, r->program->granules, held, err));
        held->time_unit = "units";
    } else {
        show_bytes(arena, r, held);
    }
    held->title = pp_arena_printf(arena, "%s: %s over time by pipeline rank",
                                  r->config.schedule_name, held->quantity);
    return PP_OK;
}
