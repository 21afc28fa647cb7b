/* core/model.h — a model as a list of layers with parameters, flops and bytes.
 * Embedding and head are layers. Dimensions come from a preset, a Hugging Face config.json, flags,
 * or only a parameter count. Read-only after loading; in the arena of the run. */
#ifndef PP_CORE_MODEL_H
#define PP_CORE_MODEL_H

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

struct pp_model {
    const char *name;   /* preset name or file */
    const char *family; /* "gpt2", "llama", "bert", ... */
    const char *source; /* where the dimensions come from */
    int layers;         /* transformer blocks */
    int hidden, heads, kv_heads, head_dim, ffn, vocab;
    int positions;   /* rows of a learned position table, 0 = rotary or none */
    int token_types; /* rows of a token-type table (BERT), 0 = none */
    int seq;         /* default sequence length (preset or max positions) */
    bool is_gated;   /* gated MLP: three matrices */
    bool is_tied;    /* head shares the embedding matrix */
    bool is_causal;  /* decoder */
    bool has_bias_attn_qkv, has_bias_attn_out, has_bias_mlp, has_bias_norm, has_final_norm;
    bool has_pooler, has_mlm_head; /* BERT */
    int norms_per_layer;
    double params_override; /* --params: total parameters, 0 = from the dimensions */
    const char *notes;      /* fields of a file that were not used, "" = none */
};

enum pp_layer_kind { PP_LAYER_EMBEDDING, PP_LAYER_BLOCK, PP_LAYER_HEAD };
/* Parameters of one layer (HEAD excludes a tied matrix). */
double pp_model_layer_params(const struct pp_model *model, enum pp_layer_kind kind);
/* Exact total; a tied matrix counts once. */
double pp_model_params(const struct pp_model *model);

enum pp_flops_rule { PP_FLOPS_MEGATRON, PP_FLOPS_PALM, PP_FLOPS_CAUSAL };
extern const char *const pp_flops_rule_names[]; /* NULL-terminated */
/* Forward flops of one layer for `batch` sequences of `seq` tokens. MEGATRON counts all matrix
 * multiplications with full attention (Narayanan SC'21 appendix), CAUSAL halves attention where the
 * model is causal, PALM is 2 per parameter and token without embedding lookup plus full attention
 * (Chowdhery et al. 2022, appendix B). A backward is twice a forward. */
double pp_model_layer_flops(const struct pp_model *model, enum pp_layer_kind kind, double batch,
                            double seq, enum pp_flops_rule rule);
/* Model flops of one sample's forward and backward (no recomputation). */
double pp_model_flops_per_sample(const struct pp_model *model, int seq, enum pp_flops_rule rule);

/* Presets: name, ..., source; alphabetical; terminated by name NULL. */
extern const struct pp_model pp_model_presets[];
/* A preset (case and dashes ignored) or the path of a config.json (anything with a '/' or ending in
 * .json). Unknown names are PP_EINVAL with a suggestion. */
enum pp_status pp_model_load(struct pp_arena *arena, const char *name_or_path,
                             struct pp_model *model, struct pp_error *err);
/* Hugging Face config.json of the GPT-2, LLaMA, Mistral, Qwen2, BERT, OPT, GPT-NeoX families. */
enum pp_status pp_model_from_json(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_model *model, struct pp_error *err);
/* The same from a file; a file that cannot be opened is PP_EFAIL. */
enum pp_status pp_model_from_file(struct pp_arena *arena, const char *path, struct pp_model *model,
                                  struct pp_error *err);
/* A model known only by its size: dimensions of the GPT family scaled to it, total exact; its name
 * is "gpt-like", its size pp_model_params(). */
enum pp_status pp_model_from_params(struct pp_arena *arena, double params, struct pp_model *model,
                                    struct pp_error *err);
/* Consistency after overrides by flags (hidden divisible by heads, ...): PP_EINVAL. */
enum pp_status pp_model_check(const struct pp_model *model, struct pp_error *err);

#endif
