/* Families of Hugging Face's config.json, with the defaults of their configuration classes. */
#include "core/model/config_json.h"

#include <string.h>

/* clang-format off */
static const struct pp_model_family families[] = {
    {"bert", "Bert", "bert", .is_encoder = true, .is_tied = true, .has_qkv_bias = true,
     .has_other_bias = true, .has_norm_bias = true, .has_position_table = true,
     .activation = "gelu", .epsilon = 1e-12, .norm_place = PP_NORM_POST},
    {"bloom", "Bloom", "bloom", .is_tied = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .has_embedding_norm = true},
    {"deepseek_v2", "DeepseekV2", "deepseek", .is_gated = true,
     .epsilon = 1e-6},
    {"deepseek_v3", "DeepseekV3", "deepseek", .is_gated = true,
     .epsilon = 1e-6},
    {"gemma", "Gemma", "gemma", .is_gated = true, .is_tied = true, .head_dim = 256,
     .bias_key = "attention_bias",
     .activation = "gelu_pytorch_tanh", .epsilon = 1e-6, .has_norm_offset = true,
     .is_embedding_scaled = true},
    {"gemma2", "Gemma2", "gemma", .is_gated = true, .is_tied = true, .head_dim = 256,
     .bias_key = "attention_bias", .norms = 4,
     .window_key = "sliding_window", .window = 4096, .full_every = 2,
     .activation = "gelu_pytorch_tanh", .epsilon = 1e-6, .has_norm_offset = true,
     .is_embedding_scaled = true},
    {"gemma3_text", "Gemma3", "gemma", .is_gated = true, .is_tied = true, .head_dim = 256,
     .bias_key = "attention_bias", .has_qk_norm = true, .norms = 4,
     .window_key = "sliding_window", .window = 4096, .full_every = 6, .pattern_key = "sliding_window_pattern",
     .activation = "gelu_pytorch_tanh", .epsilon = 1e-6, .has_norm_offset = true,
     .is_embedding_scaled = true, .theta = 1e6},
    {"gpt2", "GPT2", "gpt2", .is_tied = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .has_position_table = true},
    {"gpt_neox", "GPTNeoX", "gpt-neox", .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .bias_key = "attention_bias",
     .activation = "gelu", .rotary_frac = 0.25, .norm_place = PP_NORM_PARALLEL},
    {"gpt_oss", "GptOss", "gpt-oss", .is_gated = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_sinks = true, .head_dim = 64, .bias_key = "attention_bias",
     .window_key = "sliding_window", .window = 128, .full_every = 2,
     .theta = 1.5e5},
    {"grok-1", "Grok1", "grok", .is_gated = true, .is_tied = true, .norms = 4},
    {"internlm", "InternLM", "internlm", .is_gated = true, .has_qkv_bias = true, .bias_key = "bias",
     .epsilon = 1e-6},
    {"kimi_k2", "KimiK2", "deepseek", .is_gated = true,
     .epsilon = 1e-6},
    {"llama", "Llama", "llama", .is_gated = true, .bias_key = "attention_bias",
     .epsilon = 1e-6},
    {"llama4_text", "Llama4", "llama", .is_gated = true, .head_dim = 128, .bias_key = "attention_bias",
     .window_key = "attention_chunk_size", .window = 8192, .is_chunked = true, .full_every = 4,
     .pattern_key = "no_rope_layer_interval",
     .theta = 5e5},
    {"mistral", "Mistral", "mistral", .is_gated = true,
     .window_key = "sliding_window", .window = 4096,
     .epsilon = 1e-6},
    {"mixtral", "Mixtral", "mixtral", .is_gated = true,
     .window_key = "sliding_window",
     .theta = 1e6},
    {"nemotron", "Nemotron", "nemotron", .has_norm_bias = true, .bias_key = "attention_bias",
     .activation = "relu2", .rotary_frac = 0.5, .has_norm_offset = true},
    {"opt", "OPT", "opt", .is_tied = true, .has_qkv_bias = true, .has_other_bias = true,
     .has_norm_bias = true, .has_position_table = true, .extra_positions = 2,
     .activation = "relu"},
    {"qwen", "QWen", "qwen", .is_gated = true, .has_qkv_bias = true, .ffn_divisor = 2,
     .epsilon = 1e-6},
    {"qwen2", "Qwen2", "qwen2", .is_gated = true, .has_qkv_bias = true,
     .window_key = "sliding_window", .has_window_switch = true, .switched_from = "max_window_layers",
     .epsilon = 1e-6},
    {"qwen2_moe", "Qwen2Moe", "qwen2", .is_gated = true, .has_qkv_bias = true,
     .window_key = "sliding_window", .has_window_switch = true, .switched_from = "max_window_layers",
     .epsilon = 1e-6},
    {"qwen3", "Qwen3", "qwen3", .is_gated = true, .has_qk_norm = true, .head_dim = 128,
     .bias_key = "attention_bias",
     .window_key = "sliding_window", .has_window_switch = true, .switched_from = "max_window_layers",
     .epsilon = 1e-6},
    {"qwen3_moe", "Qwen3Moe", "qwen3", .is_gated = true, .has_qk_norm = true, .head_dim = 128,
     .bias_key = "attention_bias",
     .window_key = "sliding_window", .has_window_switch = true, .switched_from = "max_window_layers",
     .epsilon = 1e-6},
    {"roberta", "Roberta", "bert", .is_encoder = true, .is_tied = true, .has_qkv_bias = true,
     .has_other_bias = true, .has_norm_bias = true, .has_position_table = true,
     .has_padding_offset = true,
     .activation = "gelu", .epsilon = 1e-12, .norm_place = PP_NORM_POST},
};
/* clang-format on */

const char *pp_model_architecture(json_t *object)
{
    const char *name =
        json_string_value(json_array_get(json_object_get(object, "architectures"), 0));

    return name != NULL ? name : "";
}

static enum pp_status unknown_family(const struct pp_json *json, const char *type,
                                     struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s: unknown architecture '%.80s': known are", json->name, type);
    for (size_t i = 0; i < PP_COUNT(families); i++)
        pp_error_append(err, "%s %s", i == 0 ? "" : ",", families[i].type);
    return pp_error_append(err, "; or describe the model by --layers --hidden --heads --vocab");
}

enum pp_status pp_model_find_family(const struct pp_model_reader *r,
                                    const struct pp_model_family **family)
{
    const char *type = "", *architecture = pp_model_architecture(r->object);
    bool found;

    PP_TRY(pp_json_string(r->json, r->object, "model_type", &type, &found, r->err));
    for (size_t i = 0; i < PP_COUNT(families); i++) {
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
