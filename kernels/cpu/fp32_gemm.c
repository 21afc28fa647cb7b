/* Own multiplication: tiles of c stay in registers. Alone in its library, because here products
 * may be fused with the addition behind them: one chain per element, so that only having fused
 * instructions or not changes a bit. PP_TILE_ROWS x PP_TILE_VECTORS, from meson.build, are chosen
 * for the registers of the level. */
#include "kernels/cpu/fp32.h"
#include "kernels/cpu/simd.h"

enum { DEPTH = 256, STRIP = PP_TILE_VECTORS * LANES };

/* Part of b: rows p .. p + depth of `columns` columns from j on. Fewer than 16 columns are read
 * as 16. */
struct strip {
    const float *b;
    size_t ldb, p, depth, j, columns;
    bool add;
};

PP_INLINE void tile(const struct pp_small_gemm *g, const struct strip *s, size_t i, const int rows,
                    const int vectors)
{
    const float *a = g->a + i * g->a_row + s->p * g->a_column, *b = s->b;
    float *c = g->c + i * g->ldc + s->j;
    vf sum[PP_TILE_ROWS][PP_TILE_VECTORS] = {{{0}}};

#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            if (s->add)
                sum[r][v] =
                    load_some(c + (size_t)r * g->ldc + v * LANES, s->columns - (size_t)v * LANES);
    for (size_t p = 0; p < s->depth; p++, a += g->a_column, b += s->ldb)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            const vf row = load(b + v * LANES);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++)
                sum[r][v] += a[(size_t)r * g->a_row] * row;
        }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            store_some(c + (size_t)r * g->ldc + v * LANES, s->columns - (size_t)v * LANES,
                       sum[r][v]);
}

PP_INLINE void all_rows(const struct pp_small_gemm *g, const struct strip *s, const int vectors)
{
    size_t i = 0;

    for (; i + PP_TILE_ROWS <= g->m; i += PP_TILE_ROWS)
        tile(g, s, i, PP_TILE_ROWS, vectors);
    for (; i + 2 <= g->m; i += 2)
        tile(g, s, i, 2, vectors);
    if (i < g->m)
        tile(g, s, i, 1, vectors);
}

static void wide_strip(const struct pp_small_gemm *g, const struct strip *s)
{
    all_rows(g, s, PP_TILE_VECTORS);
}

static void narrow_strip(const struct pp_small_gemm *g, const struct strip *s)
{
    all_rows(g, s, 1);
}

/* The last columns, copied into rows of 16. */
static void last_strip(const struct pp_small_gemm *g, size_t j)
{
    float packed[DEPTH * LANES];

    for (size_t p = 0; p < g->k || p == 0; p += DEPTH) {
        const size_t depth = g->k - p < DEPTH ? g->k - p : DEPTH;
        for (size_t q = 0; q < depth; q++)
            store(packed + q * LANES, load_part(g->b + (p + q) * g->ldb + j, g->n - j));
        narrow_strip(g, &(struct strip){packed, LANES, p, depth, j, g->n - j, g->add || p > 0});
    }
}

void PP_AT(small_gemm)(const struct pp_small_gemm *g)
{
    size_t j = 0;

    for (; j + STRIP <= g->n; j += STRIP)
        wide_strip(g, &(struct strip){g->b + j, g->ldb, 0, g->k, j, STRIP, g->add});
    for (; j + LANES <= g->n; j += LANES)
        narrow_strip(g, &(struct strip){g->b + j, g->ldb, 0, g->k, j, LANES, g->add});
    if (j < g->n)
        last_strip(g, j);
}

/* Rows p .. of columns j .. of op(b) as rows of STRIP, zero beyond its end. */
static void pack(const struct pp_gemm *g, size_t p, size_t j, size_t depth, size_t columns,
                 float *packed)
{
    const float *b = g->b;
    const size_t ldb = (size_t)g->ldb;

    memset(packed, 0, sizeof(float) * depth * STRIP);
    if (g->b_transposed)
        for (size_t c = 0; c < columns; c++)
            for (size_t q = 0; q < depth; q++)
                packed[q * STRIP + c] = b[(j + c) * ldb + p + q];
    else
        for (size_t q = 0; q < depth; q++)
            memcpy(packed + q * STRIP, b + (p + q) * ldb + j, sizeof(float) * columns);
}

void PP_AT(gemm)(void *stream, const struct pp_gemm *g)
{
    const struct pp_small_gemm whole = {
        .m = (size_t)g->m,
        .a = g->a,
        .c = g->c,
        .a_row = g->a_transposed ? 1 : (size_t)g->lda,
        .a_column = g->a_transposed ? (size_t)g->lda : 1,
        .ldc = (size_t)g->ldc,
    };
    const size_t n = (size_t)g->n, k = (size_t)g->k;
    float packed[DEPTH * STRIP];

    (void)stream;
    for (size_t p = 0; p < k || p == 0; p += DEPTH)
        for (size_t j = 0; j < n; j += STRIP) {
            const size_t depth = k - p < DEPTH ? k - p : DEPTH;
            const size_t columns = n - j < STRIP ? n - j : STRIP;
            pack(g, p, j, depth, columns, packed);
            const struct strip strip = {packed, STRIP, p, depth, j, columns, g->add || p > 0};
            (columns > LANES ? wide_strip : narrow_strip)(&whole, &strip);
        }
}
