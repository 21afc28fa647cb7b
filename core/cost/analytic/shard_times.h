/* core/cost/analytic/shard_times.h — what a way to share state out costs in communication, in
 * closed form.
 *
 * Chen et al. 2024 (AMSP), section 4: with M micro-batches and s_X devices that share class X,
 *   gathers  M sum over layers of 2 AG(params) + RS(gradients), each over s_p devices,
 *   grads    (M - 1) sum over layers of AR(gradients / s_p) over s_g / s_p, where s_g > s_p,
 *   sums     sum over layers of AR(gradients / s_p) over all replicas / s_p,
 *   spread   s_os / s_p times BC(params / s_os) over s_os / s_p, behind the update.
 * All of it exposed: what a run hides behind compute only the simulation says. */
#ifndef PP_CORE_COST_ANALYTIC_SHARD_TIMES_H
#define PP_CORE_COST_ANALYTIC_SHARD_TIMES_H

#include "core/cost/analytic/roofline.h"

struct pp_shard_times {
    double gathers_s, grads_s, sums_s, spread_s;
};
static inline double pp_shard_times_s(struct pp_shard_times t)
{
    return t.gathers_s + t.grads_s + t.sums_s + t.spread_s;
}

/* Of the stage for which it is most, of in->state. */
struct pp_shard_times pp_shard_times(const struct pp_cost_inputs *in);

#endif
