/* core/printable.h — text of others, fit for a terminal and for JSON. */
#pragma once

#include "core/arena.h"

/* The text with "\xe9" for each byte that is no UTF-8 or a control character, in the arena; without
 * any the text itself. Files come in any encoding and with any bytes. */
const char *pp_printable(struct pp_arena *arena, const char *text);
