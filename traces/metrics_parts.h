/* traces/metrics_parts.h — private to traces/metrics*.c: the figures of lists of events from any
 * source. Functions for every event are inline: a sweep measures millions of events a second. */
#pragma once

#include "traces/metrics.h"

#include <math.h>

/* Part of the time that the figures cover: T_1 to T_K, or 0 to T_1 with one step. */
struct pp_metrics_window {
    double start_s, end_s;
    int steps; /* K */
};
/* Number of steps within the window. */
static inline int pp_metrics_window_steps(const struct pp_metrics_window *window)
{
    return window->steps > 1 ? window->steps - 1 : 1;
}

/* One rank of one replica while its events are walked in list order. */
struct pp_metrics_walk {
    struct pp_metrics_window window;
    int rank, replica;
    double clock_s; /* end of the time already counted */
    struct pp_rank_times times;
    double first_s, last_s, last_busy_s;            /* compute of the last step */
    double slack_s;                                 /* tolerance for rounding */
    const struct pp_metrics_concurrent *concurrent; /* [concurrent_count] its W, by time */
    int concurrent_count, concurrent_at;            /* index; earlier ones ended before `clock_s` */
};
/* A W concurrent with other compute: it counts for the rank while nothing else runs. */
struct pp_metrics_concurrent {
    double start_s, end_s;
    bool is_last; /* in the last step */
};

/* ---- events ---------------------------------------------------------------------------------- */

/* Part of the time of a compute op (enum pp_time_part); quantising counts as the op it serves. */
extern const uint8_t pp_time_part_of_compute[PP_OP_KINDS];
extern const uint8_t pp_time_part_of_share[PP_SHARES];
/* Returns the class that an op copies while it runs: an update its state, others as costs say. */
static inline uint8_t pp_metrics_copied_by(int kind, int cause)
{
    return kind == PP_U ? PP_STATE_OPTIMIZER : (uint8_t)cause;
}
/* Cause of idle time in a wait for an op of this kind; a bubble if it is not named. A message
 * explains a wait only while it is on the wire, other ops from the begin of the wait. */
struct pp_wait_cause {
    bool is_named, is_wire_only;
    uint8_t part; /* enum pp_time_part */
};
extern const struct pp_wait_cause pp_wait_causes[PP_OP_KINDS];

/* As fmax and fmin; `a` is no NAN. */
static inline double pp_later_s(double a, double b)
{
    return b > a ? b : a;
}
static inline double pp_earlier_s(double a, double b)
{
    return b < a ? b : a;
}
static inline double pp_overlap_s(double a_start, double a_end, double b_start, double b_end)
{
    return pp_later_s(0, pp_earlier_s(a_end, b_end) - pp_later_s(a_start, b_start));
}

struct pp_metrics_wire { /* time of the transfer that a WAIT waits for */
    double start_s, end_s;
    uint8_t cause; /* of a copy, as pp_move_cause() */
};

/* Adds a wait from `from_s` to `to_s`, in which nothing runs. */
static inline void pp_metrics_add_idle(struct pp_metrics_walk *walk, double from_s, double to_s,
                                       int target, struct pp_metrics_wire wire)
{
    double explained_s = 0;
    int part = PP_TIME_BUBBLE;

    if (target < PP_OP_KINDS && pp_wait_causes[target].is_named) {
        part = pp_wait_causes[target].part;
        explained_s = pp_wait_causes[target].is_wire_only
                          ? pp_overlap_s(from_s, to_s, wire.start_s, wire.end_s)
                          : to_s - from_s;
    }
    walk->times.idle_s += to_s - from_s;
    walk->times.part_s[part] += explained_s;
    if (part == PP_TIME_MOVES)
        walk->times.moves_s[wire.cause] += explained_s;
    walk->times.part_s[PP_TIME_BUBBLE] += to_s - from_s - explained_s;
}

/* Adds a wait from `from_s` to `to_s`, in which only a concurrent W may run. */
static inline void pp_metrics_add_wanting(struct pp_metrics_walk *walk, double from_s, double to_s,
                                          int target, struct pp_metrics_wire wire)
{
    for (int k = walk->concurrent_at;
         k < walk->concurrent_count && walk->concurrent[k].start_s < to_s; k++) {
        const struct pp_metrics_concurrent *w = &walk->concurrent[k];
        const double start_s = pp_later_s(from_s, w->start_s), end_s = pp_earlier_s(to_s, w->end_s);

        walk->concurrent_at += k == walk->concurrent_at && w->end_s <= from_s;
        if (end_s <= start_s)
            continue;
        if (start_s > from_s)
            pp_metrics_add_idle(walk, from_s, start_s, target, wire);
        walk->times.busy_s += end_s - start_s;
        walk->times.part_s[PP_TIME_BACKWARD] += end_s - start_s;
        walk->last_busy_s += w->is_last ? end_s - start_s : 0;
        from_s = end_s;
    }
    if (to_s > from_s)
        pp_metrics_add_idle(walk, from_s, to_s, target, wire);
}

/* Adds the time until `end_s`, in which no other compute runs. */
static inline void pp_metrics_add_gap(struct pp_metrics_walk *walk, double end_s)
{
    const double from_s = pp_later_s(walk->clock_s, walk->window.start_s),
                 to_s = pp_earlier_s(end_s, walk->window.end_s);

    if (to_s > from_s)
        pp_metrics_add_wanting(walk, from_s, to_s, PP_OP_KINDS, (struct pp_metrics_wire){0});
}

/* A compute op. Without a `forward_frac` a pair's forward takes a third. */
struct pp_metrics_op {
    int kind, step;
    bool is_fused;
    uint8_t copied; /* class that it copies meanwhile, enum pp_state_class */
    double start_s, end_s, forward_frac;
    const double *share; /* [PP_SHARES] in units of `share_unit_s` */
    double share_unit_s;
    int shares; /* the rest are 0 */
};
static inline void pp_metrics_add_compute(struct pp_metrics_walk *walk,
                                          const struct pp_metrics_op *op)
{
    const double duration_s = op->end_s - op->start_s;
    const double inside_s =
        pp_overlap_s(op->start_s, op->end_s, walk->window.start_s, walk->window.end_s);
    double *part_s = walk->times.part_s;

    pp_metrics_add_gap(walk, op->start_s);
    walk->clock_s = pp_later_s(walk->clock_s, op->end_s);
    if (op->step == walk->window.steps - 1) {
        walk->first_s = pp_earlier_s(walk->first_s, op->start_s);
        walk->last_s = pp_later_s(walk->last_s, op->end_s);
        walk->last_busy_s += duration_s;
    }
    if (inside_s <= 0)
        return;
    const double share = inside_s == duration_s ? 1 : inside_s / duration_s;
    double pure_s = duration_s;
    const double forward_frac = isnan(op->forward_frac) ? 1.0 / 3 : op->forward_frac;

    walk->times.busy_s += inside_s;
    for (int k = 0; k < op->shares; k++) {
        const double share_s = op->share[k] * op->share_unit_s;
        pure_s -= share_s;
        part_s[pp_time_part_of_share[k]] += share * share_s;
        if (k == PP_SHARE_COPY)
            walk->times.moves_s[op->copied] += share * share_s;
    }
    if (op->is_fused) {
        part_s[PP_TIME_FORWARD] += share * pure_s * forward_frac;
        part_s[PP_TIME_BACKWARD] += share * pure_s * (1 - forward_frac);
    } else {
        part_s[pp_time_part_of_compute[op->kind]] += share * pure_s;
    }
}

/* Adds a WAIT for an op of kind `target`; PP_OP_KINDS for any other control op. */
static inline void pp_metrics_add_wait(struct pp_metrics_walk *walk, double start_s, double end_s,
                                       int target, struct pp_metrics_wire wire)
{
    pp_metrics_add_gap(walk, start_s);
    const double from_s = pp_later_s(pp_later_s(walk->clock_s, start_s), walk->window.start_s);
    const double to_s = pp_earlier_s(end_s, walk->window.end_s);
    walk->clock_s = pp_later_s(walk->clock_s, end_s);
    if (to_s > from_s)
        pp_metrics_add_wanting(walk, from_s, to_s, target, wire);
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct pp_metrics_lists {
    int ranks, replicas;
    struct pp_metrics_window window;
    /* Adds all events of a rank; called for all ranks of replica 0, then of replica 1, ... */
    enum pp_status (*walk)(void *context, struct pp_metrics_walk *walk, struct pp_error *err);
    void *context;
    bool are_alike; /* every replica has the times of the first */
};
enum pp_status pp_metrics_lists(struct pp_arena *arena, const struct pp_metrics_lists *lists,
                                struct pp_metrics *metrics, struct pp_error *err);
