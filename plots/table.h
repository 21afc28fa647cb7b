/* plots/table.h — a CSV file with a header as columns, the source of curves and bars. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pp_table {
    const char *name;     /* of the file, for messages */
    const char **columns; /* [column_count] as in the header */
    int column_count;
    const char ***cells; /* [row][column] text; "" where there is nothing */
    int *lines;          /* [row] line of the file, for messages */
    int rows;
};

/* Strict: a header with distinct names, rows as long as it; PP_EINVAL with file:line. "-" is stdin,
 * ".gz" is decompressed. Lives in the arena. */
enum pp_status pp_table_read(struct pp_arena *arena, const char *path, struct pp_table *table,
                             struct pp_error *err);
enum pp_status pp_table_parse(struct pp_arena *arena, const char *name, const char *text,
                              size_t length, struct pp_table *table, struct pp_error *err);
/* Index of a column, dashes and underscores alike, or -1. */
int pp_table_find(const struct pp_table *table, const char *column);
/* The same for an option of the command line: PP_EINVAL with the columns there are and a guess. */
enum pp_status pp_table_column(const struct pp_table *table, const char *option, const char *column,
                               int *index, struct pp_error *err);
/* NAN for an empty cell, and for numbers that are not finite or beyond 1e100 (below 1e-100 is 0).
 * `*is_number`, which may be NULL, is false for text. true and false are 1 and 0. */
double pp_table_number(const struct pp_table *table, int row, int column, bool *is_number);
/* One more column, at the end: the quotient of two; empty where it is not a number. */
void pp_table_add_ratio(struct pp_arena *arena, struct pp_table *table, const char *name, int above,
                        int below);
