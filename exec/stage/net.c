/* The dimensions of the transformer that is trained, from a model. */
#include "exec/stage/net.h"

#include "core/lines.h"

#include <string.h>

/* Families whose blocks differ from those that are computed here. */
static const struct {
    const char *family, *reason;
} refused[] = {
    {"bert", "an encoder: it predicts no next token"},
    {"bloom", "its positions are slopes of the attention scores"},
    {"gemma", "its feed-forward layer is gated by GELU"},
    {"glm", "its norms come after attention and feed-forward layer"},
    {"gpt-neox", "attention and feed-forward layer of a block run side by side"},
    {"nemotron", "its activation function is the square of ReLU"},
    {"opt", "its activation function is ReLU"},
};
enum { REFUSED = PP_COUNT(refused) };

static const char can_be_trained[] =
    "decoders like GPT-2 (LayerNorm, GELU) and LLaMA (RMSNorm, SwiGLU) can be, as tiny, mini, "
    "tiny-llama, gpt2";

static enum pp_status refuse(const struct pp_model *model, const char *reason, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "model '%.80s' cannot be trained here: %s; %s", model->name,
                        reason, can_be_trained);
}

/* Names of the activation functions that are computed: GELU in its tanh form, gates by SiLU. */
static const char *const plain[] = {"gelu_new", "gelu_pytorch_tanh", "gelu_fast", NULL},
                         *const gated[] = {"silu", "swish", NULL};

static enum pp_status refuse_named(const struct pp_model *m, const char *what, const char *name,
                                   struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "model '%.80s' cannot be trained here: %s '%.80s'; %s",
                        m->name, what, name, can_be_trained);
}

static enum pp_status check_rope(const struct pp_model *m, const struct pp_rope *rope,
                                 struct pp_error *err)
{
    if (m->positions > 0)
        return PP_OK;
    if (rope->scaling)
        return refuse_named(m, "its rotary positions are scaled by", rope->scaling, err);
    return rope->frac == 1 ? PP_OK : refuse(m, "it rotates only a part of each head", err);
}

static enum pp_status check_numerics(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_numerics n = pp_model_numerics(m);

    if (!pp_is_one_of(n.activation, m->is_gated ? gated : plain))
        return refuse_named(m, "its activation function is", n.activation, err);
    if (n.odd)
        return refuse_named(m, "its file sets", n.odd, err);
    if (n.norm_place != PP_NORM_PRE || n.has_norm_offset || n.embedding_scale != 1)
        return refuse(m, "its norms or its embedding are others", err);
    if (n.position_offset != 0)
        return refuse(m, "its table of positions does not begin at its first row", err);
    return check_rope(m, &n.rope, err);
}

static enum pp_status check_architecture(const struct pp_model *m, struct pp_error *err)
{
    for (int i = 0; i < REFUSED; i++)
        if (m->family != NULL && strcmp(m->family, refused[i].family) == 0)
            return refuse(m, refused[i].reason, err);
    if (m->experts.count > 0)
        return refuse(m, "it is a mixture of experts", err);
    if (m->latent.kv_rank > 0 || m->has_qk_norm || m->has_sinks)
        return refuse(m, "its attention is more than queries, keys and values", err);
    if (m->params_override > 0)
        return refuse(m, "only its number of parameters is known", err);
    if (!m->is_causal || m->token_types > 0 || m->has_pooler || m->has_mlm_head)
        return refuse(m, "it is an encoder", err);
    if (m->norms_per_layer != 2 || !m->has_final_norm)
        return refuse(m, "expected two norms in a block and one before the head", err);
    if (m->positions == 0 && m->head_dim % 2 != 0)
        return pp_error_set(err, PP_EINVAL,
                            "model '%.80s' cannot be trained here: rotary positions turn pairs, "
                            "and the size of a head is %d: the nearest legal one is %d",
                            m->name, m->head_dim, m->head_dim + 1);
    return check_numerics(m, err);
}

static enum pp_status check_seq(const struct pp_model *m, int seq, struct pp_error *err)
{
    if (seq < 1)
        return pp_error_set(err, PP_EINVAL, "a sequence of %d tokens: expected at least 1", seq);
    if (m->positions > 0 && seq > m->positions)
        return pp_error_set(err, PP_EINVAL,
                            "a sequence of %d tokens: model '%.80s' has %d positions, so at most "
                            "%d tokens",
                            seq, m->name, m->positions, m->positions);
    if (seq > m->window.keys && pp_model_windowed_blocks(m, 0, m->layers) > 0)
        return pp_error_set(err, PP_EINVAL,
                            "a sequence of %d tokens: attention of model '%.80s' has windows of "
                            "%d keys, so at most %d tokens",
                            seq, m->name, m->window.keys, m->window.keys);
    return PP_OK;
}

enum pp_status pp_net_from_model(const struct pp_model *model, int seq, struct pp_net *net,
                                 struct pp_error *err)
{
    const int tokens = seq == 0 ? model->seq : seq;
    const struct pp_numerics numerics = pp_model_numerics(model);

    PP_TRY(pp_model_check(model, err));
    PP_TRY(check_architecture(model, err));
    PP_TRY(check_seq(model, tokens, err));
    *net = (struct pp_net){
        .name = model->name,
        .layers = model->layers,
        .hidden = model->hidden,
        .heads = model->heads,
        .kv_heads = model->kv_heads,
        .head_dim = model->head_dim,
        .ffn = model->ffn,
        .vocab = model->vocab,
        .seq = tokens,
        .has_positions = model->positions > 0,
        .is_gated = model->is_gated,
        .is_tied = model->is_tied,
        .is_rms = !model->has_bias_norm, /* true for every family that can be read */
        .has_bias_qkv = model->has_bias_attn_qkv,
        .has_bias_out = model->has_bias_attn_out,
        .has_bias_mlp = model->has_bias_mlp,
        .has_bias_norm = model->has_bias_norm,
        .norm_epsilon = numerics.norm_epsilon,
        .rotary_theta = numerics.rope.theta,
    };
    return PP_OK;
}
