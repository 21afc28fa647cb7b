/* Built-in models. Finding them by name: core/model/find.c. */
#include "core/model/model.h"

/* Shapes of families: biases, norms, tied matrices. */
#define GPT_SHAPE                                                                                  \
    .is_causal = true, .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true, \
    .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2, .notes = ""
#define BERT_SHAPE                                                                                 \
    .numerics = {.activation = "gelu", .norm_epsilon = 1e-12, .norm_place = PP_NORM_POST},         \
    .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true,                    \
    .has_bias_norm = true, .norms_per_layer = 2, .notes = ""
/* Images of 224 x 224 in patches of 16 x 16 and three colors. */
#define DEIT(preset, h, a)                                                                         \
    PLAIN(preset, "deit", 12, h, a, 1000, 197,                                                     \
          "Touvron et al. 2021 (DeiT), table 1; 1000 classes of ImageNet", .positions = 197,       \
          .patch = 3 * 16 * 16, .numerics = {.activation = "gelu", .norm_epsilon = 1e-6},          \
          .has_bias_attn_qkv = true, .has_bias_attn_out = true, .has_bias_mlp = true,              \
          .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2, .notes = "")
#define DECODER_SHAPE .is_causal = true, .is_gated = true, .has_final_norm = true, .notes = ""
#define LLAMA_SHAPE   DECODER_SHAPE, .norms_per_layer = 2
/* Numbers that only training needs, as the published config.json has them; those that a row leaves
 * out are usual: pp_model_numerics(). */
#define NUMERICS(epsilon, ...) .numerics = {.norm_epsilon = (epsilon), .rope = {__VA_ARGS__}}
#define BASE(base)             .theta = (base)
#define LLAMA3_SCALING(scale, low, high)                                                           \
    BASE(5e5), .scaling = "llama3", .factor = (scale), .low_factor = (low), .high_factor = (high), \
               .original_seq = 8192
#define YARN(base, scale) BASE(base), .scaling = "yarn", .factor = (scale), .original_seq = 4096
/* Latent attention of DeepSeek and Kimi; queries of 128 + 64. */
#define LATENT(rank) .latent = {.kv_rank = 512, .q_rank = (rank), .rope_dim = 64, .value_dim = 128}

/* A row of the table; fields that it leaves out are 0. */
#define MODEL(preset, kind, l, h, a, kv, d, f, v, s, text, ...)                                    \
    {                                                                                              \
        .name = (preset), .family = (kind), .source = (text), .layers = (l), .hidden = (h),        \
        .heads = (a), .kv_heads = (kv), .head_dim = (d), .ffn = (f), .vocab = (v), .seq = (s),     \
        __VA_ARGS__                                                                                \
    }
/* A row with as many keys as queries, and a feed-forward four times as wide as the model. */
#define PLAIN(preset, kind, l, h, a, v, s, text, ...)                                              \
    MODEL(preset, kind, l, h, a, a, (h) / (a), 4 * (h), v, s, text, __VA_ARGS__)

/* Megatron's GPT: vocabulary 50257 padded to a multiple of 1024, 2048 positions, tied head. */
#define MEGATRON(preset, l, h, a, text)                                                            \
    PLAIN(preset, "gpt", l, h, a, 51200, 2048, text, .positions = 2048, .is_tied = true, GPT_SHAPE)
#define GPT2(preset, l, h, a)                                                                      \
    PLAIN(preset, "gpt2", l, h, a, 50257, 1024,                                                    \
          "Radford et al. 2019, table 2; published config.json", .positions = 1024,                \
          .is_tied = true, GPT_SHAPE)
#define LLAMA(preset, l, h, a, kv, f, v, s, text, ...)                                             \
    MODEL(preset, "llama", l, h, a, kv, 128, f, v, s, text, NUMERICS(__VA_ARGS__), LLAMA_SHAPE)
/* scale: the square root of h */
#define GEMMA(preset, l, h, a, kv, d, f, scale, text, ...)                                         \
    MODEL(preset, "gemma", l, h, a, kv, d, f, 256000, 8192, text, .is_tied = true, DECODER_SHAPE,  \
          .numerics = {.activation = "gelu_pytorch_tanh",                                          \
                       .norm_epsilon = 1e-6,                                                       \
                       .has_norm_offset = true,                                                    \
                       .embedding_scale = (scale)},                                                \
          __VA_ARGS__)
#define GEMMA2_SHAPE                                                                               \
    .norms_per_layer = 4, .window = {.keys = 4096, .full_every = 2},                               \
    .numerics.odd = "attn_logit_softcapping"
#define GPT_OSS(preset, l, e)                                                                      \
    MODEL(preset, "gpt-oss", l, 2880, 64, 8, 64, 2880, 201088, 4096,                               \
          "OpenAI 2025 (gpt-oss), table 1; published config.json", .has_bias_attn_qkv = true,      \
          .has_bias_attn_out = true, .has_bias_mlp = true, .has_sinks = true,                      \
          .window = {.keys = 128, .full_every = 2},                                                \
          .experts = {.count = (e), .top_k = 4, .ffn = 2880, .has_router_bias = true},             \
          NUMERICS(1e-5, YARN(1.5e5, 32)), LLAMA_SHAPE)
/* MPT as its makers measure it: learned positions as long as the sample. */
#define MPT(preset, l, h, a)                                                                       \
    PLAIN(preset, "mpt", l, h, a, 50368, 2048,                                                     \
          "MosaicML 2023, llm-foundry, scripts/train/benchmarking", .positions = 2048,             \
          .numerics = {.activation = "gelu"}, .is_tied = true, GPT_SHAPE)
#define NEMOTRON(preset, l, h, a, kv, text)                                                        \
    MODEL(preset, "nemotron", l, h, a, kv, (h) / (a), 4 * (h), 256000, 4096, text,                 \
          .is_causal = true, .has_bias_norm = true, .has_final_norm = true, .norms_per_layer = 2,  \
          .numerics = {.activation = "relu2", .rope = {.frac = 0.5}, .has_norm_offset = true},     \
          .notes = "")
/* Two rows of the table of positions are never used. */
#define OPT(preset, l, h, a)                                                                       \
    PLAIN(preset, "opt", l, h, a, 50272, 2048,                                                     \
          "Zhang et al. 2022 (OPT), table 1; published config.json", .positions = 2050,            \
          .numerics = {.activation = "relu", .position_offset = 2}, .is_tied = true, GPT_SHAPE)
#define QWEN25(preset, l, h, a, kv, f, epsilon)                                                    \
    MODEL(preset, "qwen2", l, h, a, kv, 128, f, 152064, 8192,                                      \
          "Qwen Team 2024 (Qwen2.5), table 1; published config.json", .has_bias_attn_qkv = true,   \
          NUMERICS(epsilon, BASE(1e6)), LLAMA_SHAPE)
#define QWEN3(preset, l, h, a, kv, f, ...)                                                         \
    MODEL(preset, "qwen3", l, h, a, kv, 128, f, 151936, 4096,                                      \
          "Qwen Team 2025 (Qwen3), tables 1 and 2; published config.json", .has_qk_norm = true,    \
          NUMERICS(1e-6, BASE(1e6)), LLAMA_SHAPE, __VA_ARGS__)
/* A model small enough to be trained on a processor within minutes, on bytes. */
#define OWN_GPT(preset, l, h, a, s, tied)                                                          \
    PLAIN(preset, "gpt2", l, h, a, 256, s, OWN, .positions = 256, .is_tied = (tied), GPT_SHAPE)

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
    MODEL("bert-48", "bert", 48, 1024, 16, 16, 64, 4096, 30522, 128,
          "Li and Hoefler 2021 (Chimera), table 4: 669,790,012 parameters", .positions = 512,
          .token_types = 2, .has_pooler = true, .has_mlm_head = true, BERT_SHAPE),
    MODEL("bert-52b", "bert", 64, 8192, 64, 64, 128, 32768, 30522, 1024, BREADTH_FIRST,
          .positions = 1024, .token_types = 2, .is_tied = true, .has_mlm_head = true, BERT_SHAPE),
    MODEL("bert-6.6b", "bert", 32, 4096, 32, 32, 128, 16384, 30522, 1024, BREADTH_FIRST,
          .positions = 1024, .token_types = 2, .is_tied = true, .has_mlm_head = true, BERT_SHAPE),
    MODEL("bert-96", "bert", 96, 1024, 16, 16, 64, 4096, 30522, 512,
          "Li et al. 2022 (Harmony), bert-large-uncased-96.json; encoder with pooler, without "
          "prediction heads",
          .positions = 512, .token_types = 2, .is_tied = true, .has_pooler = true, BERT_SHAPE),
    MODEL("bert-base", "bert", 12, 768, 12, 12, 64, 3072, 30522, 512,
          "Devlin et al. 2019; encoder with pooler, without prediction heads", .positions = 512,
          .token_types = 2, .is_tied = true, .has_pooler = true, BERT_SHAPE),
    MODEL("bert-large", "bert", 24, 1024, 16, 16, 64, 4096, 30522, 512,
          "Devlin et al. 2019; encoder with pooler, without prediction heads", .positions = 512,
          .token_types = 2, .is_tied = true, .has_pooler = true, BERT_SHAPE),
    MODEL("bloom-176b", "bloom", 70, 14336, 112, 112, 128, 57344, 250880, 2048,
          "BigScience 2022, table 5; published config.json", .is_tied = true,
          .has_embedding_norm = true, GPT_SHAPE),
    MODEL("deepseek-v2", "deepseek", 60, 5120, 128, 128, 192, 12288, 102400, 4096,
          "DeepSeek-AI 2024 (DeepSeek-V2), section 3.1.2; published config.json", LATENT(1536),
          NUMERICS(1e-6, YARN(1e4, 40)),
          .experts = {.count = 160,
                      .top_k = 6,
                      .ffn = 1536,
                      .shared_ffn = 3072,
                      .dense_first = 1,
                      .groups = 8,
                      .group_limit = 3},
          LLAMA_SHAPE),
    MODEL("deepseek-v2-lite", "deepseek", 27, 2048, 16, 16, 192, 10944, 102400, 4096,
          "DeepSeek-AI 2024 (DeepSeek-V2), appendix B; published config.json", LATENT(0),
          NUMERICS(1e-6, YARN(1e4, 40)),
          .experts = {.count = 64, .top_k = 6, .ffn = 1408, .shared_ffn = 2816, .dense_first = 1},
          LLAMA_SHAPE),
    MODEL("deepseek-v3", "deepseek", 61, 7168, 128, 128, 192, 18432, 129280, 4096,
          "DeepSeek-AI 2024 (DeepSeek-V3), section 4.2; published config.json; without "
          "multi-token prediction",
          LATENT(1536), NUMERICS(1e-6, YARN(1e4, 40)),
          .experts = {.count = 256,
                      .top_k = 8,
                      .ffn = 2048,
                      .shared_ffn = 2048,
                      .dense_first = 3,
                      .groups = 8,
                      .group_limit = 4,
                      .has_router_bias = true},
          LLAMA_SHAPE),
    DEIT("deit-b", 768, 12),
    DEIT("deit-s", 384, 6),
    DEIT("deit-ti", 192, 3),
    GEMMA("gemma-2b", 18, 2048, 8, 1, 256, 16384, 0x1.6a09e667f3bcdp+5,
          "Gemma Team 2024, table 1; published config.json", .norms_per_layer = 2),
    GEMMA("gemma-7b", 28, 3072, 16, 16, 256, 24576, 0x1.bb67ae8584caap+5,
          "Gemma Team 2024, table 1; published config.json", .norms_per_layer = 2),
    GEMMA("gemma2-27b", 46, 4608, 32, 16, 128, 36864, 0x1.0f876ccdf6cd9p+6,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    GEMMA("gemma2-2b", 26, 2304, 8, 4, 256, 9216, 48,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    GEMMA("gemma2-9b", 42, 3584, 16, 8, 256, 14336, 0x1.deeea11683f49p+5,
          "Gemma Team 2024 (Gemma 2), table 1; published config.json", GEMMA2_SHAPE),
    MODEL("glm-130b", "glm", 70, 12288, 96, 96, 128, 32768, 150528, 2048,
          "Zeng et al. 2022 (GLM-130B), table 11; vocabulary of its code", .is_tied = true,
          .is_gated = true, .numerics = {.activation = "gelu", .norm_place = PP_NORM_POST},
          GPT_SHAPE),
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
    MODEL("gpt-neox-20b", "gpt-neox", 44, 6144, 64, 64, 96, 24576, 50432, 2048,
          "Black et al. 2022; published config.json",
          .numerics = {.activation = "gelu_fast",
                       .rope = {.frac = 0.25},
                       .norm_place = PP_NORM_PARALLEL},
          GPT_SHAPE),
    GPT_OSS("gpt-oss-120b", 36, 128),
    GPT_OSS("gpt-oss-20b", 24, 32),
    GPT2("gpt2", 12, 768, 12),
    MODEL("gpt2-64", "gpt2", 64, 1280, 20, 20, 64, 5120, 50257, 632,
          "Li and Hoefler 2021 (Chimera), table 4: 1,389,327,360 parameters; untied head, "
          "sequence length of the evaluation",
          .positions = 1024, GPT_SHAPE),
    GPT2("gpt2-large", 36, 1280, 20),
    GPT2("gpt2-medium", 24, 1024, 16),
    GPT2("gpt2-xl", 48, 1600, 25),
    MEGATRON("gpt3-175b", 96, 12288, 96,
             "Brown et al. 2020, table 2.1; vocabulary padded as in Megatron-LM"),
    MODEL("grok-1", "grok", 64, 6144, 48, 8, 128, 32768, 131072, 8192,
          "xAI 2024, model.py of the published weights", .is_tied = true,
          .experts = {.count = 8, .top_k = 2, .ffn = 32768},
          .numerics = {.activation = "gelu_new",
                       .embedding_scale = 78.38367176906169,
                       .odd = "attn_output_multiplier"},
          DECODER_SHAPE, .norms_per_layer = 4),
    MODEL("internlm-20b", "internlm", 60, 5120, 40, 40, 128, 13824, 103168, 4096,
          "InternLM Team 2023; published config.json", NUMERICS(1e-6, BASE(1e4)), LLAMA_SHAPE),
    MODEL("internlm-7b", "internlm", 32, 4096, 32, 32, 128, 11008, 103168, 2048,
          "InternLM Team 2023; published config.json", .has_bias_attn_qkv = true,
          .has_bias_attn_out = true, NUMERICS(1e-6, BASE(1e4)), LLAMA_SHAPE),
    MODEL("kimi-k2", "deepseek", 61, 7168, 64, 64, 192, 18432, 163840, 4096,
          "Kimi Team 2025, table 2; published config.json", LATENT(1536),
          NUMERICS(1e-6, YARN(5e4, 32)),
          .experts = {.count = 384,
                      .top_k = 8,
                      .ffn = 2048,
                      .shared_ffn = 2048,
                      .dense_first = 1,
                      .has_router_bias = true},
          LLAMA_SHAPE),
    LLAMA("llama-13b", 40, 5120, 40, 40, 13824, 32000, 2048, LLAMA1, 1e-6, BASE(1e4)),
    LLAMA("llama-30b", 60, 6656, 52, 52, 17920, 32000, 2048, LLAMA1, 1e-6, BASE(1e4)),
    LLAMA("llama-65b", 80, 8192, 64, 64, 22016, 32000, 2048, LLAMA1, 1e-5, BASE(1e4)),
    LLAMA("llama-7b", 32, 4096, 32, 32, 11008, 32000, 2048, LLAMA1, 1e-6, BASE(1e4)),
    LLAMA("llama2-13b", 40, 5120, 40, 40, 13824, 32000, 4096, LLAMA2, 1e-5, BASE(1e4)),
    LLAMA("llama2-70b", 80, 8192, 64, 8, 28672, 32000, 4096, LLAMA2, 1e-5, BASE(1e4)),
    LLAMA("llama2-7b", 32, 4096, 32, 32, 11008, 32000, 4096, LLAMA2, 1e-5, BASE(1e4)),
    LLAMA("llama3-405b", 126, 16384, 128, 8, 53248, 128256, 8192, LLAMA3, 1e-5,
          LLAMA3_SCALING(8, 1, 4)),
    LLAMA("llama3-70b", 80, 8192, 64, 8, 28672, 128256, 8192, LLAMA3, 1e-5, BASE(5e5)),
    LLAMA("llama3-8b", 32, 4096, 32, 8, 14336, 128256, 8192, LLAMA3, 1e-5, BASE(5e5)),
    MODEL("llama3.2-1b", "llama", 16, 2048, 32, 8, 64, 8192, 128256, 8192,
          "Meta 2024; published config.json", .is_tied = true,
          NUMERICS(1e-5, LLAMA3_SCALING(32, 1, 4)), LLAMA_SHAPE),
    MODEL("llama3.2-3b", "llama", 28, 3072, 24, 8, 128, 8192, 128256, 8192,
          "Meta 2024; published config.json", .is_tied = true,
          NUMERICS(1e-5, LLAMA3_SCALING(32, 1, 4)), LLAMA_SHAPE),
    MODEL("llama4-maverick", "llama", 48, 5120, 40, 8, 128, 16384, 202048, 8192, LLAMA4,
          .experts = {.count = 128, .top_k = 1, .ffn = 8192, .shared_ffn = 8192, .every = 2},
          CHUNKS, NUMERICS(1e-5, BASE(5e5)), LLAMA_SHAPE),
    MODEL("llama4-scout", "llama", 48, 5120, 40, 8, 128, 8192, 202048, 8192, LLAMA4,
          .experts = {.count = 16, .top_k = 1, .ffn = 8192, .shared_ffn = 8192}, CHUNKS,
          NUMERICS(1e-5, LLAMA3_SCALING(16, 1, 1)), LLAMA_SHAPE),
    OWN_GPT("mini", 8, 256, 8, 128, true),
    MODEL("mistral-7b", "mistral", 32, 4096, 32, 8, 128, 14336, 32000, 8192,
          "Jiang et al. 2023; published config.json", .window = {.keys = 4096}, LLAMA_SHAPE),
    MODEL("mixtral-8x22b", "mixtral", 56, 6144, 48, 8, 128, 16384, 32768, 8192,
          "Jiang et al. 2024 (Mixtral); published config.json",
          .experts = {.count = 8, .top_k = 2, .ffn = 16384}, NUMERICS(1e-5, BASE(1e6)),
          LLAMA_SHAPE),
    MODEL("mixtral-8x7b", "mixtral", 32, 4096, 32, 8, 128, 14336, 32000, 8192,
          "Jiang et al. 2024 (Mixtral); published config.json",
          .experts = {.count = 8, .top_k = 2, .ffn = 14336}, NUMERICS(1e-5, BASE(1e6)),
          LLAMA_SHAPE),
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
    OPT("opt-13b", 40, 5120, 40),
    OPT("opt-30b", 48, 7168, 56),
    MODEL("qwen2-57b-a14b", "qwen2", 28, 3584, 28, 4, 128, 18944, 151936, 8192,
          "Qwen Team 2024 (Qwen2), table 1; published config.json", .has_bias_attn_qkv = true,
          .experts =
              {.count = 64, .top_k = 8, .ffn = 2560, .shared_ffn = 20480, .has_shared_gate = true},
          NUMERICS(1e-6, BASE(1e6)), LLAMA_SHAPE),
    QWEN25("qwen2.5-14b", 48, 5120, 40, 8, 13824, 1e-5),
    QWEN25("qwen2.5-32b", 64, 5120, 40, 8, 27648, 1e-5),
    QWEN25("qwen2.5-72b", 80, 8192, 64, 8, 29568, 1e-5),
    QWEN25("qwen2.5-7b", 28, 3584, 28, 4, 18944, 1e-6),
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
    MODEL("tiny-llama", "llama", 8, 128, 4, 2, 32, 352, 256, 64, OWN, LLAMA_SHAPE),
    {.name = NULL},
};
