/* sim/engine/engine.h — an engine runs a lowered program under costs and returns a trace. */
#pragma once

#include "schedules/evaluate/evaluate.h"
#include "sim/engine/network.h"
#include "traces/metrics.h"

/* Counts of one run of an engine that shares links. */
struct pp_network_stats {
    int64_t transfers;    /* messages, and hops of collectives sent as flows */
    int64_t shared;       /* transfers that met another one on a link */
    int64_t shared_links; /* links on which they met */
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
    enum pp_status (*run)(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          struct pp_trace **trace, struct pp_error *err);
    /* Finds start and end alone, without single events; NULL: no shorter way. */
    enum pp_status (*times)(struct pp_arena *arena, const struct pp_program *program,
                            const struct pp_costs *costs, const struct pp_engine_options *options,
                            struct pp_times **times, struct pp_error *err);
};
extern const struct pp_engine pp_engine_dag, pp_engine_shared;

/* Trace of a program from times of the evaluator, or of an engine with the same arrays. */
struct pp_trace *pp_trace_from_times(struct pp_arena *arena, const struct pp_program *program,
                                     const struct pp_costs *costs, const struct pp_times *times,
                                     const char *engine);
/* Computes the figures without a trace. `step_of` as in traces/from_times.h, or NULL. */
enum pp_status pp_metrics_from_times(struct pp_arena *arena, const struct pp_program *program,
                                     const struct pp_costs *costs, const struct pp_times *times,
                                     const int *step_of, int steps_in_list,
                                     struct pp_metrics *metrics, struct pp_error *err);
