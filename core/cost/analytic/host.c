/* Copies between memory tiers: bytes over rates, nothing else. Gradients that live on another tier
 * leave unit by unit (passes.c). Updates of optimizer state by the processors of a node. Formulas:
 * docs/costs-memory.md, "Offloading", and docs/tiers.md. */
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

/* ---- updates of the host --------------------------------------------------------------------- */

double pp_analytic_host_params(const struct pp_cost_inputs *in, int stage)
{
    return in->state.is_cpu_update ? pp_analytic_updated_params(in, stage) *
                                         pp_state_moved(&in->state, PP_STATE_OPTIMIZER)
                                   : 0;
}

/* Returns the share of updated parameters that the host updates where they live. Both shares are
 * the first part of the same vector. */
static double kept_frac(const struct pp_state_spec *state)
{
    return pp_state_is_updated_at_home(state) ? fmin(pp_state_moved(state, PP_STATE_PARAMS),
                                                     pp_state_moved(state, PP_STATE_OPTIMIZER))
                                              : 0;
}

double pp_analytic_kept_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_analytic_updated_params(in, stage) * kept_frac(&in->state);
}

double pp_analytic_waiting_params(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_state_spec *state = &in->state;

    return pp_analytic_updated_params(in, stage) *
           (pp_state_moved(state, PP_STATE_OPTIMIZER) - pp_state_moved(state, PP_STATE_GRADS));
}

double pp_analytic_leaving_frac(const struct pp_cost_inputs *in)
{
    return pp_state_moved(&in->state, PP_STATE_PARAMS) - kept_frac(&in->state);
}

double pp_analytic_host_update_s(const struct pp_cost_inputs *in, int stage)
{
    const double params = pp_analytic_host_params(in, stage),
                 devices = pp_analytic_node_devices(in);
    double bytes[PP_TIERS] = {0}, s = params * devices / in->cluster->update_params_per_s;

    bytes[in->state.home[PP_STATE_OPTIMIZER]] += params * pp_cost_state_bytes(in).optimizer;
    bytes[in->state.home[PP_STATE_PARAMS]] +=
        pp_analytic_kept_params(in, stage) * pp_cost_value_bytes(in).params;
    for (int tier = PP_TIER_HOST + 1; tier < PP_TIERS; tier++)
        if (bytes[tier] > 0)
            s = fmax(s, bytes[tier] * pp_tier_sharers((enum pp_tier)tier, devices) /
                            in->cluster->tiers[tier].bytes_per_s);
    return s;
}

/* Adam reads gradient and state and writes state and parameters. The gradient is first read for its
 * norm, then read and written to be clipped, and finally cleared. */
double pp_analytic_update_bytes(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_class_bytes state = pp_cost_state_bytes(in);

    return pp_analytic_updated_params(in, stage) *
           (5 * state.grads + 2 * state.optimizer + state.params +
            (pp_dtype_bytes(&in->cluster->device) > 2 ? state.params : 0));
}

/* Returns the cost of U next to the host's stream: the device's share, with its kernels. */
static struct pp_cost device_update(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_device *device = &in->cluster->device;
    const double bytes = pp_analytic_update_bytes(in, stage) *
                         (1 - pp_state_moved(&in->state, PP_STATE_OPTIMIZER)),
                 kernels_s = (in->blocks_per_stage[stage] + 1) * device->launch_s +
                             bytes / (device->memory_bytes_per_s * device->memory_eta);

    return (struct pp_cost){
        .ps = pp_units_ps(pp_cost_framework(in)->step_gap_s + (bytes > 0 ? kernels_s : 0)),
        .bytes = bytes};
}

void pp_analytic_fill_host_update(const struct pp_cost_inputs *in, int stage,
                                  struct pp_costs *costs)
{
    const struct pp_value_bytes value = pp_cost_value_bytes(in);
    const double params = pp_analytic_host_params(in, stage),
                 host_s = pp_analytic_host_update_s(in, stage);

    costs->purpose[PP_FOR_GRADS][stage] =
        pp_analytic_move(in, PP_FOR_GRADS, pp_analytic_waiting_params(in, stage) * value.grads);
    costs->purpose[PP_FOR_PARAMS][stage] = pp_analytic_move(
        in, PP_FOR_PARAMS, (params - pp_analytic_kept_params(in, stage)) * value.params);
    if (kept_frac(&in->state) > 0)
        costs->purpose[PP_FOR_HOME][stage] = pp_analytic_move(
            in, PP_FOR_HOME,
            pp_analytic_leaving_frac(in) * pp_analytic_updated_params(in, stage) * value.params);
    costs->purpose[PP_FOR_UPDATE][stage].ps = pp_units_ps(host_s);
    if (pp_state_has_host_stream(&in->state)) {
        costs->op[PP_U][stage] = device_update(in, stage);
        return;
    }
    costs->op[PP_U][stage] =
        (struct pp_cost){.ps = pp_units_ps(pp_cost_framework(in)->step_gap_s + host_s)};
}

void pp_analytic_explain_host_update(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                     FILE *out)
{
    const double up_bytes = costs->purpose[PP_FOR_PARAMS][0].bytes;

    fprintf(out, ", updated there in %s%s; gradients down %s",
            PP_TEXT(pp_analytic_host_update_s(in, 0), PP_UNIT_SECONDS),
            in->state.has_early_update             ? " while others go backward"
            : pp_state_has_host_stream(&in->state) ? " while the device updates the rest"
                                                   : "",
            PP_TEXT(costs->purpose[PP_FOR_GRADS][0].bytes, PP_UNIT_BYTES));
    if (up_bytes > 0)
        fprintf(out, ", parameters up %s", PP_TEXT(up_bytes, PP_UNIT_BYTES));
    fprintf(out, " at %s\n", PP_TEXT(pp_analytic_move_rate(in, PP_FOR_GRADS), PP_UNIT_BYTES_PER_S));
}
