/* exec/data/text.h — the training data: tokens of files, and the samples of a step. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "exec/data/masked.h"
#include "exec/data/order.h"
#include "exec/data/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

/* Formats of --data, in the order of the choices of --tokens. */
enum pp_token_kind {
    PP_TOKENS_AUTO,     /* what the files say: one of the next */
    PP_TOKENS_BYTES,    /* each byte is a token */
    PP_TOKENS_U16,      /* shards of llm.c, one or many */
    PP_TOKENS_MEGATRON, /* Megatron's indexed dataset: PREFIX.bin and PREFIX.idx */
    PP_TOKEN_KINDS
};

struct pp_token_type;
struct pp_data_format;

/* Consecutive tokens of the data, in a file of their own. */
struct pp_token_file {
    const char *name;
    const unsigned char *bytes;     /* of its first token; mapped, or in the arena */
    size_t first, count;            /* its first token in the whole data; its tokens */
    const struct pp_mapped *mapped; /* NULL = in memory */
};

struct pp_text {
    const char *name; /* as given, or "built-in text" */
    const struct pp_data_format *format;
    const struct pp_token_type *type;
    const struct pp_token_file *files; /* [file_count] */
    int file_count;
    size_t count;   /* tokens of all files */
    int seq, vocab; /* tokens of a sample; each is below vocab */
    /* Tokens are checked where samples lie. False: all of them have been. */
    bool is_checked_late;
    struct pp_named_bytes index; /* of the format, or empty */
    struct pp_sample_order order;
    struct pp_masking masking;
};

/* What to load. */
struct pp_text_wish {
    const char *where; /* see pp_data_paths(); NULL = the built-in text, "-" = standard input */
    enum pp_token_kind kind;
    int seq, vocab;
};

/* Makes a text of bytes, which are not copied; each must be below `vocab`. */
void pp_text_of_bytes(struct pp_arena *arena, struct pp_named_bytes bytes, int seq, int vocab,
                      struct pp_text *text);
/* Loads a text; a ".gz" is decompressed. Large files stay on disk and are mapped. PP_EFAIL if it
 * cannot be read. PP_EINVAL if it is not of the expected format, with file and field, or shorter
 * than seq tokens and a target. PP_EINVAL for a token beyond vocab - 1 in a single file, with its
 * place and the smallest vocabulary. Shards and indexed data are checked by pp_text_sample(). */
enum pp_status pp_text_load(struct pp_arena *arena, const struct pp_text_wish *wish,
                            struct pp_text *text, struct pp_error *err);
/* Loads a text and encodes it with `tokenizer`; errors as pp_text_load(). PP_EINVAL if the
 * tokenizer has more than `vocab` tokens, or if the text is not UTF-8. */
enum pp_status pp_text_encode(struct pp_arena *arena, const struct pp_text_wish *wish,
                              const struct pp_tokenizer *tokenizer, struct pp_text *text,
                              struct pp_error *err);
/* Fills in sample `index` of step `step`: seq tokens, and targets shifted by one, or those of
 * hidden words. The result depends only on text, step and index, not on rank or number of replicas.
 * PP_EINVAL, with file and place, for a token beyond the vocabulary; PP_EFAIL for a file that has
 * shrunk. */
enum pp_status pp_text_sample(const struct pp_text *text, int64_t step, int64_t index, int32_t *ids,
                              int32_t *targets, struct pp_error *err);
/* Returns a checksum, which tells texts apart: of all tokens, or if these are checked late, of the
 * index and of both ends of each file. */
uint32_t pp_text_crc(const struct pp_text *text);
/* The order of samples that users of the format expect. */
enum pp_sample_order_kind pp_text_usual_order(const struct pp_text *text);
/* "bytes" or "tokens": what the text counts. */
const char *pp_text_unit(const struct pp_text *text);
