/* Own multiplication: tiles of c stay in registers, and each element of c is one chain of
 * multiply-adds. meson.build sets PP_TILE_ROWS x PP_TILE_VECTORS of PP_TILE_WIDTH lanes for the
 * registers of the level. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

enum {
    TILE = PP_TILE_ROWS,
    WIDTH = PP_TILE_WIDTH,
    STRIP = PP_TILE_VECTORS * WIDTH,
    DEPTH = 256,
    PACKED_ROWS = 16 * TILE
};
typedef float vt __attribute__((vector_size(4 * PP_TILE_WIDTH)));
typedef float vt_unaligned __attribute__((vector_size(4 * PP_TILE_WIDTH), aligned(4), may_alias));

/* c [rows][columns] = a b, or added to. Element (i, p) of a, i = TILE t + r, is
 * a[t a_tile + r a_row + p a_column]. Rows of b are read in whole vectors. */
struct part {
    size_t rows, depth, columns;
    const float *a, *b;
    float *c;
    size_t a_tile, a_row, a_column, ldb, ldc;
    bool add;
};

/* c is `rows` rows of whole vectors. */
PP_INLINE void whole_tile(const struct part *x, const float *a, float *c, size_t ldc,
                          const int rows, const int vectors)
{
    const float *b = x->b;
    vt sum[TILE][PP_TILE_VECTORS] = {{{0}}};

#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            if (x->add)
                sum[r][v] = *(const vt_unaligned *)(c + (size_t)r * ldc + v * WIDTH);
    for (size_t p = 0; p < x->depth; p++, a += x->a_column, b += x->ldb) {
        vt row[PP_TILE_VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            row[v] = *(const vt_unaligned *)(b + v * WIDTH);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[r][v] += a[(size_t)r * x->a_row] * row[v];
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            *(vt_unaligned *)(c + (size_t)r * ldc + v * WIDTH) = sum[r][v];
}

PP_INLINE void tile(const struct part *x, size_t i, const int rows, const int vectors)
{
    const float *a = x->a + i / TILE * x->a_tile + i % TILE * x->a_row;
    float *c = x->c + i * x->ldc, edge[TILE][STRIP];

    if (x->columns >= (size_t)(vectors * WIDTH)) {
        whole_tile(x, a, c, x->ldc, rows, vectors);
        return;
    }
    memset(edge, 0, sizeof edge);
    for (int r = 0; r < rows; r++)
        memcpy(edge[r], c + (size_t)r * x->ldc, sizeof(float) * x->columns);
    whole_tile(x, a, edge[0], STRIP, rows, vectors);
    for (int r = 0; r < rows; r++)
        memcpy(c + (size_t)r * x->ldc, edge[r], sizeof(float) * x->columns);
}

PP_INLINE void all_tiles(const struct part *x, const int vectors)
{
    size_t i = 0;

    for (; i + TILE <= x->rows; i += TILE)
        tile(x, i, TILE, vectors);
    for (; i + 2 <= x->rows; i += 2)
        tile(x, i, 2, vectors);
    if (i < x->rows)
        tile(x, i, 1, vectors);
}

static void wide(const struct part *x)
{
    all_tiles(x, PP_TILE_VECTORS);
}

static void narrow(const struct part *x)
{
    all_tiles(x, 1);
}

/* Computes the last columns, from copies in rows of one vector. */
static void last_columns(struct part x)
{
    const size_t depth = x.depth, columns = x.columns, ldb = x.ldb;
    const float *b = x.b;
    float packed[DEPTH * WIDTH] = {0};

    x.b = packed;
    x.ldb = WIDTH;
    for (size_t p = 0; p < depth || p == 0; p += DEPTH) {
        x.depth = depth - p < DEPTH ? depth - p : DEPTH;
        for (size_t q = 0; q < x.depth; q++, b += ldb)
            memcpy(packed + q * WIDTH, b, sizeof(float) * columns);
        narrow(&x);
        x.a += DEPTH * x.a_column;
        x.add = true;
    }
}

void PP_AT(small_gemm)(const struct pp_small_gemm *g)
{
    struct part x = {.rows = g->m,
                     .depth = g->k,
                     .a = g->a,
                     .a_tile = TILE * g->a_row,
                     .a_row = g->a_row,
                     .a_column = g->a_column,
                     .ldb = g->ldb,
                     .ldc = g->ldc,
                     .add = g->add};

    for (size_t j = 0; j < g->n; j += x.columns) {
        const size_t rest = g->n - j;
        x.columns = rest >= STRIP ? STRIP : rest >= WIDTH ? WIDTH : rest;
        x.b = g->b + j;
        x.c = g->c + j;
        if (rest >= STRIP)
            wide(&x);
        else if (rest >= WIDTH)
            narrow(&x);
        else
            last_columns(x);
    }
}

/* Packs rows p .. of columns j .. of op(b) as rows of STRIP, zero beyond its end. */
static void pack_b(const struct pp_gemm *g, size_t p, size_t j, size_t depth, size_t columns,
                   float *packed)
{
    const size_t ldb = (size_t)g->ldb;
    const float *b = (const float *)g->b + (g->b_transposed ? j * ldb + p : p * ldb + j);

    if (columns < STRIP)
        memset(packed, 0, sizeof(float) * depth * STRIP);
    if (g->b_transposed)
        transpose(b, ldb, columns, depth, 1, packed, STRIP);
    else
        for (size_t q = 0; q < depth; q++, b += ldb)
            for (size_t c = 0; c < columns; c += LANES)
                store_some(packed + q * STRIP + c, columns - c, load_some(b + c, columns - c));
}

/* Packs columns i .. of a transposed a as [tile][p][row], two tiles at once: v4's cache line. */
static void pack_a(const struct pp_gemm *g, size_t p, size_t i, size_t depth, size_t rows,
                   float *packed)
{
    const size_t lda = (size_t)g->lda;
    size_t t = 0;

    for (; t + 2 * TILE <= rows; t += 2 * TILE, packed += 2 * depth * TILE) {
        const float *a = (const float *)g->a + p * lda + i + t;
        for (size_t q = 0; q < depth; q++, a += lda) {
            memcpy(packed + q * TILE, a, sizeof(float) * TILE);
            memcpy(packed + (depth + q) * TILE, a + TILE, sizeof(float) * TILE);
        }
    }
    for (; t < rows; t += TILE, packed += depth * TILE) {
        const size_t count = rows - t < TILE ? rows - t : TILE;
        const float *a = (const float *)g->a + p * lda + i + t;
        for (size_t q = 0; q < depth; q++, a += lda)
            memcpy(packed + q * TILE, a, sizeof(float) * count);
    }
}

/* Computes rows i .. of c, from columns p .. of op(a). */
static void multiply_rows(const struct pp_gemm *g, size_t p, size_t depth, struct part x, float *c)
{
    const size_t n = (size_t)g->n;
    float packed[DEPTH * STRIP];

    x.depth = depth;
    x.b = packed;
    x.ldb = STRIP;
    x.ldc = (size_t)g->ldc;
    x.add = g->base != NULL || p > 0;
    for (size_t j = 0; j < n; j += STRIP) {
        x.columns = n - j < STRIP ? n - j : STRIP;
        x.c = c + j;
        pack_b(g, p, j, depth, x.columns, packed);
        if (x.columns > WIDTH)
            wide(&x);
        else
            narrow(&x);
    }
}

static void multiply_transposed(const struct pp_gemm *g, size_t p, size_t depth)
{
    const size_t m = (size_t)g->m;
    float packed[DEPTH * PACKED_ROWS];

    for (size_t i = 0; i < m; i += PACKED_ROWS) {
        const struct part x = {.rows = m - i < PACKED_ROWS ? m - i : PACKED_ROWS,
                               .a = packed,
                               .a_tile = depth * TILE,
                               .a_row = 1,
                               .a_column = TILE};
        pack_a(g, p, i, depth, x.rows, packed);
        multiply_rows(g, p, depth, x, (float *)g->c + i * (size_t)g->ldc);
    }
}

void PP_AT(multiply)(void *stream, const struct pp_gemm *g)
{
    const size_t k = (size_t)g->k, lda = (size_t)g->lda;

    (void)stream;
    for (size_t p = 0; p < k || p == 0; p += DEPTH) {
        const size_t depth = k - p < DEPTH ? k - p : DEPTH;
        const struct part x = {.rows = (size_t)g->m,
                               .a = (const float *)g->a + p,
                               .a_tile = TILE * lda,
                               .a_row = lda,
                               .a_column = 1};
        if (g->a_transposed)
            multiply_transposed(g, p, depth);
        else
            multiply_rows(g, p, depth, x, g->c);
    }
}
