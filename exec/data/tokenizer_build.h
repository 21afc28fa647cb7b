/* exec/data/tokenizer_build.h — steps that build a tokenizer from any of its file formats. */
#pragma once

#include "core/text/json.h"
#include "exec/data/tokenizer.h"

enum { PP_MOST_TOKENS = 1 << 24 }; /* limit of ids */

/* Makes an empty tokenizer. */
enum pp_status pp_tokenizer_begin(struct pp_arena *arena, const char *name,
                                  struct pp_tokenizer **tokenizer, struct pp_error *err);
/* Adds {"token": id, ...}, spelled with a letter for each byte. Each byte must be a token. */
enum pp_status pp_tokenizer_take_vocab(struct pp_arena *arena, struct pp_tokenizer *t,
                                       const char *name, const json_t *vocab, struct pp_error *err);
/* A token or line as files spell it, with a letter for each byte. */
struct pp_spelled {
    const char *text;
    size_t length;
};
/* Adds the next merge; the caller prefixes errors with its place. */
enum pp_status pp_tokenizer_take_merge(struct pp_arena *arena, struct pp_tokenizer *t,
                                       struct pp_spelled left, struct pp_spelled right,
                                       struct pp_error *err);
/* Adds the merge of a line "left right". */
enum pp_status pp_tokenizer_take_line(struct pp_arena *arena, struct pp_tokenizer *t,
                                      struct pp_spelled line, struct pp_error *err);
/* Adds a special token; longer ones come first. */
void pp_tokenizer_take_special(struct pp_arena *arena, struct pp_tokenizer *t,
                               struct pp_special special);
