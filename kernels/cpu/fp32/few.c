/* Products of a few rows with a large matrix, whose rows are contiguous: each is read once. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

enum { CHAINS = 2 };

/* `rows` rows of a with `columns` rows of b, from row i and row j on. */
PP_INLINE void tile(const struct pp_gemm *g, size_t i, size_t j, const int rows, const int columns)
{
    const size_t k = (size_t)g->k, lda = (size_t)g->lda, ldb = (size_t)g->ldb, ldc = (size_t)g->ldc;
    const float *a = (const float *)g->a + i * lda, *b = (const float *)g->b + j * ldb;
    float *c = (float *)g->c + i * ldc + j;
    vf sum[4][4][CHAINS] = {{{{0}}}};

    for (size_t p = 0; p < k; p += CHAINS * LANES)
        for (int chain = 0; chain < CHAINS; chain++) {
            const size_t at = p + (size_t)chain * LANES;
            for (int s = 0; at < k && s < columns; s++)
                for (int r = 0; r < rows; r++)
                    sum[r][s][chain] =
                        multiply_add(load_some(a + (size_t)r * lda + at, k - at),
                                     load_some(b + (size_t)s * ldb + at, k - at), sum[r][s][chain]);
        }
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < columns; s++) {
            float *to = c + (size_t)r * ldc + s;
            const float product = sum_lanes(sum[r][s][0] + sum[r][s][1]);
            *to = g->base != NULL ? *to + product : product;
        }
}

void PP_AT(multiply_few)(void *stream, const struct pp_gemm *g)
{
    (void)stream;
    for (size_t j = 0; j < (size_t)g->n; j++)
        for (size_t i = 0; i < (size_t)g->m; i++)
            tile(g, i, j, 1, 1);
}
