/* sim/engine/engine.h — an engine runs a lowered program under costs and returns its times. */
#pragma once

#include "schedules/evaluate/evaluate.h"
#include "sim/engine/network.h"
#include "traces/metrics.h"

/* Counts of one run of an engine that shares links. */
struct pp_network_stats {
    int64_t transfers;    /* messages, and hops of collectives sent as flows */
    int64_t shared;       /* transfers that met another one on a link */
    int64_t shared_links; /* links on which they met */
    /* Is true of a cut program if the network is in the same state when rank 0 begins the periods
     * before and after each gap. The counts are those of the former. */
    bool repeats;
    int64_t period_transfers, period_shared;
};

struct pp_engine_options {
    struct pp_eval_options eval;
    int replicas;                   /* dp if expanded, 1 if folded */
    const struct pp_eval *prepared; /* of the program under `eval`; NULL = not made yet */
    struct pp_perturbation perturbation;
    const struct pp_network *network; /* NULL: no links, messages take the costs' times */
    struct pp_network_stats *stats;   /* filled by engines that share links; may be NULL */
    bool is_plain; /* for tests: no transfer takes the shortcut of sim/engine/express.h */
    double
        sync_share; /* share of compute that a running collective takes from its ranks, 0 .. <1 */
};
struct pp_engine {
    const char *name;
    bool shares_links; /* transfers on one link slow each other down */
    /* Finds the times, at least PP_TIMES_SPANS. PP_EINVAL if there are too many events for a trace,
     * PP_EPROGRAM for a deadlock. */
    enum pp_status (*run)(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          enum pp_times_wanted wanted, struct pp_times **times,
                          struct pp_error *err);
};
extern const struct pp_engine pp_engine_dag, pp_engine_shared;

/* A run: a program and its times, from the evaluator or an engine; with PP_TIMES_POSTS for traces.
 * `step_of` and `steps_in_list` as in traces/from_times.h. */
struct pp_engine_run {
    const struct pp_program *program;
    const struct pp_costs *costs;
    const struct pp_times *times;
    const char *engine;
    const int *step_of;
    int steps_in_list;
};
/* Makes the trace of a run. */
struct pp_trace *pp_engine_trace(struct pp_arena *arena, const struct pp_engine_run *run);
/* Makes the trace without a table: its events are made one by one, for files. Keeps what `run`
 * points to by reference. */
struct pp_trace *pp_engine_events(struct pp_arena *arena, const struct pp_engine_run *run);
/* Computes the figures without a trace. */
enum pp_status pp_engine_metrics(struct pp_arena *arena, const struct pp_engine_run *run,
                                 struct pp_metrics *metrics, struct pp_error *err);
