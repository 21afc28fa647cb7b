/* sim/engine.h — an engine runs a lowered program under costs and returns a trace. */
#ifndef PP_SIM_ENGINE_H
#define PP_SIM_ENGINE_H

#include "sim/network.h"
#include "schedules/evaluate.h"
#include "traces/trace.h"

struct pp_engine_options {
    struct pp_plan_options plan;
    int replicas; /* dp when expanded, 1 when folded */
    struct pp_perturbation perturbation;
    const struct pp_network *network; /* NULL: no links, messages take what the costs say */
    double sync_share; /* share of compute that a running collective takes from its ranks, 0 .. <1 */
};
struct pp_engine {
    const char *name, *summary;
    enum pp_status (*run)(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          struct pp_trace **trace, struct pp_error *err);
};
extern const struct pp_engine pp_engine_dag;
extern const struct pp_engine *const pp_engines[]; /* NULL-terminated; the first is the default */

/* Trace of a program from the times of the evaluator (or of any engine with the same arrays). */
struct pp_trace *pp_trace_from_times(struct pp_arena *arena, const struct pp_program *program,
                                     const struct pp_costs *costs, const struct pp_times *times,
                                     const char *engine);
#endif
