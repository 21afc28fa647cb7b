/* Copies between memory tiers: bytes over rates, nothing else. Rates: docs/costs-memory.md,
 * "Offloading". Gradients that live on another tier leave unit by unit (gathers.c); formulas:
 * docs/tiers.md, "Gradients". */
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

/* ---- gradients ------------------------------------------------------------------------------- */

enum { ACCESSES = 3 }; /* of host memory to add a byte: read both, write the sum */

bool pp_analytic_is_summed(const struct pp_cost_inputs *in, int stage)
{
    const bool is_end = stage == 0 || stage == in->stages - 1;

    return pp_mesh_size(in->state.replicas) > pp_state_cut(&in->state, PP_STATE_PARAMS) ||
           (is_end && pp_analytic_has_tied_copy(in));
}

double pp_analytic_left_bytes(const struct pp_cost_inputs *in, int stage)
{
    return pp_state_moved(&in->state, PP_STATE_GRADS) * pp_cost_value_bytes(in).grads *
           pp_analytic_cut_params(in, stage, pp_state_cut(&in->state, PP_STATE_GRADS));
}

/* The host adds while a copy runs, at the rate of its memory, which the devices of a node share. */
double pp_analytic_part_rate(const struct pp_cost_inputs *in)
{
    const double link = pp_analytic_move_rate(in, PP_FOR_GRAD_DOWN),
                 memory = in->cluster->tiers[PP_TIER_HOST].bytes_per_s;

    return in->state.is_summed_on_device || !(memory > 0)
               ? link
               : fmin(link, memory / ACCESSES / pp_analytic_node_devices(in));
}

struct pp_cost pp_analytic_left_cost(const struct pp_cost_inputs *in, double bytes)
{
    return (struct pp_cost){.ps = bytes > 0 ? pp_units_ps(bytes / pp_analytic_part_rate(in)) : 0,
                            .bytes = bytes};
}

/* A framework may keep a sum in fp32 next to 16-bit gradients that come. */
void pp_analytic_grads_memory(const struct pp_cost_inputs *in, int stage,
                              struct pp_stage_memory *memory)
{
    const double frac = pp_state_moved(&in->state, PP_STATE_GRADS),
                 size = pp_cost_value_bytes(in).grads,
                 more = size == 2 ? pp_cost_framework(in)->host_sum_bytes : 0;

    memory->away_bytes[in->state.home[PP_STATE_GRADS]] +=
        pp_analytic_left_bytes(in, stage) * (1 + more / size);
    memory->grads_bytes -= frac * memory->grads_bytes;
}

void pp_analytic_explain_grads(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_GRADS];
    const int units = home == PP_TIER_DEVICE ? 0 : costs->gathers[0].part_units;

    if (units == 0)
        return;
    fprintf(out,
            "  gradients on %s: stage 0 %s a device, a visit's leave %s at %s, added up by %s\n",
            pp_tier_rows[home].name, PP_TEXT(pp_analytic_left_bytes(in, 0), PP_UNIT_BYTES),
            units > 1 ? "layer by layer" : "at once",
            PP_TEXT(pp_analytic_part_rate(in), PP_UNIT_BYTES_PER_S),
            in->state.is_summed_on_device ? "the device" : "the host");
}
