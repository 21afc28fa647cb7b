#include "core/roofline_parts.h"

#include <math.h>
#include <string.h>

const struct pp_framework *pp_roofline_framework(const struct pp_cost_inputs *in)
{
    return in->framework ? in->framework : pp_framework_plain;
}

static bool is_fp16(const struct pp_cost_inputs *in)
{
    return strcmp(in->cluster->device.dtype, "fp16") == 0;
}

struct pp_state_bytes pp_roofline_state_bytes(const struct pp_cost_inputs *in)
{
    const struct pp_framework *f = pp_roofline_framework(in);

    if (pp_dtype_bytes(&in->cluster->device) > 2)
        return (struct pp_state_bytes){.params = 4, .grads = 4, .optimizer = 8};
    return (struct pp_state_bytes){.params = f->params_bytes,
                                   .grads = is_fp16(in) ? f->fp16_grads_bytes : f->grads_bytes,
                                   .optimizer = f->optimizer_bytes};
}

double pp_roofline_tied_bytes(const struct pp_cost_inputs *in)
{
    return (double)in->model->vocab * in->model->hidden / in->layout.tp *
           pp_roofline_state_bytes(in).grads;
}

bool pp_roofline_has_tied_copy(const struct pp_cost_inputs *in)
{
    return in->model->is_tied && in->stages > 1 && in->rank_of[0] != in->rank_of[in->stages - 1];
}

double pp_roofline_stage_params(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_model *m = in->model;
    double params = in->blocks_per_stage[stage] * pp_model_layer_params(m, PP_LAYER_BLOCK);

    if (stage == 0)
        params += pp_model_layer_params(m, PP_LAYER_EMBEDDING);
    if (stage == in->stages - 1) {
        params += pp_model_layer_params(m, PP_LAYER_HEAD);
        if (pp_roofline_has_tied_copy(in))
            params += (double)m->vocab * m->hidden;
    }
    return params / in->layout.tp;
}

/* ---- activations ------------------------------------------------------------------------- */

/* Tokens of one whole micro-batch on one device. */
static double tokens_of(const struct pp_cost_inputs *in)
{
    return (double)in->layout.mbs * in->layout.seq / in->layout.cp;
}

/* Values per token that a block saves, as widths; the device holds 1/tp of them with sequence
 * parallelism. For GPT: 34 bytes per token and hidden unit in 16 bits (Korthikanti et al. 2022,
 * section 4.1). Gated models are trained without dropout, so they have no masks. */
struct widths {
    double values; /* of the training precision */
    double masks;  /* one byte each */
    double matrix_inputs, matrix_output_grads;
};

static struct widths block_widths(const struct pp_model *m)
{
    const double h = m->hidden, q = (double)m->heads * m->head_dim,
                 kv = (double)m->kv_heads * m->head_dim, fan = m->is_gated ? 2 : 1;

    return (struct widths){
        /* two norms' inputs, input of qkv, q, k, v, input of the projection, of the MLP, of the
         * activation function, of the second MLP matrix */
        .values = 2 * h + h + q + 2 * kv + q + h + fan * m->ffn + m->ffn,
        .masks = m->is_gated ? 0 : 2 * h,
        .matrix_inputs = h + q + h + m->ffn,
        .matrix_output_grads = q + 2 * kv + h + fan * m->ffn + h,
    };
}

/* Softmax output, dropout output and mask of every score: 5 a s^2 b bytes in 16 bits. */
static double scores_bytes(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const double e = pp_dtype_bytes(&in->cluster->device);
    const double scores = tokens_of(in) * in->layout.seq * m->heads / in->layout.tp;

    if (!in->cluster->device.is_attention_unfused)
        return 0;
    return scores * (m->is_gated ? e : 2 * e + 1);
}

static double block_bytes(const struct pp_cost_inputs *in)
{
    const struct widths w = block_widths(in->model);

    return tokens_of(in) / in->layout.tp *
           (w.values * pp_dtype_bytes(&in->cluster->device) + w.masks);
}

/* fp32 logits, the input of the output matrix and of the final norm (Korthikanti et al. 2022,
 * section 4.3: 4 s b h (1 + V/h) / t). */
static double head_bytes(const struct pp_cost_inputs *in)
{
    const double tokens = tokens_of(in) / in->layout.tp;

    return tokens * (2.0 * in->model->hidden * pp_dtype_bytes(&in->cluster->device) +
                     4.0 * in->model->vocab);
}

double pp_roofline_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_BLOCK)
        return block_bytes(in) + scores_bytes(in);
    if (kind == PP_LAYER_HEAD)
        return head_bytes(in);
    return tokens_of(in) * 4; /* the token ids */
}

double pp_roofline_boundary_bytes(const struct pp_cost_inputs *in)
{
    return tokens_of(in) / in->layout.tp * in->model->hidden * pp_dtype_bytes(&in->cluster->device);
}

/* Recomputed blocks keep their input and are computed again one after the other, so that the whole
 * activations of only one block exist beside the checkpoints. */
static void activations(const struct pp_cost_inputs *in, double frac, int stage,
                        struct pp_stage_memory *memory)
{
    const struct widths w = block_widths(in->model);
    const double blocks = in->blocks_per_stage[stage], full = block_bytes(in) + scores_bytes(in),
                 e = pp_dtype_bytes(&in->cluster->device);
    const double checkpoint =
        in->recompute == PP_RECOMPUTE_SELECTIVE ? block_bytes(in) : pp_roofline_boundary_bytes(in);
    double ends = 0, ends_held = 0;

    if (stage == 0)
        ends += pp_roofline_saved_bytes(in, PP_LAYER_EMBEDDING);
    if (stage == in->stages - 1)
        ends += ends_held = pp_roofline_saved_bytes(in, PP_LAYER_HEAD);
    memory->checkpoint_bytes = ends + blocks * (frac * checkpoint + (1 - frac) * full);
    memory->saved_bytes = memory->checkpoint_bytes;
    if (frac > 0 && blocks > 0)
        memory->saved_bytes += full - checkpoint;
    /* A weight gradient needs the inputs of the matrices and the gradients of their outputs
     * (Qi et al. 2024, table 1: 32 of 34 s b h). */
    const double held =
        blocks * (w.matrix_inputs + w.matrix_output_grads) * e * tokens_of(in) / in->layout.tp +
        ends_held;
    memory->weight_grad_frac = memory->saved_bytes > 0 ? fmin(1, held / memory->saved_bytes) : 0;
}

void pp_roofline_memory(const struct pp_cost_inputs *in, const double *recompute, int stage,
                        struct pp_stage_memory *memory)
{
    pp_roofline_state_memory(in, stage, memory);
    activations(in, recompute[stage], stage, memory);
    memory->boundary_bytes = stage < in->stages - 1 ? pp_roofline_boundary_bytes(in) : 0;
}
