#include "core/model.h"

#include <math.h>

/* Parameter conventions (docs/costs.md, "Parameters"): the embedding holds the token, position and
 * token-type tables and, with token types (BERT), its normalization; the head holds the final
 * normalization, an untied output matrix, and BERT's pooler and prediction heads. */

const char *const pp_flops_rule_names[] = {"megatron", "palm", "causal", NULL};

enum {
    MAX_LAYERS = 100000,
    MAX_HIDDEN = 1 << 20,
    MAX_HEADS = 1 << 16,
    MAX_FFN = 1 << 24,
    MAX_VOCAB = 1 << 28,
    MAX_SEQ = 1 << 26,
};

static double norm_params(const struct pp_model *m)
{
    return m->has_bias_norm ? 2.0 * m->hidden : m->hidden;
}

/* Elements of the weight matrices of one block, by the dimensions. */
static double block_matrices(const struct pp_model *m)
{
    const double h = m->hidden, q = (double)m->heads * m->head_dim,
                 kv = (double)m->kv_heads * m->head_dim;

    return h * (q + 2 * kv) + q * h + (m->is_gated ? 3.0 : 2.0) * h * m->ffn;
}

static double block_params(const struct pp_model *m)
{
    const double h = m->hidden, q = (double)m->heads * m->head_dim,
                 kv = (double)m->kv_heads * m->head_dim;
    double biases = 0;

    if (m->has_bias_attn_qkv)
        biases += q + 2 * kv;
    if (m->has_bias_attn_out)
        biases += h;
    if (m->has_bias_mlp)
        biases += (m->is_gated ? 2.0 : 1.0) * m->ffn + h;
    return block_matrices(m) + biases + m->norms_per_layer * norm_params(m);
}

static double embedding_params(const struct pp_model *m)
{
    const double rows = (double)m->vocab + m->positions + m->token_types;

    return rows * m->hidden + (m->token_types > 0 ? norm_params(m) : 0);
}

static double head_params(const struct pp_model *m)
{
    const double h = m->hidden;
    double params = m->is_tied ? 0 : m->vocab * h;

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

double pp_model_layer_params(const struct pp_model *model, enum pp_layer_kind kind)
{
    switch (kind) {
    case PP_LAYER_EMBEDDING:
        return embedding_params(model);
    case PP_LAYER_HEAD:
        return head_params(model);
    case PP_LAYER_BLOCK:
        break;
    }
    if (model->params_override > 0)
        return (model->params_override - embedding_params(model) - head_params(model)) /
               model->layers;
    return block_params(model);
}

double pp_model_params(const struct pp_model *model)
{
    if (model->params_override > 0)
        return model->params_override;
    return model->layers * block_params(model) + embedding_params(model) + head_params(model);
}

double pp_model_layer_flops(const struct pp_model *model, enum pp_layer_kind kind, double batch,
                            double seq, enum pp_flops_rule rule)
{
    const double tokens = batch * seq, h = model->hidden;

    if (kind == PP_LAYER_EMBEDDING)
        return 0;
    if (kind == PP_LAYER_HEAD) {
        const double table = model->vocab * h;
        if (rule == PP_FLOPS_PALM)
            return 2 * tokens * (head_params(model) + (model->is_tied ? table : 0));
        return 2 * tokens * (table + (model->has_mlm_head ? h * h : 0));
    }
    /* With --params the matrices are scaled to the size that was given. */
    const double scale = pp_model_layer_params(model, PP_LAYER_BLOCK) / block_params(model);
    const double attention = 4 * tokens * seq * model->heads * model->head_dim;

    if (rule == PP_FLOPS_PALM)
        return 2 * tokens * pp_model_layer_params(model, PP_LAYER_BLOCK) + attention;
    return 2 * tokens * block_matrices(model) * scale +
           (rule == PP_FLOPS_CAUSAL && model->is_causal ? attention / 2 : attention);
}

double pp_model_flops_per_sample(const struct pp_model *model, int seq, enum pp_flops_rule rule)
{
    return 3 * (model->layers * pp_model_layer_flops(model, PP_LAYER_BLOCK, 1, seq, rule) +
                pp_model_layer_flops(model, PP_LAYER_HEAD, 1, seq, rule));
}

/* GPT-like dimensions of about `params` with the given number of blocks: solve
 * 12 l h^2 + (13 l + rows) h = params for h, rounded to whole heads. */
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

    (void)arena; /* nothing of such a model needs room */
    if (!(params >= lowest && params <= highest))
        return pp_error_set(err, PP_EINVAL, "--params %g: a model has between %g and %g parameters",
                            params, lowest, highest);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
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
        if (embedding_params(&m) + head_params(&m) >= 0.9 * params)
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
    model->name = "gpt-like"; /* reports print the number of parameters beside the name */
    return pp_model_check(model, err);
}

static enum pp_status check_range(const char *what, int value, int low, int high,
                                  struct pp_error *err)
{
    if (value < low || value > high)
        return pp_error_set(err, PP_EINVAL, "%s is %d: expected %d to %d", what, value, low, high);
    return PP_OK;
}

/* The divisors of `hidden` next to `heads` on both sides, for a message. */
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

enum pp_status pp_model_check(const struct pp_model *model, struct pp_error *err)
{
    const struct {
        const char *what;
        int value, low, high;
    } ranges[] = {
        {"number of layers", model->layers, 1, MAX_LAYERS},
        {"hidden size", model->hidden, 1, MAX_HIDDEN},
        {"number of heads", model->heads, 1, MAX_HEADS},
        {"number of key-value heads", model->kv_heads, 1, MAX_HEADS},
        {"size of the feed-forward layer", model->ffn, 1, MAX_FFN},
        {"vocabulary", model->vocab, 1, MAX_VOCAB},
        {"number of positions", model->positions, 0, MAX_SEQ},
        {"number of token types", model->token_types, 0, 1 << 16},
        {"sequence length", model->seq, 1, MAX_SEQ},
        {"number of norms per layer", model->norms_per_layer, 0, 16},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        PP_TRY(check_range(ranges[i].what, ranges[i].value, ranges[i].low, ranges[i].high, err));
    if (model->head_dim <= 0 && model->hidden % model->heads != 0)
        return heads_error(model, err);
    PP_TRY(check_range("size of a head", model->head_dim, 1, 1 << 16, err));
    if (model->heads % model->kv_heads != 0)
        return pp_error_set(err, PP_EINVAL, "%d heads are not a multiple of %d key-value heads",
                            model->heads, model->kv_heads);
    if (model->params_override < 0 || !isfinite(model->params_override))
        return pp_error_set(err, PP_EINVAL, "number of parameters is %g: expected a positive one",
                            model->params_override);
    const double outside = embedding_params(model) + head_params(model);
    if (model->params_override > 0 && model->params_override <= outside)
        return pp_error_set(err, PP_EINVAL,
                            "%g parameters are fewer than the %g of the embedding and the head "
                            "alone (vocabulary %d, hidden size %d)",
                            model->params_override, outside, model->vocab, model->hidden);
    return PP_OK;
}
