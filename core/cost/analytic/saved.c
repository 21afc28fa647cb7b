/* Memory that layers keep for their backward, and memory that lives only while one op runs.
 * Formulas and sources: docs/costs-memory.md, "Memory". */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Returns the bytes that PyTorch's selective checkpointing per operation keeps: the block's input,
 * the output of attention and of every other matrix product. */
static double per_op_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    if (in->model->is_gated) /* products in order: q k v o gate up down */
        return pp_analytic_bytes(z, z->h + z->h, z->q + z->kv + z->ffn + z->q);
    return pp_analytic_bytes(z, z->h, z->q + 2 * z->kv + z->ffn + z->q);
}

static double block_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return pp_analytic_values_bytes(in, z, 0) + pp_analytic_scores_bytes(in, z);
}

/* Returns the bytes that a recomputed block keeps until its recomputation. */
static double kept_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    if (in->recompute != PP_RECOMPUTE_SELECTIVE)
        return pp_analytic_bytes(z, z->h, 0);
    if (pp_analytic_is_per_op(in))
        return per_op_bytes(in, z);
    const unsigned again = pp_analytic_again(in);
    return pp_analytic_values_bytes(in, z, again) +
           (again & PP_AGAIN_CORE ? 0 : pp_analytic_scores_bytes(in, z));
}

double pp_analytic_kept_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, kind);
    const double full = block_bytes(in, &z);

    return in->recompute == PP_RECOMPUTE_NONE ? full : fmin(full, kept_bytes(in, &z));
}

/* Returns the gradients alive at the peak of a block's backward: those of MLP or scores, and of the
 * residual stream. With sequence parallelism also the gathered input of a weight gradient. */
static double block_backward_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double mlp = pp_analytic_bytes(z, 0, (z->fan + 1) * z->ffn + z->routed),
                 attention = pp_analytic_bytes(z, 0, z->q + 2 * z->kv) +
                             2 * z->value_bytes * pp_analytic_scores(in, z),
                 ring = in->layout.cp > 1 ? pp_analytic_bytes(z, 0, 4 * z->kv) : 0;
    const bool is_gathered = !in->is_tp_only && in->layout.tp > 1;

    return fmax(mlp, attention + ring) + pp_analytic_bytes(z, z->h, 0) +
           (is_gathered ? z->tokens * z->value_bytes * z->h : 0);
}

/* ---- embedding, head ------------------------------------------------------------------------- */

/* Returns the tokens that a matrix classifies: all, or one of each image. */
static double classified(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return in->model->patch > 0 ? z->tokens / in->layout.seq : z->tokens;
}

static double logits(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return classified(in, z) * in->model->vocab / z->tp;
}

enum { LOGIT_BYTES = 4, TOKEN_BYTES = 4 };

/* Korthikanti et al. 2022, section 4.3: 4 s b h (1 + V/h) / t */
static double whole_head_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double wider = z->tokens * (pp_analytic_norm_bytes(in, z) - z->value_bytes),
                 unused = (z->tokens - classified(in, z)) * z->value_bytes;

    return pp_analytic_bytes(z, 2 * z->h, 0) + z->h * z->share * (wider - unused) +
           LOGIT_BYTES * logits(in, z);
}

/* Token numbers, or the patches of an image; with dropout, a mask. */
static double embedding_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double patches = z->tokens * (in->layout.seq - 1) / in->layout.seq,
                 mask = pp_cost_has_dropout(in) ? z->tokens * z->h * z->share : 0;

    return mask + (in->model->patch > 0 ? patches * in->model->patch * z->value_bytes
                                        : z->tokens * TOKEN_BYTES);
}

double pp_analytic_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, kind);

    if (kind == PP_LAYER_BLOCK || kind == PP_LAYER_MOE)
        return block_bytes(in, &z);
    if (kind == PP_LAYER_MTP) /* the merging matrix' inputs, a block, the head once more */
        return pp_analytic_bytes(&z, 4 * z.h, 0) +
               pp_analytic_saved_bytes(in, pp_model_last_kind(in->model)) +
               pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
    return kind == PP_LAYER_HEAD ? whole_head_bytes(in, &z) : embedding_bytes(in, &z);
}

/* Returns the bytes of the logits' copies at the peak of the loss, without the saved one. */
static double loss_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double all = pp_cost_framework(in)->loss_bytes;

    return logits(in, z) * fmax(z->value_bytes > 2 ? z->value_bytes : 0, all - LOGIT_BYTES);
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Returns the bytes that a head saves; 0 for a shared one, whose two parts follow one another. */
static double head_bytes(const struct pp_cost_inputs *in, int stage)
{
    return pp_head_is_shared(in->head) ? 0
                                       : pp_analytic_end_share(in, PP_LAYER_HEAD, stage) *
                                             pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
}

static double ends_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z, int stage)
{
    const bool keeps_output = pp_cost_framework(in)->keeps_output && stage < in->stages - 1;
    double bytes = keeps_output ? pp_analytic_bytes(z, z->h, 0) : 0;

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

/* `most_bytes`: of a value, INFINITY = as computed. */
static struct blocks blocks_of(const struct pp_cost_inputs *in, int stage, double most_bytes)
{
    static const enum pp_layer_kind kinds[] = {PP_LAYER_BLOCK, PP_LAYER_MOE};
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    struct blocks sum = {0};

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        const double count = held.count[kinds[i]];
        if (count == 0)
            continue;
        struct pp_saved_sizes z = pp_analytic_sizes(in, kinds[i]);
        z.value_bytes = fmin(z.value_bytes, most_bytes);
        const double full = block_bytes(in, &z), kept = fmin(full, kept_bytes(in, &z));
        sum.full += count * full;
        sum.kept += count * kept;
        sum.again = fmax(sum.again, full - kept);
        sum.until_weights += count * pp_analytic_until_weights_bytes(in, &z);
        sum.backward = fmax(sum.backward, block_backward_bytes(in, &z));
    }
    return sum;
}

static double checkpoint_bytes(const struct blocks *blocks, double recompute_frac)
{
    return recompute_frac * blocks->kept + (1 - recompute_frac) * blocks->full;
}

/* Returns the share of a stage's checkpoint that is left while it is quantised. Values in fp8 or
 * nvfp4 get no wider; otherwise all bytes count as values, because masks and token numbers are few.
 */
static double resting_frac(const struct pp_cost_inputs *in, const struct blocks *blocks,
                           double frac, int stage, double all_bytes)
{
    const double value_bytes = pp_dtype_bytes(&in->cluster->device),
                 most_bytes = in->state.activation_bits / 8.0 + 4.0 / PP_QUANTISED_GROUP,
                 plain_frac = most_bytes / value_bytes;

    if (!pp_state_is_quantised(&in->state))
        return 1;
    if (!pp_precision_is_narrow(in->cluster->device.precision))
        return plain_frac;
    const struct blocks resting = blocks_of(in, stage, most_bytes);
    return (plain_frac * (all_bytes - checkpoint_bytes(blocks, frac)) +
            checkpoint_bytes(&resting, frac)) /
           all_bytes;
}

/* Recomputed blocks keep little. Only one block's whole activations exist at a time. */
static void fill_saved(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                       const struct blocks *blocks, double frac, int stage,
                       struct pp_stage_memory *memory)
{
    const double until_weights = blocks->until_weights + head_bytes(in, stage);

    memory->checkpoint_bytes = ends_bytes(in, z, stage) + checkpoint_bytes(blocks, frac);
    memory->whole_bytes = ends_bytes(in, z, stage) + blocks->full;
    memory->resting_frac = resting_frac(in, blocks, frac, stage, memory->checkpoint_bytes);
    memory->saved_bytes = memory->checkpoint_bytes + (frac > 0 ? blocks->again : 0);
    memory->weight_grad_frac =
        memory->saved_bytes > 0 ? fmin(1, until_weights / memory->saved_bytes) : 0;
}

/* Backward passes through head and blocks one after the other. A shared head has more
 * micro-batches in flight while all ranks work on one (pp_head_flights). */
static void fill_work(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                      const struct blocks *blocks, int stage, struct pp_stage_memory *memory)
{
    const struct pp_model *m = in->model;
    const double share = pp_analytic_end_share(in, PP_LAYER_HEAD, stage),
                 loss = share > 0 ? share * loss_bytes(in, z) : 0;

    memory->forward_bytes = loss;
    memory->backward_bytes = fmax(loss, blocks->backward);
    if (pp_head_is_shared(in->head) && in->stages > 1) {
        const double more = pp_head_flights(in->head, in->layout.pp) * memory->checkpoint_bytes +
                            share * pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
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
    const struct pp_saved_sizes z = pp_analytic_sizes(in, PP_LAYER_BLOCK);
    const struct blocks blocks = blocks_of(in, stage, INFINITY);

    fill_saved(in, &z, &blocks, recompute_frac, stage, memory);
    fill_work(in, &z, &blocks, stage, memory);
}
