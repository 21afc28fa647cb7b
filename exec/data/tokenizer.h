/* exec/data/tokenizer.h — byte-level byte-pair encoding, as GPT-2 does it: a text becomes words,
 * words become bytes, and neighbours are merged, those first that were merged first in training.
 *
 * Source: Radford et al., Language models are unsupervised multitask learners, 2019, section 2.2;
 * openai/gpt-2, src/encoder.py. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "exec/data/bytes_map.h"
#include "exec/data/split.h"

#include <stdint.h>

/* A token that merges never make: it stands in the text as it is, such as <|endoftext|>. */
struct pp_special {
    const char *text;
    size_t length;
    int32_t id;
};

struct pp_tokenizer {
    const char *name;         /* as given */
    int32_t vocab;            /* every id is below it */
    struct pp_bytes_map ids;  /* id of the bytes of a token */
    struct pp_bytes_map rank; /* rank of a merge, by the ids of its two parts (int32_t[2]) */
    int32_t *merged;          /* [merge_count]: what a merge makes */
    size_t merge_count;
    int32_t byte_id[256];
    struct pp_special *specials; /* [special_count], none a prefix of one before it */
    int special_count, special_capacity;
    struct pp_splitter *splitter;
};

/* ---- exec/data/tokenizer_read.c, tokenizer_json.c ---- */
/* From a folder, from a tokenizer.json of Hugging Face, or from a pair of files VOCAB:MERGES. A
 * folder has a tokenizer.json, which wins because it says how words are cut, or vocab.json and
 * merges.txt, or encoder.json and vocab.bpe. PP_EFAIL for what cannot be read, and in a build
 * without PCRE2; PP_EINVAL for what is no such tokenizer, with file and place. */
enum pp_status pp_tokenizer_open(struct pp_arena *arena, const char *where,
                                 struct pp_tokenizer **tokenizer, struct pp_error *err);

/* Contents of a file, and its name in messages. */
struct pp_named_bytes {
    const char *name, *bytes;
    size_t length;
};
/* The same from contents in memory: a table of tokens as JSON, and the merges as lines. */
enum pp_status pp_tokenizer_parse(struct pp_arena *arena, struct pp_named_bytes vocab,
                                  struct pp_named_bytes merges, struct pp_tokenizer **tokenizer,
                                  struct pp_error *err);
enum pp_status pp_tokenizer_parse_json(struct pp_arena *arena, struct pp_named_bytes file,
                                       struct pp_tokenizer **tokenizer, struct pp_error *err);

/* ---- exec/data/tokenizer.c ---- */
struct pp_token_list {
    const int32_t *ids; /* in the arena */
    size_t count;
};
/* Tokens of a text, at most as many as its bytes. A merge takes O(log n) in a word of n bytes; a
 * word that was met before takes none. PP_EINVAL for what is no UTF-8, with its offset. */
enum pp_status pp_tokenizer_encode(struct pp_arena *arena, const struct pp_tokenizer *tokenizer,
                                   struct pp_named_bytes text, struct pp_token_list *tokens,
                                   struct pp_error *err);
