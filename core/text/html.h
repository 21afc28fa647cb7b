/* core/text/html.h — pages with foreign text, both HTML and well-formed XML, to check as XML. */
#pragma once

#include <stdio.h>

/* printf with %s, %c, %d, %g, %f, %x (with flags, width and precision) and %%. Text of %s is
 * escaped: markup and quotes. Control characters and bytes that are not UTF-8 become "\xe9". The
 * format itself is not escaped. Errors of the stream are sticky. */
void pp_html(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3), nonnull(2)));
/* Writes text in which no line ends within the name of an option. */
void pp_html_flags(FILE *out, const char *text) __attribute__((nonnull));
/* Writes words of text reports: no line ends at "~", a blank, or within the name of an option. */
void pp_html_words(FILE *out, const char *words);
/* Writes lines as they are, for <pre>. */
void pp_html_lines(FILE *out, const char *lines);
/* Writes a figure for people and for programs. <data> has the name of its member in --json and its
 * value to 17 digits. "-" if the value is no number. */
void pp_html_figure(FILE *out, const char *key, double value, const char *text);
/* Writes our program or style sheet as the content of an element; "]]>" must not be in it. */
void pp_html_code(FILE *out, const char *code, size_t bytes);
