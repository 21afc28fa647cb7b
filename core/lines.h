/* core/lines.h — a text as lines, and a line as words. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Reader of a text; starts as {.name, .text, .length}. */
struct pp_lines {
    const char *name; /* file name in messages */
    const char *text; /* [length] */
    size_t length, from;
    int number; /* number of the last line taken, from 1 */
};

/* Copies the next line without its end into `line` of `room` bytes; `*found` is false after the
 * last. PP_EINVAL with name:number for a line that is too long or contains a NUL. */
enum pp_status pp_lines_next(struct pp_lines *lines, char *line, size_t room, bool *found,
                             struct pp_error *err);

/* Splits `line` at blanks into at most `most` words; writes into it. Returns their number. */
int pp_words(char *line, char **words, int most);

/* Is true if `name` is one of `names`, which ends with NULL. */
bool pp_is_one_of(const char *name, const char *const *names);
