/* core/lines.h — a text as lines, and a line as words. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A reader at the start of a text: {.name, .text, .length}. */
struct pp_lines {
    const char *name; /* of the file, in messages */
    const char *text; /* [length] */
    size_t length, from;
    int number; /* of the line taken last, from 1 */
};

/* The next line without its end, in `line` of `room` bytes; `*found` is false after the last.
 * PP_EINVAL with name:number for a line that has no room, or a NUL in it. */
enum pp_status pp_lines_next(struct pp_lines *lines, char *line, size_t room, bool *found,
                             struct pp_error *err);

/* What stands between blanks, at most `most` words; `line` is cut up. Returns how many. */
int pp_words(char *line, char **words, int most);

/* Whether one of the names, ended by NULL, is this one. */
bool pp_is_one_of(const char *name, const char *const *names);
