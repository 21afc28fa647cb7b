/* Layers as lists of kernels: blocks and their parts, multi-token prediction, both ends. */
#include "core/cost/layers/layers.h"

#include <math.h>

/* Bytes of a dropout mask per value. A pass over values reads or writes each of them once; residual
 * paths without dropout have no mask. */
enum { MASK_BYTES = 1 };

/* ---- embedding, and head with the loss ------------------------------------------------------- */

/* Adds the embedding. Rows of the table are copied out; positions are added if the model has them,
 * dropout is drawn if it is trained with it. The gradient of the table is cleared, and the tokens'
 * are added into it. A pass over the whole table adds it to the sum over micro-batches. Patches of
 * images pass a matrix instead. */
static void add_embedding(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double t = list->work.tokens, h = m->hidden, seq = list->in->layout.seq;

    if (m->patch > 0 && list->pass != PP_PASS_I) /* images have no gradients */
        PP_LAYER_MATRIX(list, .name = "patches", .tokens = t * (seq - 1) / seq, .k = m->patch,
                        .n = h / list->in->layout.tp, .has_bias = true);
    if (m->patch == 0)
        PP_LAYER_TRAFFIC(list, t * h, "embedding", {1, 0, 1}, {2, 0, 2});
    if (m->positions > 0)
        PP_LAYER_TRAFFIC(list, t * h, "positions", {2, 0, 1}, {5, 0, 1});
    if (pp_cost_has_dropout(list->in))
        PP_LAYER_TRAFFIC(list, t * h, "dropout", {1, 1, 0}, {2, 2, 0}, {MASK_BYTES, MASK_BYTES, 0});
    if (m->patch == 0)
        PP_LAYER_TRAFFIC(list, (double)m->vocab * h / list->in->layout.tp, "table's gradient",
                         {0, 0, 2}, {0, 0, 2}, {0, 0, 2 * list->grad_bytes});
}

/* Returns the rows of the output matrix on one device. */
static double vocabulary(const struct pp_cost_inputs *in)
{
    const double rows = (double)in->model->vocab / in->layout.tp;

    return pp_cost_framework(in)->pads_vocabulary ? 128 * ceil(rows / 128) : ceil(rows);
}

static void add_head(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double *loss_bytes = pp_cost_framework(list->in)->loss_traffic_bytes;
    const double h = m->hidden, v = vocabulary(list->in), all = list->work.tokens,
                 t = m->patch > 0 ? all / list->in->layout.seq : all; /* images: one of a sample */

    if (m->has_final_norm || m->has_mlm_head)
        pp_layer_add_norm(list);
    if (m->has_mlm_head)
        PP_LAYER_MATRIX(list, .name = "transform", .tokens = t, .k = h,
                        .n = h / list->in->layout.tp);
    PP_LAYER_MATRIX(list, .name = "logits", .tokens = t, .k = h, .n = v, .is_wide = true);
    PP_LAYER_TRAFFIC(list, t * v, "cross entropy", {10, 6, 0},
                     .bytes = {loss_bytes[0], loss_bytes[1], 0});
}

/* ---- latent attention ------------------------------------------------------------------------ */

/* Projections of multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1): hidden
 * vectors become narrow ones. These are normalized and projected to queries, keys and values of all
 * heads. The narrow ones are whole on every device of a tensor-parallel group. */
static void add_narrow(struct pp_layer_kernels *list, const char *name, double width, double rope)
{
    PP_LAYER_MATRIX(list, .name = name, .tokens = list->whole_tokens, .k = list->in->model->hidden,
                    .n = width + rope);
    const int first = list->count;
    PP_LAYER_TRAFFIC(list, list->whole_tokens * width, "latent norm", {1, 2, 0}, {2, 5, 0});
    pp_layer_mark(list, first, PP_AGAIN_LATENT);
}

static void add_wide(struct pp_layer_kernels *list, const char *name, double k, double n)
{
    const int first = list->count;

    PP_LAYER_MATRIX(list, .name = name, .tokens = list->work.tokens, .k = k, .n = n);
    pp_layer_mark(list, first, PP_AGAIN_LATENT);
}

static void add_latent(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const struct pp_latent *l = &m->latent;
    const double heads = m->heads / (double)list->in->layout.tp;

    if (l->q_rank > 0)
        add_narrow(list, "queries down", l->q_rank, 0);
    add_wide(list, "queries", l->q_rank > 0 ? l->q_rank : m->hidden, heads * m->head_dim);
    add_narrow(list, "keys, values down", l->kv_rank, l->rope_dim);
    add_wide(list, "keys, values", l->kv_rank, heads * (m->head_dim - l->rope_dim + l->value_dim));
}

/* ---- block ----------------------------------------------------------------------------------- */

/* Adds the norm in front of attention or of the MLP. */
static void add_inner_norm(struct pp_layer_kernels *list)
{
    const int first = list->count;

    pp_layer_add_norm(list);
    pp_layer_mark(list, first, PP_AGAIN_NORM);
}

/* Adds dropout of a half block's output and the residual; the backward adds two gradients. */
static void add_residual(struct pp_layer_kernels *list)
{
    const double values = list->whole_tokens * list->in->model->hidden;

    if (pp_cost_has_dropout(list->in))
        PP_LAYER_TRAFFIC(list, values, "dropout, residual", {1, 2, 0}, {3, 5, 0},
                         {MASK_BYTES, MASK_BYTES, 0});
    else
        PP_LAYER_TRAFFIC(list, values, "residual", {1, 1, 0}, {3, 3, 0});
}

static void add_rotary(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const bool is_latent = m->latent.kv_rank > 0; /* all heads share the key of one */
    const double tp = list->in->layout.tp,
                 heads = m->heads / tp + (is_latent ? 1 : fmax(m->kv_heads / tp, 1)),
                 width = is_latent ? m->latent.rope_dim : m->head_dim;

    const int first = list->count;

    if (m->positions == 0)
        PP_LAYER_TRAFFIC(list, list->work.tokens * heads * width, "rotary", {2, 2, 0}, {2, 2, 0});
    pp_layer_mark(list, first, is_latent ? PP_AGAIN_LATENT : 0);
}

static void add_head_norms(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double tp = list->in->layout.tp, heads = m->heads / tp + fmax(m->kv_heads / tp, 1);

    if (m->has_qk_norm)
        PP_LAYER_TRAFFIC(list, list->work.tokens * heads * m->head_dim, "head norms", {2, 4, 0},
                         {2, 5, 0});
}

/* Adds a norm of a half block's output, which some models have. */
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

    PP_LAYER_MATRIX(list, .name = "qkv", .tokens = list->work.tokens, .k = m->hidden,
                    .n = (q + 2 * kv) * list->scale, .has_bias = m->has_bias_attn_qkv,
                    .again_frac = kv / (q + 2 * kv));
}

static void add_first_half(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const bool is_latent = m->latent.kv_rank > 0;
    const double values = (double)m->heads * (is_latent ? m->latent.value_dim : m->head_dim);

    add_inner_norm(list);
    (is_latent ? add_latent : add_qkv)(list);
    add_head_norms(list);
    add_rotary(list);
    pp_layer_add_attention(list);
    PP_LAYER_MATRIX(list, .name = "projection", .tokens = list->work.tokens,
                    .k = values / list->in->layout.tp, .n = m->hidden * list->scale,
                    .has_bias = m->has_bias_attn_out, .again_frac = 1);
    add_outer_norm(list);
    add_residual(list);
}

/* Adds the dense feed-forward matrices with their activation; returns the last one's index. */
static int add_feed_forward(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double t = list->work.tokens, h = m->hidden, f = m->ffn / (double)list->in->layout.tp,
                 fan = m->is_gated ? 2 : 1;
    const int first = list->count;

    PP_LAYER_MATRIX(list, .name = m->is_gated ? "gate, up" : "mlp up", .tokens = t, .k = h,
                    .n = fan * f * list->scale, .has_bias = m->has_bias_mlp,
                    .again_frac = m->is_gated ? 0.5 : 0);
    pp_layer_add_activation(list, t * f);
    const int down = list->count;
    PP_LAYER_MATRIX(list, .name = "mlp down", .tokens = t, .k = f, .n = h * list->scale,
                    .has_bias = m->has_bias_mlp, .again_frac = m->is_gated ? 0 : 1);
    pp_layer_mark(list, first, PP_AGAIN_MLP);
    return down;
}

/* Marks the kernels from `first` on, whose outputs the block's backward does not read. They are the
 * sum with the residual, and the last matrix if its output is only added. The backward reads masks
 * of dropout and inputs of norms. */
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

    add_first_half(list);
    add_inner_norm(list);
    const int down = add_feed_forward(list);
    add_outer_norm(list);
    const int residual = list->count;
    add_residual(list);
    end_recompute(list, is_normed ? residual : down);
}

static void add_moe(struct pp_layer_kernels *list)
{
    add_first_half(list);
    add_inner_norm(list);
    const int first = list->count;
    pp_layer_add_experts(list);
    pp_layer_mark(list, first, PP_AGAIN_MOE);
    add_outer_norm(list);
    add_residual(list);
}

/* Adds multi-token prediction. The hidden vector and the next token's embedding are normalized,
 * projected to one and pass a block and the head (DeepSeek-AI 2024, DeepSeek-V3, section 2.2). */
static void add_mtp(struct pp_layer_kernels *list)
{
    const double h = list->in->model->hidden;

    pp_layer_add_norm(list);
    pp_layer_add_norm(list);
    PP_LAYER_MATRIX(list, .name = "merge", .tokens = list->work.tokens, .k = 2 * h,
                    .n = h / list->in->layout.tp);
    (pp_model_last_kind(list->in->model) == PP_LAYER_MOE ? add_moe : add_block)(list);
    add_head(list);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Returns the factor of --params on the matrices. */
static double matrix_scale(const struct pp_model *model)
{
    struct pp_model plain = *model;

    if (model->params_override <= 0)
        return 1;
    plain.params_override = 0;
    return pp_model_layer_params(model, PP_LAYER_BLOCK) /
           pp_model_layer_params(&plain, PP_LAYER_BLOCK);
}

void pp_layer_open(const struct pp_cost_inputs *in, struct pp_layer_work work, enum pp_pass pass,
                   struct pp_layer_kernels *list)
{
    list->in = in;
    list->work = work;
    list->pass = pass;
    list->value_bytes = pp_dtype_bytes(&in->cluster->device);
    list->weight_bytes = 0;
    list->grad_bytes = pp_cost_state_bytes(in).grads;
    list->whole_tokens = in->is_tp_only ? work.tokens : work.tokens / in->layout.tp;
    list->scale = matrix_scale(in->model);
    list->count = 0;
}

void pp_layer_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, enum pp_pass pass, struct pp_layer_kernels *list)
{
    static void (*const add[])(struct pp_layer_kernels *) = {
        [PP_LAYER_EMBEDDING] = add_embedding,
        [PP_LAYER_BLOCK] = add_block,
        [PP_LAYER_HEAD] = add_head,
        [PP_LAYER_MOE] = add_moe,
        [PP_LAYER_MTP] = add_mtp,
    };

    pp_layer_open(in, work, pass, list);
    add[kind](list);
}
