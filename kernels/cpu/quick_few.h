/* kernels/cpu/quick_few.h — products of a few rows with a large matrix whose rows are contiguous:
 * each is read once, at the speed of memory. The file that includes this first defines T,
 * `element`, and `PARTS`, the floats in four bytes of it. Later it defines part(), which makes
 * them.
 *
 * An element of the result is the sum of the lanes of one vector of 16, which is a chain of
 * multiply-adds along the row. So it has the same bits for any number of rows. */
#pragma once

#include "kernels/cpu/shared.h"
#include "kernels/cpu/simd.h"

/* PP_TILE_WIDTH, from meson.build: lanes of a register. */
enum { WIDTH = PP_TILE_WIDTH, PIECES = LANES / WIDTH, LINE = 64 };
typedef float vt __attribute__((vector_size(4 * PP_TILE_WIDTH)));
typedef float vt_unaligned __attribute__((vector_size(4 * PP_TILE_WIDTH), aligned(1), may_alias));

/* PARTS pieces of floats from a piece of memory. */
PP_INLINE vt part(const char *x, int p);

/* Most rows and columns of a tile. Chains of a tile, but for one column of 4 rows, stay in
 * registers. */
enum {
    MOST_ROWS = 4,
    CHAINS = WIDTH == 16  ? 16
             : WIDTH == 8 ? 4
                          : 2,
    MOST_COLUMNS = 8,
    AHEAD = 8 /* rows of the matrix */
};
struct chains {
    vt of[MOST_ROWS][MOST_COLUMNS][PIECES];
};

PP_INLINE void add_line(struct chains *sum, const char *a, size_t a_row, const char *b,
                        size_t b_row, const int rows, const int columns)
{
#pragma GCC unroll 4
    for (int v = 0; v < PIECES; v++)
#pragma GCC unroll 2
        for (int p = 0; p < PARTS; p++) {
            const size_t at = (size_t)v * sizeof(vt);
            vt y[MOST_COLUMNS];
#pragma GCC unroll 8
            for (int c = 0; c < columns; c++)
                y[c] = part(b + (size_t)c * b_row + at, p);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                const vt x = part(a + (size_t)r * a_row + at, p);
#pragma GCC unroll 8
                for (int c = 0; c < columns; c++)
                    sum->of[r][c][v] += x * y[c];
            }
        }
}

/* The last line of rows, zero beyond their end. */
PP_INLINE void last_line(struct chains *sum, const char *a, size_t a_row, const char *b,
                         size_t b_row, size_t bytes, const int rows, const int columns)
{
    char x[MOST_ROWS][LINE] = {{0}}, y[MOST_COLUMNS][LINE] = {{0}};

    for (int r = 0; r < rows; r++)
        memcpy(x[r], a + (size_t)r * a_row, bytes);
    for (int c = 0; c < columns; c++)
        memcpy(y[c], b + (size_t)c * b_row, bytes);
    add_line(sum, x[0], LINE, y[0], LINE, rows, columns);
}

/* Asks for memory in its order, which the tile does not read it in. */
PP_INLINE void ask_ahead(const char *b, size_t ahead, const int lines)
{
#pragma GCC unroll 8
    for (int i = 0; i < lines; i++)
        __builtin_prefetch((const void *)((uintptr_t)b + ahead + (size_t)(i * LINE)), 0, 2);
}

PP_INLINE void few_tile(const struct pp_few *f, size_t i, size_t j, const int rows,
                        const int columns)
{
    const size_t bytes = f->k * sizeof(element), a_row = f->lda * sizeof(element),
                 b_row = f->ldb * sizeof(element);
    const char *a = (const char *)f->a + i * a_row, *b = (const char *)f->b + j * b_row;
    struct chains sum;
    size_t at = 0;

#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int c = 0; c < columns; c++)
#pragma GCC unroll 4
            for (int v = 0; v < PIECES; v++)
                sum.of[r][c][v] = (vt){0};
    for (; at + LINE <= bytes; at += LINE) {
        ask_ahead(b, AHEAD * b_row + at * (size_t)columns, columns);
        add_line(&sum, a + at, a_row, b + at, b_row, rows, columns);
    }
    if (at < bytes)
        last_line(&sum, a + at, a_row, b + at, b_row, bytes - at, rows, columns);
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int c = 0; c < columns; c++) {
            vf lanes;
            memcpy(&lanes, sum.of[r][c], sizeof lanes);
            f->c[(i + (size_t)r) * f->ldc + j + (size_t)c] = sum_lanes(lanes);
        }
}

/* All rows of a, with as many columns as registers allow. */
PP_INLINE void few_rows(const struct pp_few *f, size_t i, const int rows)
{
    const int columns = CHAINS / rows > MOST_COLUMNS ? MOST_COLUMNS
                        : CHAINS / rows > 0          ? CHAINS / rows
                                                     : 1;
    size_t j = 0;

    for (; j + (size_t)columns <= f->n; j += (size_t)columns)
        few_tile(f, i, j, rows, columns);
    for (; j < f->n; j++)
        few_tile(f, i, j, rows, 1);
}

PP_INLINE void few_products(const struct pp_few *f)
{
    size_t i = 0;

    for (; i + 4 <= f->m; i += 4)
        few_rows(f, i, 4);
    if (f->m - i == 3)
        few_rows(f, i, 3);
    else if (f->m - i == 2)
        few_rows(f, i, 2);
    else if (f->m - i == 1)
        few_rows(f, i, 1);
}
