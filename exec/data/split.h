/* exec/data/split.h — words of a text, as GPT-2 cuts it before any of its merges.
 *
 * Source: openai/gpt-2, src/encoder.py, the pattern of Encoder: what an apostrophe cuts off, a run
 * of letters, of digits or of other signs, each with the space before it, and the other white
 * space. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pp_splitter;

/* Lives as long as the arena. PP_EFAIL in a build without PCRE2. Not thread-safe. */
enum pp_status pp_splitter_make(struct pp_arena *arena, struct pp_splitter **splitter,
                                struct pp_error *err);
/* Is it UTF-8? Else `*offset` is that of the first byte that is not. */
bool pp_split_is_utf8(struct pp_splitter *splitter, const char *text, size_t length,
                      size_t *offset);
/* The end of the word that begins at `start` < length, in UTF-8. Words lie side by side: each
 * begins where the one before it ends. */
enum pp_status pp_split_word(struct pp_splitter *splitter, const char *text, size_t length,
                             size_t start, size_t *end, struct pp_error *err);
