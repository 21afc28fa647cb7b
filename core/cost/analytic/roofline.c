/* The table of analytic costs: checked inputs, collectives, updates, memory. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Returns the bytes per parameter that live only while the optimizer runs. */
static double update_values(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);

    return pp_dtype_bytes(&in->cluster->device) > 2 ? 0
           : pp_cost_is_fp16(in)                    ? f->fp16_update_bytes
                                                    : f->update_bytes;
}

/* Returns the parameters that are updated at once, of `all`: an optimizer may take a shard in
 * turns. */
static double updated_at_once(const struct pp_cost_inputs *in, double all)
{
    const double most = pp_cost_framework(in)->update_params;

    return most > 0 && pp_state_is_gathered(&in->state) ? fmin(all, most) : all;
}

static void fill_state(const struct pp_cost_inputs *in, int stage, struct pp_stage_memory *memory)
{
    const struct pp_class_bytes bytes = pp_cost_state_bytes(in);
    const bool is_bf16 = pp_dtype_bytes(&in->cluster->device) == 2 && !pp_cost_is_fp16(in);
    const double low_grads = is_bf16 ? pp_cost_framework(in)->low_grads_bytes : 0;
    const struct pp_state_spec *state = &in->state;
    double params[PP_STATE_SHARDED];

    for (int c = 0; c < PP_STATE_SHARDED; c++) {
        const int cut = pp_state_cut(state, (enum pp_state_class)c);
        const bool is_known = c > 0 && cut == pp_state_cut(state, (enum pp_state_class)(c - 1));
        params[c] = is_known ? params[c - 1] : pp_analytic_cut_params(in, stage, cut);
    }
    memory->params_bytes = bytes.params * params[PP_STATE_PARAMS];
    if (state->secondary.in_node)
        memory->params_bytes +=
            bytes.params * pp_analytic_cut_params(in, stage, pp_mesh_size(state->secondary));
    memory->grads_bytes = (bytes.grads + low_grads) * params[PP_STATE_GRADS];
    memory->optimizer_bytes = bytes.optimizer * params[PP_STATE_OPTIMIZER];
    const double updated_frac =
        state->is_cpu_update ? 1 - pp_state_moved(state, PP_STATE_OPTIMIZER) : 1;
    memory->update_bytes =
        update_values(in) * updated_at_once(in, updated_frac * params[PP_STATE_OPTIMIZER]);
}

/* Returns the number of communicators; each has buffers of its own. */
static int groups_of(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;

    return (l->tp > 1) + (l->cp > 1) + (l->pp > 1) + (l->ep > 1) + (l->dp * in->pipelines > 1) +
           pp_analytic_has_tied_copy(in);
}

double pp_analytic_other_bytes(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_cost_framework(in);

    if (f->has_tensors_only)
        return 0;
    return f->context_bytes > 0 ? f->context_bytes + groups_of(in) * f->communicator_bytes
                                : in->cluster->other_bytes;
}

static void fill_memory(const struct pp_cost_inputs *in, const double *recompute, int stage,
                        struct pp_stage_memory *memory)
{
    fill_state(in, stage, memory);
    pp_analytic_saved(in, recompute[stage], stage, memory);
    pp_analytic_tier_memory(in, stage, memory);
    memory->boundary_bytes = stage < in->stages - 1 ? pp_analytic_boundary_bytes(in) : 0;
}

enum { MAX_ENTRIES = 1 << 20 };      /* of the table of costs */
static const double longest_s = 1e5; /* bound for one instruction: more is a mistake in the input */

/* ---- checks of inputs ------------------------------------------------------------------------ */

static enum pp_status check_heads(const struct pp_cost_inputs *in, struct pp_error *err)
{
    const int heads = in->model->heads, tp = in->layout.tp;
    int below = tp < heads ? tp : heads, above = tp;

    if (heads % tp == 0)
        return PP_OK;
    while (heads % below != 0)
        below--;
    while (above < heads && heads % above != 0)
        above++;
    if (above > heads || heads % above != 0)
        above = heads;
    return pp_error_set(err, PP_EINVAL,
                        "--tp %d does not divide the %d attention heads of %s: legal near it are "
                        "%d and %d",
                        tp, heads, in->model->name, below, above);
}

enum pp_status pp_analytic_check(const struct pp_cost_inputs *in, struct pp_error *err)
{
    const struct pp_layout *l = &in->layout;
    const struct {
        const char *name;
        int64_t value, high;
    } sizes[] = {
        {"--tp", l->tp, 1 << 20},
        {"--pp", l->pp, PP_COST_RANKS_MAX},
        {"--dp", l->dp, 1 << 24},
        {"--cp", l->cp, 1 << 20},
        {"--ep", l->ep, in->model->experts.count > 0 ? 1 << 16 : 1},
        {"--mbs", l->mbs, 1 << 24},
        {"--seq", l->seq, 1 << 26},
        {"number of stages", in->stages, UINT16_MAX},
        {"--splits", in->splits, 256},
        {"number of pipelines", in->pipelines, UINT16_MAX},
        {"number of granules", in->granules, 256},
    };
    int64_t blocks = 0;

    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        if (sizes[i].value < 1 || sizes[i].value > sizes[i].high)
            return pp_error_set(err, PP_EINVAL, "%s is %lld: expected 1 to %lld%s", sizes[i].name,
                                (long long)sizes[i].value, (long long)sizes[i].high,
                                strcmp(sizes[i].name, "--ep") == 0 ? " (the model has no experts)"
                                                                   : "");
    if ((int64_t)l->tp * l->pp * l->dp * l->cp > INT32_MAX)
        return pp_error_set(err, PP_EINVAL, "tp %d x pp %d x dp %d x cp %d is too many devices",
                            l->tp, l->pp, l->dp, l->cp);
    if ((int64_t)in->stages * in->splits > MAX_ENTRIES)
        return pp_error_set(err, PP_EINVAL, "%d stages with %d sequence splits are too many",
                            in->stages, in->splits);
    if (l->seq % l->cp != 0)
        return pp_error_set(err, PP_EINVAL, "--seq %d is not a multiple of --cp %d", l->seq, l->cp);
    for (int s = 0; s < in->stages; s++)
        blocks += in->blocks_per_stage[s];
    if (blocks != in->model->layers)
        return pp_error_set(err, PP_EINVAL,
                            "the stages hold %lld blocks together, %s has %d layers",
                            (long long)blocks, in->model->name, in->model->layers);
    return check_heads(in, err);
}

/* ---- collectives, messages ------------------------------------------------------------------- */

static void fill_spread(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                        const struct pp_state_sums *state, int stage, struct pp_costs *costs)
{
    const int layers = in->blocks_per_stage[stage] > 0 ? in->blocks_per_stage[stage] : 1;
    struct pp_cost *gather = &costs->op[PP_AG][stage];

    *gather = pp_analytic_collective_cost(
        pp_analytic_spread(in, links, state->scatter, stage, state->params_bytes),
        state->params_bytes);
    if (pp_cost_framework(in)->has_param_broadcasts)
        gather->latency_ps = 0; /* buckets do not cut it further */
    if (in->is_dp_overlapped && pp_cost_framework(in)->has_params_ahead)
        *gather = pp_analytic_spread_ahead(*gather, costs->op[PP_F][stage * in->splits].ps, layers,
                                           pp_cost_framework(in)->gather_share_frac);
}

static void fill_sums(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                      int stage, struct pp_costs *costs)
{
    const struct pp_state_sums state = pp_analytic_state_sums(in, stage);
    const double regrouped_bytes = pp_state_is_gathered(&in->state) ? 0 : state.grads_bytes;
    const struct {
        enum pp_op_kind kind;
        struct pp_device_group group;
        int pieces;
        double bytes, regrouped_bytes;
    } sums[] = {{PP_AR, state.sum, state.pieces, state.grads_bytes, regrouped_bytes},
                {PP_RS, state.scatter, 1, state.grads_bytes, regrouped_bytes},
                {PP_BC, state.scatter, 1, state.params_bytes, 0}};

    for (size_t i = 0; i < PP_COUNT(sums); i++) {
        struct pp_cost *cost = &costs->op[sums[i].kind][stage];
        *cost = pp_analytic_collective(in, sums[i].kind, sums[i].group, links,
                                       sums[i].bytes / sums[i].pieces);
        if (sums[i].pieces > 1)
            cost->latency_ps = 0; /* buckets do not cut them further */
        cost->ps *= sums[i].pieces;
        cost->bytes = sums[i].bytes;
        if (sums[i].group.members > 1)
            cost->ps += pp_units_ps(pp_analytic_regroup_s(in, sums[i].regrouped_bytes));
    }
    fill_spread(in, links, &state, stage, costs);
    pp_analytic_add_expert_sums(in, links, stage, costs);
    costs->ring_alpha_ps[stage] =
        pp_units_ps(pp_analytic_ring_step_s(in, state.sum, state.grads_bytes));
}

static void fill_sync(const struct pp_cost_inputs *in, const struct pp_sum_links *links,
                      struct pp_costs *costs)
{
    const struct pp_device *device = &in->cluster->device;

    for (int s = 0; s < in->stages; s++) {
        const double update_bytes = pp_analytic_update_bytes(in, s);
        fill_sums(in, &links[s].links, s, costs);
        const double s_each = pp_cost_framework(in)->step_gap_s +
                              (in->blocks_per_stage[s] + 1) * device->launch_s +
                              update_bytes / (device->memory_bytes_per_s * device->memory_eta);
        costs->op[PP_U][s] = (struct pp_cost){.ps = pp_units_ps(s_each), .bytes = update_bytes};
    }
}

static void fill_tied(struct pp_arena *arena, const struct pp_cost_inputs *in,
                      const struct pp_device_links *links, struct pp_costs *costs)
{
    struct pp_device_group group = {.members = 2, .per_node = 2, .nodes = 1};

    if (!pp_analytic_has_tied_copy(in))
        return;
    if (pp_analytic_crosses(in, in->rank_of[0], in->rank_of[in->stages - 1]))
        group = (struct pp_device_group){.members = 2, .per_node = 1, .nodes = 2};
    costs->tied = PP_NEW(arena, struct pp_cost);
    *costs->tied = pp_analytic_collective(in, PP_AR, group, links, pp_analytic_tied_bytes(in));
}

/* ---- the table ------------------------------------------------------------------------------- */

static enum pp_status check_times(const struct pp_costs *costs, const struct pp_cost_inputs *in,
                                  struct pp_error *err)
{
    for (int kind = 0; kind < PP_OP_KINDS; kind++) {
        const int count = costs->op[kind] == NULL    ? 0
                          : pp_op_kinds[kind].has_mb ? in->stages * in->splits
                                                     : in->stages;
        for (int i = 0; i < count; i++)
            if (!isfinite(costs->op[kind][i].bytes) || !isfinite(costs->op[kind][i].flops) ||
                costs->op[kind][i].ps < 0 || costs->op[kind][i].ps > pp_units_ps(longest_s))
                return pp_error_set(err, PP_EINVAL,
                                    "one %s of stage %d would take more than %g s on a %s: check "
                                    "the sizes of model, --mbs and --seq",
                                    pp_op_kinds[kind].text,
                                    costs->splits > 0 ? i / (count / in->stages) : i, longest_s,
                                    in->cluster->device.name);
    }
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        for (int s = 0; costs->purpose[purpose] && s < in->stages; s++)
            if (!(costs->purpose[purpose][s].ps <= pp_units_ps(longest_s)))
                return pp_error_set(err, PP_EINVAL,
                                    "one %s.%s of stage %d would take more than %g s",
                                    pp_op_kinds[pp_purposes[purpose].kind].text,
                                    pp_purposes[purpose].text, s, longest_s);
    return PP_OK;
}

static struct pp_costs *allocate(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    static const enum pp_op_kind per_split[] = {PP_F, PP_B, PP_I, PP_W, PP_R},
                                 per_stage[] = {PP_U, PP_AG, PP_RS, PP_AR, PP_BC};
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);

    *costs = (struct pp_costs){
        .stages = in->stages,
        .splits = in->splits,
        .granules = in->granules,
        .ranks = in->layout.pp,
        .sync_ranks = in->layout.dp * in->pipelines,
        .other_bytes = pp_analytic_other_bytes(in),
        .fragment_frac = pp_cost_framework(in)->fragment_frac,
        .stuck_frac = pp_cost_framework(in)->stuck_frac,
        .capacity_bytes =
            in->cluster->device.memory_bytes * pp_state_usable(&in->state, PP_TIER_DEVICE),
        .origin = "analytic",
        .source = pp_arena_printf(arena, "roofline of %s; %s", in->cluster->device.title,
                                  in->cluster->device.source),
    };
    for (size_t i = 0; i < PP_COUNT(per_split); i++)
        costs->op[per_split[i]] = PP_ARRAY(arena, struct pp_cost, in->stages * in->splits);
    for (size_t i = 0; i < PP_COUNT(per_stage); i++)
        costs->op[per_stage[i]] = PP_ARRAY(arena, struct pp_cost, in->stages);
    costs->ring_alpha_ps = PP_ARRAY(arena, int64_t, in->stages);
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, in->stages);
    return costs;
}

enum pp_status pp_costs_analytic(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                 struct pp_costs **costs, struct pp_error *err)
{
    PP_TRY(pp_analytic_check(in, err));
    PP_TRY(pp_analytic_check_in_place(in, err));
    struct pp_costs *c = allocate(arena, in);
    const double *recompute = pp_recompute_fracs(arena, in);
    const struct pp_sum_links *sums = pp_analytic_sum_links(arena, in);

    for (int split = 0; split < in->splits; split++)
        pp_analytic_fill_split(in, recompute, split, c);
    fill_sync(in, sums, c);
    pp_analytic_fill_gathers(arena, in, sums, c);
    fill_tied(arena, in, &sums[in->stages].links, c);
    pp_analytic_fill_links(arena, in, c);
    pp_analytic_add_exchanges(in, c);
    for (int s = 0; s < in->stages; s++)
        fill_memory(in, recompute, s, &c->memory[s]);
    pp_analytic_fill_tiers(arena, in, c);
    pp_analytic_slow_backward(in, c);
    PP_TRY(check_times(c, in, err));
    *costs = c;
    return PP_OK;
}
