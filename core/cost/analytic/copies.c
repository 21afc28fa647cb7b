/* Copies between memory tiers: bytes over rates, nothing else. Rates: docs/costs-memory.md,
 * "Offloading". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

double pp_analytic_node_devices(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;
    const double all = (double)l->tp * l->cp * l->pp * l->dp;

    return fmin(in->cluster->gpus_per_node, all);
}

double pp_analytic_move_rate(const struct pp_cost_inputs *in, enum pp_purpose purpose)
{
    const struct pp_move move = pp_state_move(&in->state, purpose);

    return pp_tier_rate(in->cluster->tiers, pp_tier_route(move.from, move.to),
                        pp_analytic_node_devices(in));
}

struct pp_cost pp_analytic_move(const struct pp_cost_inputs *in, enum pp_purpose purpose,
                                double bytes)
{
    return (struct pp_cost){
        .ps = bytes > 0 ? pp_units_ps(bytes / pp_analytic_move_rate(in, purpose)) : 0,
        .bytes = bytes};
}
