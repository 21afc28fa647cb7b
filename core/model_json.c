#include "core/json.h"
#include "core/model.h"

#include <stdio.h>
#include <string.h>

/* Hugging Face config.json: dimensions come from the file, what the file leaves unsaid from this
 * table (the defaults of the configuration class of the architecture). */
struct family {
    const char *type;   /* "model_type" */
    const char *prefix; /* of "architectures" */
    const char *family;
    bool is_encoder, is_gated, is_tied;
    bool has_qkv_bias, has_other_bias, has_norm_bias;
    bool has_position_table;
    int extra_positions;     /* rows of the table beyond max_position_embeddings (OPT) */
    bool has_padding_offset; /* positions are counted from the padding token's id + 1 (RoBERTa) */
    int ffn_divisor;         /* Qwen 1 stores twice the size of the gated layer */
};

/* clang-format off */
static const struct family families[] = {
    {"bert", "Bert", "bert", .is_encoder = true, .is_tied = true, .has_qkv_bias = true,
     .has_other_bias = true, .has_norm_bias = true, .has_position_table = true},
    {"gpt2", "GPT2", "gpt2", .is_tied = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .has_position_table = true},
    {"gpt_neox", "GPTNeoX", "gpt-neox", .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true},
    {"llama", "Llama", "llama", .is_gated = true},
    {"mistral", "Mistral", "mistral", .is_gated = true},
    {"opt", "OPT", "opt", .is_tied = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .has_position_table = true, .extra_positions = 2},
    {"qwen", "QWen", "qwen", .is_gated = true, .has_qkv_bias = true, .ffn_divisor = 2},
    {"qwen2", "Qwen2", "qwen2", .is_gated = true, .has_qkv_bias = true},
    {"roberta", "Roberta", "bert", .is_encoder = true, .is_tied = true, .has_qkv_bias = true,
     .has_other_bias = true, .has_norm_bias = true, .has_position_table = true,
     .has_padding_offset = true},
};
/* clang-format on */
enum { FAMILIES = sizeof families / sizeof *families };
enum { LONG_SEQ = 8192 };

/* Fields that would change a prediction and are not modeled: named in the notes when present. */
static const char *const unused[] = {
    "sliding_window",
    "rope_scaling",
    "layer_types",
    "quantization_config",
    "torch_dtype",
    "dtype",
    "vision_config",
    "audio_config",
    "cross_attention_hidden_size",
    "add_cross_attention",
    "num_nextn_predict_layers",
};

struct reader {
    const struct pp_json *json;
    json_t *object;
    struct pp_error *err;
};

static bool is_present(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return value != NULL && !json_is_null(value) && !json_is_false(value);
}

static const char *first_architecture(json_t *object)
{
    const char *name =
        json_string_value(json_array_get(json_object_get(object, "architectures"), 0));

    return name != NULL ? name : "";
}

static enum pp_status unknown_family(const struct pp_json *json, const char *type,
                                     struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s: unknown architecture '%.80s': known are", json->name, type);
    for (int i = 0; i < FAMILIES; i++)
        pp_error_append(err, "%s %s", i == 0 ? "" : ",", families[i].type);
    return pp_error_append(err, "; or describe the model by --layers --hidden --heads --vocab");
}

static enum pp_status find_family(const struct reader *r, const struct family **family)
{
    const char *type = "", *architecture = first_architecture(r->object);
    bool found;

    PP_TRY(pp_json_string(r->json, r->object, "model_type", &type, &found, r->err));
    for (int i = 0; i < FAMILIES; i++) {
        const char *prefix = families[i].prefix;
        const bool is_match = found
                                  ? strcmp(type, families[i].type) == 0
                                  : strncmp(architecture, prefix, strlen(prefix)) == 0 &&
                                        (strncmp(architecture + strlen(prefix), "For", 3) == 0 ||
                                         strcmp(architecture + strlen(prefix), "Model") == 0 ||
                                         strcmp(architecture + strlen(prefix), "LMHeadModel") == 0);
        if (is_match) {
            *family = &families[i];
            return PP_OK;
        }
    }
    if (!found && architecture[0] == '\0')
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: no 'model_type' and no 'architectures': is this the config.json "
                            "of a model?",
                            r->json->name);
    return unknown_family(r->json, found ? type : architecture, r->err);
}

static enum pp_status refuse_experts(const struct reader *r)
{
    static const char keys[] = "num_local_experts|num_experts|n_routed_experts";
    int64_t experts = 0;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, keys, 0, 1 << 20, &experts, &found, r->err));
    if (found && experts > 1)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: a mixture of %lld experts: only dense models can be read; a dense "
                            "stand-in can be given by --layers --hidden --heads --vocab",
                            r->json->name, (long long)experts);
    return PP_OK;
}

/* An optional integer: keeps `*value` when absent. */
static enum pp_status read_int(const struct reader *r, const char *keys, int64_t high, int *value)
{
    int64_t number;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, keys, 1, high, &number, &found, r->err));
    if (found)
        *value = (int)number;
    return PP_OK;
}

static enum pp_status read_required(const struct reader *r, const char *keys, int64_t high,
                                    int *value)
{
    int64_t number;

    PP_TRY(pp_json_int(r->json, r->object, keys, 1, high, &number, NULL, r->err));
    *value = (int)number;
    return PP_OK;
}

static enum pp_status read_bool(const struct reader *r, const char *keys, bool *value)
{
    bool flag, found;

    PP_TRY(pp_json_bool(r->json, r->object, keys, &flag, &found, r->err));
    if (found)
        *value = flag;
    return PP_OK;
}

/* The first rows of such a table are never reached, so that a sample is shorter than it. */
static enum pp_status read_padding(const struct reader *r, int *seq)
{
    int64_t padding;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, "pad_token_id", 0, 1 << 28, &padding, &found, r->err));
    if (!found)
        padding = 1; /* the default of the class */
    if (padding + 1 >= *seq)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: pad_token_id %lld leaves none of %d max_position_embeddings: "
                            "positions start behind it",
                            r->json->name, (long long)padding, *seq);
    *seq -= (int)padding + 1;
    return PP_OK;
}

static enum pp_status read_dimensions(const struct reader *r, const struct family *family,
                                      struct pp_model *m)
{
    PP_TRY(read_required(r, "num_hidden_layers|n_layer|num_layers", 100000, &m->layers));
    PP_TRY(read_required(r, "hidden_size|n_embd", 1 << 20, &m->hidden));
    PP_TRY(read_required(r, "num_attention_heads|n_head", 1 << 16, &m->heads));
    PP_TRY(read_required(r, "vocab_size", 1 << 28, &m->vocab));
    m->kv_heads = m->heads;
    PP_TRY(read_int(r, "num_key_value_heads", 1 << 16, &m->kv_heads));
    m->head_dim = m->hidden % m->heads == 0 ? m->hidden / m->heads : 0;
    PP_TRY(read_int(r, "head_dim|kv_channels", 1 << 16, &m->head_dim));
    m->ffn = 4 * m->hidden;
    if (family->is_gated)
        PP_TRY(read_required(r, "intermediate_size", 1 << 24, &m->ffn));
    PP_TRY(read_int(r, "intermediate_size|n_inner|ffn_dim", 1 << 24, &m->ffn));
    if (family->ffn_divisor > 1)
        m->ffn /= family->ffn_divisor;
    m->seq = 1024;
    PP_TRY(read_int(r, "max_position_embeddings|n_positions|n_ctx|seq_length", 1 << 26, &m->seq));
    if (family->has_position_table)
        m->positions = m->seq + family->extra_positions;
    return family->has_padding_offset ? read_padding(r, &m->seq) : PP_OK;
}

static enum pp_status read_flags(const struct reader *r, const struct family *family,
                                 struct pp_model *m)
{
    bool has_attention_bias = family->has_qkv_bias;

    m->is_tied = family->is_tied;
    PP_TRY(read_bool(r, "tie_word_embeddings", &m->is_tied));
    m->has_bias_attn_qkv = family->has_qkv_bias;
    m->has_bias_attn_out = m->has_bias_mlp = family->has_other_bias;
    if (strcmp(family->type, "llama") == 0 || strcmp(family->type, "gpt_neox") == 0) {
        PP_TRY(read_bool(r, "attention_bias", &has_attention_bias));
        m->has_bias_attn_qkv = m->has_bias_attn_out = has_attention_bias;
        PP_TRY(read_bool(r, "mlp_bias", &m->has_bias_mlp));
    }
    if (family->has_other_bias && strcmp(family->type, "opt") == 0) {
        bool has_bias = true;
        PP_TRY(read_bool(r, "enable_bias", &has_bias));
        m->has_bias_attn_qkv = m->has_bias_attn_out = m->has_bias_mlp = has_bias;
    }
    return PP_OK;
}

/* BERT: which heads exist is said by the class the weights were saved from. */
static enum pp_status read_encoder(const struct reader *r, struct pp_model *m)
{
    const char *class = first_architecture(r->object);

    m->token_types = 2;
    PP_TRY(read_int(r, "type_vocab_size", 1 << 16, &m->token_types));
    const bool is_pretraining = strstr(class, "ForPreTraining") != NULL;
    m->has_mlm_head = is_pretraining || strstr(class, "ForMaskedLM") != NULL;
    m->has_pooler = is_pretraining || !m->has_mlm_head;
    return PP_OK;
}

/* OPT-350m alone projects its embedding and normalizes after the blocks. */
static enum pp_status check_opt(const struct reader *r, const struct pp_model *m)
{
    int width = m->hidden;
    bool is_norm_first = true;

    PP_TRY(read_int(r, "word_embed_proj_dim", 1 << 20, &width));
    PP_TRY(read_bool(r, "do_layer_norm_before", &is_norm_first));
    if (width != m->hidden || !is_norm_first)
        return pp_error_set(r->err, PP_EINVAL,
                            "%s: word_embed_proj_dim %d with hidden_size %d (and "
                            "do_layer_norm_before %s) is not modeled: expected %d and true",
                            r->json->name, width, m->hidden, is_norm_first ? "true" : "false",
                            m->hidden);
    return PP_OK;
}

/* " bfloat16", " 4096"; "" for what is not plain. */
static const char *value_of(struct pp_arena *arena, const json_t *value)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *text = json_string_value(value);

    if (json_is_integer(value))
        return pp_arena_printf(arena, " %lld", (long long)json_integer_value(value));
    if (text == NULL || strlen(text) > 32 || text[strspn(text, plain)] != '\0')
        return "";
    return pp_arena_printf(arena, " %s", text);
}

/* Qwen keeps the size of a window that it does not use. */
static bool is_switched_off(json_t *object, const char *key)
{
    return strcmp(key, "sliding_window") == 0 &&
           json_is_false(json_object_get(object, "use_sliding_window"));
}

static const char *notes_of(struct pp_arena *arena, json_t *root, json_t *object, int *seq)
{
    const char *notes = "", *separator = "not used: ";

    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        json_t *place = is_present(object, unused[i]) ? object : root;
        if (!is_present(place, unused[i]) || is_switched_off(place, unused[i]))
            continue;
        notes = pp_arena_printf(arena, "%s%s%s%s", notes, separator, unused[i],
                                value_of(arena, json_object_get(place, unused[i])));
        separator = ", ";
    }
    if (*seq > LONG_SEQ) {
        notes = pp_arena_printf(arena, "%s%ssequence length %d of at most %d", notes,
                                notes[0] != '\0' ? "; " : "", LONG_SEQ, *seq);
        *seq = LONG_SEQ;
    }
    return notes;
}

static enum pp_status read_model(struct pp_arena *arena, const struct reader *r, json_t *root,
                                 struct pp_model *model)
{
    const struct family *family = NULL;
    struct pp_model m = {.norms_per_layer = 2};

    PP_TRY(refuse_experts(r));
    PP_TRY(find_family(r, &family));
    m.name = pp_arena_strdup(arena, r->json->name);
    m.source = m.name;
    m.family = family->family;
    m.is_causal = !family->is_encoder;
    m.is_gated = family->is_gated;
    m.has_bias_norm = family->has_norm_bias;
    m.has_final_norm = !family->is_encoder;
    PP_TRY(read_dimensions(r, family, &m));
    PP_TRY(read_flags(r, family, &m));
    if (family->is_encoder)
        PP_TRY(read_encoder(r, &m));
    if (strcmp(family->type, "opt") == 0)
        PP_TRY(check_opt(r, &m));
    m.notes = notes_of(arena, root, r->object, &m.seq);
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
    const struct reader reader = {
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

    PP_TRY(pp_json_open(arena, path, &json, err));
    const enum pp_status status = read_document(arena, &json, model, err);
    pp_json_close(&json);
    return status;
}
