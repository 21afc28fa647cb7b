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

double pp_analytic_kept_of(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return fmin(block_bytes(in, z), kept_bytes(in, z));
}

double pp_analytic_kept_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, kind);

    return in->recompute == PP_RECOMPUTE_NONE ? block_bytes(in, &z) : pp_analytic_kept_of(in, &z);
}

/* Returns the bytes alive at the peak of a block's backward. They are the residual stream's
 * gradient, and gradients of MLP or scores with saved tensors in full. With sequence parallelism
 * there is also the gathered input of a weight gradient. */
static double block_backward_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                                   struct pp_in_full full)
{
    const double mlp = pp_analytic_bytes(z, 0, (z->fan + 1) * z->ffn + z->routed),
                 attention = pp_analytic_bytes(z, 0, z->q + 2 * z->kv) +
                             2 * z->value_bytes * pp_analytic_scores(in, z),
                 ring = in->layout.cp > 1 ? pp_analytic_bytes(z, 0, 4 * z->kv) : 0;
    const bool is_gathered = !in->is_tp_only && in->layout.tp > 1;

    return fmax(mlp + full.mlp, attention + ring + full.attention) + pp_analytic_bytes(z, z->h, 0) +
           (is_gathered ? z->tokens * z->value_bytes * z->h : 0);
}

/* ---- embedding, head ------------------------------------------------------------------------- */

enum { LOGIT_BYTES = 4, TOKEN_BYTES = 4 };

/* Returns the tokens that a matrix classifies: all, or one of each image. */
static double classified(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return in->model->patch > 0 ? z->tokens / in->layout.seq : z->tokens;
}

static double logits(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return classified(in, z) * in->model->vocab / z->tp;
}

/* Korthikanti et al. 2022, section 4.3: 4 s b h (1 + V/h) / t */
static double head_layer_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double wider = z->tokens * (pp_analytic_norm_bytes(in, z) - z->value_bytes),
                 unused = (z->tokens - classified(in, z)) * z->value_bytes;

    return pp_analytic_bytes(z, 2 * z->h, 0) + z->h * z->share * (wider - unused) +
           fmin(LOGIT_BYTES, z->most_bytes) * logits(in, z);
}

/* Token numbers, or the patches of an image; with dropout, a mask. */
static double embedding_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double patches = z->tokens * (in->layout.seq - 1) / in->layout.seq,
                 mask = pp_cost_has_dropout(in) ? z->tokens * z->h * z->share : 0;

    return mask + (in->model->patch > 0 ? patches * in->model->patch * z->value_bytes
                                        : z->tokens * TOKEN_BYTES);
}

double pp_analytic_layer_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                               double most_bytes)
{
    const struct pp_saved_sizes z = pp_analytic_narrowed(pp_analytic_sizes(in, kind), most_bytes);

    if (kind == PP_LAYER_BLOCK || kind == PP_LAYER_MOE)
        return pp_analytic_values_bytes(in, &z, 0) + pp_analytic_scores_bytes(in, &z);
    if (kind == PP_LAYER_MTP) /* the merging matrix' inputs, a block, the head once more */
        return pp_analytic_bytes(&z, 4 * z.h, 0) +
               pp_analytic_layer_bytes(in, pp_model_last_kind(in->model), most_bytes) +
               pp_analytic_layer_bytes(in, PP_LAYER_HEAD, most_bytes);
    return kind == PP_LAYER_HEAD ? head_layer_bytes(in, &z) : embedding_bytes(in, &z);
}

double pp_analytic_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    return pp_analytic_layer_bytes(in, kind, INFINITY);
}

double pp_analytic_loss_bytes(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, PP_LAYER_HEAD);
    const double share = pp_analytic_end_share(in, PP_LAYER_HEAD, stage),
                 all = pp_cost_framework(in)->loss_bytes;

    return share > 0 ? share * (logits(in, &z) *
                                fmax(z.value_bytes > 2 ? z.value_bytes : 0, all - LOGIT_BYTES))
                     : 0;
}

/* Returns the bytes that a head saves; 0 for a shared one, whose two parts follow one another. */
static double head_bytes(const struct pp_cost_inputs *in, int stage, double most_bytes)
{
    return pp_head_is_shared(in->head) ? 0
                                       : pp_analytic_end_share(in, PP_LAYER_HEAD, stage) *
                                             pp_analytic_layer_bytes(in, PP_LAYER_HEAD, most_bytes);
}

double pp_analytic_head_until_bytes(const struct pp_cost_inputs *in, int stage, double most_bytes)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, PP_LAYER_HEAD);
    const double head = head_bytes(in, stage, most_bytes);

    return head > 0 ? head + pp_analytic_end_share(in, PP_LAYER_HEAD, stage) * logits(in, &z) *
                                 (LOGIT_BYTES - fmin(LOGIT_BYTES, most_bytes))
                    : 0;
}

double pp_analytic_ends_bytes(const struct pp_cost_inputs *in, int stage, double most_bytes)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, PP_LAYER_BLOCK);
    const bool keeps_output = pp_cost_framework(in)->keeps_output && stage < in->stages - 1;
    double bytes = keeps_output ? pp_analytic_bytes(&z, z.h, 0) : 0;

    bytes += pp_analytic_end_share(in, PP_LAYER_EMBEDDING, stage) *
             pp_analytic_layer_bytes(in, PP_LAYER_EMBEDDING, most_bytes);
    if (stage == in->stages - 1 && in->model->mtp > 0)
        bytes += in->model->mtp * pp_analytic_layer_bytes(in, PP_LAYER_MTP, most_bytes);
    return bytes + head_bytes(in, stage, most_bytes);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static const enum pp_layer_kind kinds[PP_BLOCK_KINDS] = {PP_LAYER_BLOCK, PP_LAYER_MOE};

/* All blocks of a stage, dense ones and mixtures of experts. */
struct blocks {
    double full, kept;    /* saved; kept by recomputed blocks */
    double again;         /* additional while one block is computed again */
    double inputs;        /* of matrices */
    double until_weights; /* needed by weight gradients */
};

/* `most_bytes`: of a saved value, INFINITY = as computed. Gradients of outputs, which weight
 * gradients need, stay as computed. */
static struct blocks blocks_of(const struct pp_cost_inputs *in, int stage, double most_bytes)
{
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    struct blocks sum = {0};

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        const double count = held.count[kinds[i]];
        if (count == 0)
            continue;
        const struct pp_saved_sizes plain = pp_analytic_sizes(in, kinds[i]),
                                    z = pp_analytic_narrowed(plain, most_bytes);
        const double full = block_bytes(in, &z), kept = pp_analytic_kept_of(in, &z),
                     inputs = pp_analytic_inputs_bytes(in, &z),
                     freed = pp_analytic_inputs_bytes(in, &plain) - inputs;
        sum.full += count * full;
        sum.kept += count * kept;
        sum.again = fmax(sum.again, full - kept);
        sum.inputs += count * inputs;
        sum.until_weights += count * (pp_analytic_until_weights_bytes(in, &plain) - freed);
    }
    return sum;
}

/* Recomputed blocks keep little. Only one block's whole activations exist at a time. */
struct pp_saved_stage pp_analytic_saved_stage(const struct pp_cost_inputs *in,
                                              double recompute_frac, int stage, double most_bytes)
{
    const struct blocks blocks = blocks_of(in, stage, most_bytes);
    const double checkpoint = pp_analytic_ends_bytes(in, stage, most_bytes) +
                              (recompute_frac * blocks.kept + (1 - recompute_frac) * blocks.full);
    struct pp_saved_stage saved = {
        .checkpoint = checkpoint,
        .saved = checkpoint + (recompute_frac > 0 ? blocks.again : 0),
        .whole = pp_analytic_ends_bytes(in, stage, most_bytes) + blocks.full,
        .again = recompute_frac * (blocks.full - blocks.kept),
        .inputs = blocks.inputs,
        .until_weights = blocks.until_weights + pp_analytic_head_until_bytes(in, stage, most_bytes),
    };

    if (isinf(most_bytes))
        saved.until_weights = fmin(saved.saved, saved.until_weights);
    return saved;
}

/* Returns the bytes alive in the backward of the widest block. Of saved tensors at most `most_full`
 * bytes are in full. */
static double backward_bytes(const struct pp_cost_inputs *in, int stage,
                             const struct pp_in_full *blocks, double most_full)
{
    const struct pp_stage_layers held = pp_analytic_stage_layers(in, stage);
    double most = 0;

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        if (held.count[kinds[i]] == 0)
            continue;
        const struct pp_saved_sizes z = pp_analytic_sizes(in, kinds[i]);
        const struct pp_in_full full = {fmin(blocks[i].attention, most_full),
                                        fmin(blocks[i].mlp, most_full)};
        most = fmax(most, block_backward_bytes(in, &z, full));
    }
    return most;
}

/* Backward passes through head and blocks one after the other. So a block is recomputed when the
 * loss has gone: what it saves again takes the place of the logits' copies. A shared head has more
 * micro-batches in flight while all ranks work on one (pp_head_flights). */
static void fill_work(const struct pp_cost_inputs *in, int stage, const struct pp_stage_full *full,
                      struct pp_stage_memory *memory)
{
    const struct pp_model *m = in->model;
    const double share = pp_analytic_end_share(in, PP_LAYER_HEAD, stage),
                 loss = pp_analytic_loss_bytes(in, stage), tp = in->layout.tp,
                 block = memory->saved_bytes - memory->checkpoint_bytes;

    memory->forward_bytes = fmax(loss + full->ends, full->forward);
    memory->recompute_bytes = full->again;
    const double blocks = backward_bytes(in, stage, full->blocks, full->saved) -
                          (pp_cost_framework(in)->frees_head ? head_bytes(in, stage, INFINITY) : 0);
    memory->backward_bytes = fmax(0, fmax(loss + full->ends - block, blocks));
    memory->input_bytes = fmax(loss + fmin(full->ends, full->until),
                               backward_bytes(in, stage, full->blocks, full->until));
    memory->weights_bytes = full->weights;
    if (pp_head_is_shared(in->head) && in->stages > 1) {
        const double more = pp_head_flights(in->head, in->layout.pp) * memory->checkpoint_bytes +
                            share * pp_analytic_saved_bytes(in, PP_LAYER_HEAD);
        memory->forward_bytes += more;
        memory->backward_bytes += more;
        memory->input_bytes += more;
    }
    if (pp_cost_framework(in)->has_dense_embedding_grad)
        memory->dense_grad_bytes = pp_analytic_end_share(in, PP_LAYER_EMBEDDING, stage) *
                                   pp_dtype_bytes(&in->cluster->device) * m->vocab * m->hidden / tp;
}

double pp_analytic_inner_frac(const struct pp_cost_inputs *in, int stage)
{
    const int blocks = in->blocks_per_stage[stage];
    const bool is_moved =
        in->state.is_offloaded_by_layer && pp_state_is_away(&in->state, PP_STATE_ACTIVATIONS);

    return is_moved && blocks > 1 ? (blocks - 1) / (double)blocks : 0;
}

void pp_analytic_fill_saved(const struct pp_cost_inputs *in, int stage,
                            const struct pp_saved_stage *saved, const struct pp_stage_full *full,
                            struct pp_stage_memory *memory)
{
    memory->checkpoint_bytes = saved->checkpoint;
    memory->saved_bytes = saved->saved;
    memory->whole_bytes = saved->whole;
    memory->weight_grad_frac = saved->saved > 0 ? saved->until_weights / saved->saved : 0;
    fill_work(in, stage, full, memory);
}
