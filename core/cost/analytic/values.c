/* Values that a block saves for its backward, by class, and the bits of each class.
 *
 * In fp8 and nvfp4, frameworks keep some classes as they are multiplied. Sources:
 *
 * - Transformer Engine (transformer_engine/pytorch/module/linear.py, layernorm_linear.py,
 *   layernorm_mlp.py, grouped_linear.py, prepare_for_saving): inputs of matrices in 8 bits, turned
 *   for the product of the weight gradient; inputs of norms and of activation functions in 16 bits
 *
 * - its tensors of NVFP4 (transformer_engine/pytorch/tensor/nvfp4_tensor.py): 4 bits a value, and a
 *   scale of 8 bits for each 16 values; modules save them turned, as in fp8
 *
 * - Megatron-Core (megatron/core/transformer/attention.py, multi_latent_attention.py,
 *   moe/shared_experts.py, set_save_original_input): with delayed scaling, matrices whose input
 *   another tensor's backward needs in 16 bits keep a copy of their own; later recipes do not, and
 *   nvfp4 does not
 *
 * - DeepSeek-AI 2024, DeepSeek-V3 Technical Report, section 3.3.3: inputs of matrices and of SwiGLU
 *   in 8 bits, the output of attention once, in E5M6
 */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <math.h>

static const char *const class_names[PP_SAVED_CLASSES] = {
    [PP_SAVED_NORMS] = "inputs of norms",
    [PP_SAVED_MATRICES] = "inputs of matrices",
    [PP_SAVED_COPIES] = "further copies for matrices",
    [PP_SAVED_ROUTER] = "input of the router",
    [PP_SAVED_HEADS] = "queries, keys, values",
    [PP_SAVED_OUT] = "output of attention",
    [PP_SAVED_ACT] = "inputs of activation functions",
    [PP_SAVED_GATE] = "silu(gate)",
};

/* ---- sizes ----------------------------------------------------------------------------------- */

static void set_experts(const struct pp_cost_inputs *in, struct pp_saved_sizes *z)
{
    const struct pp_experts *e = &in->model->experts;
    const double copies = e->top_k * (in->capacity_factor > 0 ? in->capacity_factor : 1);

    z->ffn = copies * e->ffn + e->shared_ffn;
    z->routed = copies * pp_layout_etp(&in->layout) * z->h;
    z->fused = pp_cost_has_fused_experts(in) ? copies * e->ffn : 0;
    z->has_shared = e->shared_ffn > 0;
}

static void set_latent(const struct pp_model *m, struct pp_saved_sizes *z)
{
    z->kv = pp_model_attention_width(m);
    z->out = (double)m->heads * m->latent.value_dim;
    z->latent = m->latent.q_rank + m->latent.kv_rank + m->latent.rope_dim;
    z->normed = m->latent.q_rank + m->latent.kv_rank;
}

struct pp_saved_sizes pp_analytic_sizes(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp;

    struct pp_saved_sizes z = {
        .tokens = (double)in->layout.mbs * in->layout.seq / in->layout.cp,
        .value_bytes = pp_dtype_bytes(&in->cluster->device),
        .most_bytes = INFINITY,
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

struct pp_saved_sizes pp_analytic_narrowed(struct pp_saved_sizes z, double most_bytes)
{
    z.value_bytes = fmin(z.value_bytes, most_bytes);
    z.most_bytes = most_bytes;
    return z;
}

double pp_analytic_bytes(const struct pp_saved_sizes *z, double whole, double cut)
{
    return z->tokens * z->value_bytes * (whole * z->share + cut / z->tp);
}

/* ---- classes --------------------------------------------------------------------------------- */

bool pp_analytic_is_per_op(const struct pp_cost_inputs *in)
{
    return in->again == 0 && pp_cost_framework(in)->is_selective_per_op;
}

unsigned pp_analytic_again(const struct pp_cost_inputs *in)
{
    return in->again ? in->again : PP_AGAIN_CORE;
}

/* Returns the bits of a value of a class; 0 = as computed. */
static double bits_of(const struct pp_cost_inputs *in, enum pp_saved class)
{
    static const double NVFP4_BITS = 4 + 8 / 16.0;
    const double fp8_bits = pp_cost_framework(in)->fp8_bits[class];
    const enum pp_precision precision = in->cluster->device.precision;

    if (precision == PP_PRECISION_NVFP4)
        return class == PP_SAVED_MATRICES && fp8_bits > 0 ? NVFP4_BITS : 0;
    return precision == PP_PRECISION_FP8 ? fp8_bits : 0;
}

double pp_analytic_width(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                         enum pp_saved class)
{
    const double bits = bits_of(in, class);

    return bits > 0                   ? fmin(bits / 8, z->value_bytes)
           : class == PP_SAVED_NORMS  ? pp_analytic_norm_bytes(in, z)
           : class == PP_SAVED_COPIES ? 0
                                      : z->value_bytes;
}

double pp_analytic_norm_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return fmax(z->value_bytes, fmin(pp_cost_framework(in)->norm_bytes, z->most_bytes));
}

static double again_if(unsigned modules, unsigned module, double values)
{
    return modules & module ? 0 : values;
}

/* Values per token. `whole` lie between the matrices: a device holds 1/tp of the tokens with
 * sequence parallelism, otherwise all. `cut` lie between a column- and a row-parallel matrix: a
 * device always holds 1/tp of the width. */
struct values {
    double whole[PP_SAVED_CLASSES], cut[PP_SAVED_CLASSES];
};

/* Returns the saved values, less those of modules that are computed again. */
static struct values values_of(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                               unsigned again)
{
    const bool is_apart = in->model->is_gated && pp_cost_framework(in)->is_gate_unfused,
               has_router = z->routed > 0;
    const unsigned mlp = has_router ? PP_AGAIN_MOE : PP_AGAIN_MLP, act = PP_AGAIN_ACT | mlp,
                   wide = z->latent > 0 ? PP_AGAIN_LATENT : 0;
    const double normed = again_if(again, PP_AGAIN_NORM, z->h); /* by each of the two norms */

    return (struct values){
        .whole = {[PP_SAVED_NORMS] = 2 * z->h + z->latent,
                  [PP_SAVED_MATRICES] =
                      normed + (has_router ? 0 : normed) + again_if(again, wide, z->normed),
                  [PP_SAVED_COPIES] = (z->latent > 0) * normed + z->has_shared * normed,
                  [PP_SAVED_ROUTER] = has_router * normed},
        .cut = {[PP_SAVED_MATRICES] = again_if(again, mlp, z->fused) +
                                      again_if(again, act, z->ffn - z->fused) +
                                      again_if(again, mlp, z->routed),
                [PP_SAVED_COPIES] = z->out, /* of the projection */
                [PP_SAVED_HEADS] = again_if(again, wide, z->q + 2 * z->kv),
                [PP_SAVED_OUT] = z->out,
                [PP_SAVED_ACT] = again_if(again, mlp, z->fan * z->ffn),
                [PP_SAVED_GATE] = again_if(again, act, is_apart * (z->ffn - z->fused))},
    };
}

static double class_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                          const struct values *v, enum pp_saved class)
{
    return z->tokens * pp_analytic_width(in, z, class) *
           (v->whole[class] * z->share + v->cut[class] / z->tp);
}

static double mask_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return pp_cost_has_dropout(in) ? z->tokens * 2 * z->h * z->share : 0;
}

double pp_analytic_values_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                                unsigned again)
{
    const struct values v = values_of(in, z, again);
    double bytes = mask_bytes(in, z);

    for (int class = 0; class < PP_SAVED_CLASSES; class ++)
        bytes += class_bytes(in, z, &v, class);
    return bytes;
}

double pp_analytic_until_weights_bytes(const struct pp_cost_inputs *in,
                                       const struct pp_saved_sizes *z)
{
    const double whole = 2 * z->h + 2 * z->h + z->latent + z->normed,
                 cut = z->out + z->ffn + z->q + 2 * z->kv + z->fan * z->ffn + 2 * z->routed;

    return pp_analytic_bytes(z, whole, cut) * pp_analytic_width(in, z, PP_SAVED_MATRICES) /
           z->value_bytes;
}

double pp_analytic_inputs_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double whole = 2 * z->h + z->normed, cut = z->out + z->ffn + z->routed;

    return pp_analytic_bytes(z, whole, cut) * pp_analytic_width(in, z, PP_SAVED_MATRICES) /
           (z->value_bytes > 0 ? z->value_bytes : 1);
}

double pp_analytic_scores(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return in->cluster->device.is_attention_unfused
               ? z->tokens * in->layout.seq * in->model->heads / z->tp
               : 0;
}

enum { FP32_BYTES = 4 };

/* Returns the bytes of a score that a softmax in fp32 keeps for its own backward. */
static double own_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const bool is_wide = pp_cost_framework(in)->softmax == PP_SOFTMAX_WIDE,
               is_narrow = pp_dtype_bytes(&in->cluster->device) < FP32_BYTES;

    return is_wide && is_narrow ? fmin(FP32_BYTES, z->most_bytes) : 0;
}

void pp_analytic_score_tensors(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z,
                               double bytes[PP_SCORE_TENSORS])
{
    const double scores = pp_analytic_scores(in, z);

    bytes[0] = scores * own_bytes(in, z);
    bytes[1] = scores * z->value_bytes;
    bytes[2] = pp_cost_has_dropout(in) ? bytes[1] : 0;
}

/* 5 in 16 bits: the output of softmax and, with dropout, its output and its mask. A softmax in fp32
 * keeps its own output for its backward, too. */
static double score_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    const double own = own_bytes(in, z);

    return own + (pp_cost_has_dropout(in) ? 2 * z->value_bytes + 1 : z->value_bytes);
}

double pp_analytic_scores_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *z)
{
    return pp_analytic_scores(in, z) * score_bytes(in, z);
}

/* ---- --explain ------------------------------------------------------------------------------- */

/* Prints one item of a list. */
static void explain_class(const char *name, double bytes, double bits, const char **comma,
                          FILE *out)
{
    char text[PP_UNITS_TEXT_BYTES];

    if (bytes == 0)
        return;
    fprintf(out, "%s %s %s in %g bits", *comma, name, pp_units_print(bytes, PP_UNIT_BYTES, text),
            bits);
    *comma = ",";
}

void pp_analytic_explain_classes(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                 FILE *out)
{
    const struct pp_saved_sizes z = pp_analytic_sizes(in, kind);
    const struct values v = values_of(in, &z, 0);
    const char *comma = "";

    for (int class = 0; class < PP_SAVED_CLASSES; class ++)
        explain_class(class_names[class], class_bytes(in, &z, &v, class),
                      8 * pp_analytic_width(in, &z, class), &comma, out);
    explain_class("masks of dropout", mask_bytes(in, &z), 8, &comma, out);
    explain_class("scores of attention", pp_analytic_scores_bytes(in, &z), 8 * score_bytes(in, &z),
                  &comma, out);
}
