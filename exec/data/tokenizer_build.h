/* exec/data/tokenizer_build.h — a tokenizer while it is read: the same steps for all of its forms.
 */
#pragma once

#include "core/text/json.h"
#include "exec/data/tokenizer.h"

enum { PP_MOST_TOKENS = 1 << 24 }; /* ids are below it */

/* An empty one. */
enum pp_status pp_tokenizer_begin(struct pp_arena *arena, const char *name,
                                  struct pp_tokenizer **tokenizer, struct pp_error *err);
/* {"token": id, ...}, tokens spelled with a letter for each byte. Each byte must be a token. */
enum pp_status pp_tokenizer_take_vocab(struct pp_arena *arena, struct pp_tokenizer *t,
                                       const char *name, const json_t *vocab, struct pp_error *err);
/* The next merge: two tokens, spelled. The caller puts the place in front of an error. */
struct pp_spelled {
    const char *text;
    size_t length;
};
enum pp_status pp_tokenizer_take_merge(struct pp_arena *arena, struct pp_tokenizer *t,
                                       struct pp_spelled left, struct pp_spelled right,
                                       struct pp_error *err);
/* "left right" */
enum pp_status pp_tokenizer_take_line(struct pp_arena *arena, struct pp_tokenizer *t,
                                      struct pp_spelled line, struct pp_error *err);
/* A text that is a token of its own; longer ones come first. */
void pp_tokenizer_take_special(struct pp_arena *arena, struct pp_tokenizer *t,
                               struct pp_special special);
