#include "core/model.h"
#include "core/options.h"

#include <string.h>

/* Shapes shared by the families: what is biased, normalized, tied. */
#define GPT_SHAPE                                                                                  \
    .is_causal = true, .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true, \
    .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2, .notes = ""
#define BERT_SHAPE                                                                                 \
    .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true,                    \
    .has_bias_norm = true, .norms_per_layer = 2, .notes = ""
#define LLAMA_SHAPE                                                                                \
    .is_causal = true, .is_gated = true, .has_final_norm = true, .norms_per_layer = 2, .notes = ""

#define DIMENSIONS(l, h, a, kv, d, f, v)                                                           \
    .layers = (l), .hidden = (h), .heads = (a), .kv_heads = (kv), .head_dim = (d), .ffn = (f),     \
    .vocab = (v)

/* Megatron's GPT: vocabulary 50257 padded to a multiple of 1024, 2048 positions, tied head. */
#define MEGATRON(preset, l, h, a, text)                                                            \
    {                                                                                              \
        .name = (preset), .family = "gpt", .source = (text),                                       \
        DIMENSIONS(l, h, a, a, (h) / (a), 4 * (h), 51200), .positions = 2048, .seq = 2048,         \
        .is_tied = true, GPT_SHAPE                                                                 \
    }
#define GPT2(preset, l, h, a)                                                                      \
    {                                                                                              \
        .name = (preset), .family = "gpt2",                                                        \
        .source = "Radford et al. 2019, table 2; published config.json",                           \
        DIMENSIONS(l, h, a, a, (h) / (a), 4 * (h), 50257), .positions = 1024, .seq = 1024,         \
        .is_tied = true, GPT_SHAPE                                                                 \
    }
#define LLAMA(preset, l, h, a, kv, f, v, s, text)                                                  \
    {                                                                                              \
        .name = (preset), .family = "llama", .source = (text), DIMENSIONS(l, h, a, kv, 128, f, v), \
        .seq = (s), LLAMA_SHAPE                                                                    \
    }

/* A model small enough to be trained on a processor within minutes, on bytes. */
#define OWN_GPT(preset, l, h, a, s, tied)                                                          \
    {                                                                                              \
        .name = (preset), .family = "gpt2", .source = OWN,                                         \
        DIMENSIONS(l, h, a, a, (h) / (a), 4 * (h), 256), .positions = 256, .seq = (s),             \
        .is_tied = (tied), GPT_SHAPE                                                               \
    }

#define OWN         "our own: small enough to be trained on a CPU, vocabulary of bytes"
#define SC21        "Narayanan et al. SC'21, table 1; vocabulary padded as in Megatron-LM"
#define KORTHIKANTI "Korthikanti et al. 2022, table 3; vocabulary padded as in Megatron-LM"
#define LLAMA2      "Touvron et al. 2023 (Llama 2); published config.json"
#define LLAMA3      "Llama Team 2024, table 3; published config.json"
#define BREADTH_FIRST                                                                              \
    "Lamy-Poirier 2022 (breadth-first pipelines), models of the evaluation; vocabulary and tied "  \
    "prediction head are assumed as in BERT"

const struct pp_model pp_model_presets[] = {
    {.name = "bert-48",
     .family = "bert",
     .source = "Li and Hoefler 2021 (Chimera), table 4: 669,790,012 parameters",
     DIMENSIONS(48, 1024, 16, 16, 64, 4096, 30522),
     .positions = 512,
     .token_types = 2,
     .seq = 128,
     .has_pooler = true,
     .has_mlm_head = true,
     BERT_SHAPE},
    {.name = "bert-52b",
     .family = "bert",
     .source = BREADTH_FIRST,
     DIMENSIONS(64, 8192, 64, 64, 128, 32768, 30522),
     .positions = 1024,
     .token_types = 2,
     .seq = 1024,
     .is_tied = true,
     .has_mlm_head = true,
     BERT_SHAPE},
    {.name = "bert-6.6b",
     .family = "bert",
     .source = BREADTH_FIRST,
     DIMENSIONS(32, 4096, 32, 32, 128, 16384, 30522),
     .positions = 1024,
     .token_types = 2,
     .seq = 1024,
     .is_tied = true,
     .has_mlm_head = true,
     BERT_SHAPE},
    {.name = "bert-base",
     .family = "bert",
     .source = "Devlin et al. 2019; encoder with pooler, without prediction heads",
     DIMENSIONS(12, 768, 12, 12, 64, 3072, 30522),
     .positions = 512,
     .token_types = 2,
     .seq = 512,
     .is_tied = true,
     .has_pooler = true,
     BERT_SHAPE},
    {.name = "bert-large",
     .family = "bert",
     .source = "Devlin et al. 2019; encoder with pooler, without prediction heads",
     DIMENSIONS(24, 1024, 16, 16, 64, 4096, 30522),
     .positions = 512,
     .token_types = 2,
     .seq = 512,
     .is_tied = true,
     .has_pooler = true,
     BERT_SHAPE},
    MEGATRON("gpt-1.7b", 24, 2304, 24, SC21),
    MEGATRON("gpt-145b", 80, 12288, 96, SC21),
    MEGATRON("gpt-18b", 40, 6144, 48, SC21),
    MEGATRON("gpt-1t", 128, 25600, 160, KORTHIKANTI),
    MEGATRON("gpt-22b", 48, 6144, 64, KORTHIKANTI),
    MEGATRON("gpt-3.6b", 30, 3072, 32, SC21),
    MEGATRON("gpt-310b", 96, 16384, 128, SC21),
    MEGATRON("gpt-39b", 48, 8192, 64, SC21),
    MEGATRON("gpt-530b", 105, 20480, 128, KORTHIKANTI),
    MEGATRON("gpt-7.5b", 36, 4096, 32, SC21),
    MEGATRON("gpt-76b", 60, 10240, 80, SC21),
    GPT2("gpt2", 12, 768, 12),
    {.name = "gpt2-64",
     .family = "gpt2",
     .source = "Li and Hoefler 2021 (Chimera), table 4: 1,389,327,360 parameters; untied head, "
               "sequence length of the evaluation",
     DIMENSIONS(64, 1280, 20, 20, 64, 5120, 50257),
     .positions = 1024,
     .seq = 632,
     GPT_SHAPE},
    GPT2("gpt2-large", 36, 1280, 20),
    GPT2("gpt2-medium", 24, 1024, 16),
    GPT2("gpt2-xl", 48, 1600, 25),
    MEGATRON("gpt3-175b", 96, 12288, 96,
             "Brown et al. 2020, table 2.1; vocabulary padded as in Megatron-LM"),
    LLAMA("llama2-13b", 40, 5120, 40, 40, 13824, 32000, 4096, LLAMA2),
    LLAMA("llama2-70b", 80, 8192, 64, 8, 28672, 32000, 4096, LLAMA2),
    LLAMA("llama2-7b", 32, 4096, 32, 32, 11008, 32000, 4096, LLAMA2),
    LLAMA("llama3-405b", 126, 16384, 128, 8, 53248, 128256, 8192, LLAMA3),
    LLAMA("llama3-70b", 80, 8192, 64, 8, 28672, 128256, 8192, LLAMA3),
    LLAMA("llama3-8b", 32, 4096, 32, 8, 14336, 128256, 8192, LLAMA3),
    OWN_GPT("mini", 8, 256, 8, 128, true),
    OWN_GPT("tiny", 8, 128, 4, 64, false),
    {.name = "tiny-llama",
     .family = "llama",
     .source = OWN,
     DIMENSIONS(8, 128, 4, 2, 32, 352, 256),
     .seq = 64,
     LLAMA_SHAPE},
    {.name = NULL},
};

static const struct {
    const char *alias, *name;
} aliases[] = {
    {"52b", "bert-52b"},
    {"6.6b", "bert-6.6b"},
    {"gpt-175b", "gpt3-175b"},
    {"gpt3", "gpt3-175b"},
    {"gpt-1008b", "gpt-1t"},
    {"gpt-145.6b", "gpt-145b"},
    {"gpt-18.4b", "gpt-18b"},
    {"gpt-310.1b", "gpt-310b"},
    {"gpt-39.1b", "gpt-39b"},
    {"gpt-529.6b", "gpt-530b"},
    {"gpt-76.1b", "gpt-76b"},
    {"gpt2-124m", "gpt2"},
    {"gpt2-small", "gpt2"},
    {"mt-nlg-530b", "gpt-530b"},
    {"llama-2-7b", "llama2-7b"},
    {"llama-3.1-8b", "llama3-8b"},
    {"llama-3.1-70b", "llama3-70b"},
    {"llama-3.1-405b", "llama3-405b"},
    {"llama3.1-8b", "llama3-8b"},
    {"llama3.1-70b", "llama3-70b"},
    {"llama3.1-405b", "llama3-405b"},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static enum pp_status unknown_model(const char *name, struct pp_error *err)
{
    const char *names[sizeof pp_model_presets / sizeof *pp_model_presets];
    size_t count = 0;

    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++)
        names[count++] = m->name;
    names[count] = NULL;
    const char *near = pp_suggest(name, names);
    if (near != NULL)
        return pp_error_set(err, PP_EINVAL,
                            "unknown model '%.80s': did you mean '%s'? (`pipesim models` lists "
                            "them; a file is given by its path, as in ./config.json)",
                            name, near);
    return pp_error_set(err, PP_EINVAL,
                        "unknown model '%.80s': `pipesim models` lists the presets; a file is "
                        "given by its path, as in ./config.json",
                        name);
}

static bool is_path(const char *text)
{
    const size_t length = strlen(text);

    return strchr(text, '/') != NULL || (length > 5 && strcmp(text + length - 5, ".json") == 0);
}

enum pp_status pp_model_load(struct pp_arena *arena, const char *name_or_path,
                             struct pp_model *model, struct pp_error *err)
{
    const char *name = name_or_path;

    if (is_path(name))
        return pp_model_from_file(arena, name, model, err);
    for (size_t i = 0; i < ALIASES; i++)
        if (pp_same_name(name, aliases[i].alias))
            name = aliases[i].name;
    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++)
        if (pp_same_name(name, m->name)) {
            *model = *m;
            return PP_OK;
        }
    return unknown_model(name_or_path, err);
}
