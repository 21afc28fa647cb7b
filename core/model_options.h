/* core/model_options.h — a model of the command line: its name or file, dimensions changed by
 * flags. */
#ifndef PP_CORE_MODEL_OPTIONS_H
#define PP_CORE_MODEL_OPTIONS_H

#include "core/model.h"
#include "core/request.h"

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
    {.name = "embedding", .type = PP_OPTION_CHOICE, .choices = "tied|untied", .argument = "HOW", .group = (heading), .commands = (mask), \
     .help = "Whether the head shares the matrix of the embedding, in place of the model's way."}
/* clang-format on */

/* --model (or `usual`), a preset or a config.json, with the dimensions of the flags; sizes that
 * follow another one keep their ratio to it, and a table of positions has at least --seq rows. PP_EINVAL for dimensions that do not divide, PP_EFAIL
 * for a file that cannot be read. */
enum pp_status pp_model_take(struct pp_arena *arena, const struct pp_request *request,
                             const char *usual, struct pp_model *model, struct pp_error *err);

#endif
