/* exec/data/split.h — splits a text into words as GPT-2 does before its merges.
 *
 * Source: openai/gpt-2, src/encoder.py, the pattern of Encoder. A word is a contraction ('s, 't,
 * ...), a run of letters, digits or other signs with the space before it, or other white space. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pp_splitter;

/* Makes a splitter in the arena; it is not thread-safe. PP_EFAIL in a build without PCRE2. */
enum pp_status pp_splitter_make(struct pp_arena *arena, struct pp_splitter **splitter,
                                struct pp_error *err);
/* Is true if the text is UTF-8; otherwise `*offset` is the offset of its first invalid byte. */
bool pp_split_is_utf8(struct pp_splitter *splitter, const char *text, size_t length,
                      size_t *offset);
/* Finds the end of the word at `start` < length, in UTF-8; the next word begins there. */
enum pp_status pp_split_word(struct pp_splitter *splitter, const char *text, size_t length,
                             size_t start, size_t *end, struct pp_error *err);
