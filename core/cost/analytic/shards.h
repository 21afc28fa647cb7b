/* core/cost/analytic/shards.h — all ways to cut parameters, gradients and optimizer state over the
 * replicas of a stage (Chen et al. 2024, AMSP, section 4), and their communication in closed form.
 * Rules: core/cost/state.h.
 *
 * A mesh takes a divisor of the devices of a node, or whole nodes and a divisor of their number. It
 * fits into another one when it divides it along both axes. A strategy has parameters that fit into
 * gradients, those into the optimizer state, and gradients cut like one of the other two. */
#pragma once

#include "core/cost/analytic/roofline.h"

struct pp_shard_point {
    struct pp_mesh shard[PP_STATE_SHARDED];
};
struct pp_shard_space {
    struct pp_shard_point *list; /* coarsest first: by parameters, gradients, optimizer state */
    int count;
};
/* Returns every strategy once; `replicas` is the mesh of all of them. */
struct pp_shard_space pp_shard_space(struct pp_arena *arena, struct pp_mesh replicas);

/* Communication of a strategy.
 *
 * Chen et al. 2024 (AMSP), section 4: with M micro-batches and s_X devices that share class X,
 *   gathers  M sum over layers of 2 AG(params) + RS(gradients), each over s_p devices,
 *   grads    (M - 1) sum over layers of AR(gradients / s_p) over s_g / s_p, where s_g > s_p,
 *   sums     sum over layers of AR(gradients / s_p) over all replicas / s_p,
 *   spread   s_os / s_p times BC(params / s_os) over s_os / s_p, after the update.
 * All of it is exposed; only the simulation knows the part that overlaps with compute. */
struct pp_shard_times {
    double gathers_s, grads_s, sums_s, spread_s;
};
static inline double pp_shard_times_s(struct pp_shard_times t)
{
    return t.gathers_s + t.grads_s + t.sums_s + t.spread_s;
}

/* Returns the times of in->state for the stage with the most. */
struct pp_shard_times pp_shard_times(const struct pp_cost_inputs *in);
