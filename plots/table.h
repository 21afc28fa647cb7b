/* plots/table.h — a CSV file with a header as columns, the source of curves and bars. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pp_table {
    const char *name;     /* name of the file, for messages */
    const char **columns; /* [column_count] as in the header */
    int column_count;
    const char ***cells; /* [row][column] text; "" if empty */
    int *lines;          /* [row] line of the file, for messages */
    int rows;
};

/* Strict: distinct names in the header, rows as long as the header; else PP_EINVAL with file:line.
 * "-" is stdin, ".gz" is decompressed. Data are in the arena. */
enum pp_status pp_table_read(struct pp_arena *arena, const char *path, struct pp_table *table,
                             struct pp_error *err);
enum pp_status pp_table_parse(struct pp_arena *arena, const char *name, const char *text,
                              size_t length, struct pp_table *table, struct pp_error *err);
/* Index of a column, or -1. Dashes and underscores are alike. */
int pp_table_find(const struct pp_table *table, const char *column);
/* Is true if the rows generate: then columns have words of serving. */
bool pp_table_serves(const struct pp_table *table);
/* Finds the column of a command-line option. PP_EINVAL lists the columns, with a guess. */
enum pp_status pp_table_column(const struct pp_table *table, const char *option, const char *column,
                               int *index, struct pp_error *err);
/* NAN for an empty cell, for numbers that are not finite, and beyond 1e100; 0 below 1e-100.
 * `*is_number`, which may be NULL, is false for text. true and false are 1 and 0. */
double pp_table_number(const struct pp_table *table, int row, int column, bool *is_number);
/* Appends a column, the quotient of two columns; a cell is empty if it is not a finite number. */
void pp_table_add_ratio(struct pp_arena *arena, struct pp_table *table, const char *name, int above,
                        int below);
