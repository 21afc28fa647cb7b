/* core/text/csv.h — rows from libcsv with line numbers, and quoting on the way out. No other
 * file sees libcsv's callbacks. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdio.h>

struct pp_csv_row {
    const char **fields; /* NUL-terminated; a field with an embedded NUL is refused */
    int count;
    int line; /* 1-based line on which the row begins */
};
struct pp_csv {
    struct pp_csv_row *rows;
    int count;
};

/* Parse strictly: unterminated and stray quotes are PP_EINVAL with name:line. Lines that
 * begin with '#' are comments. They are returned verbatim in `comments`, as rows with one
 * field, when that is not NULL. Blank lines give a row with count 0. CRLF is accepted. */
enum pp_status pp_csv_parse(struct pp_arena *arena, const char *name, const char *text,
                            size_t length, struct pp_csv *csv, struct pp_csv *comments,
                            struct pp_error *err);
/* Write one field, quoted when needed (libcsv's rule). */
void pp_csv_write_field(FILE *out, const char *field);
