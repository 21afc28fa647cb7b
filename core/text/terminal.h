/* core/text/terminal.h — what a stream can show: its width, colour, UTF-8; and text fitted to it.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct pp_terminal {
    int width; /* columns, 80 when unknown */
    bool has_color, has_utf8;
};
struct pp_terminal pp_terminal_detect(const char *color_option, FILE *out); /* auto|always|never */

/* "  label    words", wrapped at `width` with the words indented by `indent`; '~' is a space inside
 * a word. */
void pp_text_paragraph(FILE *out, int width, int indent, const char *label, const char *text);
/* The words alone, after `column` columns already printed, and the end of the line. Returns how
 * many lines they took. */
int pp_text_wrap(FILE *out, int width, int column, int indent, const char *text);
/* Columns of that many bytes of UTF-8. */
int pp_text_columns(const char *text, size_t bytes);
