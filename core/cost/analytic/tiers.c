/* Copies between memory tiers: bytes over rates, nothing else. Optimizer state that the device
 * updates streams through it in buckets. If the host updates it, gradients go down and parameters
 * come up. Formulas and sources: docs/costs-memory.md, "Offloading". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

enum {
    BUCKET_PARAMS = 16000000, /* Singh and Bhatele 2022, AxoNN, section IV-B */
    BUCKETS = 3,              /* by default: one comes, one is updated, one goes */
};

/* ---- rates ----------------------------------------------------------------------------------- */

static double node_devices(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;
    const double all = (double)l->tp * l->cp * l->pp * l->dp;

    return fmin(in->cluster->gpus_per_node, all);
}

double pp_analytic_move_rate(const struct pp_cost_inputs *in, enum pp_purpose purpose)
{
    const struct pp_move move = pp_state_move(&in->state, purpose);

    return pp_tier_rate(in->cluster->tiers, pp_tier_route(move.from, move.to), node_devices(in));
}

struct pp_cost pp_analytic_move(const struct pp_cost_inputs *in, enum pp_purpose purpose,
                                double bytes)
{
    return (struct pp_cost){
        .ps = bytes > 0 ? pp_units_ps(bytes / pp_analytic_move_rate(in, purpose)) : 0,
        .bytes = bytes};
}

/* ---- state ----------------------------------------------------------------------------------- */

static double bucket_params(const struct pp_cost_inputs *in, int stage)
{
    return fmin(BUCKET_PARAMS, pp_analytic_updated_params(in, stage));
}

/* Returns how many buckets of the streamed update have room on the device. */
static int buckets(const struct pp_cost_inputs *in)
{
    const int habit = pp_cost_framework(in)->update_buckets;

    return habit > 0 ? habit : BUCKETS;
}

/* Returns the updated parameters that stay at their home, on one device. */
static double kept_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_state_is_updated_at_home(&in->state)
               ? pp_analytic_updated_params(in, stage) * pp_state_moved(&in->state, PP_STATE_PARAMS)
               : 0;
}

/* Returns the seconds of an update on the host. State and parameters beyond the host pass through
 * its memory concurrently with the update, down and up at once. */
static double host_update_s(const struct pp_cost_inputs *in, int stage)
{
    const double params = pp_analytic_updated_params(in, stage), devices = node_devices(in);
    double bytes[PP_TIERS] = {0}, s = params * devices / in->cluster->update_params_per_s;

    bytes[in->state.home[PP_STATE_OPTIMIZER]] += params * pp_cost_state_bytes(in).optimizer;
    bytes[in->state.home[PP_STATE_PARAMS]] +=
        kept_params(in, stage) * pp_cost_value_bytes(in).params;
    for (int tier = PP_TIER_HOST + 1; tier < PP_TIERS; tier++)
        if (bytes[tier] > 0)
            s = fmax(s, bytes[tier] * pp_tier_sharers((enum pp_tier)tier, devices) /
                            in->cluster->tiers[tier].bytes_per_s);
    return s;
}

static void fill_host_update(const struct pp_cost_inputs *in, int stage, struct pp_costs *costs)
{
    const struct pp_value_bytes value = pp_cost_value_bytes(in);
    const double params = pp_analytic_updated_params(in, stage);

    costs->purpose[PP_FOR_GRADS][stage] = pp_analytic_move(in, PP_FOR_GRADS, params * value.grads);
    costs->purpose[PP_FOR_PARAMS][stage] =
        pp_analytic_move(in, PP_FOR_PARAMS, (params - kept_params(in, stage)) * value.params);
    costs->op[PP_U][stage] = (struct pp_cost){
        .ps = pp_units_ps(pp_cost_framework(in)->step_gap_s + host_update_s(in, stage))};
}

/* All buckets but the first arrive, and all but the last leave, during the update. */
static void fill_streamed(const struct pp_cost_inputs *in, int stage, struct pp_costs *costs)
{
    const double size = pp_cost_state_bytes(in).optimizer, bucket = bucket_params(in, stage) * size,
                 fetched = pp_analytic_updated_params(in, stage) * size - bucket;
    const int64_t fetch_ps = pp_analytic_move(in, PP_FOR_FETCH, fetched).ps;
    struct pp_cost *update = &costs->op[PP_U][stage];

    costs->purpose[PP_FOR_FETCH][stage] = pp_analytic_move(in, PP_FOR_FETCH, bucket);
    costs->purpose[PP_FOR_STORE][stage] = pp_analytic_move(in, PP_FOR_STORE, bucket);
    if (fetch_ps <= update->ps)
        return;
    update->copy_ps = fetch_ps - update->ps;
    update->ps = fetch_ps;
}

/* ---- activations ----------------------------------------------------------------------------- */

/* Returns the cost of Q or DQ: a kernel a block reads saved activations and writes other bits. */
static struct pp_cost convert_of(const struct pp_cost_inputs *in, int stage, double bytes,
                                 double resting_frac)
{
    const struct pp_device *d = &in->cluster->device;
    const double traffic = bytes * (1 + resting_frac);

    return (struct pp_cost){.ps = pp_units_ps((in->blocks_per_stage[stage] + 1) * d->launch_s +
                                              traffic / (d->memory_bytes_per_s * d->memory_eta)),
                            .bytes = traffic};
}

static void fill_saved(const struct pp_cost_inputs *in, int stage, int split,
                       struct pp_costs *costs)
{
    const double bytes = costs->memory[stage].checkpoint_bytes / in->splits,
                 resting_frac = costs->memory[stage].resting_frac;
    const int at = stage * in->splits + split;

    if (pp_state_is_away(&in->state, PP_STATE_ACTIVATIONS))
        costs->op[PP_COPY][at] = pp_analytic_move(
            in, PP_FOR_DOWN,
            bytes * resting_frac * pp_state_moved(&in->state, PP_STATE_ACTIVATIONS));
    if (in->state.activation_bits > 0)
        costs->op[PP_Q][at] = costs->op[PP_DQ][at] = convert_of(in, stage, bytes, resting_frac);
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Moves parameters to their home. Those that the device updates leave it in buckets. */
static void move_params(const struct pp_cost_inputs *in, int stage, struct pp_stage_memory *memory)
{
    const double frac = pp_state_moved(&in->state, PP_STATE_PARAMS),
                 size = pp_cost_value_bytes(in).params,
                 bucket = frac * buckets(in) * bucket_params(in, stage) * size;

    memory->away_bytes[in->state.home[PP_STATE_PARAMS]] += frac * memory->params_bytes;
    if (kept_params(in, stage) == 0)
        memory->update_bytes += fmin(bucket, frac * memory->params_bytes);
    memory->params_bytes -= frac * memory->params_bytes;
}

static void move_optimizer(const struct pp_cost_inputs *in, int stage,
                           struct pp_stage_memory *memory)
{
    const enum pp_tier home = in->state.home[PP_STATE_OPTIMIZER];

    if (home == PP_TIER_DEVICE)
        return;
    memory->away_bytes[home] += memory->optimizer_bytes;
    if (in->state.is_cpu_update) {
        memory->away_bytes[pp_state_move(&in->state, PP_FOR_GRADS).to] +=
            pp_analytic_updated_params(in, stage) * pp_cost_value_bytes(in).grads;
        memory->update_bytes = 0;
    } else {
        memory->fetched_bytes =
            fmin(memory->optimizer_bytes,
                 buckets(in) * bucket_params(in, stage) * pp_cost_state_bytes(in).optimizer);
    }
    memory->optimizer_bytes = 0;
}

void pp_analytic_tier_memory(const struct pp_cost_inputs *in, int stage,
                             struct pp_stage_memory *memory)
{
    memory->moved_frac = pp_state_moved(&in->state, PP_STATE_ACTIVATIONS);
    move_optimizer(in, stage, memory);
    move_params(in, stage, memory);
}

/* Is true if all is on the device, as computed. */
static bool is_plain(const struct pp_state_spec *state)
{
    return !pp_state_is_offloaded(state) && !pp_state_is_quantised(state);
}

void pp_analytic_fill_tiers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs)
{
    static const int per_split[] = {PP_COPY, PP_Q, PP_DQ},
                     per_stage[] = {PP_FOR_GRADS, PP_FOR_PARAMS, PP_FOR_FETCH, PP_FOR_STORE};

    if (is_plain(&in->state))
        return;
    costs->saved_home = in->state.home[PP_STATE_ACTIVATIONS];
    for (size_t i = 0; i < PP_COUNT(per_split); i++)
        costs->op[per_split[i]] = PP_ARRAY(arena, struct pp_cost, in->stages * in->splits);
    for (size_t i = 0; i < PP_COUNT(per_stage); i++)
        costs->purpose[per_stage[i]] = PP_ARRAY(arena, struct pp_cost, in->stages);
    for (int s = 0; s < in->stages; s++) {
        for (int split = 0; split < in->splits; split++)
            fill_saved(in, s, split, costs);
        if (!pp_state_is_away(&in->state, PP_STATE_OPTIMIZER))
            continue;
        if (in->state.is_cpu_update)
            fill_host_update(in, s, costs);
        else
            fill_streamed(in, s, costs);
    }
}

/* ---- --explain ------------------------------------------------------------------------------- */

static void explain_saved(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_ACTIVATIONS];
    const struct pp_cost *copy = costs->op[PP_COPY], *q = costs->op[PP_Q];

    if (in->state.activation_bits > 0)
        fprintf(
            out,
            "  saved activations in %d bits, a scale and a minimum for %d values: %.4g of their "
            "bytes; Q or DQ of stage 0 %s\n",
            in->state.activation_bits, PP_QUANTISED_GROUP, costs->memory[0].resting_frac,
            PP_TEXT(pp_units_s(q[0].ps), PP_UNIT_SECONDS));
    if (home != PP_TIER_DEVICE)
        fprintf(out, "  saved activations on %s: stage 0 %s a micro-batch%s, each way %s at %s\n",
                pp_tier_rows[home].name, PP_TEXT(copy[0].bytes, PP_UNIT_BYTES),
                in->splits > 1 ? " split" : "", PP_TEXT(pp_units_s(copy[0].ps), PP_UNIT_SECONDS),
                PP_TEXT(pp_analytic_move_rate(in, PP_FOR_DOWN), PP_UNIT_BYTES_PER_S));
}

static void explain_params(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_PARAMS];

    if (home == PP_TIER_DEVICE)
        return;
    fprintf(out,
            "  parameters on %s: stage 0 %s a device, loaded a %s at a time at %s, "
            "%s\n",
            pp_tier_rows[home].name, PP_TEXT(costs->purpose[PP_FOR_HOME][0].bytes, PP_UNIT_BYTES),
            pp_gather_names[in->state.gather],
            PP_TEXT(pp_analytic_move_rate(in, PP_FOR_LOAD), PP_UNIT_BYTES_PER_S),
            kept_params(in, 0) > 0 ? "updated there by the host" : "down again once updated");
}

static void explain_host_update(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                FILE *out)
{
    const double up_bytes = costs->purpose[PP_FOR_PARAMS][0].bytes;

    fprintf(out, ", updated there in %s; gradients down %s",
            PP_TEXT(host_update_s(in, 0), PP_UNIT_SECONDS),
            PP_TEXT(costs->purpose[PP_FOR_GRADS][0].bytes, PP_UNIT_BYTES));
    if (up_bytes > 0)
        fprintf(out, ", parameters up %s", PP_TEXT(up_bytes, PP_UNIT_BYTES));
    fprintf(out, " at %s\n", PP_TEXT(pp_analytic_move_rate(in, PP_FOR_GRADS), PP_UNIT_BYTES_PER_S));
}

static void explain_state(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_OPTIMIZER];
    const double bytes = pp_analytic_updated_params(in, 0) * pp_cost_state_bytes(in).optimizer;

    if (home == PP_TIER_DEVICE)
        return;
    fprintf(out, "  optimizer state on %s: stage 0 %s a device", pp_tier_rows[home].name,
            PP_TEXT(bytes, PP_UNIT_BYTES));
    if (in->state.is_cpu_update)
        explain_host_update(in, costs, out);
    else
        fprintf(out, ", streamed up and down through the update in buckets of %s at %s\n",
                PP_TEXT(costs->purpose[PP_FOR_FETCH][0].bytes, PP_UNIT_BYTES),
                PP_TEXT(pp_analytic_move_rate(in, PP_FOR_FETCH), PP_UNIT_BYTES_PER_S));
}

void pp_analytic_explain_tiers(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out)
{
    if (is_plain(&in->state))
        return;
    explain_saved(in, costs, out);
    explain_params(in, costs, out);
    explain_state(in, costs, out);
}
