/* exec/data/text.h — the training data: tokens of a file, and the samples of a step. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "exec/data/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

/* Kinds of tokens, in the order of the choices of --tokens. */
enum pp_token_kind {
    PP_TOKENS_BYTES, /* each byte is a token */
    PP_TOKENS_U16, /* a shard of llm.c: little-endian, a header of 256 int32 (20240520, 1, number of
                    * tokens), then 16 bits a token */
    PP_TOKENS_ENCODED, /* an int32 for each token of a tokenizer; no choice of --tokens */
    PP_TOKEN_KINDS
};

struct pp_text {
    const char *name; /* file, or "built-in text" */
    const unsigned char *bytes;
    size_t count; /* tokens */
    enum pp_token_kind kind;
};
/* Loads a text: path NULL is the built-in text, "-" standard input; ".gz" is decompressed. PP_EFAIL
 * if it cannot be read. PP_EINVAL if it is not the expected shard, or shorter than seq tokens and a
 * target. PP_EINVAL for a token beyond vocab - 1, with its place and the smallest vocabulary. */
enum pp_status pp_text_load(struct pp_arena *arena, const char *path, enum pp_token_kind kind,
                            int seq, int vocab, struct pp_text *text, struct pp_error *err);
/* Loads a text and encodes it with `tokenizer`; errors as pp_text_load(). PP_EINVAL if the
 * tokenizer has more than `vocab` tokens, or if the text is not UTF-8. */
enum pp_status pp_text_encode(struct pp_arena *arena, const char *path,
                              const struct pp_tokenizer *tokenizer, int seq, int vocab,
                              struct pp_text *text, struct pp_error *err);
/* Fills in sample `index` of step `step`: seq tokens, and targets shifted by one. The result
 * depends only on the arguments, not on rank or number of replicas. */
void pp_text_sample(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index, int seq,
                    int32_t *ids, int32_t *targets);
/* Returns the checksum of all tokens, which tells texts apart. */
uint32_t pp_text_crc(const struct pp_text *text);
