/* Models that are built in. Finding them by name: core/model/find.c. */
#include "core/model/model.h"

/* Shapes shared by the families: what is biased, normalized, tied. */
#define GPT_SHAPE                                                                                  \
    .is_causal = true, .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true, \
    .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2, .notes = ""
#define BERT_SHAPE                                                                                 \
    .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true,                    \
    .has_bias_norm = true, .norms_per_layer = 2, .notes = ""
#define DECODER_SHAPE .is_causal = true, .is_gated = true, .has_final_norm = true, .notes = ""
#define LLAMA_SHAPE   DECODER_SHAPE, .norms_per_layer = 2
/* Latent attention as DeepSeek and Kimi have it; queries of 128 + 64. */
#define LATENT(rank) .latent = {.kv_rank = 512, .q_rank = (rank), .rope_dim = 64, .value_dim = 128}

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

#define GEMMA(preset, l, h, a, kv, d, f, text, ...)                                                \
    {                                                                                              \
        .name = (preset), .family = "gemma", .source = (text),                                     \
        DIMENSIONS(l, h, a, kv, d, f, 256000), .seq = 8192, .is_tied = true, DECODER_SHAPE,        \
        __VA_ARGS__                                                                                \
    }
#define GEMMA2_SHAPE .norms_per_layer = 4, .window = {.keys = 4096, .full_every = 2}
#define GPT_OSS(preset, l, e)                                                                      \
    {                                                                                              \
        .name = (preset), .family = "gpt-oss",                                                     \
        .source = "OpenAI 2025 (gpt-oss), table 1; published config.json",                         \
        DIMENSIONS(l, 2880, 64, 8, 64, 2880, 201088), .seq = 4096, .has_bias_attn_qkv = true,      \
        .has_bias_attn_out = true, .has_bias_mlp = true, .has_sinks = true,                        \
        .window = {.keys = 128, .full_every = 2},                                                  \
        .experts = {.count = (e), .top_k = 4, .ffn = 2880, .has_router_bias = true}, LLAMA_SHAPE   \
    }
/* As measured by its makers: learned positions as long as the sample. */
#define MPT(preset, l, h, a)                                                                       \
    {                                                                                              \
        .name = (preset), .family = "mpt",                                                         \
        .source = "MosaicML 2023, llm-foundry, scripts/train/benchmarking",                        \
        DIMENSIONS(l, h, a, a, (h) / (a), 4 * (h), 50368), .positions = 2048, .seq = 2048,         \
        .is_tied = true, GPT_SHAPE                                                                 \
    }
#define NEMOTRON(preset, l, h, a, kv, text)                                                        \
    {                                                                                              \
        .name = (preset), .family = "nemotron", .source = (text),                                  \
        DIMENSIONS(l, h, a, kv, (h) / (a), 4 * (h), 256000), .seq = 4096, .is_causal = true,       \
        .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2, .notes = ""           \
    }
#define QWEN3(preset, l, h, a, kv, f, ...)                                                         \
    {                                                                                              \
        .name = (preset), .family = "qwen3",                                                       \
        .source = "Qwen Team 2025 (Qwen3), tables 1 and 2; published config.json",                 \
        DIMENSIONS(l, h, a, kv, 128, f, 151936), .seq = 4096, .has_qk_norm = true, LLAMA_SHAPE,    \
        __VA_ARGS__                                                                                \
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
#define LLAMA1      "Touvron et al. 2023 (LLaMA), table 2; published config.json"
#define LLAMA4      "Meta 2025 (Llama 4); published config.json, text model"
#define CHUNKS      .window = {.keys = 8192, .full_every = 4, .is_chunked = true}
#define NEMO                                                                                       \
    "NeMo framework, GPT configurations of its launcher; vocabulary padded as in Megatron-LM"
#define NEMOTRON_CODE "NeMo framework, nemo/collections/llm/gpt/model/nemotron.py"
#define LLAMA2        "Touvron et al. 2023 (Llama 2); published config.json"
#define LLAMA3        "Llama Team 2024, table 3; published config.json"
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
    {.name = "bloom-176b",
     .family = "bloom",
     .source = "BigScience 2022, table 5; published config.json",
     DIMENSIONS(70, 14336, 112, 112, 128, 57344, 250880),
     .seq = 2048,
     .is_tied = true,
     .has_embedding_norm = true,
     GPT_SHAPE},
    {.name = "deepseek-v2",
     .family = "deepseek",
     .source = "DeepSeek-AI 2024 (DeepSeek-V2), section 3.1.2; published config.json",
     DIMENSIONS(60, 5120, 128, 128, 192, 12288, 102400),
     .seq = 4096,
     LATENT(1536),
     .experts = {.count = 160,
                 .top_k = 6,
                 .ffn = 1536,
                 .shared_ffn = 3072,
                 .dense_first = 1,
                 .groups = 8,
                 .group_limit = 3},
     LLAMA_SHAPE},
    {.name = "deepseek-v2-lite",
     .family = "deepseek",
     .source = "DeepSeek-AI 2024 (DeepSeek-V2), appendix B; published config.json",
     DIMENSIONS(27, 2048, 16, 16, 192, 10944, 102400),
     .seq = 4096,
     LATENT(0),
     .experts = {.count = 64, .top_k = 6, .ffn = 1408, .shared_ffn = 2816, .dense_first = 1},
     LLAMA_SHAPE},
    {.name = "deepseek-v3",
     .family = "deepseek",
     .source = "DeepSeek-AI 2024 (DeepSeek-V3), section 4.2; published config.json; without "
               "multi-token prediction",
     DIMENSIONS(61, 7168, 128, 128, 192, 18432, 129280),
     .seq = 4096,
     LATENT(1536),
     .experts = {.count = 256,
                 .top_k = 8,
                 .ffn = 2048,
                 .shared_ffn = 2048,
                 .dense_first = 3,
                 .groups = 8,
                 .group_limit = 4,
                 .has_router_bias = true},
     LLAMA_SHAPE},
    GEMMA("gemma-2b", 18, 2048, 8, 1, 256, 16384, "Gemma Team 2024, table 1; published config.json",
          .norms_per_layer = 2),
    GEMMA("gemma-7b", 28, 3072, 16, 16, 256, 24576,
          "Gemma Team 2024, table 1; published config.json", .norms_per_layer = 2),
    GEMMA("gemma2-27b", 46, 4608, 32, 16, 128, 36864,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    GEMMA("gemma2-2b", 26, 2304, 8, 4, 256, 9216,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    GEMMA("gemma2-9b", 42, 3584, 16, 8, 256, 14336,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    {.name = "glm-130b",
     .family = "glm",
     .source = "Zeng et al. 2022 (GLM-130B), table 11; vocabulary of its code",
     DIMENSIONS(70, 12288, 96, 96, 128, 32768, 150528),
     .seq = 2048,
     .is_tied = true,
     .is_gated = true,
     GPT_SHAPE},
    MEGATRON("gpt-1.7b", 24, 2304, 24, SC21),
    MEGATRON("gpt-126m", 12, 768, 12, NEMO),
    MEGATRON("gpt-145b", 80, 12288, 96, SC21),
    MEGATRON("gpt-18b", 40, 6144, 48, SC21),
    MEGATRON("gpt-1t", 128, 25600, 160, KORTHIKANTI),
    MEGATRON("gpt-20b", 44, 6144, 48, NEMO),
    MEGATRON("gpt-22b", 48, 6144, 64, KORTHIKANTI),
    MEGATRON("gpt-290b", 90, 16384, 128, "Megatron-LM README, January 2021"),
    MEGATRON("gpt-3.6b", 30, 3072, 32, SC21),
    MEGATRON("gpt-310b", 96, 16384, 128, SC21),
    MEGATRON("gpt-39b", 48, 8192, 64, SC21),
    MEGATRON("gpt-530b", 105, 20480, 128, KORTHIKANTI),
    MEGATRON("gpt-5b", 24, 4096, 32, NEMO),
    MEGATRON("gpt-7.5b", 36, 4096, 32, SC21),
    MEGATRON("gpt-76b", 60, 10240, 80, SC21),
    {.name = "gpt-neox-20b",
     .family = "gpt-neox",
     .source = "Black et al. 2022; published config.json",
     DIMENSIONS(44, 6144, 64, 64, 96, 24576, 50432),
     .seq = 2048,
     GPT_SHAPE},
    GPT_OSS("gpt-oss-120b", 36, 128),
    GPT_OSS("gpt-oss-20b", 24, 32),
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
    {.name = "grok-1",
     .family = "grok",
     .source = "xAI 2024, model.py of the published weights",
     DIMENSIONS(64, 6144, 48, 8, 128, 32768, 131072),
     .seq = 8192,
     .is_tied = true,
     .experts = {.count = 8, .top_k = 2, .ffn = 32768},
     DECODER_SHAPE,
     .norms_per_layer = 4},
    {.name = "internlm-20b",
     .family = "internlm",
     .source = "InternLM Team 2023; published config.json",
     DIMENSIONS(60, 5120, 40, 40, 128, 13824, 103168),
     .seq = 4096,
     LLAMA_SHAPE},
    {.name = "internlm-7b",
     .family = "internlm",
     .source = "InternLM Team 2023; published config.json",
     DIMENSIONS(32, 4096, 32, 32, 128, 11008, 103168),
     .seq = 2048,
     .has_bias_attn_qkv = true,
     .has_bias_attn_out = true,
     LLAMA_SHAPE},
    {.name = "kimi-k2",
     .family = "deepseek",
     .source = "Kimi Team 2025, table 2; published config.json",
     DIMENSIONS(61, 7168, 64, 64, 192, 18432, 163840),
     .seq = 4096,
     LATENT(1536),
     .experts = {.count = 384,
                 .top_k = 8,
                 .ffn = 2048,
                 .shared_ffn = 2048,
                 .dense_first = 1,
                 .has_router_bias = true},
     LLAMA_SHAPE},
    LLAMA("llama-13b", 40, 5120, 40, 40, 13824, 32000, 2048, LLAMA1),
    LLAMA("llama-30b", 60, 6656, 52, 52, 17920, 32000, 2048, LLAMA1),
    LLAMA("llama-65b", 80, 8192, 64, 64, 22016, 32000, 2048, LLAMA1),
    LLAMA("llama-7b", 32, 4096, 32, 32, 11008, 32000, 2048, LLAMA1),
    LLAMA("llama2-13b", 40, 5120, 40, 40, 13824, 32000, 4096, LLAMA2),
    LLAMA("llama2-70b", 80, 8192, 64, 8, 28672, 32000, 4096, LLAMA2),
    LLAMA("llama2-7b", 32, 4096, 32, 32, 11008, 32000, 4096, LLAMA2),
    LLAMA("llama3-405b", 126, 16384, 128, 8, 53248, 128256, 8192, LLAMA3),
    LLAMA("llama3-70b", 80, 8192, 64, 8, 28672, 128256, 8192, LLAMA3),
    LLAMA("llama3-8b", 32, 4096, 32, 8, 14336, 128256, 8192, LLAMA3),
    {.name = "llama3.2-1b",
     .family = "llama",
     .source = "Meta 2024; published config.json",
     DIMENSIONS(16, 2048, 32, 8, 64, 8192, 128256),
     .seq = 8192,
     .is_tied = true,
     LLAMA_SHAPE},
    {.name = "llama3.2-3b",
     .family = "llama",
     .source = "Meta 2024; published config.json",
     DIMENSIONS(28, 3072, 24, 8, 128, 8192, 128256),
     .seq = 8192,
     .is_tied = true,
     LLAMA_SHAPE},
    {.name = "llama4-maverick",
     .family = "llama",
     .source = LLAMA4,
     DIMENSIONS(48, 5120, 40, 8, 128, 16384, 202048),
     .seq = 8192,
     .experts = {.count = 128, .top_k = 1, .ffn = 8192, .shared_ffn = 8192, .every = 2},
     CHUNKS,
     LLAMA_SHAPE},
    {.name = "llama4-scout",
     .family = "llama",
     .source = LLAMA4,
     DIMENSIONS(48, 5120, 40, 8, 128, 8192, 202048),
     .seq = 8192,
     .experts = {.count = 16, .top_k = 1, .ffn = 8192, .shared_ffn = 8192},
     CHUNKS,
     LLAMA_SHAPE},
    OWN_GPT("mini", 8, 256, 8, 128, true),
    {.name = "mistral-7b",
     .family = "llama",
     .source = "Jiang et al. 2023; published config.json",
     DIMENSIONS(32, 4096, 32, 8, 128, 14336, 32000),
     .seq = 8192,
     .window = {.keys = 4096},
     LLAMA_SHAPE},
    {.name = "mixtral-8x22b",
     .family = "mixtral",
     .source = "Jiang et al. 2024 (Mixtral); published config.json",
     DIMENSIONS(56, 6144, 48, 8, 128, 16384, 32768),
     .seq = 8192,
     .experts = {.count = 8, .top_k = 2, .ffn = 16384},
     LLAMA_SHAPE},
    {.name = "mixtral-8x7b",
     .family = "mixtral",
     .source = "Jiang et al. 2024 (Mixtral); published config.json",
     DIMENSIONS(32, 4096, 32, 8, 128, 14336, 32000),
     .seq = 8192,
     .experts = {.count = 8, .top_k = 2, .ffn = 14336},
     LLAMA_SHAPE},
    MPT("mpt-125m", 12, 768, 12),
    MPT("mpt-13b", 40, 5120, 40),
    MPT("mpt-1b", 24, 2048, 16),
    MPT("mpt-30b", 48, 7168, 56),
    MPT("mpt-350m", 24, 1024, 16),
    MPT("mpt-3b", 32, 2560, 20),
    MPT("mpt-70b", 80, 8192, 64),
    MPT("mpt-760m", 24, 1536, 12),
    MPT("mpt-7b", 32, 4096, 32),
    NEMOTRON("nemotron-22b", 40, 6144, 48, 48, NEMOTRON_CODE),
    NEMOTRON("nemotron-8b", 32, 4096, 32, 32, NEMOTRON_CODE),
    NEMOTRON("nemotron4-15b", 32, 6144, 48, 8, "Parmar et al. 2024, table 1"),
    NEMOTRON("nemotron4-340b", 96, 18432, 96, 8, "NVIDIA 2024 (Nemotron-4 340B), table 1"),
    {.name = "qwen2-57b-a14b",
     .family = "qwen2",
     .source = "Qwen Team 2024 (Qwen2), table 1; published config.json",
     DIMENSIONS(28, 3584, 28, 4, 128, 18944, 151936),
     .seq = 8192,
     .has_bias_attn_qkv = true,
     .experts =
         {.count = 64, .top_k = 8, .ffn = 2560, .shared_ffn = 20480, .has_shared_gate = true},
     LLAMA_SHAPE},
    {.name = "qwen2.5-14b",
     .family = "qwen2",
     .source = "Qwen Team 2024 (Qwen2.5), table 1; published config.json",
     DIMENSIONS(48, 5120, 40, 8, 128, 13824, 152064),
     .seq = 8192,
     .has_bias_attn_qkv = true,
     LLAMA_SHAPE},
    {.name = "qwen2.5-32b",
     .family = "qwen2",
     .source = "Qwen Team 2024 (Qwen2.5), table 1; published config.json",
     DIMENSIONS(64, 5120, 40, 8, 128, 27648, 152064),
     .seq = 8192,
     .has_bias_attn_qkv = true,
     LLAMA_SHAPE},
    {.name = "qwen2.5-72b",
     .family = "qwen2",
     .source = "Qwen Team 2024 (Qwen2.5), table 1; published config.json",
     DIMENSIONS(80, 8192, 64, 8, 128, 29568, 152064),
     .seq = 8192,
     .has_bias_attn_qkv = true,
     LLAMA_SHAPE},
    {.name = "qwen2.5-7b",
     .family = "qwen2",
     .source = "Qwen Team 2024 (Qwen2.5), table 1; published config.json",
     DIMENSIONS(28, 3584, 28, 4, 128, 18944, 152064),
     .seq = 8192,
     .has_bias_attn_qkv = true,
     LLAMA_SHAPE},
    QWEN3("qwen3-0.6b", 28, 1024, 16, 8, 3072, .is_tied = true),
    QWEN3("qwen3-1.7b", 28, 2048, 16, 8, 6144, .is_tied = true),
    QWEN3("qwen3-14b", 40, 5120, 40, 8, 17408, .is_tied = false),
    QWEN3("qwen3-235b-a22b", 94, 4096, 64, 4, 12288,
          .experts = {.count = 128, .top_k = 8, .ffn = 1536}),
    QWEN3("qwen3-30b-a3b", 48, 2048, 32, 4, 6144,
          .experts = {.count = 128, .top_k = 8, .ffn = 768}),
    QWEN3("qwen3-32b", 64, 5120, 64, 8, 25600, .is_tied = false),
    QWEN3("qwen3-4b", 36, 2560, 32, 8, 9728, .is_tied = true),
    QWEN3("qwen3-8b", 36, 4096, 32, 8, 12288, .is_tied = false),
    OWN_GPT("tiny", 8, 128, 4, 64, false),
    {.name = "tiny-llama",
     .family = "llama",
     .source = OWN,
     DIMENSIONS(8, 128, 4, 2, 32, 352, 256),
     .seq = 64,
     LLAMA_SHAPE},
    {.name = NULL},
};
