/* core/model/options.h — the model of a command line: a name or file, and flags that change it. */
#pragma once

#include "core/cli/wish.h"
#include "core/model/model.h"

/* --layers --hidden --heads --kv-heads --ffn --mlp --vocab --embedding */
#define PP_OPTIONS_DIMENSIONS(heading, mask)                                                       \
    PP_ROW_INT(layers, "L", 1, 65535, heading, mask, .aliases = PP_NAMES("num-layers"),            \
               .help = "Transformer blocks, in place of the model's.")                             \
    PP_ROW_INT(hidden, "H", 1, PP_OPTION_BIG, heading, mask, .aliases = PP_NAMES("hidden-size"),   \
               .help =                                                                             \
                   "Hidden size, in place of the model's; the feed-forward size keeps its ratio.") \
    PP_ROW_INT(heads, "A", 1, PP_OPTION_BIG, heading, mask,                                        \
               .aliases = PP_NAMES("num-attention-heads"),                                         \
               .help = "Attention heads, in place of the model's.")                                \
    PP_ROW_INT(                                                                                    \
        kv_heads, "K", 1, PP_OPTION_BIG, heading, mask, .aliases = PP_NAMES("num-query-groups"),   \
        .help = "Key and value heads, in place of the model's; as many as heads without grouped "  \
                "queries.")                                                                        \
    PP_ROW_INT(ffn, "F", 1, 1 << 24, heading, mask, .aliases = PP_NAMES("ffn-hidden-size"),        \
               .help = "Feed-forward size, in place of the model's.")                              \
    PP_ROW_CHOICE(mlp, "HOW", "plain|gated", heading, mask,                                        \
                  .help =                                                                          \
                      "Feed-forward layer of two matrices, or of three (SwiGLU), in place of the " \
                      "model's.")                                                                  \
    PP_ROW_INT(vocab, "V", 1, 1 << 28, heading, mask, .aliases = PP_NAMES("vocab-size"),           \
               .help = "Vocabulary size, in place of the model's.")                                \
    PP_ROW_INT(                                                                                    \
        positions, "N", 0, 1 << 26, heading, mask, .aliases = PP_NAMES("max-position-embeddings"), \
        .help = "Rows of the learned table of positions, in place of the model's; 0: no table, "   \
                "as with rotary embeddings. The name --max-position-embeddings changes no model "  \
                "without a table.")                                                                \
    PP_ROW_CHOICE(                                                                                 \
        embedding, "HOW", "tied|untied", heading, mask,                                            \
        .help = "Whether head and embedding share one matrix, in place of the model's choice.")
/* --experts --top-k --moe-ffn --shared-ffn --dense-layers --moe-every */
#define PP_OPTIONS_EXPERTS(heading, mask)                                                          \
    PP_ROW_INT(experts, "E", 1, 65536, heading, mask, .aliases = PP_NAMES("num-experts"),          \
               .help = "Experts of a block, in place of the model's; 1: the model is dense.")      \
    PP_ROW_INT(top_k, "K", 1, 65536, heading, mask, .aliases = PP_NAMES("moe-router-topk"),        \
               .help =                                                                             \
                   "Experts that each token is sent to, in place of the model's; 2 for a dense "   \
                   "model with --experts.")                                                        \
    PP_ROW_INT(                                                                                    \
        moe_ffn, "F", 1, 1 << 24, heading, mask, .aliases = PP_NAMES("moe-ffn-hidden-size"),       \
        .help = "Feed-forward size of one expert, in place of the model's; that of the dense "     \
                "layer for a dense model with --experts.")                                         \
    PP_ROW_INT(shared_ffn, "F", 0, 1 << 24, heading, mask,                                         \
               .aliases = PP_NAMES("moe-shared-expert-intermediate-size"),                         \
               .help =                                                                             \
                   "Feed-forward size of the shared expert, which computes every token, in place " \
                   "of the model's.")                                                              \
    PP_ROW_INT(dense_layers, "L", 0, 65535, heading, mask,                                         \
               .help = "Blocks at the start that have no experts, in place of the model's.")       \
    PP_ROW_INT(moe_every, "N", 1, 65535, heading, mask, .aliases = PP_NAMES("moe-layer-freq"),     \
               .help = "Every N-th block has experts: N, 2N, and so on, in place of the model's "  \
                       "choice.")
/* --mtp */
#define PP_OPTIONS_MTP(heading, mask)                                                              \
    PP_ROW_INT(mtp, "N", 0, 16, heading, mask, .aliases = PP_NAMES("mtp-num-layers"),              \
               .help =                                                                             \
                   "Further tokens to predict, each by its own block and the head, in place of "   \
                   "the model's.")

/* Loads --model (or `usual`), a preset or a config.json, with the dimensions of the flags. Sizes
 * that follow another one keep their ratio to it; a table of positions has at least --seq rows.
 * PP_EINVAL for dimensions that do not divide, PP_EFAIL for a file that cannot be read. */
enum pp_status pp_model_take(struct pp_arena *arena, const struct pp_request *request,
                             const char *usual, struct pp_model *model, struct pp_error *err);

/* Applies the flags of PP_OPTIONS_EXPERTS. PP_EINVAL for
 * contradictions, and for flags that need experts in a model without. */
enum pp_status pp_model_take_experts(struct pp_arena *arena, const struct pp_request *request,
                                     struct pp_model *model, struct pp_error *err);
/* Applies --mtp, before pp_model_take_experts(), which checks it. */
void pp_model_take_mtp(struct pp_arena *arena, const struct pp_request *request,
                       struct pp_model *model);
