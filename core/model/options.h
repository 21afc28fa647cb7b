/* core/model/options.h — a model of the command line: its name or file, dimensions changed by
 * flags. */
#ifndef PP_CORE_MODEL_OPTIONS_H
#define PP_CORE_MODEL_OPTIONS_H

#include "core/cli/request.h"
#include "core/model/model.h"

/* clang-format off */
/* --layers --hidden --heads --kv-heads --ffn --mlp --vocab --embedding */
#define PP_OPTIONS_DIMENSIONS(heading, mask) \
    {.name = "layers", .type = PP_OPTION_INT, .argument = "L", .min = 1, .max = 65535, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-layers"), .help = "Transformer blocks, in place of the model's."}, \
    {.name = "hidden", .type = PP_OPTION_INT, .argument = "H", .min = 1, .max = PP_OPTION_BIG, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("hidden-size"), .help = "Hidden size, in place of the model's; the feed-forward size keeps its ratio."}, \
    {.name = "heads", .type = PP_OPTION_INT, .argument = "A", .min = 1, .max = PP_OPTION_BIG, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-attention-heads"), .help = "Attention heads, in place of the model's."}, \
    {.name = "kv-heads", .type = PP_OPTION_INT, .argument = "K", .min = 1, .max = PP_OPTION_BIG, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-query-groups"), .help = "Key and value heads, in place of the model's; as many as heads without grouped queries."}, \
    {.name = "ffn", .type = PP_OPTION_INT, .argument = "F", .min = 1, .max = 1 << 24, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("ffn-hidden-size"), .help = "Feed-forward size, in place of the model's."}, \
    {.name = "mlp", .type = PP_OPTION_CHOICE, .choices = "plain|gated", .argument = "HOW", .group = (heading), .commands = (mask), \
     .help = "Feed-forward layer of two matrices, or of three (SwiGLU), in place of the model's."}, \
    {.name = "vocab", .type = PP_OPTION_INT, .argument = "V", .min = 1, .max = 1 << 28, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("vocab-size"), .help = "Vocabulary size, in place of the model's."}, \
    {.name = "positions", .type = PP_OPTION_INT, .argument = "N", .min = 0, .max = 1 << 26, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("max-position-embeddings"), .help = "Rows of a learned table of positions, in place of the model's; 0: none, as with rotary embeddings. As --max-position-embeddings it changes no model without such a table."}, \
    {.name = "embedding", .type = PP_OPTION_CHOICE, .choices = "tied|untied", .argument = "HOW", .group = (heading), .commands = (mask), \
     .help = "Whether the head shares the matrix of the embedding, in place of the model's way."}
/* --experts --top-k --moe-ffn --shared-ffn --dense-layers --mtp */
#define PP_OPTIONS_EXPERTS(heading, mask) \
    {.name = "experts", .type = PP_OPTION_INT, .argument = "E", .min = 1, .max = 65536, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-experts"), .help = "Experts of a block, in place of the model's; 1: the model is dense."}, \
    {.name = "top-k", .type = PP_OPTION_INT, .argument = "K", .min = 1, .max = 65536, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("moe-router-topk"), .help = "Experts that each token passes, in place of the model's; 2 where a dense model is given experts."}, \
    {.name = "moe-ffn", .type = PP_OPTION_INT, .argument = "F", .min = 1, .max = 1 << 24, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("moe-ffn-hidden-size"), .help = "Feed-forward size of one expert, in place of the model's; that of the dense layer where a dense model is given experts."}, \
    {.name = "shared-ffn", .type = PP_OPTION_INT, .argument = "F", .min = 0, .max = 1 << 24, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("moe-shared-expert-intermediate-size"), .help = "Feed-forward size of what every token passes beside its experts, in place of the model's."}, \
    {.name = "dense-layers", .type = PP_OPTION_INT, .argument = "L", .min = 0, .max = 65535, .group = (heading), .commands = (mask), \
     .help = "Blocks at the start that have no experts, in place of the model's."}, \
    {.name = "mtp", .type = PP_OPTION_INT, .argument = "N", .min = 0, .max = 16, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("mtp-num-layers"), .help = "Further tokens predicted, each by a block of its own and the head, in place of the model's."}
/* clang-format on */

/* --model (or `usual`), a preset or a config.json, with the dimensions of the flags. Sizes that
 * follow another one keep their ratio to it; a table of positions has at least --seq rows.
 * PP_EINVAL for dimensions that do not divide, PP_EFAIL for a file that cannot be read. */
enum pp_status pp_model_take(struct pp_arena *arena, const struct pp_request *request,
                             const char *usual, struct pp_model *model, struct pp_error *err);

/* The flags of PP_OPTIONS_EXPERTS on top. PP_EINVAL for what does not fit together, or where a flag
 * needs experts and there are none. */
enum pp_status pp_model_take_experts(struct pp_arena *arena, const struct pp_request *request,
                                     struct pp_model *model, struct pp_error *err);

#endif
