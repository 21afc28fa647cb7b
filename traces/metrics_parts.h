/* traces/metrics_parts.h — the figures of lists of events, wherever these come from. Private to
 * traces/{metrics,from_times}.c. */
#ifndef PP_TRACES_METRICS_PARTS_H
#define PP_TRACES_METRICS_PARTS_H

#include "traces/metrics.h"

/* Part of the time that figures are taken over: T_1 to T_K, or 0 to T_1 with one step. */
struct pp_metrics_window {
    double start_s, end_s;
    int steps; /* K */
};
/* Steps within the window. */
static inline int pp_metrics_window_steps(const struct pp_metrics_window *window)
{
    return window->steps > 1 ? window->steps - 1 : 1;
}

/* One rank of one replica while its events are walked in list order. */
struct pp_metrics_walk {
    struct pp_metrics_window window;
    int rank, replica;
    double clock_s; /* everything before is accounted for */
    struct pp_rank_times times;
    double first_s, last_s, last_busy_s; /* compute of the last step */
    double slack_s;                      /* rounding that is forgiven */
};

/* The next event of the list. `wire` is when that was under way for which a WAIT waits; NULL when
 * it is not known. Only compute and control count, others are checked. */
struct pp_metrics_wire {
    double start_s, end_s;
};
enum pp_status pp_metrics_add(struct pp_metrics_walk *walk, const struct pp_trace_event *event,
                              const struct pp_metrics_wire *wire, struct pp_error *err);

struct pp_metrics_lists {
    int ranks, replicas;
    struct pp_metrics_window window;
    /* Add all events of a rank of a replica; called for all ranks of the first replica, then of the
     * second ... */
    enum pp_status (*walk)(void *context, struct pp_metrics_walk *walk, struct pp_error *err);
    void *context;
};
enum pp_status pp_metrics_lists(struct pp_arena *arena, const struct pp_metrics_lists *lists,
                                struct pp_metrics *metrics, struct pp_error *err);

#endif
