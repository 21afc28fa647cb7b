/* Compute of stages: their layers together, and the host that launches their kernels. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>
#include <string.h>

/* Returns the seconds in which the host launches the kernels of a pass. */
static double host_s(const struct pp_cost_inputs *in, const struct pp_layer_sum *pass)
{
    return pp_cost_has_graph(in) ? 0 : pass->launches * pp_cost_framework(in)->kernel_gap_s;
}

/* Returns the time of the device while the host is ahead: part of the launches is exposed. */
static double device_s(const struct pp_cost_inputs *in, const struct pp_layer_sum *pass)
{
    return pass->s + pp_cost_framework(in)->host_frac * host_s(in, pass);
}

static double with_host_s(const struct pp_cost_inputs *in, const struct pp_layer_sum *pass)
{
    return fmax(host_s(in, pass), device_s(in, pass));
}

/* Every kind of layer over one split, computed once and then only added up. Blocks with full
 * attention and blocks with a window are separate kinds. */
struct kinds {
    struct pp_layer_sum sum[PP_LAYER_KINDS][PP_PASSES];
    struct pp_layer_sum again[PP_LAYER_KINDS]; /* recomputation of a block by R */
};
struct layers {
    struct kinds full, near;
    double gap_s; /* host gap of a stage's F, and of its backward */
    struct pp_layer_work work;
};

static const enum pp_layer_kind blocks[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};

static bool occurs(const struct pp_model *model, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_MTP)
        return model->mtp > 0;
    return kind != PP_LAYER_MOE || model->experts.count > 0;
}

static struct kinds kinds_of(const struct pp_cost_inputs *in, struct pp_layer_work work)
{
    struct kinds kinds = {0};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        for (int pass = 0; pass < PP_PASSES && occurs(in->model, (enum pp_layer_kind)kind); pass++)
            kinds.sum[kind][pass] =
                pp_analytic_layer_sum(in, (enum pp_layer_kind)kind, work, (enum pp_pass)pass);
    for (size_t i = 0; i < PP_COUNT(blocks); i++)
        if (occurs(in->model, blocks[i]))
            kinds.again[blocks[i]] = pp_analytic_again_sum(in, blocks[i], work);
    return kinds;
}

static void add_layers(struct pp_layer_sum *sum, const struct pp_layer_sum *layer, double count)
{
    sum->s += count * layer->s;
    sum->tp_s += count * layer->tp_s;
    sum->cp_s += count * layer->cp_s;
    sum->ep_s += count * layer->ep_s;
    sum->flops += count * layer->flops;
    sum->bytes += count * layer->bytes;
    sum->launches += count * layer->launches;
}

/* Takes embedding and head of a part of the vocabulary, for each of the stages that share both. A
 * part has all kernels, and passes over all hidden vectors. */
static void cut_ends(const struct pp_cost_inputs *in, struct pp_layer_work work,
                     struct kinds *kinds)
{
    static const enum pp_layer_kind ends[] = {PP_LAYER_EMBEDDING, PP_LAYER_HEAD};
    struct pp_model part = *in->model;
    struct pp_cost_inputs inputs = *in;

    part.vocab = (part.vocab + in->stages - 1) / in->stages;
    inputs.model = &part;
    for (size_t i = 0; i < PP_COUNT(ends); i++)
        for (int pass = 0; pass < PP_PASSES; pass++) {
            const struct pp_layer_sum one =
                pp_analytic_layer_sum(&inputs, ends[i], work, (enum pp_pass)pass);
            struct pp_layer_sum *sum = &kinds->sum[ends[i]][pass];
            *sum = (struct pp_layer_sum){0};
            add_layers(sum, &one, in->stages);
        }
}

static struct layers layers_of(const struct pp_cost_inputs *in, int split)
{
    const struct pp_layer_work work = pp_analytic_work(in, split);
    const int ops = pp_head_is_shared(in->head) ? 2 : 1; /* F and S, B and T (Yeung et al. 2024) */
    const double gap_s = ops * pp_cost_framework(in)->op_gap_s / in->splits;
    const bool has_gap = in->stages > 1 && !pp_cost_has_fused_experts(in);
    struct layers layers = {.full = kinds_of(in, work), .gap_s = has_gap ? gap_s : 0, .work = work};

    if (in->model->window.keys > 0)
        layers.near = kinds_of(in, pp_analytic_near_work(in, split));
    if (pp_head_is_shared(in->head))
        cut_ends(in, work, &layers.full);
    return layers;
}

static struct pp_layer_sum stage_sum(const struct pp_cost_inputs *in, const struct layers *layers,
                                     const struct pp_stage_layers *held, enum pp_pass pass)
{
    const bool has_ends = in->head != PP_HEAD_IGNORED;
    struct pp_layer_sum sum = {0};

    for (int kind = 0; kind < PP_LAYER_KINDS; kind++)
        if (has_ends || (kind != PP_LAYER_EMBEDDING && kind != PP_LAYER_HEAD)) {
            add_layers(&sum, &layers->full.sum[kind][pass],
                       held->count[kind] - held->windowed[kind]);
            add_layers(&sum, &layers->near.sum[kind][pass], held->windowed[kind]);
        }
    const double vocab_s =
        pp_analytic_vocab_s(in, layers->work, pass,
                            held->count[PP_LAYER_BLOCK] * layers->full.sum[PP_LAYER_BLOCK][pass].s);
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

double pp_analytic_again_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_model *m = in->model;
    const double near_frac = (double)pp_model_windowed_blocks(m, 0, m->layers) / m->layers;
    struct pp_layer_sum sum = pp_analytic_again_sum(in, kind, pp_analytic_work(in, 0));
    double s = with_host_s(in, &sum);

    if (near_frac == 0)
        return s;
    sum = pp_analytic_again_sum(in, kind, pp_analytic_near_work(in, 0));
    return (1 - near_frac) * s + near_frac * with_host_s(in, &sum);
}

double pp_analytic_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_model *m = in->model;
    const struct layers layers = layers_of(in, 0);
    const double near_frac = (double)pp_model_windowed_blocks(m, 0, m->layers) / m->layers;

    if (near_frac == 0 || (kind != PP_LAYER_BLOCK && kind != PP_LAYER_MOE))
        return kind_s(in, &layers.full, kind);
    return (1 - near_frac) * kind_s(in, &layers.full, kind) +
           near_frac * kind_s(in, &layers.near, kind);
}

static struct pp_cost cost_of(struct pp_layer_sum sum)
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

static struct pp_layer_sum recompute_sum(const struct layers *layers,
                                         const struct pp_stage_layers *held, double frac)
{
    struct pp_layer_sum sum = {0};

    for (size_t i = 0; i < PP_COUNT(blocks); i++) {
        const double windowed = held->windowed[blocks[i]];
        add_layers(&sum, &layers->full.again[blocks[i]],
                   frac * (held->count[blocks[i]] - windowed));
        add_layers(&sum, &layers->near.again[blocks[i]], frac * windowed);
    }
    return sum;
}

/* Limits exchanges to the time beyond launches: time that the host covers would remain. */
static void cover_exchanges(const struct pp_cost_inputs *in, struct pp_layer_sum *part)
{
    const double exchanges_s = part->tp_s + part->cp_s + part->ep_s,
                 shown_s = fmax(0, part->s - host_s(in, part));

    if (exchanges_s <= shown_s)
        return;
    part->tp_s *= shown_s / exchanges_s;
    part->cp_s *= shown_s / exchanges_s;
    part->ep_s *= shown_s / exchanges_s;
}

/* Adds the time of the host. It launches a backward, recomputation included, as one, and no part of
 * it is shorter than its launches. If the device takes longer than the launches, its time counts,
 * less the time in which the host gets ahead. A faster device makes no part longer. */
static void add_host(const struct pp_cost_inputs *in, double gap_s, struct pp_layer_sum *part[],
                     int parts)
{
    double all_s = 0, longer_s = 0, shorter_s = 0;

    for (int i = 0; i < parts; i++) {
        const double more_s = device_s(in, part[i]) - host_s(in, part[i]);
        longer_s += fmax(0, more_s);
        shorter_s += fmax(0, -more_s);
        all_s += part[i]->s;
    }
    if (all_s <= 0)
        return;
    const double shown_frac = longer_s > shorter_s ? 1 - shorter_s / longer_s : 0;
    for (int i = 0; i < parts; i++) {
        const double more_s = device_s(in, part[i]) - host_s(in, part[i]);
        part[i]->s = host_s(in, part[i]) + shown_frac * fmax(0, more_s);
        cover_exchanges(in, part[i]);
    }
    part[0]->s += gap_s;
}

static struct pp_layer_sum with_bits(struct pp_layer_sum sum, const struct pp_layer_sum *bits)
{
    add_layers(&sum, bits, 1);
    return sum;
}

/* Costs of F, I, W and R, in this order. */
enum { PARTS = 4 };
static const int part_kinds[PARTS] = {PP_F, PP_I, PP_W, PP_R};

/* Adds the time of the host to a stage's passes. */
static void put_parts(const struct pp_cost_inputs *in, double gap_s,
                      struct pp_layer_sum parts[PARTS], struct pp_cost cost[PARTS])
{
    add_host(in, gap_s, (struct pp_layer_sum *[]){&parts[0]}, 1);
    add_host(in, gap_s, (struct pp_layer_sum *[]){&parts[1], &parts[2], &parts[3]}, 3);
    for (int i = 0; i < PARTS; i++)
        cost[i] = cost_of(parts[i]);
}

/* Adds the kernels that quantise and restore saved values. */
static void add_bits(const struct pp_cost_inputs *in, double gap_s, double recompute_frac,
                     int stage, const struct pp_layer_sum parts[PARTS], struct pp_cost cost[PARTS])
{
    const struct pp_bits_work bits = pp_analytic_bits_work(in, recompute_frac, stage);
    const struct pp_layer_sum *more[PARTS] = {&bits.forward, &bits.input, &bits.weights,
                                              &bits.again};
    struct pp_layer_sum all[PARTS];
    struct pp_cost with[PARTS];

    for (int i = 0; i < PARTS; i++)
        all[i] = with_bits(parts[i], more[i]);
    put_parts(in, gap_s, all, with);
    for (int i = 0; i < PARTS; i++) {
        with[i].bits_ps = with[i].ps > cost[i].ps ? with[i].ps - cost[i].ps : 0;
        cost[i] = with[i];
    }
}

/* Takes the costs of the stage before, which holds the same layers. */
static void copy_stage(int splits, int at, struct pp_costs *costs)
{
    static const int kinds[] = {PP_F, PP_I, PP_W, PP_B, PP_R};

    for (size_t k = 0; k < PP_COUNT(kinds); k++)
        costs->op[kinds[k]][at] = costs->op[kinds[k]][at - splits];
}

/* B is the sum of its rounded parts, so that splitting a backward neither gains nor loses time. */
void pp_analytic_fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                            struct pp_costs *costs)
{
    const struct layers layers = layers_of(in, split);
    struct pp_stage_layers before = {0};

    for (int s = 0; s < in->stages; s++) {
        const int at = s * in->splits + split;
        const struct pp_stage_layers held = pp_analytic_stage_layers(in, s);
        const bool is_alike =
            s > 0 && recompute[s] == recompute[s - 1] && !memcmp(&held, &before, sizeof(held));
        before = held;
        if (is_alike) {
            copy_stage(in->splits, at, costs);
            continue;
        }
        const struct pp_layer_sum parts[PARTS] = {
            stage_sum(in, &layers, &held, PP_PASS_F), stage_sum(in, &layers, &held, PP_PASS_I),
            stage_sum(in, &layers, &held, PP_PASS_W), recompute_sum(&layers, &held, recompute[s])};
        struct pp_layer_sum timed[PARTS];
        struct pp_cost cost[PARTS];
        memcpy(timed, parts, sizeof timed);
        put_parts(in, layers.gap_s, timed, cost);
        if (pp_analytic_has_bits(in))
            add_bits(in, layers.gap_s, recompute[s], s, parts, cost);
        for (int k = 0; k < PARTS; k++)
            costs->op[part_kinds[k]][at] = cost[k];
        costs->op[PP_B][at] = pp_cost_sum(costs->op[PP_I][at], costs->op[PP_W][at]);
    }
}
