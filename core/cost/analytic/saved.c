/* Memory that layers keep for their backward, and memory that lives only while one op runs.
 * Formulas and sources: docs/costs-memory.md, "Memory". */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Values per token in the training precision, as widths. `whole` lie between the matrices: a device
 * holds 1/tp of the tokens with sequence parallelism, otherwise all. `cut` lie between a column-
 * and a row-parallel matrix: a device always holds 1/tp of the width. */
struct widths {
    double whole, cut;
    double whole_byte, cut_byte; /* values of one byte: masks, operands in fp8 */
};

struct sizes {
    double tokens;      /* of one whole micro-batch on one device */
    double value_bytes; /* of one value */
    double share;       /* share of `whole` on this device */
    double tp;
    double h, q, kv, out, ffn; /* widths: queries, keys/values on average, output of attention */
    double latent;             /* narrow vectors of latent attention, before their norms */
    double normed;             /* narrow vectors of latent attention, after their norms */
    double routed;             /* copies of hidden vectors that experts process */
    double fused;              /* part of ffn after an activation that is no kernel of its own */
    int fan;                   /* matrices that feed the activation function */
};

static void set_experts(const struct pp_cost_inputs *in, struct sizes *z)
{
    const struct pp_experts *e = &in->model->experts;
    const double copies = e->top_k * (in->capacity_factor > 0 ? in->capacity_factor : 1);

    z->ffn = copies * e->ffn + e->shared_ffn;
    z->routed = copies * pp_layout_etp(&in->layout) * z->h;
    z->fused = pp_cost_has_fused_experts(in) ? copies * e->ffn : 0;
}

static void set_latent(const struct pp_model *m, struct sizes *z)
{
    z->kv = pp_model_attention_width(m);
    z->out = (double)m->heads * m->latent.value_dim;
    z->latent = m->latent.q_rank + m->latent.kv_rank + m->latent.rope_dim;
    z->normed = m->latent.q_rank + m->latent.kv_rank;
}

static struct sizes sizes_of(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp;

    struct sizes z = {
        .tokens = (double)in->layout.mbs * in->layout.seq / in->layout.cp,
        .value_bytes = pp_dtype_bytes(&in->cluster->device),
        .share = in->is_tp_only ? 1 : 1 / tp,
        .tp = tp,
        .h = m->hidden,
        .q = (double)m->heads * m->head_dim,
        .kv = (double)m->kv_heads * m->head_dim,
        .out = (double)m->heads * m->head_dim,
        .ffn = m->ffn,
        .fan = m->is_gated ? 2 : 1,
    };

    if (m->latent.kv_rank > 0)
        set_latent(m, &z);
    if (kind == PP_LAYER_MOE)
        set_experts(in, &z);
    return z;
}

static double bytes_of(const struct sizes *z, struct widths w)
{
    return z->tokens * (z->value_bytes * (w.whole * z->share + w.cut / z->tp) +
                        w.whole_byte * z->share + w.cut_byte / z->tp);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Is true if inputs of matrices are saved in fp8, as in Transformer Engine
 * (transformer_engine/pytorch/module/linear.py, layernorm_linear.py). Others are in 16 bits. */
static bool saves_fp8(const struct pp_cost_inputs *in)
{
    return in->cluster->device.precision == PP_PRECISION_FP8 && pp_cost_framework(in)->saves_fp8;
}

static double again_if(unsigned modules, unsigned module, double values)
{
    return modules & module ? 0 : values;
}

/* Returns the saved widths. Korthikanti et al. 2022, section 4.1: 10 whole and 24 cut of 34 bytes
 * for GPT; less those of modules that are computed again. */
static struct widths saved_widths(const struct pp_cost_inputs *in, const struct sizes *z,
                                  unsigned again)
{
    const bool is_apart = in->model->is_gated && pp_cost_framework(in)->is_gate_unfused;
    const unsigned mlp = z->routed > 0 ? PP_AGAIN_MOE : PP_AGAIN_MLP, act = PP_AGAIN_ACT | mlp,
                   wide = z->latent > 0 ? PP_AGAIN_LATENT : 0;
    /* inputs of matrices: of qkv; of the MLP, which a router needs in 16 bits */
    const double attention = again_if(again, PP_AGAIN_NORM, z->h),
                 feed_forward = again_if(again, PP_AGAIN_NORM, z->h),
                 narrow = again_if(again, wide, z->normed),
                 last = again_if(again, mlp, z->fused) + again_if(again, act, z->ffn - z->fused),
                 routed = again_if(again, mlp, z->routed);
    struct widths w = {
        .whole = 2 * z->h /* inputs of two norms */
                 + z->latent,
        .cut = again_if(again, wide, z->q + 2 * z->kv) /* queries, keys, values */
               + z->out                                /* of attention */
               + again_if(again, mlp, z->fan * z->ffn) /* of the activation function */
               + again_if(again, act, is_apart * (z->ffn - z->fused)), /* silu(gate) */
        .whole_byte = pp_cost_has_dropout(in) ? 2 * z->h : 0,
    };

    if (!saves_fp8(in)) {
        w.whole += attention + feed_forward + narrow;
        w.cut += last + routed;
        return w;
    }
    w.whole += z->routed > 0 ? feed_forward : 0;
    w.whole_byte += attention + (z->routed > 0 ? 0 : feed_forward) + narrow;
    w.cut_byte = z->out /* the projection's own copy */ + last + routed;
    return w;
}

/* Returns the widths that a weight gradient needs: inputs of the matrices and gradients of their
 * outputs (Qi et al. 2024, table 1: 32 of 34 s b h). */
static struct widths matrix_widths(const struct pp_cost_inputs *in, const struct sizes *z)
{
    const struct widths w = {
        .whole = 2 * z->h + 2 * z->h + z->latent + z->normed,
        .cut = z->out + z->ffn + z->q + 2 * z->kv + z->fan * z->ffn + 2 * z->routed,
    };

    return saves_fp8(in) ? (struct widths){.whole_byte = w.whole, .cut_byte = w.cut} : w;
}

/* Returns the widths that PyTorch's selective checkpointing per operation keeps: the block's input,
 * the output of attention and of every other matrix product. */
static struct widths per_op_widths(const struct pp_cost_inputs *in, const struct sizes *z)
{
    if (in->model->is_gated) /* products in order: q k v o gate up down */
        return (struct widths){.whole = z->h + z->h, .cut = z->q + z->kv + z->ffn + z->q};
    return (struct widths){.whole = z->h, .cut = z->q + 2 * z->kv + z->ffn + z->q};
}

/* Returns the scores of one block. Saved are the softmax output and, with dropout, its output and
 * mask (5 a s^2 b bytes in 16 bits). */
static double score_values(const struct pp_cost_inputs *in, const struct sizes *z)
{
    return in->cluster->device.is_attention_unfused
               ? z->tokens * in->layout.seq * in->model->heads / z->tp
               : 0;
}

static double scores_bytes(const struct pp_cost_inputs *in, const struct sizes *z)
{
    return score_values(in, z) *
           (pp_cost_has_dropout(in) ? 2 * z->value_bytes + 1 : z->value_bytes);
}

static double block_bytes(const struct pp_cost_inputs *in, const struct sizes *z)
{
    return bytes_of(z, saved_widths(in, z, 0)) + scores_bytes(in, z);
}

/* Returns the bytes that a recomputed block keeps until its recomputation. */
static double kept_bytes(const struct pp_cost_inputs *in, const struct sizes *z)
{
    if (in->recompute != PP_RECOMPUTE_SELECTIVE)
        return bytes_of(z, (struct widths){.whole = z->h});
    if (pp_analytic_is_per_op(in))
        return bytes_of(z, per_op_widths(in, z));
    const unsigned again = pp_analytic_again(in);
    return bytes_of(z, saved_widths(in, z, again)) +
           again_if(again, PP_AGAIN_CORE, scores_bytes(in, z));
}

double pp_analytic_kept_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct sizes z = sizes_of(in, kind);
    const double full = block_bytes(in, &z);

    return in->recompute == PP_RECOMPUTE_NONE ? full : fmin(full, kept_bytes(in, &z));
}

/* Returns the gradients alive at the peak of a block's backward: those of MLP or scores, and of the
 * residual stream. With sequence parallelism also the gathered input of a weight gradient. */
static double block_backward_bytes(const struct pp_cost_inputs *in, const struct sizes *z)
{
    const double mlp = bytes_of(z, (struct widths){.cut = (z->fan + 1) * z->ffn + z->routed}),
                 attention = bytes_of(z, (struct widths){.cut = z->q + 2 * z->kv}) +
                             2 * z->value_bytes * score_values(in, z),
                 ring = in->layout.cp > 1 ? bytes_of(z, (struct widths){.cut = 4 * z->kv}) : 0;
    const bool is_gathered = !in->is_tp_only && in->layout.tp > 1;

    return fmax(mlp, attention + ring) + bytes_of(z, (struct widths){.whole = z->h}) +
           (is_gathered ? z->tokens * z->value_bytes * z->h : 0);
}

/* ---- embedding, head ------------------------------------------------------------------------- */

static double logits(const struct pp_cost_inputs *in, const struct sizes *z)
{
    return z->tokens * in->model->vocab / z->tp;
}

enum { LOGIT_BYTES = 4, TOKEN_BYTES = 4 };

double pp_analytic_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct sizes z = sizes_of(in, kind);

    if (kind == PP_LAYER_BLOCK || kind == PP_LAYER_MOE)
        return block_bytes(in, &z);
    if (kind == PP_LAYER_MTP) /* the merging matrix' inputs, a block, the head once more */
        return bytes_of(&z, (struct widths){.whole = 4 * z.h}) +
               pp_analytic_saved_bytes(in, pp_model_last_kind(in->model)) +
               pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
    if (kind == PP_LAYER_HEAD) /* Korthikanti et al. 2022, section 4.3: 4 s b h (1 + V/h) / t */
        return bytes_of(&z, (struct widths){.whole = 2 * z.h}) + LOGIT_BYTES * logits(in, &z);
    /* token numbers and, with dropout, a mask */
    return z.tokens * TOKEN_BYTES +
           (pp_cost_has_dropout(in) ? bytes_of(&z, (struct widths){.whole_byte = z.h}) : 0);
}

/* Returns the bytes of the logits' copies at the peak of the loss, without the saved one. */
static double loss_bytes(const struct pp_cost_inputs *in, const struct sizes *z)
{
    const double all = pp_cost_framework(in)->loss_bytes;

    return logits(in, z) * fmax(z->value_bytes > 2 ? z->value_bytes : 0, all - LOGIT_BYTES);
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Returns the bytes that a head saves; 0 for a shared one, whose two parts follow one another. */
static double head_bytes(const struct pp_cost_inputs *in, int stage)
{
    return in->head == PP_HEAD_PARALLEL ? 0
                                        : pp_analytic_end_share(in, PP_LAYER_HEAD, stage) *
                                              pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
}

static double ends_bytes(const struct pp_cost_inputs *in, const struct sizes *z, int stage)
{
    const bool keeps_output = pp_cost_framework(in)->keeps_output && stage < in->stages - 1;
    double bytes = keeps_output ? bytes_of(z, (struct widths){.whole = z->h}) : 0;

    bytes += pp_analytic_end_share(in, PP_LAYER_EMBEDDING, stage) *
             pp_analytic_saved_bytes(in, PP_LAYER_EMBEDDING);
    if (stage == in->stages - 1 && in->model->mtp > 0)
        bytes += in->model->mtp * pp_analytic_saved_bytes(in, PP_LAYER_MTP);
    return bytes + head_bytes(in, stage);
}

/* All blocks of a stage, dense ones and mixtures of experts. */
struct blocks {
    double full, kept;    /* saved; kept by recomputed blocks */
    double again;         /* additional while one block is computed again */
    double until_weights; /* needed by weight gradients */
    double backward;      /* gradients during one block's backward */
};

static struct blocks blocks_of(const struct pp_cost_inputs *in, int stage)
{
    static const enum pp_layer_kind kinds[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    struct blocks sum = {0};

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        const double count = held.count[kinds[i]];
        if (count == 0)
            continue;
        const struct sizes z = sizes_of(in, kinds[i]);
        const double full = block_bytes(in, &z), kept = fmin(full, kept_bytes(in, &z));
        sum.full += count * full;
        sum.kept += count * kept;
        sum.again = fmax(sum.again, full - kept);
        sum.until_weights += count * bytes_of(&z, matrix_widths(in, &z));
        sum.backward = fmax(sum.backward, block_backward_bytes(in, &z));
    }
    return sum;
}

/* Recomputed blocks keep little. Only one block's whole activations exist at a time. */
static void fill_saved(const struct pp_cost_inputs *in, const struct sizes *z,
                       const struct blocks *blocks, double frac, int stage,
                       struct pp_stage_memory *memory)
{
    const double until_weights = blocks->until_weights + head_bytes(in, stage);

    memory->checkpoint_bytes =
        ends_bytes(in, z, stage) + frac * blocks->kept + (1 - frac) * blocks->full;
    memory->saved_bytes = memory->checkpoint_bytes + (frac > 0 ? blocks->again : 0);
    memory->weight_grad_frac =
        memory->saved_bytes > 0 ? fmin(1, until_weights / memory->saved_bytes) : 0;
}

/* Backward passes through head and blocks one after the other. A shared head has one more
 * micro-batch in flight while all ranks work on it (Yeung et al. 2024, section 5). */
static void fill_work(const struct pp_cost_inputs *in, const struct sizes *z,
                      const struct blocks *blocks, int stage, struct pp_stage_memory *memory)
{
    const struct pp_model *m = in->model;
    const double share = pp_analytic_end_share(in, PP_LAYER_HEAD, stage),
                 loss = share > 0 ? share * loss_bytes(in, z) : 0;

    memory->forward_bytes = loss;
    memory->backward_bytes = fmax(loss, blocks->backward);
    if (in->head == PP_HEAD_PARALLEL && in->stages > 1) {
        const double more =
            memory->checkpoint_bytes + share * pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
        memory->forward_bytes += more;
        memory->backward_bytes += more;
    }
    if (pp_cost_framework(in)->has_dense_embedding_grad)
        memory->dense_grad_bytes = pp_analytic_end_share(in, PP_LAYER_EMBEDDING, stage) *
                                   z->value_bytes * m->vocab * m->hidden / z->tp;
}

void pp_analytic_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory)
{
    const struct sizes z = sizes_of(in, PP_LAYER_BLOCK);
    const struct blocks blocks = blocks_of(in, stage);

    fill_saved(in, &z, &blocks, recompute_frac, stage, memory);
    fill_work(in, &z, &blocks, stage, memory);
}
