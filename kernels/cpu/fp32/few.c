/* Products of a few rows, in single precision. */
typedef float element;
enum { PARTS = 1 };

#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/quick_few.h"

PP_INLINE vt part(const char *x, int p)
{
    (void)p;
    return *(const vt_unaligned *)x;
}

static void products(const struct pp_few *f)
{
    few_products(f);
}

static void finish(const struct pp_gemm *g, const struct pp_few *f, size_t i, size_t j)
{
    for (size_t r = 0; r < f->m; r++) {
        const float *product = f->c + r * f->ldc;
        float *c = (float *)g->c + (i + r) * (size_t)g->ldc + j;
        for (size_t q = 0; q < f->n; q++)
            c[q] = g->base != NULL ? c[q] + product[q] : product[q];
    }
}

void PP_AT(multiply_few)(void *stream, const struct pp_gemm *g)
{
    (void)stream;
    pp_few_pieces(g, sizeof(float), products, finish);
}
