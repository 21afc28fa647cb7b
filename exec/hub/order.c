/* Orders of a tensor's numbers in files, and ours: [out][in], all queries, keys and values in turn.
 */
#include "exec/hub/weights.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

/* The tile of a transposition: as a power of 2, its rows would drive each other out of a cache.
 * Ranges that no cache holds are written around it. */
enum { TILE_ROWS = 264, TILE_COLUMNS = 64, STREAMED_ELEMENTS = 1 << 20 };

static void read_run(const struct pp_hub_piece *piece, int64_t first, int64_t count, float *values)
{
    const struct pp_number_type *type = piece->tensor->type;

    type->read(piece->tensor->data + first * type->bytes, count, values);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

struct pp_hub_block pp_hub_next_block(const struct pp_hub_piece *piece, struct pp_slice_piece runs,
                                      int64_t most, int64_t *done)
{
    const int64_t into = *done % runs.run, at = runs.first + *done / runs.run * runs.stride + into,
                  column = at % piece->columns, rest = piece->columns - column,
                  left = runs.run - into, width = left < rest ? left : rest,
                  more = width == piece->columns ? left / width : /* rows of a run */
                             into == 0 && width == runs.run && runs.stride == piece->columns
                             ? runs.runs - *done / runs.run /* runs of a column */
                             : 1,
                  room = most / width > 1 ? most / width : 1;
    const struct pp_hub_block block = {at / piece->columns, more < room ? more : room, column,
                                       width};

    *done += block.rows * block.columns;
    return block;
}

/* ---- as ours --------------------------------------------------------------------------------- */

/* Rows of a block that follow one another in the file are read and written as one. */
static int64_t rows_at_once(const struct pp_hub_piece *piece, const struct pp_hub_block *block)
{
    return block->columns == piece->columns ? block->rows : 1;
}

static void read_plain(const struct pp_hub_piece *piece, const struct pp_hub_block *block,
                       float *values)
{
    const int64_t rows = rows_at_once(piece, block);

    for (int64_t r = 0; r < block->rows; r += rows)
        read_run(piece, (block->row + r) * piece->columns + block->column, rows * block->columns,
                 values + r * block->columns);
}

static enum pp_status write_plain(const struct pp_hub_piece *piece,
                                  const struct pp_hub_block *block, const float *values,
                                  pp_hub_take take, void *closure, struct pp_error *err)
{
    const int64_t rows = rows_at_once(piece, block);

    for (int64_t r = 0; r < block->rows; r += rows)
        PP_TRY(take(closure, (block->row + r) * piece->columns + block->column,
                    values + r * block->columns, rows * block->columns, err));
    return PP_OK;
}

const struct pp_hub_order pp_hub_plain = {.read = read_plain, .write = write_plain};

/* ---- transposed ------------------------------------------------------------------------------ */

typedef float four __attribute__((vector_size(16)));

/* Stores 4 numbers: around the caches, at an address that 16 divides, or as any. */
static inline void store(float *to, four numbers, bool is_streamed)
{
#ifdef __SSE__
    if (is_streamed) {
        _mm_stream_ps(to, (__m128)numbers);
        return;
    }
#endif
    (void)is_streamed;
    memcpy(to, &numbers, sizeof(numbers));
}

/* Puts 4 rows of 4 numbers as columns. */
static inline void turn(const float *from, int64_t from_stride, float *to, int64_t to_stride,
                        bool is_streamed)
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
    store(to, __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5), is_streamed);
    store(to + to_stride, __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7), is_streamed);
    store(to + 2 * to_stride, __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5), is_streamed);
    store(to + 3 * to_stride, __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7), is_streamed);
}

static inline void turn_all(const float *from, int64_t from_stride, int64_t rows, int64_t columns,
                            float *to, int64_t to_stride, bool is_streamed)
{
    for (int64_t c = 0; c < columns; c += 4)
        for (int64_t r = 0; r < rows; r += 4)
            turn(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride,
                 is_streamed);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Puts a matrix of [rows][columns] as [columns][rows]. */
static void transpose(const float *from, int64_t from_stride, int64_t rows, int64_t columns,
                      float *to, int64_t to_stride, bool is_streamed)
{
    const int64_t whole_rows = rows - rows % 4, whole = columns - columns % 4;

    if (is_streamed && (uintptr_t)to % sizeof(four) == 0 && to_stride % 4 == 0)
        turn_all(from, from_stride, whole_rows, whole, to, to_stride, true);
    else
        turn_all(from, from_stride, whole_rows, whole, to, to_stride, false);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t r = c < whole ? whole_rows : 0; r < rows; r++)
            to[c * to_stride + r] = from[r * from_stride + c];
}

static void read_transposed(const struct pp_hub_piece *piece, const struct pp_hub_block *block,
                            float *values)
{
    const int64_t width = block->columns;
    const bool is_streamed = block->rows * width >= STREAMED_ELEMENTS;
    float runs[TILE_COLUMNS][TILE_ROWS];

    for (int64_t r = 0; r < block->rows; r += TILE_ROWS)
        for (int64_t c = 0; c < width; c += TILE_COLUMNS) {
            const int64_t rows = least(block->rows - r, TILE_ROWS),
                          columns = least(width - c, TILE_COLUMNS);
            for (int64_t k = 0; k < columns; k++)
                read_run(piece, (block->column + c + k) * piece->stored_rows + block->row + r, rows,
                         runs[k]);
            transpose(runs[0], TILE_ROWS, columns, rows, values + r * width + c, width,
                      is_streamed);
        }
}

/* Gives columns of the block, each as a run of the file. */
static enum pp_status write_transposed(const struct pp_hub_piece *piece,
                                       const struct pp_hub_block *block, const float *values,
                                       pp_hub_take take, void *closure, struct pp_error *err)
{
    const int64_t width = block->columns, rows = block->rows;
    float *tile = malloc(sizeof(float) * TILE_COLUMNS * (size_t)rows);
    enum pp_status status =
        tile ? PP_OK : pp_error_set(err, PP_EFAIL, "no memory for '%s'", piece->name);

    for (int64_t c = 0; c < width && status == PP_OK; c += TILE_COLUMNS) {
        const int64_t columns = least(width - c, TILE_COLUMNS);
        transpose(values + c, width, rows, columns, tile, rows, false);
        for (int64_t k = 0; k < columns && status == PP_OK; k++)
            status = take(closure, (block->column + c + k) * piece->stored_rows + block->row,
                          tile + k * rows, rows, err);
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

static void read_by_head(const struct pp_hub_piece *piece, const struct pp_hub_block *block,
                         float *values)
{
    for (int64_t r = 0; r < block->rows; r++)
        read_run(piece, row_by_head(piece, block->row + r) * piece->columns + block->column,
                 block->columns, values + r * block->columns);
}

static enum pp_status write_by_head(const struct pp_hub_piece *piece,
                                    const struct pp_hub_block *block, const float *values,
                                    pp_hub_take take, void *closure, struct pp_error *err)
{
    for (int64_t r = 0; r < block->rows; r++)
        PP_TRY(take(closure, row_by_head(piece, block->row + r) * piece->columns + block->column,
                    values + r * block->columns, block->columns, err));
    return PP_OK;
}

const struct pp_hub_order pp_hub_by_head = {.read = read_by_head, .write = write_by_head};
