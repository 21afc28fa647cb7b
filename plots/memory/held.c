/* Chunk activations held, from a trace alone: docs/numbers.md, peak_activations. */
#include "plots/plot.h"

#include <math.h>

struct cells {
    const struct pp_trace *trace;
    struct pp_op (*ops)[2]; /* [event] */
    int *op_count;          /* [event] 0 if the event holds nothing */
    int granules, splits;
    double from_s; /* begin of the time shown */
    bool is_infer; /* the trace has no backwards: a forward frees at its end */
};

static enum pp_status read_cells(struct pp_arena *arena, struct cells *c, struct pp_error *err)
{
    const struct pp_trace *t = c->trace;

    c->ops = pp_arena_alloc_raw(arena, sizeof(*c->ops) * ((size_t)t->count + 1));
    c->op_count = PP_ARRAY(arena, int, t->count + 1);
    c->is_infer = true;
    for (int i = 0; i < t->count; i++) {
        if (t->events[i].stream != PP_STREAM_COMPUTE)
            continue;
        if (pp_op_parse(t->events[i].cell, c->ops[i], &c->op_count[i], err) != PP_OK) {
            pp_error_prefix(err, "%s: ", t->program);
            return pp_error_set(err, PP_EINVAL, "%s: '%s' is no cell", t->program,
                                t->events[i].cell);
        }
        for (int k = 0; k < c->op_count[i]; k++) {
            const struct pp_op *op = &c->ops[i][k];
            if (op->kind == PP_F && op->granules > c->granules)
                c->granules = op->granules;
            if (pp_op_kinds[op->kind].has_mb && op->split >= c->splits)
                c->splits = op->split + 1;
            c->is_infer = c->is_infer && op->kind != PP_B && op->kind != PP_W;
        }
    }
    return PP_OK;
}

/* Cells that an op allocates at its start, or frees at its end. */
static int taken(const struct pp_op *op)
{
    return op->kind == PP_F ? op->granules : 0;
}
static int given(const struct cells *c, const struct pp_op *op)
{
    const bool gives = c->is_infer ? op->kind == PP_F : op->kind == PP_B || op->kind == PP_W;

    return gives ? op->granules : 0;
}

/* Begin of the last step if steps are several and do not overlap; else 0. */
static double last_step_s(const struct pp_trace *t)
{
    enum { FEW = 3 };
    double begin_s = INFINITY, before_s = 0;

    for (int i = 0; i < t->count; i++) {
        const struct pp_trace_event *e = &t->events[i];
        if (e->step == t->steps - 1)
            begin_s =
                fmin(begin_s, fmin(e->start_s, isnan(e->posted_s) ? e->start_s : e->posted_s));
        else
            before_s = fmax(before_s, e->end_s);
    }
    return t->steps > FEW && begin_s >= before_s && isfinite(begin_s) ? before_s : 0;
}

static enum pp_status walk_rank(const struct cells *c, int first, int end,
                                struct pp_held_curve *curve, struct pp_error *err)
{
    const double whole = (double)c->granules * c->splits;
    int64_t held = 0; /* counts from the first step on, shown or not */

    pp_held_add(curve, 0, 0);
    for (int i = first; i < end; i++) {
        const struct pp_trace_event *e = &c->trace->events[i];
        const int64_t before = held;
        int gives = 0;
        for (int k = 0; k < c->op_count[i]; k++) {
            held += taken(&c->ops[i][k]);
            gives += given(c, &c->ops[i][k]);
        }
        const bool is_shown = e->start_s >= c->from_s;
        if (held != before && is_shown)
            pp_held_add(curve, e->start_s - c->from_s, (double)held / whole);
        held -= gives;
        if (held < 0)
            return pp_error_set(
                err, PP_EINVAL,
                "%s: rank %d frees an activation at %s that no earlier forward allocated",
                c->trace->program, e->rank, e->cell);
        if (gives && is_shown)
            pp_held_add(curve, e->end_s - c->from_s, (double)held / whole);
    }
    return PP_OK;
}

enum pp_status pp_plot_held_trace(struct pp_arena *arena, const struct pp_trace *trace,
                                  int granules, struct pp_plot_held *held, struct pp_error *err)
{
    struct cells c = {.trace = trace, .granules = 1, .splits = 1};
    struct pp_held_curve *curves = PP_ARRAY(arena, struct pp_held_curve, trace->ranks);
    double end_s = 0;

    PP_TRY(read_cells(arena, &c, err));
    c.granules = granules > 0 ? granules : c.granules;
    c.from_s = last_step_s(trace);
    for (int i = 0; i < trace->count; i++)
        end_s = fmax(end_s, trace->events[i].end_s - c.from_s);
    for (int rank = 0, first = 0, next = 0; rank < trace->ranks; rank++, first = next) {
        while (next < trace->count && trace->events[next].replica == 0 &&
               trace->events[next].rank == rank)
            next++;
        const size_t room = 2 * (size_t)(next - first) + 1;
        curves[rank].time_s = PP_ARRAY(arena, double, room);
        curves[rank].held = PP_ARRAY(arena, double, room);
        PP_TRY(walk_rank(&c, first, next, &curves[rank], err));
    }
    const char *which = c.from_s > 0 ? pp_arena_printf(arena, ", step %d", trace->steps) : "";
    *held = (struct pp_plot_held){
        .title = pp_arena_printf(arena, "%s%s: activations held over time by pipeline rank",
                                 trace->program, which),
        .quantity = "activations held",
        .count = trace->ranks,
        .curves = curves,
        .end_s = end_s};
    return PP_OK;
}
