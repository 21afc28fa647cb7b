/* exec/data/tokenizer.h — byte-level byte-pair encoding as in GPT-2. A text is split into words,
 * words into bytes, and neighbours are merged in the order of the merges in training.
 *
 * Source: Radford et al., Language models are unsupervised multitask learners, 2019, section 2.2;
 * openai/gpt-2, src/encoder.py. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "exec/data/bytes_map.h"
#include "exec/data/split.h"

#include <stdint.h>

/* A token that merges never make, such as <|endoftext|>; the text contains it literally. */
struct pp_special {
    const char *text;
    size_t length;
    int32_t id;
};

struct pp_tokenizer {
    const char *name;         /* as given */
    int32_t vocab;            /* more than any id */
    struct pp_bytes_map ids;  /* bytes of a token -> its id */
    struct pp_bytes_map rank; /* ids of the two parts of a merge (int32_t[2]) -> its rank */
    int32_t *merged;          /* [merge_count]: token that a merge makes */
    size_t merge_count;
    int32_t byte_id[256];
    struct pp_special *specials; /* [special_count], longest first */
    int special_count, special_capacity;
    struct pp_splitter *splitter;
};

/* Opens a tokenizer.json of Hugging Face, files VOCAB:MERGES, or a folder. A folder has
 * tokenizer.json (preferred: it says how words are split), vocab.json and merges.txt, or
 * encoder.json and vocab.bpe. PP_EFAIL if unreadable, or without PCRE2; PP_EINVAL, with file and
 * place, for other kinds. */
enum pp_status pp_tokenizer_open(struct pp_arena *arena, const char *where,
                                 struct pp_tokenizer **tokenizer, struct pp_error *err);

/* Contents of a file, and its name in messages. */
struct pp_named_bytes {
    const char *name, *bytes;
    size_t length;
};
/* Read a tokenizer from memory: a JSON table of tokens and merges as lines, or a tokenizer.json. */
enum pp_status pp_tokenizer_parse(struct pp_arena *arena, struct pp_named_bytes vocab,
                                  struct pp_named_bytes merges, struct pp_tokenizer **tokenizer,
                                  struct pp_error *err);
enum pp_status pp_tokenizer_parse_json(struct pp_arena *arena, struct pp_named_bytes file,
                                       struct pp_tokenizer **tokenizer, struct pp_error *err);

struct pp_token_list {
    const int32_t *ids; /* in the arena */
    size_t count;
};
/* Encodes a text; it has at most as many tokens as bytes. A merge takes O(log n) in a word of n
 * bytes; remembered words take none. PP_EINVAL, with the offset, if the text is not UTF-8. */
enum pp_status pp_tokenizer_encode(struct pp_arena *arena, const struct pp_tokenizer *tokenizer,
                                   struct pp_named_bytes text, struct pp_token_list *tokens,
                                   struct pp_error *err);
