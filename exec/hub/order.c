/* Orders of a tensor's numbers in files, and ours: [out][in], all queries, keys and values in turn.
 */
#include "exec/hub/weights.h"

#include <stdlib.h>
#include <string.h>

/* The tile of a transposition: as a power of 2, its rows would drive each other out of a cache. */
enum { TILE_ROWS = 264, TILE_COLUMNS = 64 };

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

static enum pp_status write_plain(const struct pp_hub_piece *piece, struct pp_range range,
                                  const float *values, pp_hub_take take, void *closure,
                                  struct pp_error *err)
{
    (void)piece;
    return take(closure, range.from, values, range.until - range.from, err);
}

const struct pp_hub_order pp_hub_plain = {.read = read_plain, .write = write_plain};

/* ---- transposed ------------------------------------------------------------------------------ */

typedef float four __attribute__((vector_size(16)));

/* Puts 4 rows of 4 numbers as columns. */
static void turn(const float *from, int64_t from_stride, float *to, int64_t to_stride)
{
    four a, b, c, d;

    memcpy(&a, from, sizeof(a));
    memcpy(&b, from + from_stride, sizeof(b));
    memcpy(&c, from + 2 * from_stride, sizeof(c));
    memcpy(&d, from + 3 * from_stride, sizeof(d));
    const four low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
               low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const four out[] = {__builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5),
                        __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
                        __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5),
                        __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
    for (int r = 0; r < 4; r++)
        memcpy(to + r * to_stride, &out[r], sizeof(four));
}

/* Puts a matrix of [rows][columns] as [columns][rows]. */
static void transpose(const float *from, int64_t from_stride, int64_t rows, int64_t columns,
                      float *to, int64_t to_stride)
{
    const int64_t whole_rows = rows - rows % 4, whole = columns - columns % 4;

    for (int64_t c = 0; c < whole; c += 4)
        for (int64_t r = 0; r < whole_rows; r += 4)
            turn(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = c < whole ? whole_rows : 0; r < rows; r++)
            to[c * to_stride + r] = from[r * from_stride + c];
}

/* Reads columns [from, until) of `rows` rows from `row` on, which are neighbors in the file. */
static void read_rows(const struct pp_hub_piece *piece, int64_t row, int64_t rows,
                      struct pp_range columns, float *values)
{
    float runs[TILE_COLUMNS][TILE_ROWS];

    for (int64_t c = columns.from; c < columns.until; c += TILE_COLUMNS) {
        const int64_t left = columns.until - c, count = left < TILE_COLUMNS ? left : TILE_COLUMNS;
        for (int64_t k = 0; k < count; k++)
            read_run(piece, (c + k) * piece->stored_rows + row, rows, runs[k]);
        transpose(runs[0], TILE_ROWS, count, rows, values + c - columns.from, piece->columns);
    }
}

/* A part of a matrix: whole rows, or columns of one row that a range cuts. */
struct block {
    int64_t row, rows;
    struct pp_range columns;
};

/* Returns the next block of a range: whole rows together, at most so many. */
static struct block next_block(const struct pp_hub_piece *piece, struct pp_range range,
                               int64_t most)
{
    const int64_t columns = piece->columns, column = range.from % columns,
                  left = range.until - range.from, whole = column > 0 ? 0 : left / columns,
                  rows = whole < most ? whole : most, rest = columns - column;

    return (struct block){
        .row = range.from / columns,
        .rows = rows > 0 ? rows : 1,
        .columns = {column, rows > 0 ? columns : column + (rest < left ? rest : left)}};
}

static int64_t elements_of(const struct block *block)
{
    return block->rows * (block->columns.until - block->columns.from);
}

static void read_transposed(const struct pp_hub_piece *piece, struct pp_range range, float *values)
{
    while (range.from < range.until) {
        const struct block block = next_block(piece, range, TILE_ROWS);

        read_rows(piece, block.row, block.rows, block.columns, values);
        values += elements_of(&block);
        range.from += elements_of(&block);
    }
}

/* Gives columns of the block, each as a run of the file. */
static enum pp_status write_block(const struct pp_hub_piece *piece, const struct block *block,
                                  const float *values, float *tile, pp_hub_take take, void *closure,
                                  struct pp_error *err)
{
    const int64_t width = block->columns.until - block->columns.from;

    for (int64_t c = 0; c < width; c += TILE_COLUMNS) {
        const int64_t count = width - c < TILE_COLUMNS ? width - c : TILE_COLUMNS;
        transpose(values + c, width, block->rows, count, tile, block->rows);
        for (int64_t k = 0; k < count; k++)
            PP_TRY(take(closure, (block->columns.from + c + k) * piece->stored_rows + block->row,
                        tile + k * block->rows, block->rows, err));
    }
    return PP_OK;
}

static enum pp_status write_transposed(const struct pp_hub_piece *piece, struct pp_range range,
                                       const float *values, pp_hub_take take, void *closure,
                                       struct pp_error *err)
{
    float *tile = malloc(sizeof(float) * TILE_COLUMNS * (size_t)piece->rows);
    enum pp_status status =
        tile ? PP_OK : pp_error_set(err, PP_EFAIL, "no memory for '%s'", piece->name);

    while (range.from < range.until && status == PP_OK) {
        const struct block block = next_block(piece, range, piece->rows);

        status = write_block(piece, &block, values, tile, take, closure, err);
        values += elements_of(&block);
        range.from += elements_of(&block);
    }
    free(tile);
    return status;
}

const struct pp_hub_order pp_hub_transposed = {
    .is_transposed = true, .read = read_transposed, .write = write_transposed};

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
        const struct block block = next_block(piece, range, 1);

        read_run(piece, row_by_head(piece, block.row) * piece->columns + block.columns.from,
                 elements_of(&block), values);
        values += elements_of(&block);
        range.from += elements_of(&block);
    }
}

static enum pp_status write_by_head(const struct pp_hub_piece *piece, struct pp_range range,
                                    const float *values, pp_hub_take take, void *closure,
                                    struct pp_error *err)
{
    while (range.from < range.until) {
        const struct block block = next_block(piece, range, 1);

        PP_TRY(take(closure, row_by_head(piece, block.row) * piece->columns + block.columns.from,
                    values, elements_of(&block), err));
        values += elements_of(&block);
        range.from += elements_of(&block);
    }
    return PP_OK;
}

const struct pp_hub_order pp_hub_by_head = {.read = read_by_head, .write = write_by_head};
