/* sim/run/simulate.h — one configuration simulated, to the depth that the caller needs. */
#pragma once

#include "sim/config/config.h"

enum pp_depth {
    PP_MEMORY,  /* memory only */
    PP_QUICK,   /* makespan and memory only */
    PP_METRICS, /* all figures, equal to those of PP_FULL to the bit. `trace` may be NULL. The
                 * program of a built-in schedule is neither verified nor given slots. Failures are
                 * those of PP_FULL. */
    PP_FULL,    /* trace and proof too */
};
/* `prepared` belongs to the caller, {0} at first. Results of an earlier simulation of the same
 * configuration are taken from there. Otherwise they are computed and remembered there. NULL:
 * nothing is remembered. */
enum pp_status pp_simulate(struct pp_arena *arena, const struct pp_config *config,
                           enum pp_depth depth, struct pp_prepared *prepared,
                           struct pp_result *result, struct pp_error *err);
/* Costs and lower bounds of a configuration without building its program. */
enum pp_status pp_simulate_costs(struct pp_arena *arena, const struct pp_config *config,
                                 const uint16_t *rank_of, struct pp_cost_inputs *inputs,
                                 struct pp_costs **costs, struct pp_error *err);
