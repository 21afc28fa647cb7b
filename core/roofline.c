#include "core/roofline_parts.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

const char *const pp_recompute_names[] = {"none", "selective", "full", "stage-aware", NULL};
const char *const pp_head_names[] = {"last", "balanced", "ignored", "parallel", NULL};

enum { MAX_ENTRIES = 1 << 20 };      /* of the table of costs */
static const double longest_s = 1e5; /* of one instruction: more is a mistake in the input */

static double recompute_frac(const struct pp_cost_inputs *in, int stage)
{
    const double later = in->stages - 1 - stage;

    if (in->recompute == PP_RECOMPUTE_FULL || in->recompute == PP_RECOMPUTE_SELECTIVE)
        return 1;
    if (in->recompute == PP_RECOMPUTE_NONE || later <= 0)
        return 0;
    /* Merak: stage s of P (from 1) keeps what fits where P - s later micro-batches are in flight:
     * rho_s = 1 - (1 - rho_1) (P - 1) / (P - s), and nothing is recomputed on the last. */
    const double frac = 1 - (1 - in->first_stage_ratio) * (in->stages - 1) / later;
    return fmin(1, fmax(0, frac));
}

double *pp_recompute_fracs(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    double *fracs = PP_ARRAY(arena, double, in->stages);

    for (int s = 0; s < in->stages; s++)
        fracs[s] = recompute_frac(in, s);
    return fracs;
}

double pp_recompute_flops_per_sample(const struct pp_cost_inputs *in, enum pp_flops_rule rule)
{
    const struct pp_model *m = in->model;
    const double seq = in->layout.seq, causal = rule == PP_FLOPS_CAUSAL && m->is_causal ? 0.5 : 1;
    const double core = causal * 4 * seq * seq * pp_model_attention_width(m);
    const bool is_whole = in->recompute != PP_RECOMPUTE_SELECTIVE;
    double flops = 0;

    for (int s = 0; s < in->stages; s++) {
        const struct pp_stage_layers layers = pp_roofline_stage_layers(in, s);
        const double moe = layers.count[PP_LAYER_MOE], dense = layers.count[PP_LAYER_BLOCK];
        double blocks = is_whole ? dense * pp_model_layer_flops(m, PP_LAYER_BLOCK, 1, seq, rule)
                                 : (dense + moe) * core;
        if (is_whole && moe > 0)
            blocks += moe * pp_model_layer_flops(m, PP_LAYER_MOE, 1, seq, rule);
        flops += recompute_frac(in, s) * blocks;
    }
    return flops;
}

/* ---- what cannot be priced ----------------------------------------------------------------- */

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

static enum pp_status check_inputs(const struct pp_cost_inputs *in, struct pp_error *err)
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

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
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

/* ---- compute ------------------------------------------------------------------------------- */

/* Seconds before they are rounded, to be summed over the layers of a stage. */
struct sum {
    double s, tp_s, cp_s, ep_s, flops, bytes;
    double launches;
};

/* Flops of the attention products of one block, counted in full, all devices of the rank. */
static double attention_flops(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;

    return 4.0 * l->mbs * l->seq * l->seq / in->splits * pp_model_attention_width(in->model);
}

static bool has_attention(enum pp_layer_kind kind)
{
    return kind != PP_LAYER_EMBEDDING && kind != PP_LAYER_HEAD;
}

/* Weight gradients are the part of a backward that belongs to the matrices. */
static double layer_flops(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          enum pp_pass pass)
{
    const struct pp_layout *l = &in->layout;
    const double forward =
        pp_model_layer_flops(in->model, kind, l->mbs, l->seq, PP_FLOPS_MEGATRON) / in->splits;
    const double attention = has_attention(kind) ? attention_flops(in) : 0;
    const double by_pass[PP_PASSES] = {
        [PP_PASS_F] = forward,
        [PP_PASS_I] = forward + attention,
        [PP_PASS_W] = forward - attention,
    };

    return by_pass[pass];
}

/* A pass takes as long as the host needs to launch it, or as the device does while the host is
 * ahead of it; a part of the launches shows even then. */
static double with_host_s(const struct pp_cost_inputs *in, const struct sum *pass)
{
    const struct pp_framework *f = pp_roofline_framework(in);
    const double host_s = pass->launches * f->kernel_gap_s;

    return fmax(host_s, pass->s + f->host_frac * host_s);
}

/* Collectives of a block in one pass that the host launches. */
static int collectives(const struct pp_cost_inputs *in, enum pp_pass pass)
{
    return in->layout.tp > 1 && pass != PP_PASS_W ? (in->is_tp_only ? 2 : 4) : 0;
}

/* One layer in one pass. Communication hides behind matrices as far as that was asked for. */
static struct sum layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                            struct pp_work work, enum pp_pass pass)
{
    const struct pp_compute compute = pp_roofline_layer(in, kind, work, pass);
    const double all_tp_s = pp_roofline_tp_s(in, kind, work, pass);
    const double tp_s = all_tp_s - fmin(in->tp_overlap_frac * all_tp_s, compute.matrix_s);
    const double cp_s = has_attention(kind) ? pp_roofline_cp_s(in, work, pass) : 0;
    const double all_ep_s = pp_roofline_ep_s(in, kind, work, pass);
    const double ep_s = all_ep_s - fmin(in->ep_overlap_frac * all_ep_s, compute.s);

    return (struct sum){
        .s = compute.s + tp_s + cp_s + ep_s,
        .tp_s = tp_s,
        .cp_s = cp_s,
        .ep_s = ep_s,
        .flops = layer_flops(in, kind, pass),
        .bytes = compute.bytes,
        .launches = compute.launches + collectives(in, pass),
    };
}

/* The attention between the projections, once more. Keys and values of the other context-parallel
 * devices are not kept either. */
static struct sum core_sum(const struct pp_cost_inputs *in, struct pp_work work)
{
    const struct pp_compute attention = pp_roofline_attention(in, work);
    const double cp_s = pp_roofline_cp_s(in, work, PP_PASS_F);

    return (struct sum){
        .s = attention.s + cp_s,
        .cp_s = cp_s,
        .flops = attention_flops(in),
        .bytes = attention.bytes,
        .launches = attention.launches,
    };
}

/* Every kind of layer in every pass over one split: computed once, then only added up. */
struct layers {
    struct sum sum[PP_LAYER_KINDS][PP_PASSES];
    struct sum again[PP_LAYER_KINDS]; /* what R computes of a block that is recomputed */
    double gap_s;                     /* of a stage's F, and of its backward */
    struct pp_work work;
};

static const enum pp_layer_kind blocks[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};

static bool occurs(const struct pp_model *model, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_MTP)
        return model->mtp > 0;
    return kind != PP_LAYER_MOE || model->experts.count > 0;
}

static struct layers layers_of(const struct pp_cost_inputs *in, int split)
{
    const struct pp_work work = pp_roofline_work(in, split);
    struct layers layers = {.gap_s = pp_roofline_framework(in)->op_gap_s / in->splits,
                            .work = work};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        for (int pass = 0; pass < PP_PASSES && occurs(in->model, (enum pp_layer_kind)kind); pass++)
            layers.sum[kind][pass] =
                layer_sum(in, (enum pp_layer_kind)kind, work, (enum pp_pass)pass);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (in->recompute == PP_RECOMPUTE_SELECTIVE)
            layers.again[blocks[i]] = core_sum(in, work);
        else if (in->recompute != PP_RECOMPUTE_NONE)
            layers.again[blocks[i]] = layers.sum[blocks[i]][PP_PASS_F];
    return layers;
}

static void add_layers(struct sum *sum, const struct sum *layer, double count)
{
    sum->s += count * layer->s;
    sum->tp_s += count * layer->tp_s;
    sum->cp_s += count * layer->cp_s;
    sum->ep_s += count * layer->ep_s;
    sum->flops += count * layer->flops;
    sum->bytes += count * layer->bytes;
    sum->launches += count * layer->launches;
}

static struct sum stage_sum(const struct pp_cost_inputs *in, const struct layers *layers, int stage,
                            enum pp_pass pass)
{
    const bool has_ends = in->head != PP_HEAD_IGNORED;
    const struct pp_stage_layers held = pp_roofline_stage_layers(in, stage);
    struct sum sum = {0};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        if (has_ends || (kind != PP_LAYER_EMBEDDING && kind != PP_LAYER_HEAD))
            add_layers(&sum, &layers->sum[kind][pass], held.count[kind]);
    sum.s = with_host_s(in, &sum) + (pass == PP_PASS_W ? 0 : layers->gap_s);
    const double vocab_s = pp_roofline_vocab_s(
        in, layers->work, pass, held.count[PP_LAYER_BLOCK] * layers->sum[PP_LAYER_BLOCK][pass].s);
    sum.s += vocab_s;
    sum.tp_s += vocab_s;
    return sum;
}

double pp_roofline_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct layers layers = layers_of(in, 0);
    const bool is_again = in->recompute != PP_RECOMPUTE_STAGE;
    double s = is_again ? with_host_s(in, &layers.again[kind]) : 0;

    for (int pass = 0; pass < PP_PASSES; pass++)
        s += with_host_s(in, &layers.sum[kind][pass]);
    return s;
}

static struct pp_cost cost_of(struct sum sum)
{
    return (struct pp_cost){
        .ps = pp_units_ps(sum.s),
        .tp_ps = pp_units_ps(sum.tp_s),
        .cp_ps = pp_units_ps(sum.cp_s),
        .ep_ps = pp_units_ps(sum.ep_s),
        .flops = sum.flops,
        .bytes = sum.bytes,
    };
}

/* B is the sum of its rounded parts, so that splitting a backward neither gains nor loses time. */
static struct pp_cost both(struct pp_cost i, struct pp_cost w)
{
    return (struct pp_cost){
        .ps = i.ps + w.ps,
        .tp_ps = i.tp_ps + w.tp_ps,
        .cp_ps = i.cp_ps + w.cp_ps,
        .ep_ps = i.ep_ps + w.ep_ps,
        .gather_ps = i.gather_ps + w.gather_ps,
        .flops = i.flops + w.flops,
        .bytes = i.bytes + w.bytes,
    };
}

static struct sum recompute_sum(const struct pp_cost_inputs *in, const struct layers *layers,
                                int stage, double frac)
{
    const struct pp_stage_layers held = pp_roofline_stage_layers(in, stage);
    struct sum sum = {0};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        add_layers(&sum, &layers->again[blocks[i]], frac * held.count[blocks[i]]);
    sum.s = with_host_s(in, &sum);
    return sum;
}

static void fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                       struct pp_costs *costs)
{
    const struct layers layers = layers_of(in, split);

    for (int s = 0; s < in->stages; s++) {
        const int at = s * in->splits + split;
        costs->op[PP_F][at] = cost_of(stage_sum(in, &layers, s, PP_PASS_F));
        costs->op[PP_I][at] = cost_of(stage_sum(in, &layers, s, PP_PASS_I));
        costs->op[PP_W][at] = cost_of(stage_sum(in, &layers, s, PP_PASS_W));
        costs->op[PP_B][at] = both(costs->op[PP_I][at], costs->op[PP_W][at]);
        costs->op[PP_R][at] = cost_of(recompute_sum(in, &layers, s, recompute[s]));
    }
}

/* ---- collectives, messages ------------------------------------------------------------------ */

static struct pp_cost transfer(double seconds, double bytes)
{
    return (struct pp_cost){.ps = pp_units_ps(seconds), .bytes = bytes};
}

static struct pp_cost collective(struct pp_collective_time time, double bytes)
{
    return (struct pp_cost){.ps = pp_units_ps(pp_collective_s(time)),
                            .latency_ps = pp_units_ps(time.latency_s),
                            .bytes = bytes};
}

static void fill_spread(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                        const struct pp_state_sums *state, int stage, struct pp_costs *costs)
{
    const int layers = in->blocks_per_stage[stage] > 0 ? in->blocks_per_stage[stage] : 1;
    struct pp_cost *gather = &costs->op[PP_AG][stage];

    *gather = collective(pp_roofline_spread(in, links, state->scatter, stage, state->params_bytes),
                         state->params_bytes);
    if (pp_roofline_framework(in)->has_param_broadcasts)
        gather->latency_ps = 0; /* buckets do not cut it further */
    if (in->is_dp_overlapped && pp_roofline_framework(in)->has_params_ahead)
        *gather = pp_roofline_spread_ahead(*gather, costs->op[PP_F][stage * in->splits].ps, layers);
}

static void fill_sums(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                      int stage, struct pp_costs *costs)
{
    const struct pp_state_sums state = pp_roofline_state_sums(in, stage);
    const struct {
        enum pp_op_kind kind;
        struct pp_device_group group;
        double bytes;
    } sums[] = {{PP_AR, state.sum, state.grads_bytes},
                {PP_RS, state.scatter, state.grads_bytes},
                {PP_BC, state.scatter, state.params_bytes}};

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        costs->op[sums[i].kind][stage] = collective(
            pp_collective_time(sums[i].kind, in->algorithm, sums[i].group, links, sums[i].bytes),
            sums[i].bytes);
    fill_spread(in, links, &state, stage, costs);
    if (state.rest.members > 1) {
        const struct pp_cost rest = collective(
            pp_collective_time(PP_AR, in->algorithm, state.rest, links, state.rest_bytes),
            state.rest_bytes);
        costs->op[PP_RS][stage].ps += rest.ps;
        costs->op[PP_RS][stage].latency_ps += rest.latency_ps;
    }
    pp_roofline_add_expert_sums(in, links, stage, costs);
    costs->ring_alpha_ps[stage] =
        pp_units_ps(pp_roofline_ring_step_s(in, state.sum, state.grads_bytes));
}

static void fill_sync(const struct pp_cost_inputs *in, const struct pp_sum_links *links,
                      struct pp_costs *costs)
{
    const struct pp_device *device = &in->cluster->device;

    for (int s = 0; s < in->stages; s++) {
        const double update_bytes = pp_roofline_update_bytes(in, s);
        fill_sums(in, &links[s].links, s, costs);
        pp_roofline_add_gathers(in, &links[s].links, s, costs);
        costs->op[PP_U][s] =
            transfer(pp_roofline_framework(in)->step_gap_s +
                         (in->blocks_per_stage[s] + 1) * device->launch_s +
                         update_bytes / (device->memory_bytes_per_s * device->memory_eta),
                     update_bytes);
    }
}

static void fill_tied(struct pp_arena *arena, const struct pp_cost_inputs *in,
                      const struct pp_device_links *links, struct pp_costs *costs)
{
    struct pp_device_group group = {.members = 2, .per_node = 2, .nodes = 1};

    if (!pp_roofline_has_tied_copy(in))
        return;
    if (pp_roofline_crosses(in, in->rank_of[0], in->rank_of[in->stages - 1]))
        group = (struct pp_device_group){.members = 2, .per_node = 1, .nodes = 2};
    const double bytes = pp_roofline_tied_bytes(in);
    costs->tied = PP_NEW(arena, struct pp_cost);
    *costs->tied = collective(pp_collective_time(PP_AR, in->algorithm, group, links, bytes), bytes);
}

/* ---- the table ------------------------------------------------------------------------------ */

static enum pp_status check_times(const struct pp_costs *costs, const struct pp_cost_inputs *in,
                                  struct pp_error *err)
{
    for (int kind = 0; kind < PP_OP_KINDS; kind++) {
        const int count = costs->op[kind] == NULL                  ? 0
                          : pp_op_is_compute(kind) && kind != PP_U ? in->stages * in->splits
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
        .other_bytes = pp_roofline_other_bytes(in),
        .fragment_frac = pp_roofline_framework(in)->fragment_frac,
        .origin = "analytic",
        .source = pp_arena_printf(arena, "roofline of %s; %s", in->cluster->device.title,
                                  in->cluster->device.source),
    };
    for (size_t i = 0; i < sizeof per_split / sizeof *per_split; i++)
        costs->op[per_split[i]] = PP_ARRAY(arena, struct pp_cost, in->stages * in->splits);
    for (size_t i = 0; i < sizeof per_stage / sizeof *per_stage; i++)
        costs->op[per_stage[i]] = PP_ARRAY(arena, struct pp_cost, in->stages);
    costs->ring_alpha_ps = PP_ARRAY(arena, int64_t, in->stages);
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, in->stages);
    return costs;
}

enum pp_status pp_costs_analytic(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                 struct pp_costs **costs, struct pp_error *err)
{
    PP_TRY(check_inputs(in, err));
    struct pp_costs *c = allocate(arena, in);
    const double *recompute = pp_recompute_fracs(arena, in);
    const struct pp_sum_links *sums = pp_roofline_sum_links(arena, in);

    for (int split = 0; split < in->splits; split++)
        fill_split(in, recompute, split, c);
    fill_sync(in, sums, c);
    fill_tied(arena, in, &sums[in->stages].links, c);
    pp_roofline_fill_links(arena, in, c);
    for (int s = 0; s < in->stages; s++)
        pp_roofline_memory(in, recompute, s, &c->memory[s]);
    PP_TRY(check_times(c, in, err));
    *costs = c;
    return PP_OK;
}
