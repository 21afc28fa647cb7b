/* exec/data/text.h — what is trained on: tokens of a file, and which of them a sample holds. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "exec/data/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

/* In the order of the choices of --tokens. */
enum pp_token_kind {
    PP_TOKENS_BYTES, /* a token each */
    PP_TOKENS_U16, /* a shard as llm.c writes them: little-endian, a header of 256 int32 (20240520,
                    * 1, number of tokens), then 16 bits a token */
    PP_TOKENS_ENCODED, /* no choice: what a tokenizer made of a text, an int32 each */
    PP_TOKEN_KINDS
};

struct pp_text {
    const char *name; /* file, or "built-in text" */
    const unsigned char *bytes;
    size_t count; /* tokens */
    enum pp_token_kind kind;
};
/* NULL: the text that is built in; "-": standard input; ".gz" is decompressed. PP_EFAIL for a file
 * that cannot be read; PP_EINVAL for one that is empty, or too short for a sample of seq tokens and
 * its target, or has a token beyond vocab - 1, with its place and the smallest vocabulary that
 * would do, or is no shard where one is expected. */
enum pp_status pp_text_load(struct pp_arena *arena, const char *path, enum pp_token_kind kind,
                            int seq, int vocab, struct pp_text *text, struct pp_error *err);
/* The same for what a tokenizer makes of a text. A vocabulary smaller than the tokenizer's is
 * refused, whatever the text holds; so is a text that is no UTF-8. */
enum pp_status pp_text_encode(struct pp_arena *arena, const char *path,
                              const struct pp_tokenizer *tokenizer, int seq, int vocab,
                              struct pp_text *text, struct pp_error *err);
/* Sample `index` of step `step`: seq tokens, and targets shifted by one. A pure function of the
 * arguments: which rank asks, and in how many replicas, does not matter. */
void pp_text_sample(const struct pp_text *text, uint64_t seed, int64_t step, int64_t index, int seq,
                    int32_t *ids, int32_t *targets);
/* Checksum of all tokens, for telling texts apart. */
uint32_t pp_text_crc(const struct pp_text *text);
