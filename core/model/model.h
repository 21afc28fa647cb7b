/* core/model/model.h — a model as a list of layers with parameters, flops and bytes.
 * Embedding and head are layers. Dimensions come from a preset, a Hugging Face config.json, flags,
 * or only a parameter count. Read-only after loading; in the arena of the run. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Mixture of experts as feed-forward layer: a router picks `top_k` of `count` for each token. */
struct pp_experts {
    int count; /* 0 = the model is dense, all else is unused */
    int top_k;
    int ffn;         /* width of one expert */
    int shared_ffn;  /* width of all shared experts, which every token passes; 0 = none */
    int dense_first; /* number of dense blocks at the start */
    int every;       /* every n-th block is a mixture: n, 2n, ... (1 = all; 0 counts as 1) */
    /* further dense blocks, of those that `every` makes mixtures, from 0 in ascending order; they
     * lie in the arena of the model */
    const int *dense;
    int dense_count;
    int groups, group_limit; /* a token's experts lie in at most `group_limit` of `groups` groups of
                              * neighbours (DeepSeek-V3, section 2.1.2); 0 = anywhere */
    bool has_router_bias;    /* a number per expert: GPT-OSS, DeepSeek's balancing */
    bool has_plain_gates;    /* a token's experts are weighed by their probabilities among all; else
                              * by those divided by their sum */
    bool has_shared_gate;    /* a gate weighs the shared experts (Qwen2-MoE) */
    double balance_loss;     /* factor of the loss of balance in training; 0 = none */
};

/* Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1): keys and values of all
 * heads are made from one narrow vector, queries from another. `head_dim` of the model is then the
 * width of a query, of which the last `rope_dim` are rotated. */
struct pp_latent {
    int kv_rank; /* 0 = plain attention */
    int q_rank;  /* 0 = queries come straight from the hidden vector */
    int rope_dim, value_dim;
};

/* Windows of attention. A query meets its own key and those before it, `keys` in total. Blocks with
 * full attention are the first `full_first` and every `full_every`-th (n, 2n, ...; 0: none). */
struct pp_window {
    int keys; /* 0 = every block meets all keys */
    int full_every, full_first;
    bool is_chunked; /* samples are cut into chunks of `keys`; queries meet their own (Llama 4) */
};

/* Rotary positions. */
struct pp_rope {
    double theta;        /* base of the angles (Su et al. 2021) */
    double frac;         /* share of a head that is rotated, from its begin */
    const char *scaling; /* "linear", "llama3", ...: angles for long samples; NULL = none */
    double factor;       /* of the scaling; 0 = the file has none */
    double low_factor, high_factor; /* llama3 */
    int original_seq;               /* llama3 */
};

/* Numbers that training needs, and no prediction depends on. A preset has 0 for what is usual:
 * pp_model_numerics(). */
enum pp_norm_place { PP_NORM_PRE, PP_NORM_POST, PP_NORM_PARALLEL };
struct pp_numerics {
    const char *activation; /* "silu", "gelu_new": as transformers names it */
    double norm_epsilon;
    struct pp_rope rope;
    enum pp_norm_place norm_place; /* before attention and feed-forward layer, after them, or before
                                    * both, which then run side by side */
    bool has_norm_offset;          /* norms multiply by 1 + weight (Gemma) */
    double embedding_scale;        /* factor on rows of the embedding */
    int position_offset;           /* first row in use of a learned table (OPT, RoBERTa) */
    const char *odd;               /* key of the file that changes what is computed, without a field
                                    * here; NULL = none */
};

struct pp_model {
    const char *name;         /* preset name or file */
    const char *family;       /* "gpt2", "llama", "bert", ... */
    const char *architecture; /* first class of the file's "architectures"; NULL = none */
    const char *source;       /* where the dimensions come from */
    int layers;               /* transformer blocks */
    int hidden, heads, kv_heads, head_dim, ffn, vocab;
    int positions;   /* rows of a learned position table, 0 = rotary or none */
    int token_types; /* rows of a token-type table (BERT), 0 = none */
    int seq;         /* default sequence length (preset or max positions) */
    bool is_gated;   /* gated MLP: three matrices */
    bool is_tied;    /* head shares the embedding matrix */
    bool is_causal;  /* decoder */
    bool has_bias_attn_qkv, has_bias_attn_out, has_bias_mlp, has_bias_norm, has_final_norm;
    bool has_pooler, has_mlm_head; /* BERT */
    bool has_embedding_norm;       /* BLOOM; with token types in any case */
    bool has_qk_norm;              /* queries and keys are normalized head by head */
    bool has_sinks;                /* a number per head in the softmax (GPT-OSS) */
    int patch; /* numbers of an image's patch, of which a matrix makes a token. One token more is
                * learned, and classifies the sample: `vocab` are the classes. 0 = tokens are rows
                * of a table (Dosovitskiy et al. 2021, ViT) */
    int norms_per_layer;
    struct pp_experts experts;
    struct pp_latent latent;
    struct pp_window window;
    struct pp_numerics numerics;
    int mtp; /* blocks of multi-token prediction, each with a projection of 2h to h and the head
              * again (DeepSeek-V3, section 2.2) */
    double params_override; /* --params: total parameters, 0 = from the dimensions */
    const char *notes; /* fields of a file that were not used, preset of a hub name; "" = none */
};

/* Returns the model's numerics, with what is usual for all that it leaves open. */
struct pp_numerics pp_model_numerics(const struct pp_model *model);

/* BLOCK is a dense block, MOE one with experts. MTP predicts one further token: norms, a
 * projection, a block, the head's matrix once more. */
enum pp_layer_kind {
    PP_LAYER_EMBEDDING,
    PP_LAYER_BLOCK,
    PP_LAYER_HEAD,
    PP_LAYER_MOE,
    PP_LAYER_MTP,
    PP_LAYER_KINDS
};
/* Returns how many of the `count` blocks from `first` on are mixtures of experts. */
int pp_model_moe_blocks(const struct pp_model *model, int first, int count);
/* Is true if block `block`, from 0, meets near keys only. */
bool pp_model_is_windowed(const struct pp_model *model, int block);
/* Returns how many of the `count` blocks from `first` on do so, and how many of its mixtures. */
int pp_model_windowed_blocks(const struct pp_model *model, int first, int count);
int pp_model_windowed_moe_blocks(const struct pp_model *model, int first, int count);
/* Returns the average keys that queries at [from, to) of a causal sample meet in such a block. For
 * a whole sample of s tokens and a window of w <= s keys it is w - w^2 / 2s. */
double pp_model_window_keys(const struct pp_window *window, double from, double to);
/* Returns the kind of the last block, which MTP repeats. */
enum pp_layer_kind pp_model_last_kind(const struct pp_model *model);
/* Returns the parameters of one layer (HEAD excludes a tied matrix). */
double pp_model_layer_params(const struct pp_model *model, enum pp_layer_kind kind);
/* Returns the parameters of a layer's routed experts. */
double pp_model_routed_params(const struct pp_model *model, enum pp_layer_kind kind);
/* Returns the exact total; a tied matrix counts once. */
double pp_model_params(const struct pp_model *model);
/* Returns the parameters that one token meets, embedding and head included. */
double pp_model_active_params(const struct pp_model *model);
/* Returns the width of attention over all heads, the mean of keys and values. Its two products take
 * 4 t c d flops for t queries that meet c keys. */
double pp_model_attention_width(const struct pp_model *model);

enum pp_flops_rule { PP_FLOPS_MEGATRON, PP_FLOPS_PALM, PP_FLOPS_CAUSAL };
extern const char *const pp_flops_rule_names[];
/* Returns the keys that a query of `seq` tokens meets by that rule, on average over all blocks. */
double pp_model_keys_met(const struct pp_model *model, double seq, enum pp_flops_rule rule);
/* Returns the forward flops of one layer for `batch` sequences of `seq` tokens. MEGATRON counts all
 * matrix multiplications; each query meets all keys of its window, or of the sample (Narayanan
 * SC'21 appendix). CAUSAL counts the keys that causal queries meet: half of them, on average over
 * all blocks. PALM is 2 per parameter and token without embedding lookup, plus attention as
 * MEGATRON counts it (Chowdhery et al. 2022, appendix B). A backward is twice a forward, and once
 * for the patches of images, which have no gradients. */
double pp_model_layer_flops(const struct pp_model *model, enum pp_layer_kind kind, double batch,
                            double seq, enum pp_flops_rule rule);
/* Returns the forward flops of routed experts for tokens that a capacity factor below 1 drops.
 * Factor 0 stands for 1. Tokens are spread evenly. */
double pp_model_dropped_flops(const struct pp_model *model, enum pp_layer_kind kind, double tokens,
                              double capacity_factor);
/* Returns the model flops of one sample's forward and backward (no recomputation). */
double pp_model_flops_per_sample(const struct pp_model *model, int seq, enum pp_flops_rule rule);

/* Finds a preset by a name as papers and tables print it. Case, punctuation and remarks in brackets
 * do not matter ("Qwen3_30B_a3B", "DeepSeekV3 (dropless)"), except "N-layer proxy", which leaves N
 * blocks. If no preset has the name, one of its kind ("GPT 14.6B", "Llama-65B") gives everything
 * but the dimensions, and `*is_exact` is false. Returns false for unknown models. */
bool pp_model_published(struct pp_arena *arena, const char *name, struct pp_model *model,
                        bool *is_exact);

/* Presets, alphabetical; terminated by name NULL. */
extern const struct pp_model pp_model_presets[];
const char *pp_model_name(int i); /* name of the i-th preset; NULL after the last */
/* Loads a preset (case and dashes ignored) or a config.json: a path with '/' or ending in .json, or
 * a folder with '/'. "meta-llama/Llama-3.1-70B", if it is no file, is the preset of a name on the
 * Hugging Face hub; the notes of the model say so. Unknown names are PP_EINVAL with a suggestion.
 * Files that are not there, and hub names without a preset, are PP_EFAIL. */
enum pp_status pp_model_load(struct pp_arena *arena, const char *name_or_path,
                             struct pp_model *model, struct pp_error *err);
/* Reads a Hugging Face config.json of the families in core/model/families.c. */
enum pp_status pp_model_from_json(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_model *model, struct pp_error *err);
/* Reads a config.json from a file; PP_EFAIL if it cannot be opened. */
enum pp_status pp_model_from_file(struct pp_arena *arena, const char *path, struct pp_model *model,
                                  struct pp_error *err);
/* Makes a model from its size alone: dimensions of the GPT family scaled to it, total exact; its
 * name is "gpt-like", its size pp_model_params(). */
enum pp_status pp_model_from_params(struct pp_arena *arena, double params, struct pp_model *model,
                                    struct pp_error *err);
/* Checks consistency after overrides by flags (hidden divisible by heads, ...): PP_EINVAL. */
enum pp_status pp_model_check(const struct pp_model *model, struct pp_error *err);
