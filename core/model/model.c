/* A model from its number of parameters, and the check of its dimensions. */
#include "core/model/model.h"

#include <math.h>

enum {
    MAX_LAYERS = 100000,
    MAX_HIDDEN = 1 << 20,
    MAX_HEADS = 1 << 16,
    MAX_FFN = 1 << 24,
    MAX_VOCAB = 1 << 28,
    MAX_SEQ = 1 << 26,
    MAX_EXPERTS = 1 << 16,
};

static double ends_params(const struct pp_model *m)
{
    return pp_model_layer_params(m, PP_LAYER_EMBEDDING) + pp_model_layer_params(m, PP_LAYER_HEAD) +
           m->mtp * pp_model_layer_params(m, PP_LAYER_MTP);
}

/* Sets GPT-like dimensions of about `params` with the given number of blocks. Solves 12 l h^2 + (13
 * l + rows) h = params for h, rounded to whole heads. */
static void gpt_dimensions(struct pp_model *m, double params, int layers)
{
    const double a = 12.0 * layers, b = 13.0 * layers + m->vocab + m->positions + 2;
    const double hidden = (sqrt(b * b + 4 * a * params) - b) / (2 * a);

    m->layers = layers;
    m->head_dim = hidden < 2048 ? 64 : 128;
    m->heads = (int)fmax(1, round(hidden / m->head_dim));
    m->kv_heads = m->heads;
    m->hidden = m->heads * m->head_dim;
    m->ffn = 4 * m->hidden;
}

enum pp_status pp_model_from_params(struct pp_arena *arena, double params, struct pp_model *model,
                                    struct pp_error *err)
{
    static const int layers[] = {2,  4,  6,  8,  12,  16,  20,  24,  32,  40,
                                 48, 64, 80, 96, 128, 160, 192, 256, 384, 512};
    const double lowest = 1e6, highest = 1e15;
    double best = HUGE_VAL;
    struct pp_model m;

    (void)arena; /* such a model needs no memory */
    if (!(params >= lowest && params <= highest))
        return pp_error_set(err, PP_EINVAL, "--params %g: a model has between %g and %g parameters",
                            params, lowest, highest);
    for (size_t i = 0; i < PP_COUNT(layers); i++) {
        m = (struct pp_model){
            .family = "gpt",
            .source = "GPT-like dimensions chosen for the number of parameters",
            /* the embedding stays a small part of small models */
            .vocab = params < 2e7 ? 1024 : 51200,
            .positions = 2048,
            .seq = 2048,
            .is_tied = true,
            .is_causal = true,
            .has_bias_attn_qkv = true,
            .has_bias_attn_out = true,
            .has_bias_mlp = true,
            .has_bias_norm = true,
            .has_final_norm = true,
            .norms_per_layer = 2,
            .notes = "",
        };
        gpt_dimensions(&m, params, layers[i]);
        if (ends_params(&m) >= 0.9 * params)
            continue;
        /* GPT-3 and Megatron models are about 128 times as wide as deep. */
        const double distance = fabs(log((double)m.hidden / layers[i] / 128));
        if (distance < best) {
            best = distance;
            *model = m;
        }
    }
    if (best == HUGE_VAL)
        return pp_error_set(err, PP_EINVAL,
                            "--params %g: no GPT-like model is that small; give --layers --hidden "
                            "--heads --vocab",
                            params);
    model->params_override = params;
    model->name = "gpt-like"; /* reports print the number of parameters next to the name */
    return pp_model_check(model, err);
}

static enum pp_status check_range(const char *what, int value, int low, int high,
                                  struct pp_error *err)
{
    if (value < low || value > high)
        return pp_error_set(err, PP_EINVAL, "%s is %d: expected %d to %d", what, value, low, high);
    return PP_OK;
}

static enum pp_status heads_error(const struct pp_model *m, struct pp_error *err)
{
    int below = m->heads, above = m->heads;

    while (below > 1 && m->hidden % below != 0)
        below--;
    while (above < m->hidden && m->hidden % above != 0)
        above++;
    return pp_error_set(err, PP_EINVAL,
                        "hidden size %d is not a multiple of %d heads: legal numbers of heads near "
                        "it are %d and %d",
                        m->hidden, m->heads, below, above);
}

struct range {
    const char *what;
    int value, low, high;
};

static enum pp_status check_ranges(const struct range *range, size_t count, struct pp_error *err)
{
    for (size_t i = 0; i < count; i++)
        PP_TRY(check_range(range[i].what, range[i].value, range[i].low, range[i].high, err));
    return PP_OK;
}

/* No block has experts. */
static enum pp_status refuse_dense(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_experts *e = &m->experts;
    int every = e->every;

    if (e->dense_first >= m->layers)
        return pp_error_set(err, PP_EINVAL,
                            "none of %d layers holds the %d experts: the first %d are dense; "
                            "nearest: --dense-layers %d",
                            m->layers, e->count, e->dense_first, m->layers - 1);
    while (m->layers / every * every <= e->dense_first)
        every--;
    return pp_error_set(err, PP_EINVAL,
                        "none of %d layers holds the %d experts: they are in layers %d, %d and so "
                        "on, after %d dense ones; nearest: --moe-every %d",
                        m->layers, e->count, e->every, 2 * e->every, e->dense_first, every);
}

static enum pp_status check_experts(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_experts *e = &m->experts;
    const struct range ranges[] = {
        {"number of experts (--experts)", e->count, 0, MAX_EXPERTS},
        {"experts of a token (--top-k)", e->top_k, e->count > 0, e->count},
        {"feed-forward width of an expert (--moe-ffn)", e->ffn, e->count > 0, MAX_FFN},
        {"feed-forward width of the shared experts (--shared-ffn)", e->shared_ffn, 0, MAX_FFN},
        {"number of groups of experts", e->groups, 0, e->count},
        {"groups of a token's experts", e->group_limit, e->groups > 0, e->groups},
        {"number of dense blocks at the start (--dense-layers)", e->dense_first, 0, MAX_LAYERS},
        {"distance of blocks with experts (--moe-every)", e->every, 0, MAX_LAYERS},
        {"number of further tokens predicted (--mtp)", m->mtp, 0, 16},
    };

    PP_TRY(check_ranges(ranges, PP_COUNT(ranges), err));
    if (e->count > 0 && pp_model_moe_blocks(m, 0, m->layers) == 0)
        return refuse_dense(m, err);
    if (e->count > 0 && m->params_override > 0)
        return pp_error_set(err, PP_EINVAL,
                            "a mixture of experts is not known by its number of parameters alone");
    return PP_OK;
}

static enum pp_status check_latent(const struct pp_model *m, struct pp_error *err)
{
    const struct pp_latent *l = &m->latent;
    const bool is_latent = l->kv_rank > 0;
    const struct range ranges[] = {
        {"rank of keys and values", l->kv_rank, 0, MAX_HIDDEN},
        {"rank of queries", l->q_rank, 0, is_latent ? MAX_HIDDEN : 0},
        {"rotated part of a head", l->rope_dim, 0, is_latent ? m->head_dim : 0},
        {"width of a head's values", l->value_dim, is_latent, is_latent ? MAX_HEADS : 0},
    };

    return check_ranges(ranges, PP_COUNT(ranges), err);
}

enum pp_status pp_model_check(const struct pp_model *model, struct pp_error *err)
{
    const struct range ranges[] = {
        {"number of layers (--layers)", model->layers, 1, MAX_LAYERS},
        {"hidden size (--hidden)", model->hidden, 1, MAX_HIDDEN},
        {"number of heads (--heads)", model->heads, 1, MAX_HEADS},
        {"number of key-value heads (--kv-heads)", model->kv_heads, 1, MAX_HEADS},
        {"size of the feed-forward layer (--ffn)", model->ffn, 1, MAX_FFN},
        {"vocabulary (--vocab)", model->vocab, 1, MAX_VOCAB},
        {"number of positions (--positions)", model->positions, 0, MAX_SEQ},
        {"number of token types", model->token_types, 0, 1 << 16},
        {"sequence length (--seq)", model->seq, 1, MAX_SEQ},
        {"number of norms per layer", model->norms_per_layer, 0, 16},
    };

    PP_TRY(check_ranges(ranges, PP_COUNT(ranges), err));
    if (model->head_dim <= 0 && model->hidden % model->heads != 0)
        return heads_error(model, err);
    PP_TRY(check_range("size of a head", model->head_dim, 1, 1 << 16, err));
    if (model->heads % model->kv_heads != 0)
        return pp_error_set(err, PP_EINVAL, "%d heads are not a multiple of %d key-value heads",
                            model->heads, model->kv_heads);
    PP_TRY(check_latent(model, err));
    PP_TRY(check_experts(model, err));
    if (model->params_override < 0 || !isfinite(model->params_override))
        return pp_error_set(err, PP_EINVAL, "number of parameters is %g: expected a positive one",
                            model->params_override);
    const double outside = ends_params(model);
    if (model->params_override > 0 && model->params_override <= outside)
        return pp_error_set(err, PP_EINVAL,
                            "%g parameters are fewer than the %g of the embedding and the head "
                            "alone (vocabulary %d, hidden size %d)",
                            model->params_override, outside, model->vocab, model->hidden);
    return PP_OK;
}
