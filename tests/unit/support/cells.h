/* Small programs written by hand: rows of cells, one row a rank. */
#ifndef PP_TESTS_CELLS_H
#define PP_TESTS_CELLS_H

#include "schedules/program/program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* Lists from text: ranks separated by '\n', cells by ' ' or ','. */
static inline struct pp_orders *cells_orders(struct pp_arena *arena, const char *text, int ranks)
{
    struct pp_orders *orders = pp_orders_create(arena, ranks);
    char *copy = pp_arena_strdup(arena, text);
    int rank = 0;

    for (char *rows = NULL, *row = strtok_r(copy, "\n", &rows); row;
         row = strtok_r(NULL, "\n", &rows), rank++)
        for (char *rest = NULL, *cell = strtok_r(row, " ,", &rest); cell;
             cell = strtok_r(NULL, " ,", &rest)) {
            struct pp_op ops[2];
            struct pp_error err;
            int count = 0;
            cr_assert_eq(pp_op_parse(cell, ops, &count, &err), PP_OK, "%s: %s", cell, err.message);
            for (int k = 0; k < count; k++)
                pp_orders_add(arena, orders, rank, ops[k]);
        }
    return orders;
}

/* Places as a file would have them: line = rank + 1, column = position + 1. */
static inline void cells_places(struct pp_arena *arena, const struct pp_orders *orders,
                                struct pp_program_head *head)
{
    int32_t **line = PP_ARRAY(arena, int32_t *, orders->ranks);
    int32_t **column = PP_ARRAY(arena, int32_t *, orders->ranks);

    for (int r = 0; r < orders->ranks; r++) {
        line[r] = PP_ARRAY(arena, int32_t, orders->count[r]);
        column[r] = PP_ARRAY(arena, int32_t, orders->count[r]);
        for (int i = 0; i < orders->count[r]; i++)
            line[r][i] = r + 1, column[r][i] = i + 1;
    }
    head->line = (const int32_t *const *)line;
    head->column = (const int32_t *const *)column;
}

/* The lists of a program: rows of cells without slots, separated by blanks. */
static inline void cells_text_is(const struct pp_program *p, const char *expected)
{
    struct pp_op_style style = pp_program_style(p);
    char got[4096] = "", cell[PP_OP_TEXT_BYTES];

    style.slots = false;
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const struct pp_op op = pp_program_op(p, i);
            pp_op_print(&op, style, cell);
            strcat(strcat(got, cell), i + 1 < p->begin[r + 1] ? " " : "\n");
        }
    cr_assert_str_eq(got, expected, "\ngot\n%s\nwant\n%s", got, expected);
}

#endif
