/* Updates by the processors of a node, of all state or of a share: the first part of the flat
 * vector of each stage. Gradients of that part go down, and its parameters come up unless they live
 * there. The device updates the rest. Formulas and sources: docs/tiers.md, "Updates on the host".
 */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

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
