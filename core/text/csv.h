/* core/text/csv.h — CSV by libcsv, rows with line numbers. No other file sees its callbacks. */
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

/* Parses strictly: unterminated and stray quotes are PP_EINVAL with name:line. Lines that begin
 * with '#' are comments. `comments`, if not NULL, gets them verbatim as rows with one field. Blank
 * lines give a row with count 0. CRLF is accepted. */
enum pp_status pp_csv_parse(struct pp_arena *arena, const char *name, const char *text,
                            size_t length, struct pp_csv *csv, struct pp_csv *comments,
                            struct pp_error *err);
/* Writes one field, quoted if needed (libcsv's rule). */
void pp_csv_write_field(FILE *out, const char *field);
