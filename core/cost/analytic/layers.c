/* One layer: its passes with their exchanges, and its recomputation. */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Returns the flops of a block's attention products, as Megatron counts them, all devices of the
 * rank. */
static double attention_flops(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;

    return 4.0 * l->mbs * l->seq * pp_model_keys_met(in->model, l->seq, PP_FLOPS_MEGATRON) /
           in->splits * pp_model_attention_width(in->model);
}

static bool has_attention(enum pp_layer_kind kind)
{
    return kind != PP_LAYER_EMBEDDING && kind != PP_LAYER_HEAD;
}

/* Returns the flops of a layer. Weight gradients are the matrices' part of a backward. */
static double layer_flops(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                          enum pp_pass pass)
{
    const struct pp_layout *l = &in->layout;
    const double forward =
        pp_model_layer_flops(in->model, kind, l->mbs, l->seq, PP_FLOPS_MEGATRON) / in->splits;
    const double attention = has_attention(kind) ? attention_flops(in) : 0;
    const double by_pass[PP_PASSES] = {
        [PP_PASS_F] = forward,
        [PP_PASS_I] = kind == PP_LAYER_EMBEDDING ? 0 : forward + attention,
        [PP_PASS_W] = forward - attention,
    };

    return by_pass[pass];
}

/* Returns the number of a block's collectives in one pass, which the host launches. */
static int collectives(const struct pp_cost_inputs *in, enum pp_pass pass)
{
    return in->layout.tp > 1 && pass != PP_PASS_W ? (in->is_tp_only ? 2 : 4) : 0;
}

/* Exchanges of input gradients overlap with the product of the weight gradient, if their matrix has
 * one, and take a share of its time. These are all-reduces; with sequence parallelism, the scatters
 * of a block, whose gathers come before. */
static double async_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, double all_tp_s)
{
    const struct pp_framework *f = pp_cost_framework(in);
    const double share = in->is_tp_only || kind == PP_LAYER_HEAD ? 1 : 0.5;

    if (!f->has_async_grads || all_tp_s <= 0)
        return 0;
    const double matrix_s = pp_analytic_layer(in, kind, work, PP_PASS_W).matrix_s;
    return (1 - f->gather_share_frac) * fmin(share * all_tp_s, matrix_s);
}

/* ---- parts by rows --------------------------------------------------------------------------- */

int pp_analytic_parts(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    return has_attention(kind) && in->layout.tp > 1 && in->tp_split > 1 ? in->tp_split : 1;
}

struct pp_layer_work pp_analytic_part(struct pp_layer_work work, int parts)
{
    work.tokens /= parts;
    return work;
}

static struct pp_compute times(struct pp_compute compute, int parts)
{
    return (struct pp_compute){.s = compute.s * parts,
                               .bytes = compute.bytes * parts,
                               .flops = compute.flops * parts,
                               .matrix_s = compute.matrix_s * parts,
                               .launches = compute.launches * parts};
}

double pp_analytic_split_s(int parts, double compute_s, double exchange_s)
{
    return (parts - 1) * fmax(0, exchange_s - compute_s) + exchange_s;
}

/* Returns the exposed part of the exchanges of a layer in `parts`, each with this work and compute.
 * If asked for, they overlap with products of the same pass; if the framework does so, with weight
 * gradients. What is left of a part runs during the next one. */
static double shown_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                         struct pp_layer_work work, enum pp_pass pass, struct pp_compute compute,
                         int parts)
{
    const double all_tp_s = pp_analytic_tp_s(in, kind, work, pass);
    const double asked_s = fmin(in->tp_overlap_frac * all_tp_s, compute.matrix_s);
    const double left_s =
        all_tp_s - fmax(asked_s, pass == PP_PASS_I ? async_s(in, kind, work, all_tp_s) : 0);

    return pp_analytic_split_s(parts, compute.s, left_s);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* Products of a block of experts, without the multiprocessors that its exchanges keep. */
static struct pp_compute with_exchanges(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                        struct pp_compute compute)
{
    const double slower_s = kind == PP_LAYER_MOE && in->layout.ep > 1
                                ? compute.matrix_s * in->ep_share_frac / (1 - in->ep_share_frac)
                                : 0;

    compute.s += slower_s;
    compute.matrix_s += slower_s;
    return compute;
}

struct pp_layer_sum pp_analytic_layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work, enum pp_pass pass)
{
    const int parts = pp_analytic_parts(in, kind);
    const struct pp_layer_work rows = pp_analytic_part(work, parts);
    const struct pp_compute part =
        with_exchanges(in, kind, pp_analytic_layer(in, kind, rows, pass));
    const struct pp_compute compute = times(part, parts);
    const double tp_s = shown_tp_s(in, kind, rows, pass, part, parts);
    const double cp_s = has_attention(kind) ? pp_analytic_cp_s(in, work, pass) : 0;
    const double all_ep_s = pp_analytic_ep_s(in, kind, work, pass);
    const double ep_s = all_ep_s - fmin(in->ep_overlap_frac * all_ep_s, compute.s);

    return (struct pp_layer_sum){
        .s = compute.s + tp_s + cp_s + ep_s,
        .tp_s = tp_s,
        .cp_s = cp_s,
        .ep_s = ep_s,
        .flops = layer_flops(in, kind, pass),
        .bytes = compute.bytes,
        .launches = compute.launches + parts * collectives(in, pass),
    };
}

/* Exchanges of a repeated part of a layer, in seconds; tp_s: of one part by rows. */
struct exchanges {
    double tp_s, cp_s, ep_s;
};

/* Returns a repeated piece of a block from its compute for one part by rows. Its exchanges overlap
 * as those of the block do. */
static struct pp_layer_sum piece_sum(const struct pp_cost_inputs *in, struct pp_compute part,
                                     int parts, struct exchanges all)
{
    const struct pp_compute piece = times(part, parts);
    const double left_s = all.tp_s - fmin(in->tp_overlap_frac * all.tp_s, part.matrix_s),
                 tp_s = pp_analytic_split_s(parts, part.s, left_s),
                 ep_s = all.ep_s - fmin(in->ep_overlap_frac * all.ep_s, piece.s);

    return (struct pp_layer_sum){
        .s = piece.s + tp_s + all.cp_s + ep_s,
        .tp_s = tp_s,
        .cp_s = all.cp_s,
        .ep_s = ep_s,
        .flops = piece.flops,
        .bytes = piece.bytes,
        .launches = piece.launches,
    };
}

/* Returns the exchanges that modules repeat. Keys and values of other context-parallel devices are
 * sent again. Half of a block's exchanges are the MLP's: a gather and scatter of four, a sum of
 * two. Those of experts are all but the attention's, which are the other half of a block's. */
static struct exchanges modules_exchanges(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work, unsigned again)
{
    const struct pp_layer_work rows = pp_analytic_part(work, pp_analytic_parts(in, kind));
    const double half_s = pp_analytic_tp_s(in, PP_LAYER_BLOCK, rows, PP_PASS_F) / 2;
    struct exchanges all = {0};

    if (again & PP_AGAIN_CORE)
        all.cp_s = pp_analytic_cp_s(in, work, PP_PASS_F);
    if (again & PP_AGAIN_MLP && kind == PP_LAYER_BLOCK)
        all.tp_s = half_s;
    if (again & PP_AGAIN_MOE && kind == PP_LAYER_MOE) {
        all.tp_s = pp_analytic_tp_s(in, kind, rows, PP_PASS_F) - half_s;
        all.ep_s = pp_analytic_ep_s(in, kind, work, PP_PASS_F);
    }
    return all;
}

/* Returns the recomputation of modules. */
static struct pp_layer_sum modules_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                       struct pp_layer_work work)
{
    const unsigned again = pp_analytic_again(in), others = again & ~(unsigned)PP_AGAIN_CORE;
    const bool has_core = again & PP_AGAIN_CORE;
    const int parts = pp_analytic_parts(in, kind);
    const struct pp_layer_work rows = pp_analytic_part(work, parts);
    struct pp_compute part = pp_analytic_modules(in, kind, rows, again);

    part.flops = (has_core ? attention_flops(in) / parts : 0) +
                 pp_analytic_modules(in, kind, rows, others).flops;
    return piece_sum(in, part, parts, modules_exchanges(in, kind, work, again));
}

/* Returns selective recomputation of a block: modules, or as PyTorch does, nearly everything but
 * the attention. With sequence parallelism PyTorch keeps scattered outputs (torchtitan,
 * parallelize.py) and gathers them again, which is half of the exchanges of a forward. Without it,
 * sums are not kept. The sum of the attention's projection is computed again and is half of them,
 * too; nothing needs the sum of the MLP again. */
static struct pp_layer_sum selected_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                        struct pp_layer_work work)
{
    const int parts = pp_analytic_parts(in, kind);
    const struct pp_layer_work rows = pp_analytic_part(work, parts);

    if (!pp_analytic_is_per_op(in))
        return modules_sum(in, kind, work);
    return piece_sum(in, pp_analytic_selected(in, kind, rows), parts,
                     (struct exchanges){.tp_s = pp_analytic_tp_s(in, kind, rows, PP_PASS_F) / 2});
}

/* Returns a repeated forward, whole or up to the last tensor that the backward needs. The latter
 * lacks the last exchange, that of the output. */
static struct pp_layer_sum again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                     struct pp_layer_work work)
{
    struct pp_layer_sum sum = pp_analytic_layer_sum(in, kind, work, PP_PASS_F);
    const int parts = pp_analytic_parts(in, kind);
    const struct pp_layer_work rows = pp_analytic_part(work, parts);
    const struct pp_compute all = times(pp_analytic_layer(in, kind, rows, PP_PASS_F), parts),
                            again = times(pp_analytic_whole_again(in, kind, rows), parts);
    const int exchanges = collectives(in, PP_PASS_F);

    if (again.launches == all.launches)
        return sum;
    const double end_tp_s = exchanges > 0 ? sum.tp_s / exchanges : 0;
    sum.s -= all.s - again.s + end_tp_s;
    sum.tp_s -= end_tp_s;
    sum.flops -= all.flops - again.flops;
    sum.bytes -= all.bytes - again.bytes;
    sum.launches -= all.launches - again.launches + parts * (exchanges > 0);
    return sum;
}

struct pp_layer_sum pp_analytic_again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work)
{
    if (in->recompute == PP_RECOMPUTE_NONE)
        return (struct pp_layer_sum){0};
    return (in->recompute == PP_RECOMPUTE_SELECTIVE ? selected_sum : again_sum)(in, kind, work);
}
