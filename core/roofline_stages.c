/* Compute of stages: layers, what is recomputed of them, and the host that launches their kernels.
 */
#include "core/roofline_parts.h"
#include "core/units.h"

#include <math.h>

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

    if (pp_roofline_has_fused_experts(in)) /* a graph launches them all */
        return pass->s;
    return fmax(host_s, pass->s + f->host_frac * host_s);
}

/* Collectives of a block in one pass that the host launches. */
static int collectives(const struct pp_cost_inputs *in, enum pp_pass pass)
{
    return in->layout.tp > 1 && pass != PP_PASS_W ? (in->is_tp_only ? 2 : 4) : 0;
}

/* One layer in one pass. */
static struct sum layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                            struct pp_work work, enum pp_pass pass)
{
    const struct pp_compute compute = pp_roofline_layer(in, kind, work, pass);
    const double tp_s = pp_roofline_shown_tp_s(in, kind, work, pass, compute.matrix_s);
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

/* Modules once more. Keys and values of the other context-parallel devices are not kept beside the
 * attention, and half of a block's exchanges are those of its MLP. */
static struct sum modules_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                              struct pp_work work)
{
    const unsigned again = pp_roofline_again(in), others = again & ~(unsigned)PP_AGAIN_CORE;
    const bool has_core = again & PP_AGAIN_CORE,
               has_mlp = again & PP_AGAIN_MLP && kind == PP_LAYER_BLOCK;
    const struct pp_compute compute = pp_roofline_modules(in, kind, work, again);
    const double cp_s = has_core ? pp_roofline_cp_s(in, work, PP_PASS_F) : 0,
                 all_tp_s = has_mlp ? pp_roofline_tp_s(in, kind, work, PP_PASS_F) / 2 : 0,
                 tp_s = all_tp_s - fmin(in->tp_overlap_frac * all_tp_s, compute.matrix_s);

    return (struct sum){
        .s = compute.s + tp_s + cp_s,
        .tp_s = tp_s,
        .cp_s = cp_s,
        .flops = (has_core ? attention_flops(in) : 0) +
                 pp_roofline_modules(in, kind, work, others).flops,
        .bytes = compute.bytes,
        .launches = compute.launches,
    };
}

/* What selective recomputation computes again of a block: modules, or as PyTorch does, nearly
 * everything but the attention. PyTorch keeps what was scattered (torchtitan, parallelize_llama.py)
 * and gathers again, which is half of the exchanges of a forward with sequence parallelism. */
static struct sum selected_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                               struct pp_work work)
{
    if (!pp_roofline_is_per_op(in))
        return modules_sum(in, kind, work);
    const struct pp_compute selected = pp_roofline_selected(in, kind, work);
    const double all_tp_s = in->is_tp_only ? 0 : pp_roofline_tp_s(in, kind, work, PP_PASS_F) / 2;
    const double tp_s = all_tp_s - fmin(in->tp_overlap_frac * all_tp_s, selected.matrix_s);
    return (struct sum){.s = selected.s + tp_s,
                        .tp_s = tp_s,
                        .flops = selected.flops,
                        .bytes = selected.bytes,
                        .launches = selected.launches};
}

/* A whole forward once more, or up to the last tensor that the backward needs: then without the
 * last exchange, of the output. */
static struct sum again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                            struct pp_work work)
{
    struct sum sum = layer_sum(in, kind, work, PP_PASS_F);
    const struct pp_compute all = pp_roofline_layer(in, kind, work, PP_PASS_F),
                            again = pp_roofline_whole_again(in, kind, work);
    const int exchanges = collectives(in, PP_PASS_F);

    if (again.launches == all.launches)
        return sum;
    const double end_tp_s = exchanges > 0 ? sum.tp_s / exchanges : 0;
    sum.s -= all.s - again.s + end_tp_s;
    sum.tp_s -= end_tp_s;
    sum.flops -= all.flops - again.flops;
    sum.bytes -= all.bytes - again.bytes;
    sum.launches -= all.launches - again.launches + (exchanges > 0);
    return sum;
}

/* Every kind of layer over one split, of blocks with full attention and, where the model has them,
 * those with a window: computed once, then only added up. */
struct kinds {
    struct sum sum[PP_LAYER_KINDS][PP_PASSES];
    struct sum again[PP_LAYER_KINDS]; /* what R computes of a block that is recomputed */
};
struct layers {
    struct kinds full, near;
    double gap_s; /* of a stage's F, and of its backward */
    struct pp_work work;
};

static const enum pp_layer_kind blocks[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};

static bool occurs(const struct pp_model *model, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_MTP)
        return model->mtp > 0;
    return kind != PP_LAYER_MOE || model->experts.count > 0;
}

static struct kinds kinds_of(const struct pp_cost_inputs *in, struct pp_work work)
{
    struct kinds kinds = {0};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        for (int pass = 0; pass < PP_PASSES && occurs(in->model, (enum pp_layer_kind)kind); pass++)
            kinds.sum[kind][pass] =
                layer_sum(in, (enum pp_layer_kind)kind, work, (enum pp_pass)pass);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!occurs(in->model, blocks[i]))
            continue;
        else if (in->recompute == PP_RECOMPUTE_SELECTIVE)
            kinds.again[blocks[i]] = selected_sum(in, blocks[i], work);
        else if (in->recompute != PP_RECOMPUTE_NONE)
            kinds.again[blocks[i]] = again_sum(in, blocks[i], work);
    return kinds;
}

static struct layers layers_of(const struct pp_cost_inputs *in, int split)
{
    const struct pp_work work = pp_roofline_work(in, split);
    const double gap_s = pp_roofline_framework(in)->op_gap_s / in->splits;
    const bool has_gap = in->stages > 1 && !pp_roofline_has_fused_experts(in);
    struct layers layers = {.full = kinds_of(in, work), .gap_s = has_gap ? gap_s : 0, .work = work};

    if (in->model->window.keys > 0)
        layers.near = kinds_of(in, pp_roofline_near_work(in, split));
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
        if (has_ends || (kind != PP_LAYER_EMBEDDING && kind != PP_LAYER_HEAD)) {
            add_layers(&sum, &layers->full.sum[kind][pass], held.count[kind] - held.windowed[kind]);
            add_layers(&sum, &layers->near.sum[kind][pass], held.windowed[kind]);
        }
    const double vocab_s =
        pp_roofline_vocab_s(in, layers->work, pass,
                            held.count[PP_LAYER_BLOCK] * layers->full.sum[PP_LAYER_BLOCK][pass].s);
    sum.s += vocab_s;
    sum.tp_s += vocab_s;
    return sum;
}

static double kind_s(const struct pp_cost_inputs *in, const struct kinds *kinds,
                     enum pp_layer_kind kind)
{
    const bool is_again = in->recompute != PP_RECOMPUTE_STAGE;
    double s = is_again ? with_host_s(in, &kinds->again[kind]) : 0;

    for (int pass = 0; pass < PP_PASSES; pass++)
        s += with_host_s(in, &kinds->sum[kind][pass]);
    return s;
}

double pp_roofline_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_model *m = in->model;
    const struct layers layers = layers_of(in, 0);
    const double near_frac = (double)pp_model_windowed_blocks(m, 0, m->layers) / m->layers;

    if (near_frac == 0 || (kind != PP_LAYER_BLOCK && kind != PP_LAYER_MOE))
        return kind_s(in, &layers.full, kind);
    return (1 - near_frac) * kind_s(in, &layers.full, kind) +
           near_frac * kind_s(in, &layers.near, kind);
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

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        const double windowed = held.windowed[blocks[i]];
        add_layers(&sum, &layers->full.again[blocks[i]], frac * (held.count[blocks[i]] - windowed));
        add_layers(&sum, &layers->near.again[blocks[i]], frac * windowed);
    }
    return sum;
}

/* The host launches a backward, recomputation included, as one: what it costs is spread over the
 * parts as the device's time is. */
static void add_host(const struct pp_cost_inputs *in, double gap_s, struct sum *part[], int parts)
{
    struct sum all = {0};

    for (int i = 0; i < parts; i++)
        add_layers(&all, part[i], 1);
    if (all.s <= 0)
        return;
    const double stretch = with_host_s(in, &all) / all.s;
    for (int i = 0; i < parts; i++)
        part[i]->s *= stretch;
    part[0]->s += gap_s;
}

void pp_roofline_fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                            struct pp_costs *costs)
{
    const struct layers layers = layers_of(in, split);

    for (int s = 0; s < in->stages; s++) {
        const int at = s * in->splits + split;
        struct sum f = stage_sum(in, &layers, s, PP_PASS_F),
                   i = stage_sum(in, &layers, s, PP_PASS_I),
                   w = stage_sum(in, &layers, s, PP_PASS_W),
                   r = recompute_sum(in, &layers, s, recompute[s]);
        add_host(in, layers.gap_s, (struct sum *[]){&f}, 1);
        add_host(in, layers.gap_s, (struct sum *[]){&i, &w, &r}, 3);
        costs->op[PP_F][at] = cost_of(f);
        costs->op[PP_I][at] = cost_of(i);
        costs->op[PP_W][at] = cost_of(w);
        costs->op[PP_B][at] = both(costs->op[PP_I][at], costs->op[PP_W][at]);
        costs->op[PP_R][at] = cost_of(r);
    }
}
