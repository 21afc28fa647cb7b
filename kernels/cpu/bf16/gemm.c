/* Multiplication of bfloat16: each element of c is one chain of additions in double over k, in
 * order, whatever the shape. Rows and columns are taken in tiles, so that the inner loop is vector
 * code. */
#include "kernels/cpu/bf16/bf16.h"
#include "kernels/cpu/scalar.h"

enum { ROWS = 16, COLUMNS = 64, DEPTH = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows p .. p + depth - 1, columns j .. of op(b). */
static void pack(const struct pp_gemm *g, size_t p, size_t depth, size_t j, size_t columns,
                 double packed[DEPTH][COLUMNS])
{
    const size_t ldb = (size_t)g->ldb, row = g->b_transposed ? 1 : ldb,
                 column = g->b_transposed ? ldb : 1;

    for (size_t q = 0; q < depth; q++)
        for (size_t c = 0; c < columns; c++)
            packed[q][c] = pp_bf16_at(g->b, (p + q) * row + (j + c) * column);
}

/* sum = op(a) op(b), a tile at row i and column j. */
static void multiply(const struct pp_gemm *g, size_t i, size_t rows, size_t j, size_t columns,
                     double sum[ROWS][COLUMNS])
{
    const size_t lda = (size_t)g->lda, k = (size_t)g->k, row = g->a_transposed ? 1 : lda,
                 column = g->a_transposed ? lda : 1;
    double packed[DEPTH][COLUMNS] = {{0}};

    for (size_t p = 0; p < k; p += DEPTH) {
        const size_t depth = least(k - p, DEPTH);
        pack(g, p, depth, j, columns, packed);
        for (size_t r = 0; r < rows; r++)
            for (size_t q = 0; q < depth; q++) {
                const double a = pp_bf16_at(g->a, (i + r) * row + (p + q) * column);
                for (size_t c = 0; c < COLUMNS; c++)
                    sum[r][c] += a * packed[q][c];
            }
    }
}

/* Element `at` of c, from that of the product. */
static void finish(const struct pp_gemm *g, size_t at, size_t column, double sum)
{
    const size_t element_bytes = g->is_gradient ? sizeof(float) : sizeof(uint16_t);

    if (g->base != NULL)
        sum = pp_number_get(g->base, element_bytes, (int64_t)at) + sum;
    if (g->bias != NULL)
        sum += pp_bf16_at(g->bias, column);
    if (g->gelu_of != NULL)
        sum *= pp_gelu_slope(pp_bf16_at(g->gelu_of, at));
    pp_number_put(g->c, element_bytes, (int64_t)at, sum);
    if (g->activated != NULL)
        ((uint16_t *)g->activated)[at] = pp_bf16_from(pp_gelu(pp_bf16_at(g->c, at)));
}

void pp_bf16_gemm(void *stream, const struct pp_gemm *g)
{
    const size_t m = (size_t)g->m, n = (size_t)g->n;

    (void)stream;
    for (size_t j = 0; j < n; j += COLUMNS)
        for (size_t i = 0; i < m; i += ROWS) {
            const size_t rows = least(m - i, ROWS), columns = least(n - j, COLUMNS);
            double sum[ROWS][COLUMNS] = {{0}};

            multiply(g, i, rows, j, columns, sum);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < columns; c++)
                    finish(g, (i + r) * (size_t)g->ldc + j + c, j + c, sum[r][c]);
        }
}
