/* schedules/program/grid.c — ranks and cells around a marked cell of a program, for messages. */
#include "schedules/program/program.h"

#include <string.h>

enum { GRID_ROWS = 9, GRID_COLUMNS = 9 };

struct window {
    int first, count;
};

/* Returns at most `size` of `total` items, with `mark` in the middle if possible. */
static struct window window_around(int mark, int size, int total)
{
    int first = mark - size / 2;

    if (first > total - size)
        first = total - size;
    if (first < 0)
        first = 0;
    return (struct window){first, total - first < size ? total - first : size};
}

/* The two halves of an overlapped pair are two cells: "(0F3;" and "3B5)". */
static size_t print_cell(const struct pp_program *p, int i, bool is_marked, char *text)
{
    struct pp_op_style style = pp_program_style(p);
    const struct pp_op op = pp_program_op(p, i);
    char *at = text;

    style.slots = false;
    if (is_marked)
        *at++ = '[';
    if (op.kind == PP_F && op.aux == PP_FUSED_FIRST)
        *at++ = '(';
    at += pp_op_print(&op, style, at);
    if (op.kind == PP_F && op.aux == PP_FUSED_FIRST)
        *at++ = ';';
    if (op.kind == PP_B && op.aux == PP_FUSED_SECOND)
        *at++ = ')';
    if (is_marked)
        *at++ = ']';
    *at = '\0';
    return (size_t)(at - text);
}

static int row_length(const struct pp_program *p, int rank)
{
    return p->begin[rank + 1] - p->begin[rank];
}

static int column_width(const struct pp_program *p, struct window rows, int column,
                        const int mark[2])
{
    char cell[PP_OP_TEXT_BYTES + 8];
    size_t width = 0;

    for (int r = rows.first; r < rows.first + rows.count; r++) {
        if (column >= row_length(p, r))
            continue;
        const size_t length =
            print_cell(p, p->begin[r] + column, r == mark[0] && column == mark[1], cell);
        width = length > width ? length : width;
    }
    return (int)width;
}

char *pp_program_grid(struct pp_arena *arena, const struct pp_program *p, int mark_rank,
                      int mark_position)
{
    const int mark[2] = {mark_rank, mark_position};
    const struct window rows = window_around(mark_rank, GRID_ROWS, p->ranks);
    int longest = 0, widths[GRID_COLUMNS];

    for (int r = rows.first; r < rows.first + rows.count; r++)
        longest = row_length(p, r) > longest ? row_length(p, r) : longest;
    const struct window columns = window_around(mark_position, GRID_COLUMNS, longest);
    for (int c = 0; c < columns.count; c++)
        widths[c] = column_width(p, rows, columns.first + c, mark);

    const size_t row_bytes = 32 + GRID_COLUMNS * (PP_OP_TEXT_BYTES + 9);
    char *grid = pp_arena_alloc(arena, (size_t)(rows.count + 1) * row_bytes), *at = grid;
    for (int r = rows.first; r < rows.first + rows.count; r++) {
        at += sprintf(at, "%srank %d |%s", r > rows.first ? "\n" : "", r,
                      columns.first > 0 ? " ..." : "");
        for (int c = 0; c < columns.count && columns.first + c < row_length(p, r); c++) {
            char cell[PP_OP_TEXT_BYTES + 8];
            const int position = columns.first + c;
            print_cell(p, p->begin[r] + position, r == mark_rank && position == mark_position,
                       cell);
            at += sprintf(at, " %-*s", widths[c], cell);
        }
        if (columns.first + columns.count < row_length(p, r))
            at += sprintf(at, " ...");
        while (at > grid && at[-1] == ' ')
            *--at = '\0';
    }
    return grid;
}
