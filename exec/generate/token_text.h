/* exec/generate/token_text.h — tokens as text, and text as tokens: by a tokenizer, or each byte a
 * token.
 */
#pragma once

#include "exec/data/tokenizer.h"

/* The bytes that a token stands for, not necessarily whole characters. */
struct pp_token_bytes {
    const char *bytes;
    size_t length;
};
struct pp_token_texts {
    const struct pp_tokenizer *tokenizer; /* NULL: each byte is a token */
    const struct pp_token_bytes *of;      /* [vocab]: length 0 = the tokenizer has none */
    int vocab;                            /* of the model */
};

/* Lists the texts of all tokens of a model. `tokenizer` (NULL = bytes) is kept by reference. */
void pp_token_texts_make(struct pp_arena *arena, const struct pp_tokenizer *tokenizer, int vocab,
                         struct pp_token_texts *texts);
/* Returns the bytes of a token; U+FFFD for one without. */
struct pp_token_bytes pp_token_text(const struct pp_token_texts *texts, int32_t token);
/* Encodes a text. PP_EINVAL, with the place, for a token beyond the vocabulary of the model, and as
 * pp_tokenizer_encode(). */
enum pp_status pp_token_texts_encode(struct pp_arena *arena, const struct pp_token_texts *texts,
                                     struct pp_named_bytes text, struct pp_token_list *tokens,
                                     struct pp_error *err);
