/* sim/run/follow.h — orders that follow the durations of the run (--order dynamic and arrival).
 *
 * An op has the duration that it has in the strict order with the same seed: steps of all orders
 * are then of one sample. The jitter of an engine belongs to places in a program, so that of the
 * strict program is carried over op by op. */
#pragma once

#include "sim/config/config.h"

struct pp_follow {
    const struct pp_program *strict; /* lowered in the strict order; NULL: no run is followed */
    int replicas;
    const double *slow; /* [rank * replicas + replica] factor on speed; NULL = all 1 */
};

/* Sets `given` and `unit_ps` of a build whose order follows the run. A program is one list for all
 * replicas and steps: the order follows the replica that computes longest, in its first step. */
enum pp_status pp_follow_begin(struct pp_arena *arena, const struct pp_config *config,
                               struct pp_build *build, struct pp_follow *follow,
                               struct pp_error *err);
/* Returns durations for pp_perturbation.compute_ps of the `program` in its order; NULL if no jitter
 * changes them. */
const int64_t *pp_follow_durations(struct pp_arena *arena, const struct pp_config *config,
                                   const struct pp_follow *follow, const struct pp_costs *costs,
                                   const struct pp_program *program);
