/* core/printable.h — makes foreign text fit for a terminal and for JSON. */
#pragma once

#include "core/arena.h"

/* Returns the text in the arena with "\xe9" for each byte that is no UTF-8 or a control character.
 * Returns `text` itself if it has none. */
const char *pp_printable(struct pp_arena *arena, const char *text);
