/* traces/metrics.h — the figures of a report, computed from a trace; docs/numbers.md explains each.
 *
 * Every fraction is a share of the step, averaged over ranks. The step is that of the slowest
 * replica. A rank is idle while its compute stream is not computing. The part of idle time follows
 * from the op that the next op waits for. A message in flight is p2p, a collective is dp_sync, and
 * a COPY is moves. All other idle time is bubble, also before the first op and at the final
 * barrier. */
#pragma once

#include "traces/trace.h"

enum pp_time_part {
    PP_TIME_FORWARD,
    PP_TIME_BACKWARD,
    PP_TIME_RECOMPUTE,
    PP_TIME_TP_COMM,
    PP_TIME_CP_COMM,
    PP_TIME_EP_COMM,
    PP_TIME_P2P,
    PP_TIME_DP_SYNC,
    PP_TIME_OPTIMIZER,
    PP_TIME_MOVES,
    PP_TIME_BUBBLE,
    PP_TIME_PARTS
};
extern const char *const pp_time_part_names[PP_TIME_PARTS]; /* as in the JSON report */

struct pp_rank_times {
    double busy_s, idle_s,
        span_s; /* of the replica with the longest span; busy + idle = iteration */
    double part_s[PP_TIME_PARTS];
    double moves_s[PP_MOVE_CAUSES]; /* of part_s[PP_TIME_MOVES]: by class, then work of the host */
};
struct pp_metrics {
    double iteration_s;
    double time_frac[PP_TIME_PARTS];   /* sums to 1 */
    double moves_frac[PP_MOVE_CAUSES]; /* sums to time_frac[PP_TIME_MOVES] */
    double bubble_frac;                /* bubble + p2p */
    double span_bubble_frac; /* 1 - max over ranks(busy) / max over ranks(last end - first start) */
    double exposed_comm_frac;    /* p2p + dp_sync + moves + tp + cp + ep */
    struct pp_rank_times *ranks; /* [ranks] */
};

/* PP_EFAIL if an invariant does not hold (sum of fractions, busy + idle): a number is wrong. */
enum pp_status pp_metrics_compute(struct pp_arena *arena, const struct pp_trace *trace,
                                  struct pp_metrics *metrics, struct pp_error *err);
