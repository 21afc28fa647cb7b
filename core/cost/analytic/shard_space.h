/* core/cost/analytic/shard_space.h — all ways to share parameters, gradients and optimizer state
 * out over the replicas of a stage (Chen et al. 2024, AMSP, section 4). Rules: core/cost/state.h.
 *
 * A mesh takes a divisor of the devices of a node, or whole nodes and a divisor of their number. It
 * fits into another one when it divides it along both axes. A strategy has parameters that fit into
 * gradients, those into the optimizer state, and gradients cut like one of the other two. */
#ifndef PP_CORE_COST_ANALYTIC_SHARD_SPACE_H
#define PP_CORE_COST_ANALYTIC_SHARD_SPACE_H

#include "core/arena.h"
#include "core/cost/state.h"

#include <stdint.h>

struct pp_shard_point {
    struct pp_mesh shard[PP_STATE_SHARDED];
};
struct pp_shard_space {
    struct pp_shard_point *list; /* coarsest first: by parameters, gradients, optimizer state */
    int count;
};
/* Every strategy once; `replicas` is the mesh of all of them. */
struct pp_shard_space pp_shard_space(struct pp_arena *arena, struct pp_mesh replicas);
/* How many there are, from the divisors of the two numbers alone. */
int64_t pp_shard_space_size(struct pp_mesh replicas);

#endif
