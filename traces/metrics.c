/* Figures of a trace: busy and idle time, bubbles, exposed communication. */
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

const uint8_t pp_time_part_of_share[PP_SHARES] = {[PP_SHARE_TP] = PP_TIME_TP_COMM,
                                                  [PP_SHARE_CP] = PP_TIME_CP_COMM,
                                                  [PP_SHARE_EP] = PP_TIME_EP_COMM,
                                                  [PP_SHARE_GATHER] = PP_TIME_DP_SYNC,
                                                  [PP_SHARE_COPY] = PP_TIME_MOVES};

const uint8_t pp_time_part_of_compute[PP_OP_KINDS] = {
    [PP_F] = PP_TIME_FORWARD,  [PP_B] = PP_TIME_BACKWARD,  [PP_I] = PP_TIME_BACKWARD,
    [PP_W] = PP_TIME_BACKWARD, [PP_R] = PP_TIME_RECOMPUTE, [PP_U] = PP_TIME_OPTIMIZER,
    [PP_Q] = PP_TIME_FORWARD,  [PP_DQ] = PP_TIME_BACKWARD,
};

const struct pp_wait_cause pp_wait_causes[PP_OP_KINDS] = {
    [PP_AG] = {true, false, PP_TIME_DP_SYNC},  [PP_RS] = {true, false, PP_TIME_DP_SYNC},
    [PP_AR] = {true, false, PP_TIME_DP_SYNC},  [PP_BC] = {true, false, PP_TIME_DP_SYNC},
    [PP_A2A] = {true, false, PP_TIME_EP_COMM}, [PP_COPY] = {true, false, PP_TIME_MOVES},
    [PP_MOVE] = {true, false, PP_TIME_MOVES},  [PP_SEND_F] = {true, true, PP_TIME_P2P},
    [PP_RECV_F] = {true, true, PP_TIME_P2P},   [PP_SEND_B] = {true, true, PP_TIME_P2P},
    [PP_RECV_B] = {true, true, PP_TIME_P2P},
};

static enum pp_status finish_rank(struct pp_metrics_walk *walk, struct pp_error *err)
{
    struct pp_rank_times *times = &walk->times;
    const int steps = pp_metrics_window_steps(&walk->window);
    const double window_s = walk->window.end_s - walk->window.start_s;
    double sum_s = 0;

    pp_metrics_add_gap(walk, walk->window.end_s);
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
    for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
        times->moves_s[cause] /= steps;
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
    for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
        metrics->moves_frac[cause] /= metrics->iteration_s;
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
    struct pp_metrics_walk *first = NULL; /* [rank]: walks of the first replica, if needed again */
    double busiest_s = 0, longest_s = 0;

    *metrics = (struct pp_metrics){.iteration_s = window_s / pp_metrics_window_steps(&window)};
    if (!(window_s > 0) || !isfinite(window_s))
        return pp_error_set(err, PP_EFAIL, "trace: the step takes %g s, nothing can be measured",
                            window_s);
    metrics->ranks = PP_ARRAY(arena, struct pp_rank_times, lists->ranks);
    if (lists->are_alike && lists->replicas > 1)
        first = PP_ARRAY(arena, struct pp_metrics_walk, lists->ranks);
    for (int64_t list = 0; list < count; list++) {
        struct pp_metrics_walk walk = {.window = window,
                                       .rank = (int)(list % lists->ranks),
                                       .replica = (int)(list / lists->ranks),
                                       .first_s = INFINITY,
                                       .slack_s = 1e-9 * window.end_s};
        if (first && walk.replica > 0) {
            walk = first[walk.rank];
            walk.replica = (int)(list / lists->ranks);
        } else {
            PP_TRY(lists->walk(lists->context, &walk, err));
            PP_TRY(finish_rank(&walk, err));
        }
        if (first && walk.replica == 0)
            first[walk.rank] = walk;
        for (int part = 0; part < PP_TIME_PARTS; part++)
            metrics->time_frac[part] += walk.times.part_s[part] / (double)count;
        for (int cause = 0; cause < PP_MOVE_CAUSES; cause++)
            metrics->moves_frac[cause] += walk.times.moves_s[cause] / (double)count;
        busiest_s = pp_later_s(busiest_s, walk.last_busy_s);
        longest_s = pp_later_s(longest_s, walk.times.span_s);
        if (walk.replica == 0 || walk.times.span_s > metrics->ranks[walk.rank].span_s)
            metrics->ranks[walk.rank] = walk.times;
    }
    /* a sum of busy times may be rounded up */
    metrics->span_bubble_frac = longest_s > 0 ? fmax(0, 1 - busiest_s / longest_s) : 0;
    return finish_fractions(metrics, err);
}

/* ---- the lists of a trace -------------------------------------------------------------------- */

struct cursor {
    struct pp_arena *arena;
    const struct pp_trace *trace;
    int at; /* index of an event */
};

static struct pp_metrics_window find_window(const struct pp_trace *trace)
{
    struct pp_metrics_window window = {.steps = trace->steps};

    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *event = &trace->events[i];
        window.end_s = pp_later_s(window.end_s, event->end_s);
        if (trace->steps > 1 && event->step == 0 && event->kind != PP_WAIT)
            window.start_s = pp_later_s(window.start_s, event->end_s);
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

static enum pp_status check_event(const struct pp_metrics_walk *walk,
                                  const struct pp_trace_event *event, struct pp_error *err)
{
    if (!(isfinite(event->start_s) && isfinite(event->end_s)) || event->start_s < 0 ||
        event->end_s < event->start_s)
        return pp_error_set(err, PP_EFAIL, "trace: rank %d: %s runs from %g s to %g s", event->rank,
                            event->cell, event->start_s, event->end_s);
    double shared_s = 0, least_s = 0;
    for (int k = 0; k < PP_SHARES; k++) {
        shared_s += event->share_s[k];
        least_s = pp_earlier_s(least_s, event->share_s[k]);
    }
    if (least_s < 0 || shared_s > event->end_s - event->start_s + walk->slack_s)
        return pp_error_set(err, PP_EFAIL,
                            "trace: rank %d: %s communicates longer than it takes (%g of %g s)",
                            event->rank, event->cell, shared_s, event->end_s - event->start_s);
    return PP_OK;
}

static bool is_of(const struct pp_metrics_walk *walk, const struct pp_trace_event *event)
{
    return event->rank == walk->rank && event->replica == walk->replica;
}

/* Collects the Ws of the second compute stream; refuses Ws that overlap each other. */
static enum pp_status find_concurrent(const struct cursor *cursor, struct pp_metrics_walk *walk,
                                      struct pp_error *err)
{
    const struct pp_trace *trace = cursor->trace;
    struct pp_metrics_concurrent *found = NULL;
    int capacity = 0;

    for (int i = cursor->at; i < trace->count && is_of(walk, &trace->events[i]); i++) {
        const struct pp_trace_event *event = &trace->events[i];
        const int count = walk->concurrent_count;

        if (!event->is_concurrent)
            continue;
        if (count > 0 && event->start_s < found[count - 1].end_s - walk->slack_s)
            return pp_error_set(err, PP_EFAIL,
                                "trace: rank %d replica %d: %s starts at %.12g s while W before it "
                                "runs until %.12g s",
                                event->rank, event->replica, event->cell, event->start_s,
                                found[count - 1].end_s);
        *PP_PUSH(cursor->arena, found, walk->concurrent_count, capacity) =
            (struct pp_metrics_concurrent){event->start_s, event->end_s,
                                           event->step == walk->window.steps - 1};
    }
    walk->concurrent = found;
    return PP_OK;
}

static enum pp_status add_event(struct pp_metrics_walk *walk, const struct pp_trace *trace,
                                const struct pp_trace_event *event, struct pp_error *err)
{
    const bool is_compute = event->stream == PP_STREAM_COMPUTE;

    PP_TRY(check_places(trace, event, err));
    PP_TRY(check_event(walk, event, err));
    if (event->is_concurrent && event->step == walk->window.steps - 1) {
        walk->first_s = pp_earlier_s(walk->first_s, event->start_s);
        walk->last_s = pp_later_s(walk->last_s, event->end_s);
    }
    if (event->is_concurrent)
        return PP_OK;
    if (!is_compute && event->stream != PP_STREAM_CONTROL)
        return PP_OK;
    if (event->start_s < walk->clock_s - walk->slack_s)
        return pp_error_set(err, PP_EFAIL,
                            "trace: rank %d replica %d: %s starts at %.12g s while another "
                            "op computes until %.12g s",
                            event->rank, event->replica, event->cell, event->start_s,
                            walk->clock_s);
    if (is_compute) {
        const struct pp_metrics_op op = {.kind = event->kind,
                                         .copied = pp_metrics_copied_by(event->kind, event->cause),
                                         .step = event->step,
                                         .is_fused = event->is_fused,
                                         .start_s = event->start_s,
                                         .end_s = event->end_s,
                                         .forward_frac = event->forward_frac,
                                         .share = event->share_s,
                                         .share_unit_s = 1,
                                         .shares = PP_SHARES};
        pp_metrics_add_compute(walk, &op);
        return PP_OK;
    }
    const int target = event->kind == PP_WAIT ? event->target : PP_OP_KINDS;
    struct pp_metrics_wire wire = {0}; /* empty: the transfer is not known */
    if (event->waits_for >= 0)
        wire = (struct pp_metrics_wire){trace->events[event->waits_for].start_s,
                                        trace->events[event->waits_for].end_s, event->cause};
    pp_metrics_add_wait(walk, event->start_s, event->end_s, target, wire);
    return PP_OK;
}

static enum pp_status walk_trace(void *context, struct pp_metrics_walk *walk, struct pp_error *err)
{
    struct cursor *cursor = context;
    const struct pp_trace *trace = cursor->trace;

    PP_TRY(find_concurrent(cursor, walk, err));
    for (; cursor->at < trace->count; cursor->at++) {
        const struct pp_trace_event *event = &trace->events[cursor->at];
        if (!is_of(walk, event))
            break;
        PP_TRY(add_event(walk, trace, event, err));
    }
    return PP_OK;
}

enum pp_status pp_metrics_compute(struct pp_arena *arena, const struct pp_trace *trace,
                                  struct pp_metrics *metrics, struct pp_error *err)
{
    struct cursor cursor = {.arena = arena, .trace = trace};
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
