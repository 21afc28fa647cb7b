/* The dimensions of the transformer that is trained, from a model. */
#include "exec/net/net.h"

#include "core/lines.h"

#include <math.h>
#include <string.h>

/* Families whose blocks differ from those that are computed here. */
static const struct {
    const char *family, *reason;
} refused[] = {
    {"bloom", "its positions are slopes of the attention scores"},
    {"deit", "it reads images"},
    {"glm", "its norms come after attention and feed-forward layer"},
    {"nemotron", "its activation function is the square of ReLU"},
};
enum { REFUSED = PP_COUNT(refused) };

static const char can_be[] = "models of the families gpt2, llama, mistral, mixtral, qwen2, qwen3, "
                             "qwen3_moe, gemma, gpt_neox and opt can be, as tiny, mini, "
                             "tiny-llama, gpt2; bert can be trained";

static enum pp_status refuse(const struct pp_model *model, const char *reason, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "model '%.80s' cannot be executed here: %s; %s",
                        model->name, reason, can_be);
}

/* Activation functions as transformers names them. */
static const struct {
    const char *name;
    enum pp_activation activation;
} activations[] = {
    {"gelu", PP_GELU_ERF},      {"gelu_fast", PP_GELU_TANH},
    {"gelu_new", PP_GELU_TANH}, {"gelu_pytorch_tanh", PP_GELU_TANH},
    {"relu", PP_RELU},          {"silu", PP_SILU},
    {"swish", PP_SILU},
};
enum { NAMES = PP_COUNT(activations) };

/* Returns the row of an activation function; NAMES = none. */
static int activation_of(const char *name)
{
    int i = 0;

    while (i < NAMES && strcmp(activations[i].name, name) != 0)
        i++;
    return i;
}

static enum pp_status refuse_named(const struct pp_model *m, const char *what, const char *name,
                                   struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "model '%.80s' cannot be executed here: %s '%.80s'; %s",
                        m->name, what, name, can_be);
}

/* Returns the elements of a head that are rotated. */
static int rotated(const struct pp_model *m, const struct pp_rope *rope)
{
    return (int)lround(rope->frac * m->head_dim);
}

static enum pp_status check_rope(const struct pp_model *m, const struct pp_rope *rope,
                                 struct pp_error *err)
{
    static const char *const scalings[] = {"linear", "llama3", NULL};
    const int dim = rotated(m, rope);

    if (m->positions > 0)
        return PP_OK;
    if (rope->scaling && !pp_is_one_of(rope->scaling, scalings))
        return refuse_named(m, "its rotary positions are scaled by", rope->scaling, err);
    if (dim % 2 == 0 && dim > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "model '%.80s' cannot be executed here: rotary positions turn pairs, and "
                        "the size of a head is %d, of which %d are rotated: the nearest legal one "
                        "is %d",
                        m->name, m->head_dim, dim, dim + dim % 2 + 2 * (dim == 0));
}

static enum pp_status check_numerics(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_numerics n = pp_model_numerics(m);

    if (activation_of(n.activation) == NAMES)
        return refuse_named(m, "its activation function is", n.activation, err);
    if (n.odd)
        return refuse_named(m, "its file sets", n.odd, err);
    if ((n.norm_place == PP_NORM_POST) == m->is_causal)
        return refuse(m,
                      m->is_causal ? "its norms come after attention and feed-forward layer"
                                   : "its norms come before attention and feed-forward layer",
                      err);
    return check_rope(m, &n.rope, err);
}

static enum pp_status check_experts(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_experts *e = &m->experts;

    if (e->count == 0)
        return PP_OK;
    if (m->window.is_chunked) /* Llama 4 */
        return refuse(m, "its router weighs what experts read, by a sigmoid", err);
    if (e->groups > 0)
        return refuse(m, "experts of a token are chosen by groups", err);
    if (e->has_router_bias)
        return refuse(m, "its router has a bias", err);
    if (!m->is_causal)
        return refuse(m, "blocks of an encoder have no experts here", err);
    if (e->has_shared_gate)
        return refuse(m, "a gate weighs its shared experts", err);
    if (pp_model_numerics(m).norm_place == PP_NORM_PARALLEL)
        return refuse(m, "attention and experts of a block run side by side", err);
    return PP_OK;
}

static enum pp_status check_architecture(const struct pp_model *m, struct pp_error *err)
{
    for (int i = 0; i < REFUSED; i++)
        if (m->family != NULL && strcmp(m->family, refused[i].family) == 0)
            return refuse(m, refused[i].reason, err);
    PP_TRY(check_experts(m, err));
    if (m->mtp > 0)
        return refuse(m, "it predicts more than one token", err);
    if (m->latent.kv_rank > 0 || m->has_sinks)
        return refuse(m, "its attention is more than queries, keys and values", err);
    if (m->params_override > 0)
        return refuse(m, "only its number of parameters is known", err);
    if (!m->is_causal && (m->positions == 0 || m->token_types == 0 || m->is_gated))
        return refuse(m, "it is an encoder unlike BERT", err);
    if (!m->is_causal && m->numerics.position_offset > 0)
        return refuse(m, "its positions begin after the padding token (RoBERTa)", err);
    if (m->norms_per_layer != 2 || m->has_final_norm != m->is_causal)
        return refuse(m, "expected two norms in a block and one before the head", err);
    return check_numerics(m, err);
}

static struct pp_angles angles_of(const struct pp_model *m, const struct pp_rope *rope)
{
    const bool is_scaled = rope->scaling != NULL,
               is_llama3 = is_scaled && strcmp(rope->scaling, "llama3") == 0;

    return (struct pp_angles){.dim = rotated(m, rope),
                              .theta = rope->theta,
                              .factor = is_scaled ? rope->factor : 0,
                              .low = is_llama3 ? rope->low_factor : 0,
                              .high = is_llama3 ? rope->high_factor : 0,
                              .original_seq = is_llama3 ? rope->original_seq : 0};
}

enum pp_status pp_net_from_model(const struct pp_model *model, int seq, struct pp_net *net,
                                 struct pp_error *err)
{
    const int tokens = seq == 0 ? model->seq : seq;
    const struct pp_numerics numerics = pp_model_numerics(model);

    PP_TRY(pp_model_check(model, err));
    PP_TRY(check_architecture(model, err));
    *net = (struct pp_net){
        .name = model->name,
        .layers = model->layers,
        .hidden = model->hidden,
        .heads = model->heads,
        .kv_heads = model->kv_heads,
        .head_dim = model->head_dim,
        .ffn = model->ffn,
        .vocab = model->vocab,
        .has_positions = model->positions > 0,
        .position_offset = model->positions > 0 ? numerics.position_offset : 0,
        .is_gated = model->is_gated,
        .is_parallel = numerics.norm_place == PP_NORM_PARALLEL,
        .is_tied = model->is_tied,
        .is_rms = !model->has_bias_norm, /* true for every family that can be read */
        .has_bias_qkv = model->has_bias_attn_qkv,
        .has_bias_out = model->has_bias_attn_out,
        .has_bias_mlp = model->has_bias_mlp,
        .has_bias_norm = model->has_bias_norm,
        .is_encoder = !model->is_causal,
        .token_types = model->token_types,
        .has_qk_norm = model->has_qk_norm,
        .has_norm_offset = numerics.has_norm_offset,
        .experts = model->experts.count,
        .top_k = model->experts.top_k,
        .expert_ffn = model->experts.ffn,
        .shared_ffn = model->experts.shared_ffn,
        .dense_first = model->experts.dense_first,
        .dense = model->experts.dense,
        .dense_count = model->experts.dense_count,
        .every = model->experts.count > 0 && model->experts.every == 0 ? 1 : model->experts.every,
        .has_plain_gates = model->experts.has_plain_gates,
        .balance_loss = model->experts.balance_loss,
        .activation = activations[activation_of(numerics.activation)].activation,
        .norm_epsilon = numerics.norm_epsilon,
        .embedding_scale = numerics.embedding_scale == 1 ? 0 : numerics.embedding_scale,
        .rotary = angles_of(model, &numerics.rope),
    };
    return pp_net_take_seq(net, model, tokens, err);
}

bool pp_net_has_experts(const struct pp_net *net, int block)
{
    if (net->experts == 0 || block < net->dense_first || (block + 1) % net->every != 0)
        return false;
    for (int i = 0; i < net->dense_count; i++)
        if (net->dense[i] == block)
            return false;
    return true;
}

int pp_net_mixtures(const struct pp_net *net, int first, int count)
{
    int mixtures = 0;

    for (int i = first; i < first + count; i++)
        mixtures += pp_net_has_experts(net, i);
    return mixtures;
}

size_t pp_net_expert_tokens(const struct pp_net *net)
{
    return (size_t)pp_net_mixtures(net, 0, net->layers) * (size_t)(net->experts + PP_EXPERT_MORE);
}

int pp_net_window(const struct pp_net *net, int block)
{
    const struct pp_model model = {.window = net->window};

    return pp_model_is_windowed(&model, block) ? net->window.keys : 0;
}

/* 15 %, at least one (Devlin et al. 2019, section 3.1). */
int pp_net_targets(const struct pp_net *net)
{
    const int hidden = (3 * net->seq + 10) / 20;

    return !net->is_encoder ? net->seq : hidden > 1 ? hidden : 1;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static bool has_other_activation(const struct pp_net *net)
{
    return net->activation != (net->is_gated ? PP_SILU : PP_GELU_TANH);
}

static bool has_embedding_scale(const struct pp_net *net)
{
    return net->embedding_scale != 0;
}

static bool has_head_norms(const struct pp_net *net)
{
    return net->has_qk_norm;
}

static bool has_window(const struct pp_net *net)
{
    return net->window.keys > 0;
}

static bool is_encoder(const struct pp_net *net)
{
    return net->is_encoder;
}

/* Parts of a net that tables of kernels may lack. */
static const struct {
    unsigned bit;
    bool (*is_needed)(const struct pp_net *net);
    const char *what;
} parts[] = {
    {PP_LACKS_ACTIVATIONS, has_other_activation, "activation functions other than GELU and SwiGLU"},
    {PP_LACKS_HEAD_NORMS, has_head_norms, "norms of queries and keys"},
    {PP_LACKS_SCALE, has_embedding_scale, "a factor on the embedding"},
    {PP_LACKS_WINDOWS, has_window, "windows of attention"},
    {PP_LACKS_ENCODERS, is_encoder, "the attention and the head of an encoder"},
};

enum pp_status pp_net_check_kernels(const struct pp_net *net, const struct pp_kernels *kernels,
                                    const char *backend, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(parts); i++)
        if (kernels->lacks & parts[i].bit && parts[i].is_needed(net))
            return pp_error_set(err, PP_EINVAL,
                                "--backend %s: model '%.80s' needs %s, which its kernels lack; "
                                "--backend cpu has them",
                                backend, net->name, parts[i].what);
    return PP_OK;
}
