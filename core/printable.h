/* core/printable.h — makes foreign text fit for a terminal and for JSON. */
#pragma once

#include "core/arena.h"

/* Returns the text in the arena with "\xe9" for each byte that is no UTF-8 or a control character.
 * Returns `text` itself if it has none. */
const char *pp_printable(struct pp_arena *arena, const char *text);
/* The same in place, in `bytes` with the end, beyond which the text is cut. Newlines and tabs stay.
 */
void pp_printable_lines(char *text, size_t bytes);
/* Prints a line to stderr, as visible as that. For warnings and notes. */
void pp_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
