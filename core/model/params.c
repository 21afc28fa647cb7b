/* Parameters and model flops, layer by layer, by the conventions of docs/costs.md, "Parameters".
 * The embedding holds the token, position and token-type tables. With token types (BERT) it also
 * holds its normalization. For images it holds the matrix of patches and the class token. The head
 * holds the final normalization, an untied output matrix, BERT's pooler and prediction heads. */
#include "core/model/model.h"

const char *const pp_flops_rule_names[] = {"megatron", "palm", "causal", NULL};

static double norm_params(const struct pp_model *m)
{
    return m->has_bias_norm ? 2.0 * m->hidden : m->hidden;
}

/* ---- attention ------------------------------------------------------------------------------- */

static double query_width(const struct pp_model *m)
{
    return (double)m->heads * m->head_dim;
}

static double value_width(const struct pp_model *m)
{
    return (double)m->heads * (m->latent.kv_rank > 0 ? m->latent.value_dim : m->head_dim);
}

double pp_model_attention_width(const struct pp_model *model)
{
    return (query_width(model) + value_width(model)) / 2;
}

static double latent_matrices(const struct pp_model *m)
{
    const struct pp_latent *l = &m->latent;
    const double h = m->hidden, q = query_width(m),
                 keys = (double)m->heads * (m->head_dim - l->rope_dim);
    const double queries = l->q_rank > 0 ? l->q_rank * (h + q) : h * q;

    return queries + h * ((double)l->kv_rank + l->rope_dim) + l->kv_rank * (keys + value_width(m)) +
           value_width(m) * h;
}

static double attention_matrices(const struct pp_model *m)
{
    const double h = m->hidden, kv = (double)m->kv_heads * m->head_dim;

    if (m->latent.kv_rank > 0)
        return latent_matrices(m);
    return h * (query_width(m) + 2 * kv) + query_width(m) * h;
}

static double attention_vectors(const struct pp_model *m)
{
    double params = 0;

    if (m->has_bias_attn_qkv)
        params += query_width(m) + 2.0 * m->kv_heads * m->head_dim;
    if (m->has_bias_attn_out)
        params += m->hidden;
    if (m->has_qk_norm)
        params += 2.0 * m->head_dim;
    if (m->has_sinks)
        params += m->heads;
    return params + m->latent.q_rank + m->latent.kv_rank;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static double mlp_matrices(const struct pp_model *m, double ffn)
{
    return (m->is_gated ? 3.0 : 2.0) * m->hidden * ffn;
}

static double mlp_biases(const struct pp_model *m, double ffn)
{
    return m->has_bias_mlp ? (m->is_gated ? 2.0 : 1.0) * ffn + m->hidden : 0;
}

static double expert_params(const struct pp_model *m)
{
    return mlp_matrices(m, m->experts.ffn) + mlp_biases(m, m->experts.ffn);
}

/* Returns the matrices of a mixture without attention and routed experts. */
static double shared_matrices(const struct pp_model *m)
{
    const struct pp_experts *e = &m->experts;

    return (double)m->hidden * e->count + mlp_matrices(m, e->shared_ffn) +
           (e->has_shared_gate ? m->hidden : 0);
}

static double block_matrices(const struct pp_model *m, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_MOE)
        return attention_matrices(m) + shared_matrices(m) +
               m->experts.top_k * mlp_matrices(m, m->experts.ffn);
    return attention_matrices(m) + mlp_matrices(m, m->ffn);
}

static double block_params(const struct pp_model *m, enum pp_layer_kind kind)
{
    const double attention =
        attention_matrices(m) + attention_vectors(m) + m->norms_per_layer * norm_params(m);
    const struct pp_experts *e = &m->experts;

    if (kind != PP_LAYER_MOE)
        return attention + mlp_matrices(m, m->ffn) + mlp_biases(m, m->ffn);
    return attention + shared_matrices(m) + (e->shared_ffn > 0 ? mlp_biases(m, e->shared_ffn) : 0) +
           (e->has_router_bias ? e->count : 0) + e->count * expert_params(m);
}

/* Returns how many blocks of the list lie in [from, until). */
static int listed(const struct pp_experts *e, int from, int until)
{
    int count = 0;

    for (int i = 0; i < e->dense_count; i++)
        count += e->dense[i] >= from && e->dense[i] < until;
    return count;
}

int pp_model_moe_blocks(const struct pp_model *model, int first, int count)
{
    const struct pp_experts *e = &model->experts;
    const int every = e->every > 0 ? e->every : 1, last = first + count;
    const int from = first > e->dense_first ? first : e->dense_first;

    /* block i, from 0, is a mixture where every divides i + 1 */
    return e->count > 0 && last > from ? last / every - from / every - listed(e, from, last) : 0;
}

enum pp_layer_kind pp_model_last_kind(const struct pp_model *model)
{
    return pp_model_moe_blocks(model, model->layers - 1, 1) > 0 ? PP_LAYER_MOE : PP_LAYER_BLOCK;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static double embedding_params(const struct pp_model *m)
{
    const double tokens = m->patch > 0 ? m->patch + 2.0 : m->vocab, /* matrix, bias, class token */
        rows = tokens + m->positions + m->token_types;

    return rows * m->hidden + (m->token_types > 0 || m->has_embedding_norm ? norm_params(m) : 0);
}

/* Returns three norms (hidden vector, next embedding, output), the merging matrix, a block. */
static double mtp_params(const struct pp_model *m)
{
    const double h = m->hidden;

    return 3 * norm_params(m) + 2 * h * h + block_params(m, pp_model_last_kind(m));
}

static double head_params(const struct pp_model *m)
{
    const double h = m->hidden;
    double params = m->is_tied ? 0 : m->vocab * h + (m->patch > 0 ? m->vocab : 0);

    if (m->has_final_norm)
        params += norm_params(m);
    if (m->has_pooler)
        params += h * h + h;
    if (m->has_mlm_head)
        params += h * h + h + norm_params(m) + m->vocab;
    if (m->has_pooler && m->has_mlm_head) /* next-sentence prediction: two classes */
        params += 2 * h + 2;
    return params;
}

/* ---- all ------------------------------------------------------------------------------------- */

double pp_model_layer_params(const struct pp_model *model, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_EMBEDDING)
        return embedding_params(model);
    if (kind == PP_LAYER_HEAD)
        return head_params(model);
    if (kind == PP_LAYER_MTP)
        return mtp_params(model);
    if (kind == PP_LAYER_BLOCK && model->params_override > 0)
        return (model->params_override - embedding_params(model) - head_params(model) -
                model->mtp * mtp_params(model)) /
               model->layers;
    return block_params(model, kind);
}

double pp_model_routed_params(const struct pp_model *model, enum pp_layer_kind kind)
{
    if (kind == PP_LAYER_MTP)
        kind = pp_model_last_kind(model);
    return kind == PP_LAYER_MOE ? model->experts.count * expert_params(model) : 0;
}

double pp_model_params(const struct pp_model *model)
{
    const int moe = pp_model_moe_blocks(model, 0, model->layers);

    if (model->params_override > 0)
        return model->params_override;
    return (model->layers - moe) * block_params(model, PP_LAYER_BLOCK) +
           moe * (moe > 0 ? block_params(model, PP_LAYER_MOE) : 0) + embedding_params(model) +
           head_params(model) + model->mtp * mtp_params(model);
}

double pp_model_active_params(const struct pp_model *model)
{
    const struct pp_experts *e = &model->experts;
    const double routed =
        pp_model_moe_blocks(model, 0, model->layers) * pp_model_routed_params(model, PP_LAYER_MOE) +
        model->mtp * pp_model_routed_params(model, PP_LAYER_MTP);

    return pp_model_params(model) - (e->count > 0 ? routed * (e->count - e->top_k) / e->count : 0);
}

/* ---- flops ----------------------------------------------------------------------------------- */

static double block_flops(const struct pp_model *m, enum pp_layer_kind kind, double tokens,
                          double seq, enum pp_flops_rule rule)
{
    /* --params scales the matrices to the given size. */
    const double params = pp_model_layer_params(m, kind),
                 scale = kind == PP_LAYER_BLOCK ? params / block_params(m, kind) : 1;
    const double attention =
        4 * tokens * pp_model_keys_met(m, seq, rule) * pp_model_attention_width(m);
    const double idle =
        kind == PP_LAYER_MOE ? (m->experts.count - m->experts.top_k) * expert_params(m) : 0;

    if (rule == PP_FLOPS_PALM)
        return 2 * tokens * (params - idle) + attention;
    return 2 * tokens * block_matrices(m, kind) * scale + attention;
}

/* Returns the flops of the matrix of patches. The class token has none. */
static double embedding_flops(const struct pp_model *m, double batch, double seq)
{
    return 2 * batch * (seq - 1) * m->patch * m->hidden;
}

/* Images are classified by one token of a sample. */
static double head_flops(const struct pp_model *m, double batch, double seq,
                         enum pp_flops_rule rule)
{
    const double h = m->hidden, table = m->vocab * h, tokens = batch * (m->patch > 0 ? 1 : seq);

    if (rule == PP_FLOPS_PALM)
        return 2 * tokens * (head_params(m) + (m->is_tied ? table : 0));
    return 2 * tokens * (table + (m->has_mlm_head ? h * h : 0));
}

static double mtp_flops(const struct pp_model *m, double tokens, double seq,
                        enum pp_flops_rule rule)
{
    const double h = m->hidden;

    return block_flops(m, pp_model_last_kind(m), tokens, seq, rule) +
           2 * tokens * (2 * h * h + m->vocab * h);
}

double pp_model_layer_flops(const struct pp_model *model, enum pp_layer_kind kind, double batch,
                            double seq, enum pp_flops_rule rule)
{
    const double tokens = batch * seq;

    if (kind == PP_LAYER_EMBEDDING)
        return embedding_flops(model, batch, seq);
    if (kind == PP_LAYER_HEAD)
        return head_flops(model, batch, seq, rule);
    if (kind == PP_LAYER_MTP)
        return mtp_flops(model, tokens, seq, rule);
    return block_flops(model, kind, tokens, seq, rule);
}

double pp_model_dropped_flops(const struct pp_model *model, enum pp_layer_kind kind, double tokens,
                              double capacity_factor)
{
    const struct pp_experts *e = &model->experts;

    if (e->count == 0 || capacity_factor <= 0 || capacity_factor >= 1)
        return 0;
    return 2 * tokens * (1 - capacity_factor) * e->top_k * pp_model_routed_params(model, kind) /
           e->count;
}

double pp_model_flops_per_sample(const struct pp_model *model, int seq, enum pp_flops_rule rule)
{
    const int moe = pp_model_moe_blocks(model, 0, model->layers);
    double forward =
        (model->layers - moe) * pp_model_layer_flops(model, PP_LAYER_BLOCK, 1, seq, rule) +
        pp_model_layer_flops(model, PP_LAYER_HEAD, 1, seq, rule) +
        model->mtp * pp_model_layer_flops(model, PP_LAYER_MTP, 1, seq, rule);

    if (moe > 0)
        forward += moe * pp_model_layer_flops(model, PP_LAYER_MOE, 1, seq, rule);
    /* images have no gradients */
    return 3 * forward + 2 * pp_model_layer_flops(model, PP_LAYER_EMBEDDING, 1, seq, rule);
}
