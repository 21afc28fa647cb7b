/* State and activations on other memory tiers. Optimizer state that the device updates streams
 * through it in buckets; updates of the host are in host.c. Formulas and sources:
 * docs/costs-memory.md, "Offloading". */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

enum {
    BUCKET_PARAMS = 16000000, /* Singh and Bhatele 2022, AxoNN, section IV-B */
    BUCKETS = 3,              /* by default: one comes, one is updated, one goes */
};

/* ---- state ----------------------------------------------------------------------------------- */

/* Returns the parameters whose state lives elsewhere. */
static double moved_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_analytic_updated_params(in, stage) * pp_state_moved(&in->state, PP_STATE_OPTIMIZER);
}

/* Returns how many buckets of the streamed update have room on the device. */
static int buckets(const struct pp_cost_inputs *in)
{
    const int given = in->state.update_buckets, habit = pp_cost_framework(in)->update_buckets;

    return given > 0 ? given : habit > 0 ? habit : BUCKETS;
}

static double bucket_params(const struct pp_cost_inputs *in, double params)
{
    const double given = in->state.update_bucket_params;

    return fmin(given > 0 ? given : BUCKET_PARAMS, params);
}

/* Returns the time of an update of which all buckets but the first arrive, and all but the last
 * leave, while it runs. With three on the device one comes, one is updated, one goes. With two a
 * bucket comes after another has gone. With one nothing overlaps. */
static int64_t streamed_ps(int on_device, int64_t update_ps, int64_t fetch_ps)
{
    if (on_device == 1)
        return update_ps + 2 * fetch_ps;
    if (on_device == 2)
        fetch_ps *= 2;
    return update_ps > fetch_ps ? update_ps : fetch_ps;
}

/* Returns the bytes of gradients that come up with a parameter's state. */
static double fetched_grads(const struct pp_cost_inputs *in)
{
    const struct pp_state_spec *state = &in->state;

    return pp_cost_value_bytes(in).grads * pp_state_moved(state, PP_STATE_GRADS) /
           pp_state_moved(state, PP_STATE_OPTIMIZER);
}

/* Returns the cost of the state of so many parameters on its way up, with their gradients. */
static struct pp_cost fetch_of(const struct pp_cost_inputs *in, double params)
{
    return pp_cost_sum(
        pp_analytic_move(in, PP_FOR_FETCH, params * pp_cost_state_bytes(in).optimizer),
        pp_analytic_move(in, PP_FOR_GRAD_UP, params * fetched_grads(in)));
}

static void fill_streamed(const struct pp_cost_inputs *in, int stage, struct pp_costs *costs)
{
    const double size = pp_cost_state_bytes(in).optimizer, params = moved_params(in, stage),
                 bucket = bucket_params(in, params);
    const struct pp_cost inner = fetch_of(in, params - bucket);
    struct pp_cost *update = &costs->op[PP_U][stage];

    costs->memory[stage].up_bytes = inner.bytes;
    costs->memory[stage].down_bytes = (params - bucket) * size;
    costs->purpose[PP_FOR_FETCH][stage] = fetch_of(in, bucket);
    costs->purpose[PP_FOR_STORE][stage] = pp_analytic_move(in, PP_FOR_STORE, bucket * size);
    update->copy_ps = streamed_ps(buckets(in), update->ps, inner.ps) - update->ps;
    update->ps += update->copy_ps;
}

/* ---- activations ----------------------------------------------------------------------------- */

static const enum pp_op_kind inner_kinds[] = {PP_F, PP_R, PP_B, PP_I};

/* Is true if saved activations move block by block, inside of ops. */
static bool has_inner(const struct pp_state_spec *state)
{
    return state->is_offloaded_by_layer && pp_state_is_away(state, PP_STATE_ACTIVATIONS);
}

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

/* Copies `bytes` of all blocks but one while an op computes. A block's copy begins when it
 * has ended, or ends before it begins. So the op lasts as long as one block and all copies, at
 * least. */
static void fill_inner(const struct pp_cost_inputs *in, enum pp_op_kind kind, int stage, int at,
                       double bytes, struct pp_costs *costs)
{
    const enum pp_purpose purpose = kind == PP_F ? PP_FOR_DOWN : PP_FOR_UP;
    const struct pp_cost copies = pp_analytic_move(in, purpose, bytes);
    struct pp_cost *op = &costs->op[kind][at];
    const int64_t ps = pp_costs_share_ps(op->ps, 1, in->blocks_per_stage[stage]) + copies.ps;

    costs->inner[kind][at] = copies;
    if (ps <= op->ps)
        return;
    op->copy_ps += ps - op->ps;
    op->ps = ps;
}

/* Saved activations come up in the op that uses them first: R, where blocks are computed again. */
static void fill_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage, int split,
                       struct pp_costs *costs)
{
    const struct pp_stage_memory *memory = &costs->memory[stage];
    const double bytes = memory->checkpoint_bytes / in->splits, resting_frac = memory->resting_frac,
                 moved = bytes * resting_frac * pp_state_moved(&in->state, PP_STATE_ACTIVATIONS);
    const int at = stage * in->splits + split;

    if (pp_state_is_away(&in->state, PP_STATE_ACTIVATIONS))
        costs->op[PP_COPY][at] =
            pp_analytic_move(in, PP_FOR_DOWN, moved - memory->inner_frac * moved);
    for (size_t i = 0; i < PP_COUNT(inner_kinds) && memory->inner_frac > 0; i++)
        if (inner_kinds[i] == PP_F || (inner_kinds[i] == PP_R) == (recompute_frac > 0))
            fill_inner(in, inner_kinds[i], stage, at, memory->inner_frac * moved, costs);
    if (in->has_bits_apart)
        costs->op[PP_Q][at] = costs->op[PP_DQ][at] = convert_of(in, stage, bytes, resting_frac);
}

/* ---- state that moves ------------------------------------------------------------------------ */

/* Moves parameters to their home. Those that the device updates leave it in buckets. */
static void move_params(const struct pp_cost_inputs *in, int stage, struct pp_stage_memory *memory)
{
    const double frac = pp_state_moved(&in->state, PP_STATE_PARAMS),
                 leaving_frac = pp_analytic_leaving_frac(in),
                 bucket = bucket_params(in, pp_analytic_updated_params(in, stage));

    memory->away_bytes[in->state.home[PP_STATE_PARAMS]] += frac * memory->params_bytes;
    memory->update_bytes +=
        leaving_frac *
        fmin(buckets(in) * bucket * pp_cost_value_bytes(in).params, memory->params_bytes);
    memory->params_bytes -= frac * memory->params_bytes;
}

static void move_optimizer(const struct pp_cost_inputs *in, int stage,
                           struct pp_stage_memory *memory)
{
    const enum pp_tier home = in->state.home[PP_STATE_OPTIMIZER];
    const double frac = pp_state_moved(&in->state, PP_STATE_OPTIMIZER),
                 bytes = frac * memory->optimizer_bytes,
                 bucket = bucket_params(in, moved_params(in, stage));

    memory->away_bytes[home] += bytes;
    memory->optimizer_bytes -= bytes;
    if (in->state.is_cpu_update)
        memory->away_bytes[pp_state_move(&in->state, PP_FOR_GRADS).to] +=
            pp_analytic_waiting_params(in, stage) * pp_cost_value_bytes(in).grads;
    else
        memory->fetched_bytes = fmin(moved_params(in, stage), buckets(in) * bucket) *
                                (pp_cost_state_bytes(in).optimizer + fetched_grads(in));
}

/* ---- gradients in the place of their parameters -----------------------------------------------
 */

/* --grads-in-params: once a unit has gone backward its 16-bit gradient is written over its 16-bit
 * parameters, and the update restores these from their fp32 copy. On each tier gradients need room
 * only as far as they exceed the parameters there. Source: Fang et al. 2021, PatrickStar, section
 * 6.1: 14 bytes a parameter. */
enum { HALF_BYTES = 2 };

enum pp_status pp_analytic_check_in_place(const struct pp_cost_inputs *in, struct pp_error *err)
{
    const struct pp_class_bytes bytes = pp_cost_state_bytes(in);

    if (!in->state.has_grads_in_params)
        return PP_OK;
    if (bytes.params > HALF_BYTES)
        return pp_error_set(err, PP_EINVAL,
                            "--grads-in-params: parameters are fp32, so there is no fp32 copy to "
                            "restore them from; nearest: --precision bf16 with --framework plain");
    if (bytes.grads > HALF_BYTES)
        return pp_error_set(err, PP_EINVAL,
                            "--grads-in-params: gradients of framework %s have %g bytes, and "
                            "parameters 2; nearest: --framework plain",
                            pp_cost_framework(in)->name, bytes.grads);
    return PP_OK;
}

/* Returns the 16-bit parameters of a device on a tier. */
static double params_bytes(const struct pp_cost_inputs *in, int stage, enum pp_tier tier)
{
    const struct pp_state_spec *state = &in->state;
    const double moved_frac = pp_state_moved(state, PP_STATE_PARAMS),
                 frac = tier == PP_TIER_DEVICE                 ? 1 - moved_frac
                        : tier == state->home[PP_STATE_PARAMS] ? moved_frac
                                                               : 0;

    return frac * HALF_BYTES *
           pp_analytic_cut_params(in, stage, pp_state_cut(state, PP_STATE_PARAMS));
}

/* Returns the parameters of the largest layer of a stage. */
static double largest_layer(const struct pp_cost_inputs *in, int stage)
{
    struct pp_cost_inputs by_layer = *in;

    by_layer.state.gather = PP_GATHER_LAYER;
    by_layer.state.gather_bytes = 0;
    const struct pp_by_unit params = pp_analytic_units(&by_layer, stage).params;
    return fmax(params.each, fmax(params.first, params.last));
}

/* Removes such gradients, on each tier, after all moves of state. */
static void place_grads(const struct pp_cost_inputs *in, int stage, struct pp_stage_memory *memory)
{
    const struct pp_state_spec *state = &in->state;
    const double size = pp_cost_value_bytes(in).grads;
    double grads_bytes[PP_TIERS] = {memory->grads_bytes};

    if (!state->has_grads_in_params)
        return;
    if (pp_state_is_away(state, PP_STATE_GRADS))
        grads_bytes[state->home[PP_STATE_GRADS]] += pp_analytic_left_bytes(in, stage);
    if (state->is_cpu_update)
        grads_bytes[pp_state_move(state, PP_FOR_GRADS).to] +=
            size * pp_analytic_waiting_params(in, stage);
    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
        memory->away_bytes[tier] -=
            fmin(grads_bytes[tier], params_bytes(in, stage, (enum pp_tier)tier));
    const double bytes = fmin(memory->grads_bytes, params_bytes(in, stage, PP_TIER_DEVICE));
    memory->grads_bytes -= bytes;
    memory->chunk_grads_bytes = bytes;
    memory->layer_grads_bytes = fmin(bytes, size * largest_layer(in, stage));
}

/* ---- all together ---------------------------------------------------------------------------- */

void pp_analytic_tier_memory(const struct pp_cost_inputs *in, int stage,
                             struct pp_stage_memory *memory)
{
    memory->moved_frac = pp_state_moved(&in->state, PP_STATE_ACTIVATIONS);
    memory->inner_frac = pp_analytic_inner_frac(in, stage);
    if (pp_state_is_away(&in->state, PP_STATE_OPTIMIZER))
        move_optimizer(in, stage, memory);
    move_params(in, stage, memory);
    if (pp_state_is_away(&in->state, PP_STATE_GRADS))
        pp_analytic_grads_memory(in, stage, memory);
    place_grads(in, stage, memory);
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
                     per_stage[] = {PP_FOR_GRADS, PP_FOR_PARAMS, PP_FOR_FETCH, PP_FOR_STORE,
                                    PP_FOR_UPDATE};

    const double *recompute = pp_recompute_fracs(arena, in);

    if (is_plain(&in->state))
        return;
    costs->saved_home = in->state.home[PP_STATE_ACTIVATIONS];
    for (size_t i = 0; i < PP_COUNT(inner_kinds) && has_inner(&in->state); i++)
        costs->inner[inner_kinds[i]] = PP_ARRAY(arena, struct pp_cost, in->stages * in->splits);
    for (size_t i = 0; i < PP_COUNT(per_split); i++)
        costs->op[per_split[i]] = PP_ARRAY(arena, struct pp_cost, in->stages * in->splits);
    for (size_t i = 0; i < PP_COUNT(per_stage); i++)
        costs->purpose[per_stage[i]] = PP_ARRAY(arena, struct pp_cost, in->stages);
    for (int s = 0; s < in->stages; s++) {
        for (int split = 0; split < in->splits; split++)
            fill_saved(in, recompute[s], s, split, costs);
        if (!pp_state_is_away(&in->state, PP_STATE_OPTIMIZER))
            continue;
        if (in->state.is_cpu_update)
            pp_analytic_fill_host_update(in, s, costs);
        else
            fill_streamed(in, s, costs);
    }
}

/* ---- --explain ------------------------------------------------------------------------------- */

/* Prints the copies inside of a forward of stage 0, and the time that they add. */
static void explain_inner(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const struct pp_cost *inner = costs->inner[PP_F], *f = costs->op[PP_F];
    const int64_t plain_ps = f[0].ps - f[0].copy_ps;

    fprintf(
        out,
        "  that is one block; %s of the other %d move inside of F, in %s: F max(%s, 1/%d of it + "
        "copies) = %s\n",
        PP_TEXT(inner[0].bytes, PP_UNIT_BYTES), in->blocks_per_stage[0] - 1,
        PP_TIME(pp_units_s(inner[0].ps)), PP_TIME(pp_units_s(plain_ps)), in->blocks_per_stage[0],
        PP_TIME(pp_units_s(f[0].ps)));
}

static void explain_saved(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_ACTIVATIONS];
    const struct pp_cost *copy = costs->op[PP_COPY], *q = costs->op[PP_Q];

    if (in->has_bits_apart)
        fprintf(
            out,
            "  saved activations in %d bits, a scale and a minimum for %d values: %.4g of their "
            "bytes; Q or DQ of stage 0 %s\n",
            in->state.activation_bits, PP_QUANTISED_GROUP, costs->memory[0].resting_frac,
            PP_TEXT(pp_units_s(q[0].ps), PP_UNIT_SECONDS));
    if (pp_analytic_has_bits(in))
        pp_analytic_explain_bits(in, costs, out);
    if (home != PP_TIER_DEVICE)
        fprintf(out, "  saved activations on %s: stage 0 %s a micro-batch%s, each way %s at %s\n",
                pp_tier_rows[home].name, PP_TEXT(copy[0].bytes, PP_UNIT_BYTES),
                in->splits > 1 ? " split" : "", PP_TEXT(pp_units_s(copy[0].ps), PP_UNIT_SECONDS),
                PP_TEXT(pp_analytic_move_rate(in, PP_FOR_DOWN), PP_UNIT_BYTES_PER_S));
    if (has_inner(&in->state))
        explain_inner(in, costs, out);
}

static void explain_params(const struct pp_cost_inputs *in, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_PARAMS];
    const double bytes = pp_analytic_cut_params(in, 0, pp_state_cut(&in->state, PP_STATE_PARAMS)) *
                         pp_state_moved(&in->state, PP_STATE_PARAMS) *
                         pp_cost_value_bytes(in).params;

    if (home == PP_TIER_DEVICE)
        return;
    fprintf(out,
            "  parameters on %s: stage 0 %s a device, loaded a %s at a time at %s, "
            "%s\n",
            pp_tier_rows[home].name, PP_TEXT(bytes, PP_UNIT_BYTES),
            pp_state_unit(&in->state, (char[PP_STATE_TEXT_BYTES]){0}),
            PP_TEXT(pp_analytic_move_rate(in, PP_FOR_LOAD), PP_UNIT_BYTES_PER_S),
            pp_analytic_leaving_frac(in) == 0    ? "updated there by the host"
            : pp_analytic_kept_params(in, 0) > 0 ? "updated there by the host, or down again"
                                                 : "down again once updated");
}

static void explain_state(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out)
{
    const enum pp_tier home = in->state.home[PP_STATE_OPTIMIZER];
    const double bytes = moved_params(in, 0) * pp_cost_state_bytes(in).optimizer;

    if (home == PP_TIER_DEVICE)
        return;
    fprintf(out, "  optimizer state on %s: stage 0 %s a device", pp_tier_rows[home].name,
            PP_TEXT(bytes, PP_UNIT_BYTES));
    if (in->state.is_cpu_update)
        pp_analytic_explain_host_update(in, costs, out);
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
    explain_params(in, out);
    pp_analytic_explain_grads(in, costs, out);
    explain_state(in, costs, out);
}
