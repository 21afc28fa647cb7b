/* Layers as lists of kernels: blocks, mixtures of experts, multi-token prediction. */
#include "core/cost/layers/layers.h"

#include <math.h>

/* An untrimmed pass over values of the training precision reads or writes one; a dropout mask has a
 * byte. Residual paths without dropout have no mask. */
enum { MASK_BYTES = 1 };

/* ---- block --------------------------------------------------------------------------------- */

/* In front of attention and of the MLP. */
static void add_inner_norm(struct pp_layer_kernels *list)
{
    const int first = list->count;

    pp_layer_add_norm(list);
    pp_layer_mark(list, first, PP_AGAIN_NORM);
}

/* Dropout of a sub-layer's output and its sum with the residual; the two gradients that meet there
 * are added on the way back. */
void pp_layer_add_residual(struct pp_layer_kernels *list)
{
    const double e = list->value_bytes, values = list->whole_tokens * list->in->model->hidden;
    const struct pp_layer_traffic plain = {"residual", {1, 1, 0}, {3 * e, 3 * e, 0}},
                                  dropped = {"dropout, residual",
                                             {1, 2, 0},
                                             {3 * e + MASK_BYTES, 5 * e + MASK_BYTES, 0}};

    pp_layer_add_traffic(list, values, pp_cost_has_dropout(list->in) ? dropped : plain);
}

static void add_rotary(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const bool is_latent = m->latent.kv_rank > 0; /* a key of one head for all */
    const double tp = list->in->layout.tp,
                 heads = m->heads / tp + (is_latent ? 1 : fmax(m->kv_heads / tp, 1)),
                 width = is_latent ? m->latent.rope_dim : m->head_dim, e = list->value_bytes;

    const int first = list->count;

    if (m->positions == 0)
        pp_layer_add_traffic(list, list->work.tokens * heads * width,
                             (struct pp_layer_traffic){"rotary", {2, 2, 0}, {2 * e, 2 * e, 0}});
    pp_layer_mark(list, first, is_latent ? PP_AGAIN_LATENT : 0);
}

/* Queries and keys, head by head. */
static void add_head_norms(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double tp = list->in->layout.tp, heads = m->heads / tp + fmax(m->kv_heads / tp, 1),
                 e = list->value_bytes;

    if (m->has_qk_norm)
        pp_layer_add_traffic(list, list->work.tokens * heads * m->head_dim,
                             (struct pp_layer_traffic){"head norms", {2, 4, 0}, {2 * e, 5 * e, 0}});
}

/* Some models normalize what a half block adds, too. */
static void add_outer_norm(struct pp_layer_kernels *list)
{
    if (list->in->model->norms_per_layer > 2)
        pp_layer_add_norm(list);
}

static void add_qkv(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double tp = list->in->layout.tp, q = (double)m->heads * m->head_dim / tp,
                 kv = fmax(m->kv_heads / tp, 1) * m->head_dim;

    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = "qkv",
                                                       .tokens = list->work.tokens,
                                                       .k = m->hidden,
                                                       .n = (q + 2 * kv) * list->scale,
                                                       .has_bias = m->has_bias_attn_qkv,
                                                       .again_frac = kv / (q + 2 * kv)});
}

void pp_layer_add_first_half(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const bool is_latent = m->latent.kv_rank > 0;
    const double values = (double)m->heads * (is_latent ? m->latent.value_dim : m->head_dim);

    add_inner_norm(list);
    (is_latent ? pp_layer_add_latent : add_qkv)(list);
    add_head_norms(list);
    add_rotary(list);
    pp_layer_add_attention(list);
    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = "projection",
                                                       .tokens = list->work.tokens,
                                                       .k = values / list->in->layout.tp,
                                                       .n = m->hidden * list->scale,
                                                       .has_bias = m->has_bias_attn_out,
                                                       .again_frac = 1});
    add_outer_norm(list);
    pp_layer_add_residual(list);
}

int pp_layer_add_feed_forward(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double t = list->work.tokens, h = m->hidden, f = m->ffn / (double)list->in->layout.tp,
                 fan = m->is_gated ? 2 : 1;
    const int first = list->count;

    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = m->is_gated ? "gate, up" : "mlp up",
                                                       .tokens = t,
                                                       .k = h,
                                                       .n = fan * f * list->scale,
                                                       .has_bias = m->has_bias_mlp,
                                                       .again_frac = m->is_gated ? 0.5 : 0});
    pp_layer_add_activation(list, t * f);
    const int down = list->count;
    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = "mlp down",
                                                       .tokens = t,
                                                       .k = f,
                                                       .n = h * list->scale,
                                                       .has_bias = m->has_bias_mlp,
                                                       .again_frac = m->is_gated ? 0 : 1});
    pp_layer_mark(list, first, PP_AGAIN_MLP);
    return down;
}

/* Mark the kernels from `first` on: the backward of the block does not read their outputs. They are
 * the sum with the residual, and the last matrix if its output is only added. The backward reads
 * masks of dropout and inputs of norms. */
static void end_recompute(struct pp_layer_kernels *list, int first)
{
    if (!pp_cost_framework(list->in)->stops_recompute || pp_cost_has_dropout(list->in))
        return;
    for (int i = first; i < list->count; i++)
        list->kernel[i].is_never_again = true;
}

static void add_block(struct pp_layer_kernels *list)
{
    const bool is_normed = list->in->model->norms_per_layer > 2;

    pp_layer_add_first_half(list);
    add_inner_norm(list);
    const int down = pp_layer_add_feed_forward(list);
    add_outer_norm(list);
    const int residual = list->count;
    pp_layer_add_residual(list);
    end_recompute(list, is_normed ? residual : down);
}

static void add_moe(struct pp_layer_kernels *list)
{
    pp_layer_add_first_half(list);
    add_inner_norm(list);
    pp_layer_add_experts(list);
    add_outer_norm(list);
    pp_layer_add_residual(list);
}

/* The hidden vector and the next token's embedding are normalized, projected to one and pass a
 * block and the head (DeepSeek-AI 2024, DeepSeek-V3, section 2.2). */
static void add_mtp(struct pp_layer_kernels *list)
{
    const double h = list->in->model->hidden;

    pp_layer_add_norm(list);
    pp_layer_add_norm(list);
    pp_layer_add_matrix(list, (struct pp_layer_matrix){.name = "merge",
                                                       .tokens = list->work.tokens,
                                                       .k = 2 * h,
                                                       .n = h / list->in->layout.tp});
    (pp_model_last_kind(list->in->model) == PP_LAYER_MOE ? add_moe : add_block)(list);
    pp_layer_add_head(list);
}

/* ---- all ----------------------------------------------------------------------------------- */

/* --params scales the matrices to the size that was given. */
static double matrix_scale(const struct pp_model *model)
{
    struct pp_model plain = *model;

    if (model->params_override <= 0)
        return 1;
    plain.params_override = 0;
    return pp_model_layer_params(model, PP_LAYER_BLOCK) /
           pp_model_layer_params(&plain, PP_LAYER_BLOCK);
}

void pp_layer_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, enum pp_pass pass, struct pp_layer_kernels *list)
{
    static void (*const add[])(struct pp_layer_kernels *) = {
        [PP_LAYER_EMBEDDING] = pp_layer_add_embedding,
        [PP_LAYER_BLOCK] = add_block,
        [PP_LAYER_HEAD] = pp_layer_add_head,
        [PP_LAYER_MOE] = add_moe,
        [PP_LAYER_MTP] = add_mtp,
    };

    list->in = in;
    list->work = work;
    list->pass = pass;
    list->value_bytes = pp_dtype_bytes(&in->cluster->device);
    list->grad_bytes = pp_cost_state_bytes(in).grads;
    list->whole_tokens = in->is_tp_only ? work.tokens : work.tokens / in->layout.tp;
    list->scale = matrix_scale(in->model);
    list->count = 0;
    add[kind](list);
}
