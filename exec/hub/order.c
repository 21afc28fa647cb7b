/* Orders of a tensor's numbers in files, and ours: [out][in], all queries, keys and values in turn.
 */
#include "exec/hub/weights.h"

#include <string.h>

enum { TILE_ROWS = 256, TILE_COLUMNS = 16 }; /* of a transposition: whole lines of caches */

static void read_run(const struct pp_hub_piece *piece, int64_t first, int64_t count, float *values)
{
    const struct pp_number_type *type = piece->tensor->type;

    type->read(piece->tensor->data + first * type->bytes, count, values);
}

/* ---- as ours --------------------------------------------------------------------------------- */

static void read_plain(const struct pp_hub_piece *piece, struct pp_range range, float *values)
{
    read_run(piece, range.from, range.until - range.from, values);
}

const struct pp_hub_order pp_hub_plain = {.read = read_plain};

/* ---- transposed ------------------------------------------------------------------------------ */

/* Reads columns [from, until) of `rows` rows from `row` on, which are neighbors in the file. They
 * go through a tile: lines of rows whose length is a power of 2 would drive each other out of a
 * cache. */
static void read_rows(const struct pp_hub_piece *piece, int64_t row, int64_t rows,
                      struct pp_range columns, float *values)
{
    float run[TILE_ROWS], tile[TILE_ROWS][TILE_COLUMNS];

    for (int64_t c = columns.from; c < columns.until; c += TILE_COLUMNS) {
        const int64_t left = columns.until - c, count = left < TILE_COLUMNS ? left : TILE_COLUMNS;
        for (int64_t k = 0; k < count; k++) {
            read_run(piece, (c + k) * piece->stored_rows + row, rows, run);
            for (int64_t r = 0; r < rows; r++)
                tile[r][k] = run[r];
        }
        for (int64_t r = 0; r < rows; r++)
            memcpy(values + r * piece->columns + c - columns.from, tile[r],
                   sizeof(float) * (size_t)count);
    }
}

/* Takes whole rows together, and those that the range cuts alone. */
static void read_transposed(const struct pp_hub_piece *piece, struct pp_range range, float *values)
{
    const int64_t columns = piece->columns;

    while (range.from < range.until) {
        const int64_t column = range.from % columns, left = range.until - range.from,
                      whole = column > 0 ? 0 : left / columns,
                      rows = whole < TILE_ROWS ? whole : TILE_ROWS, rest = columns - column,
                      count = rows > 0      ? rows * columns
                              : rest < left ? rest
                                            : left;

        read_rows(piece, range.from / columns, rows > 0 ? rows : 1,
                  (struct pp_range){column, rows > 0 ? columns : column + count}, values);
        values += count;
        range.from += count;
    }
}

static void arrange_transposed(const struct pp_hub_piece *piece, const float *ours, float *stored)
{
    const int64_t rows = piece->rows, columns = piece->columns;

    for (int64_t begin = 0; begin < rows; begin += TILE_COLUMNS)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t r = begin; r < rows && r < begin + TILE_COLUMNS; r++)
                stored[c * rows + r] = ours[r * columns + c];
}

const struct pp_hub_order pp_hub_transposed = {
    .is_transposed = true, .read = read_transposed, .arrange = arrange_transposed};

/* ---- query, key and value of each head in turn ----------------------------------------------- */

static int64_t row_by_head(const struct pp_hub_piece *piece, int64_t row)
{
    const int64_t part_rows = piece->rows / 3, part = row / part_rows, inside = row % part_rows,
                  head = inside / piece->head_dim;

    return (3 * head + part) * piece->head_dim + inside % piece->head_dim;
}

static void read_by_head(const struct pp_hub_piece *piece, struct pp_range range, float *values)
{
    while (range.from < range.until) {
        const int64_t column = range.from % piece->columns, rest = piece->columns - column,
                      left = range.until - range.from, count = rest < left ? rest : left;

        read_run(piece, row_by_head(piece, range.from / piece->columns) * piece->columns + column,
                 count, values);
        values += count;
        range.from += count;
    }
}

static void arrange_by_head(const struct pp_hub_piece *piece, const float *ours, float *stored)
{
    for (int64_t r = 0; r < piece->rows; r++)
        memcpy(stored + row_by_head(piece, r) * piece->columns, ours + r * piece->columns,
               sizeof(float) * (size_t)piece->columns);
}

const struct pp_hub_order pp_hub_by_head = {.read = read_by_head, .arrange = arrange_by_head};
