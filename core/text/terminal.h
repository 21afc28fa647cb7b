/* core/text/terminal.h — width, colour and UTF-8 of a stream; text fitted to it. */
#pragma once

#include "core/arena.h"

#include <stdbool.h>
#include <stdio.h>

struct pp_terminal {
    int width; /* columns, 80 when unknown */
    bool has_color, has_utf8;
};
struct pp_terminal pp_terminal_detect(const char *color_option, FILE *out); /* auto|always|never */

/* Prints "  label    words" wrapped at `width`, words indented by `indent`; '~' is a space. */
void pp_text_paragraph(FILE *out, int width, int indent, const char *label, const char *text);
/* Prints words after `column` printed columns, and ends the line. Returns the number of lines. */
int pp_text_wrap(FILE *out, int width, int column, int indent, const char *text);
/* Returns a name of at most `width` bytes: a longer one has "..." in its middle, in the arena. */
const char *pp_text_short(struct pp_arena *arena, const char *name, int width);
/* Returns the columns of that many bytes of UTF-8. */
int pp_text_columns(const char *text, size_t bytes);
