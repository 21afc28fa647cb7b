#include "traces/metrics_parts.h"

#include <math.h>
#include <stdbool.h>

const char *const pp_time_part_names[PP_TIME_PARTS] = {
    [PP_TIME_FORWARD] = "forward",
    [PP_TIME_BACKWARD] = "backward",
    [PP_TIME_RECOMPUTE] = "recompute",
    [PP_TIME_TP_COMM] = "tp_comm",
    [PP_TIME_CP_COMM] = "cp_comm",
    [PP_TIME_EP_COMM] = "ep_comm",
    [PP_TIME_P2P] = "p2p",
    [PP_TIME_DP_SYNC] = "dp_sync",
    [PP_TIME_OPTIMIZER] = "optimizer",
    [PP_TIME_MOVES] = "moves",
    [PP_TIME_BUBBLE] = "bubble",
};

/* Where the time of a compute op goes; quantising counts with the op it serves. */
static const enum pp_time_part part_of_compute[PP_OP_KINDS] = {
    [PP_F] = PP_TIME_FORWARD,  [PP_B] = PP_TIME_BACKWARD,  [PP_I] = PP_TIME_BACKWARD,
    [PP_W] = PP_TIME_BACKWARD, [PP_R] = PP_TIME_RECOMPUTE, [PP_U] = PP_TIME_OPTIMIZER,
    [PP_Q] = PP_TIME_FORWARD,  [PP_DQ] = PP_TIME_BACKWARD,
};

/* Why compute idles while it waits for an op of this kind; a bubble where nothing is named. A
 * message explains a wait only while it is on the wire, the others from the moment of the wait. */
static const struct {
    bool is_named, is_wire_only;
    enum pp_time_part part;
} cause_of_wait[PP_OP_KINDS] = {
    [PP_AG] = {true, false, PP_TIME_DP_SYNC},  [PP_RS] = {true, false, PP_TIME_DP_SYNC},
    [PP_AR] = {true, false, PP_TIME_DP_SYNC},  [PP_BC] = {true, false, PP_TIME_DP_SYNC},
    [PP_A2A] = {true, false, PP_TIME_EP_COMM}, [PP_COPY] = {true, false, PP_TIME_MOVES},
    [PP_SEND_F] = {true, true, PP_TIME_P2P},   [PP_RECV_F] = {true, true, PP_TIME_P2P},
    [PP_SEND_B] = {true, true, PP_TIME_P2P},   [PP_RECV_B] = {true, true, PP_TIME_P2P},
};

/* `a` is a number. */
static double later(double a, double b)
{
    return b > a ? b : a;
}

static double earlier(double a, double b)
{
    return b < a ? b : a;
}

static double overlap(double a_start, double a_end, double b_start, double b_end)
{
    return later(0, earlier(a_end, b_end) - later(a_start, b_start));
}

static void add_compute(struct pp_metrics_walk *walk, const struct pp_trace_event *event)
{
    const double duration_s = event->end_s - event->start_s;
    const double inside_s =
        overlap(event->start_s, event->end_s, walk->window.start_s, walk->window.end_s);
    double *part_s = walk->times.part_s;

    if (event->step == walk->window.steps - 1) {
        walk->first_s = earlier(walk->first_s, event->start_s);
        walk->last_s = later(walk->last_s, event->end_s);
        walk->last_busy_s += duration_s;
    }
    if (inside_s <= 0)
        return;
    const double share = inside_s / duration_s;
    const double pure_s = duration_s - event->tp_s - event->cp_s - event->ep_s;
    /* A trace that does not say how a fused pair divides gets the usual one to two. */
    const double forward_frac = isnan(event->forward_frac) ? 1.0 / 3 : event->forward_frac;

    walk->times.busy_s += inside_s;
    part_s[PP_TIME_TP_COMM] += share * event->tp_s;
    part_s[PP_TIME_CP_COMM] += share * event->cp_s;
    part_s[PP_TIME_EP_COMM] += share * event->ep_s;
    if (event->is_fused) {
        part_s[PP_TIME_FORWARD] += share * pure_s * forward_frac;
        part_s[PP_TIME_BACKWARD] += share * pure_s * (1 - forward_frac);
    } else {
        part_s[part_of_compute[event->kind]] += share * pure_s;
    }
}

/* Idle time from `start_s` to `end_s`, ended by `event` when that is a WAIT. */
static void add_idle(struct pp_metrics_walk *walk, double start_s, double end_s,
                     const struct pp_trace_event *event, const struct pp_metrics_wire *wire)
{
    const double from_s = later(start_s, walk->window.start_s),
                 to_s = earlier(end_s, walk->window.end_s);

    if (to_s <= from_s)
        return;
    double explained_s = 0;
    enum pp_time_part part = PP_TIME_BUBBLE;
    if (event != NULL && event->kind == PP_WAIT && cause_of_wait[event->target].is_named) {
        part = cause_of_wait[event->target].part;
        explained_s = to_s - from_s;
        if (cause_of_wait[event->target].is_wire_only)
            explained_s = wire ? overlap(from_s, to_s, wire->start_s, wire->end_s) : 0;
    }
    walk->times.idle_s += to_s - from_s;
    walk->times.part_s[part] += explained_s;
    walk->times.part_s[PP_TIME_BUBBLE] += to_s - from_s - explained_s;
}

static enum pp_status check_event(const struct pp_metrics_walk *walk,
                                  const struct pp_trace_event *event, struct pp_error *err)
{
    if (!(isfinite(event->start_s) && isfinite(event->end_s)) || event->start_s < 0 ||
        event->end_s < event->start_s)
        return pp_error_set(err, PP_EFAIL, "trace: rank %d: %s runs from %g s to %g s", event->rank,
                            event->cell, event->start_s, event->end_s);
    if (event->tp_s < 0 || event->cp_s < 0 || event->ep_s < 0 ||
        event->tp_s + event->cp_s + event->ep_s > event->end_s - event->start_s + walk->slack_s)
        return pp_error_set(err, PP_EFAIL,
                            "trace: rank %d: %s communicates longer than it takes (%g of %g s)",
                            event->rank, event->cell, event->tp_s + event->cp_s + event->ep_s,
                            event->end_s - event->start_s);
    return PP_OK;
}

enum pp_status pp_metrics_add(struct pp_metrics_walk *walk, const struct pp_trace_event *event,
                              const struct pp_metrics_wire *wire, struct pp_error *err)
{
    PP_TRY(check_event(walk, event, err));
    const bool is_compute = event->stream == PP_STREAM_COMPUTE;
    if (!is_compute && event->stream != PP_STREAM_CONTROL)
        return PP_OK;
    if (event->start_s < walk->clock_s - walk->slack_s)
        return pp_error_set(err, PP_EFAIL,
                            "trace: rank %d replica %d: %s starts at %.12g s while compute is "
                            "taken until %.12g s",
                            event->rank, event->replica, event->cell, event->start_s,
                            walk->clock_s);
    add_idle(walk, walk->clock_s, event->start_s, NULL, NULL);
    if (is_compute)
        add_compute(walk, event);
    else
        add_idle(walk, later(walk->clock_s, event->start_s), event->end_s, event, wire);
    walk->clock_s = later(walk->clock_s, event->end_s);
    return PP_OK;
}

static enum pp_status finish_rank(struct pp_metrics_walk *walk, struct pp_error *err)
{
    struct pp_rank_times *times = &walk->times;
    const int steps = pp_metrics_window_steps(&walk->window);
    const double window_s = walk->window.end_s - walk->window.start_s;
    double sum_s = 0;

    add_idle(walk, walk->clock_s, walk->window.end_s, NULL, NULL);
    for (int part = 0; part < PP_TIME_PARTS; part++)
        sum_s += times->part_s[part];
    if (fabs(times->busy_s + times->idle_s - window_s) > 1e-9 * window_s ||
        fabs(sum_s - window_s) > 1e-9 * window_s)
        return pp_error_set(err, PP_EFAIL,
                            "trace: rank %d: busy %.12g s + idle %.12g s (parts %.12g s) is not "
                            "the step of %.12g s",
                            walk->rank, times->busy_s, times->idle_s, sum_s, window_s);
    times->span_s = walk->last_s > walk->first_s ? walk->last_s - walk->first_s : 0;
    times->busy_s /= steps;
    times->idle_s /= steps;
    for (int part = 0; part < PP_TIME_PARTS; part++)
        times->part_s[part] /= steps;
    return PP_OK;
}

static enum pp_status finish_fractions(struct pp_metrics *metrics, struct pp_error *err)
{
    double sum = 0;

    for (int part = 0; part < PP_TIME_PARTS; part++) {
        metrics->time_frac[part] /= metrics->iteration_s;
        sum += metrics->time_frac[part];
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return pp_error_set(err, PP_EFAIL, "trace: the parts of the step add up to %.12g, not to 1",
                            sum);
    const double *frac = metrics->time_frac;
    metrics->bubble_frac = frac[PP_TIME_BUBBLE] + frac[PP_TIME_P2P];
    metrics->exposed_comm_frac = frac[PP_TIME_P2P] + frac[PP_TIME_DP_SYNC] + frac[PP_TIME_MOVES] +
                                 frac[PP_TIME_TP_COMM] + frac[PP_TIME_CP_COMM] +
                                 frac[PP_TIME_EP_COMM];
    return PP_OK;
}

enum pp_status pp_metrics_lists(struct pp_arena *arena, const struct pp_metrics_lists *lists,
                                struct pp_metrics *metrics, struct pp_error *err)
{
    const struct pp_metrics_window window = lists->window;
    const double window_s = window.end_s - window.start_s;
    const int64_t count = (int64_t)lists->ranks * lists->replicas;
    double busiest_s = 0, longest_s = 0;

    *metrics = (struct pp_metrics){.iteration_s = window_s / pp_metrics_window_steps(&window)};
    if (!(window_s > 0) || !isfinite(window_s))
        return pp_error_set(err, PP_EFAIL, "trace: the step takes %g s, nothing can be measured",
                            window_s);
    metrics->ranks = PP_ARRAY(arena, struct pp_rank_times, lists->ranks);
    for (int64_t list = 0; list < count; list++) {
        struct pp_metrics_walk walk = {.window = window,
                                       .rank = (int)(list % lists->ranks),
                                       .replica = (int)(list / lists->ranks),
                                       .first_s = INFINITY,
                                       .slack_s = 1e-9 * window.end_s};
        PP_TRY(lists->walk(lists->context, &walk, err));
        PP_TRY(finish_rank(&walk, err));
        for (int part = 0; part < PP_TIME_PARTS; part++)
            metrics->time_frac[part] += walk.times.part_s[part] / (double)count;
        busiest_s = later(busiest_s, walk.last_busy_s);
        longest_s = later(longest_s, walk.times.span_s);
        if (walk.replica == 0 || walk.times.span_s > metrics->ranks[walk.rank].span_s)
            metrics->ranks[walk.rank] = walk.times;
    }
    metrics->span_bubble_frac = longest_s > 0 ? 1 - busiest_s / longest_s : 0;
    return finish_fractions(metrics, err);
}

/* ---- the lists of a trace --------------------------------------------------------------------*/

struct cursor {
    const struct pp_trace *trace;
    int at; /* event */
};

static struct pp_metrics_window find_window(const struct pp_trace *trace)
{
    struct pp_metrics_window window = {.steps = trace->steps};

    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        window.end_s = later(window.end_s, event->end_s);
        if (trace->steps > 1 && event->step == 0)
            window.start_s = later(window.start_s, event->end_s);
    }
    return window;
}

static enum pp_status check_places(const struct pp_trace *trace, const struct pp_trace_event *event,
                                   struct pp_error *err)
{
    if (event->rank < 0 || event->rank >= trace->ranks || event->replica < 0 ||
        event->replica >= trace->replicas || event->step < 0 || event->step >= trace->steps ||
        event->kind >= PP_OP_KINDS || event->target >= PP_OP_KINDS ||
        event->waits_for >= trace->count)
        return pp_error_set(err, PP_EFAIL, "trace: event %s lies outside of the trace's %d ranks",
                            event->cell, trace->ranks);
    return PP_OK;
}

/* The events of one rank of one replica. */
static enum pp_status walk_trace(void *context, struct pp_metrics_walk *walk, struct pp_error *err)
{
    struct cursor *cursor = context;
    const struct pp_trace *trace = cursor->trace;

    for (; cursor->at < trace->count; cursor->at++) {
        const struct pp_trace_event *event = &trace->events[cursor->at];
        struct pp_metrics_wire wire;
        if (event->rank != walk->rank || event->replica != walk->replica)
            break;
        PP_TRY(check_places(trace, event, err));
        if (event->waits_for >= 0) {
            const struct pp_trace_event *awaited = &trace->events[event->waits_for];
            wire = (struct pp_metrics_wire){awaited->start_s, awaited->end_s};
        }
        PP_TRY(pp_metrics_add(walk, event, event->waits_for >= 0 ? &wire : NULL, err));
    }
    return PP_OK;
}

enum pp_status pp_metrics_compute(struct pp_arena *arena, const struct pp_trace *trace,
                                  struct pp_metrics *metrics, struct pp_error *err)
{
    struct cursor cursor = {.trace = trace};
    const struct pp_metrics_lists lists = {.ranks = trace->ranks,
                                           .replicas = trace->replicas,
                                           .window = find_window(trace),
                                           .walk = walk_trace,
                                           .context = &cursor};

    PP_TRY(pp_metrics_lists(arena, &lists, metrics, err));
    if (cursor.at != trace->count)
        return pp_error_set(err, PP_EFAIL,
                            "trace: event %d (%s) is out of place: events are ordered by replica "
                            "and rank",
                            cursor.at, trace->events[cursor.at].cell);
    return PP_OK;
}
