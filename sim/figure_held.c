#include "sim/figure.h"

#include <math.h>

/* The curve of one rank as it grows. */
struct curve {
    double *time_s, *held;
    int count;
};

static void add_point(struct curve *c, double time_s, double held)
{
    if (c->count && c->time_s[c->count - 1] > time_s) /* posted inside the op before */
        time_s = c->time_s[c->count - 1];
    c->time_s[c->count] = time_s;
    c->held[c->count++] = held;
}

/* When the rank comes to an instruction and when it goes on: a post takes no time. */
static double arrival_s(const struct pp_trace_event *e)
{
    return pp_op_is_posted(e->kind) && !isnan(e->posted_s) ? e->posted_s : e->start_s;
}
static double leave_s(const struct pp_trace_event *e)
{
    return pp_op_is_posted(e->kind) ? arrival_s(e) : e->end_s;
}

/* Both ops of a fused pair share an event: they take at its start and give at its end. */
static bool shares_event(const struct pp_program *p, int i)
{
    return pp_op_is_compute(p->kind[i]) && p->aux[i] == PP_FUSED_FIRST;
}

/* Walk the list of one rank beside its events, once for each step of the trace. */
static struct curve curve_of(struct pp_arena *arena, const struct pp_result *r,
                             const struct pp_memory_changes *changes, int rank,
                             const struct pp_trace_event *events, int count)
{
    const struct pp_program *p = r->program;
    const size_t room = 4 * (size_t)count + 2;
    struct curve c = {PP_ARRAY(arena, double, room), PP_ARRAY(arena, double, room), 0};
    double held = changes->base_bytes[rank];
    int i = p->begin[rank];

    add_point(&c, 0, held);
    for (int k = 0; k < count; k++) {
        const struct pp_trace_event *event = &events[k];
        for (bool has_more = true; has_more; i++) {
            has_more = shares_event(p, i);
            if (changes->taken_bytes[i] != 0)
                add_point(&c, arrival_s(event), held += changes->taken_bytes[i]);
            if (changes->given_bytes[i] != 0)
                add_point(&c, has_more ? arrival_s(event) : leave_s(event),
                          held -= changes->given_bytes[i]);
        }
        if (i == p->begin[rank + 1]) { /* the next step begins as this one did */
            i = p->begin[rank];
            held = changes->base_bytes[rank];
        }
    }
    return c;
}

static double end_s(const struct pp_trace *trace)
{
    double end_s = 0;

    for (int k = 0; k < trace->count; k++)
        end_s = fmax(end_s, trace->events[k].end_s);
    return end_s;
}

static void show_bytes(struct pp_arena *arena, const struct pp_result *r, struct pp_plot_held *held)
{
    const struct pp_trace *trace = r->trace;
    const struct pp_memory_changes changes = pp_memory_changes(arena, r->program, r->costs);
    int *counts = PP_ARRAY(arena, int, trace->ranks);
    const double **time_s = PP_ARRAY(arena, const double *, trace->ranks),
                 **bytes = PP_ARRAY(arena, const double *, trace->ranks);

    for (int rank = 0, first = 0, next = 0; rank < trace->ranks; rank++, first = next) {
        while (next < trace->count && trace->events[next].replica == 0 &&
               trace->events[next].rank == rank)
            next++;
        const struct curve c =
            curve_of(arena, r, &changes, rank, &trace->events[first], next - first);
        counts[rank] = c.count;
        time_s[rank] = c.time_s;
        bytes[rank] = c.held;
    }
    *held = (struct pp_plot_held){.quantity = "memory",
                                  .is_bytes = true,
                                  .ranks = trace->ranks,
                                  .counts = counts,
                                  .time_s = time_s,
                                  .held = bytes,
                                  .end_s = end_s(trace),
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
