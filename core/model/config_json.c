/* Hugging Face config.json: dimensions and switches of a model. Families: core/model/families.c. */
#include "core/model/config_json.h"

#include <string.h>

/* ---- windows --------------------------------------------------------------------------------- */

/* Attention windows: a width, and the blocks with it, by "layer_types" or the family's defaults. */

static bool is_full(const json_t *type)
{
    const char *text = json_string_value(type);

    return text != NULL && strcmp(text, "full_attention") == 0;
}

/* Is true if "layer_types" names blocks without full attention. */
static bool has_windows(json_t *object)
{
    const json_t *types = json_object_get(object, "layer_types");

    for (size_t i = 0; i < json_array_size(types); i++)
        if (!is_full(json_array_get(types, i)))
            return true;
    return false;
}

/* Is true if the model's windows are those of the list. */
static bool is_pattern(const json_t *types, const struct pp_model *model)
{
    for (size_t i = 0; i < json_array_size(types); i++)
        if (is_full(json_array_get(types, i)) == pp_model_is_windowed(model, (int)i))
            return false;
    return true;
}

/* Finds the rule of a list: full blocks are every n-th, or the first n. `model` has the width.
 * False if no rule gives the list. */
static bool find_pattern(const json_t *types, struct pp_model *model)
{
    const int count = (int)json_array_size(types);
    int first = 0;

    while (first < count && !is_full(json_array_get(types, (size_t)first)))
        first++;
    model->window.full_every = first < count ? first + 1 : 0;
    model->window.full_first = 0;
    if (is_pattern(types, model))
        return true;
    for (first = 0; first < count && is_full(json_array_get(types, (size_t)first)); first++)
        ;
    model->window.full_every = 0;
    model->window.full_first = first;
    return is_pattern(types, model);
}

static enum pp_status read_rule(const struct pp_model_reader *r,
                                const struct pp_model_family *family, struct pp_window *window)
{
    window->full_every = family->full_every;
    if (family->pattern_key != NULL)
        PP_TRY(pp_model_read_int(r, family->pattern_key, 100000, &window->full_every));
    if (family->switched_from != NULL)
        PP_TRY(pp_model_read_int(r, family->switched_from, 100000, &window->full_first));
    return PP_OK;
}

/* Reads windows. If no rule gives "layer_types", all blocks are full, and the notes say so. */
static enum pp_status read_window(const struct pp_model_reader *r,
                                  const struct pp_model_family *family, struct pp_model *model)
{
    const json_t *types = json_object_get(r->object, "layer_types");
    bool is_on = !family->has_window_switch;
    int keys = family->window; /* one that is switched off must be a width, too */

    if (family->window_key == NULL)
        return PP_OK;
    PP_TRY(pp_model_read_bool(r, "use_sliding_window", &is_on));
    PP_TRY(pp_model_read_int(r, family->window_key, 1 << 28, &keys));
    if (is_on && !json_is_null(json_object_get(r->object, family->window_key)))
        model->window.keys = keys;
    if (model->window.keys == 0)
        return PP_OK;
    model->window.is_chunked = family->is_chunked;
    PP_TRY(read_rule(r, family, &model->window));
    if (json_array_size(types) > 0 && !find_pattern(types, model))
        model->window = (struct pp_window){0};
    return PP_OK;
}

enum { LONG_SEQ = 8192 };

/* Fields that would change a prediction and are not modeled; the notes name those present. */
static const char *const unused[] = {
    "rope_scaling",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "vision_config",
    "audio_config",
    "cross_attention_hidden_size",
    "add_cross_attention",
    "num_nextn_predict_layers",
};

static bool is_present(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return value != NULL && !json_is_null(value) && !json_is_false(value);
}

/* The first rows of such a table are never used, so a sample is shorter than it. */
static enum pp_status read_padding(const struct pp_model_reader *r, int *seq)
{
    int64_t padding;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, "pad_token_id", 0, 1 << 28, &padding, &found, r->err));
    if (!found)
        padding = 1; /* the default of the class */
    if (padding + 1 >= *seq)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: pad_token_id %lld leaves none of %d max_position_embeddings: "
                            "positions start after it",
                            r->json->name, (long long)padding, *seq);
    *seq -= (int)padding + 1;
    return PP_OK;
}

static enum pp_status read_dimensions(const struct pp_model_reader *r,
                                      const struct pp_model_family *family, struct pp_model *m)
{
    PP_TRY(pp_model_read_required(r, "num_hidden_layers|n_layer|num_layers", 100000, &m->layers));
    PP_TRY(pp_model_read_required(r, "hidden_size|n_embd|n_embed", 1 << 20, &m->hidden));
    PP_TRY(pp_model_read_required(r, "num_attention_heads|n_head", 1 << 16, &m->heads));
    PP_TRY(pp_model_read_required(r, "vocab_size", 1 << 28, &m->vocab));
    m->kv_heads = m->heads;
    PP_TRY(pp_model_read_int(r, "num_key_value_heads", 1 << 16, &m->kv_heads));
    m->head_dim = m->hidden % m->heads == 0 ? m->hidden / m->heads : 0;
    if (family->head_dim > 0)
        m->head_dim = family->head_dim;
    PP_TRY(pp_model_read_int(r, "head_dim|kv_channels", 1 << 16, &m->head_dim));
    m->ffn = 4 * m->hidden;
    if (family->is_gated)
        PP_TRY(pp_model_read_required(r, "intermediate_size", 1 << 24, &m->ffn));
    PP_TRY(pp_model_read_int(r, "intermediate_size|n_inner|ffn_dim", 1 << 24, &m->ffn));
    if (family->ffn_divisor > 1)
        m->ffn /= family->ffn_divisor;
    m->seq = 1024;
    PP_TRY(pp_model_read_int(r, "max_position_embeddings|n_positions|n_ctx|seq_length", 1 << 26,
                             &m->seq));
    if (family->has_position_table)
        m->positions = m->seq + family->extra_positions;
    return family->has_padding_offset ? read_padding(r, &m->seq) : PP_OK;
}

static enum pp_status read_flags(const struct pp_model_reader *r,
                                 const struct pp_model_family *family, struct pp_model *m)
{
    bool has_attention_bias = family->has_qkv_bias;

    m->is_tied = family->is_tied;
    PP_TRY(pp_model_read_bool(r, "tie_word_embeddings", &m->is_tied));
    m->has_bias_attn_qkv = family->has_qkv_bias;
    m->has_bias_attn_out = m->has_bias_mlp = family->has_other_bias;
    if (family->bias_key != NULL) {
        PP_TRY(pp_model_read_bool(r, family->bias_key, &has_attention_bias));
        m->has_bias_attn_qkv = m->has_bias_attn_out = has_attention_bias;
        PP_TRY(pp_model_read_bool(r, "mlp_bias", &m->has_bias_mlp));
    }
    if (family->has_other_bias && strcmp(family->type, "opt") == 0) {
        bool has_bias = true;
        PP_TRY(pp_model_read_bool(r, "enable_bias", &has_bias));
        m->has_bias_attn_qkv = m->has_bias_attn_out = m->has_bias_mlp = has_bias;
    }
    return PP_OK;
}

/* BERT: the class that saved the weights determines which heads exist. */
static enum pp_status read_encoder(const struct pp_model_reader *r, struct pp_model *m)
{
    const char *class = pp_model_architecture(r->object);

    m->token_types = 2;
    PP_TRY(pp_model_read_int(r, "type_vocab_size", 1 << 16, &m->token_types));
    const bool is_pretraining = strstr(class, "ForPreTraining") != NULL;
    m->has_mlm_head = is_pretraining || strstr(class, "ForMaskedLM") != NULL;
    m->has_pooler = is_pretraining || !m->has_mlm_head;
    return PP_OK;
}

/* Only OPT-350m projects its embedding and normalizes after the blocks. */
static enum pp_status check_opt(const struct pp_model_reader *r, const struct pp_model *m)
{
    int width = m->hidden;
    bool is_norm_first = true;

    PP_TRY(pp_model_read_int(r, "word_embed_proj_dim", 1 << 20, &width));
    PP_TRY(pp_model_read_bool(r, "do_layer_norm_before", &is_norm_first));
    if (width != m->hidden || !is_norm_first)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: word_embed_proj_dim %d with hidden_size %d (and "
                            "do_layer_norm_before %s) is not modeled: expected %d and true",
                            r->json->name, width, m->hidden, is_norm_first ? "true" : "false",
                            m->hidden);
    return PP_OK;
}

/* Returns " bfloat16", " 4096", the method of a quantisation; "" if the value is not plain. */
static const char *value_of(struct pp_arena *arena, const json_t *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

    value = json_is_object(value) ? json_object_get(value, "quant_method") : value;
    const char *text = json_string_value(value);
    if (json_is_integer(value))
        return pp_arena_printf(arena, " %lld", (long long)json_integer_value(value));
    if (text == NULL || strlen(text) > 32 || text[strspn(text, plain)] != '\0')
        return "";
    return pp_arena_printf(arena, " %s", text);
}

static const char *notes_of(struct pp_arena *arena, json_t *root, json_t *object,
                            const struct pp_model *model, int *seq)
{
    const char *notes = "", *separator = "not used from the file: ";

    if (model->window.keys == 0 && has_windows(object)) {
        notes = "not used from the file: layer_types";
        separator = ", ";
    }

    for (size_t i = 0; i < PP_COUNT(unused); i++) {
        json_t *place = is_present(object, unused[i]) ? object : root;
        if (!is_present(place, unused[i]))
            continue;
        notes = pp_arena_printf(arena, "%s%s%s%s", notes, separator, unused[i],
                                value_of(arena, json_object_get(place, unused[i])));
        separator = ", ";
    }
    if (*seq > LONG_SEQ) {
        notes = pp_arena_printf(arena, "%s%sdefault sequence length %d (the file allows %d)", notes,
                                notes[0] != '\0' ? "; " : "", LONG_SEQ, *seq);
        *seq = LONG_SEQ;
    }
    return notes;
}

static enum pp_status read_model(struct pp_arena *arena, const struct pp_model_reader *r,
                                 json_t *root, struct pp_model *model)
{
    const struct pp_model_family *family = NULL;
    struct pp_model m = {0};

    PP_TRY(pp_model_find_family(r, &family));
    m.name = pp_arena_strdup(arena, r->json->name);
    m.source = m.name;
    m.family = family->family;
    const char *class = pp_model_architecture(r->object);
    m.architecture = *class ? pp_arena_strdup(arena, class) : NULL;
    m.is_causal = !family->is_encoder;
    m.is_gated = family->is_gated;
    m.has_bias_norm = family->has_norm_bias;
    m.has_final_norm = !family->is_encoder;
    m.has_embedding_norm = family->has_embedding_norm;
    m.has_qk_norm = family->has_qk_norm;
    m.has_sinks = family->has_sinks;
    m.norms_per_layer = family->norms > 0 ? family->norms : 2;
    PP_TRY(read_dimensions(r, family, &m));
    PP_TRY(read_flags(r, family, &m));
    PP_TRY(pp_model_check_quantization(r));
    PP_TRY(pp_model_read_latent(r, &m));
    PP_TRY(pp_model_read_experts(arena, r, family->type, &m));
    if (family->is_encoder)
        PP_TRY(read_encoder(r, &m));
    if (strcmp(family->type, "opt") == 0)
        PP_TRY(check_opt(r, &m));
    PP_TRY(read_window(r, family, &m));
    PP_TRY(pp_model_read_numerics(arena, r, family, &m));
    m.notes = notes_of(arena, root, r->object, &m, &m.seq);
    if (pp_model_check(&m, r->err) != PP_OK)
        return pp_error_prefix(r->err, "%s: ", r->json->name);
    *model = m;
    return PP_OK;
}

static enum pp_status read_document(struct pp_arena *arena, const struct pp_json *json,
                                    struct pp_model *model, struct pp_error *err)
{
    json_t *text = json_object_get(json->root, "text_config");

    if (!json_is_object(json->root))
        return pp_error_set(err, PP_EINVAL, "%s: expected an object like config.json", json->name);
    /* Some multimodal files keep only what differs from the defaults in text_config. */
    const bool is_nested = json_is_object(text) && json_object_size(text) > 0;
    const struct pp_model_reader reader = {
        .json = json, .object = is_nested ? text : json->root, .err = err};
    return read_model(arena, &reader, json->root, model);
}

enum pp_status pp_model_from_json(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_model *model, struct pp_error *err)
{
    struct pp_json json;

    PP_TRY(pp_json_parse(name, text, length, &json, err));
    const enum pp_status status = read_document(arena, &json, model, err);
    pp_json_close(&json);
    return status;
}

enum pp_status pp_model_from_file(struct pp_arena *arena, const char *path, struct pp_model *model,
                                  struct pp_error *err)
{
    struct pp_json json;

    PP_TRY(pp_json_open(arena, path, PP_JSON_WRITTEN_BYTES, &json, err));
    const enum pp_status status = read_document(arena, &json, model, err);
    pp_json_close(&json);
    return status;
}
