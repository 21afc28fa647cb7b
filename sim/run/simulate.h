/* sim/run/simulate.h — simulates one configuration, to the depth that the caller needs. */
#pragma once

#include "sim/config/config.h"

enum pp_depth {
    PP_MEMORY,  /* memory only; the program may be cut (schedules/build/cut.h) */
    PP_QUICK,   /* makespan and memory only; the program may be cut */
    PP_METRICS, /* all figures, bit-identical to those of PP_FULL. `trace` may be NULL. The program
                   of a built-in schedule is neither verified nor given slots, and may be cut.
                   Failures are those of PP_FULL. */
    PP_PROVED,  /* PP_METRICS, and what the program has is complete and proved: all of it, or what
                   remains of a cut one, which is the program of fewer micro-batches */
    PP_WHOLE,   /* PP_METRICS, and the program is whole, complete and proved */
    PP_TIMED,   /* also `times` with posts, from which pp_simulated_events() makes a trace */
    PP_FULL,    /* also trace */
};
/* Simulates a configuration. `prepared`, {0} at first, keeps results for further simulations of the
 * same configuration; NULL keeps none. */
enum pp_status pp_simulate(struct pp_arena *arena, const struct pp_config *config,
                           enum pp_depth depth, struct pp_prepared *prepared,
                           struct pp_result *result, struct pp_error *err);
/* The trace of a result of PP_TIMED or PP_FULL without its table, for files (traces/events.h). */
struct pp_trace *pp_simulated_events(struct pp_arena *arena, const struct pp_result *result);
/* Costs of a configuration, without its program. */
enum pp_status pp_simulate_costs(struct pp_arena *arena, const struct pp_config *config,
                                 const uint16_t *rank_of, struct pp_cost_inputs *inputs,
                                 struct pp_costs **costs, struct pp_error *err);
