#include "kernels/cpu/epilogue.h"

/* `rows` rows of c, and of every tensor of its shape, from byte `at` on. Rows are contiguous. */
static void finish(const struct pp_kernels *k, void *stream, const struct pp_gemm *g, int rows,
                   size_t at)
{
    const int64_t count = (int64_t)rows * g->n;
    void *c = (char *)g->c + at;
    const void *product = g->gelu_of == g->c ? (char *)g->product + at : c;

    if (g->bias != NULL)
        k->add_bias(stream, rows, g->n, g->bias, c);
    if (g->gelu_of != NULL)
        k->gelu_backward(stream, count, (const char *)g->gelu_of + at, product, c);
    if (g->activated != NULL)
        k->gelu_forward(stream, count, c, (char *)g->activated + at);
}

void pp_gemm_compose(const struct pp_kernels *k,
                     void (*multiply)(void *stream, const struct pp_gemm *g), void *stream,
                     const struct pp_gemm *g)
{
    const size_t element_bytes = g->is_gradient ? k->gradient_bytes : k->element_bytes;
    const bool is_dense = g->ldc == g->n;
    const int rows = is_dense ? g->m : 1;
    const size_t stride = (size_t)g->ldc * element_bytes, end = (size_t)(g->m / rows) * stride;
    struct pp_gemm product = *g;

    if (g->base != NULL && g->base != g->c) {
        for (size_t at = 0; at < end; at += stride)
            k->copy(stream, (size_t)rows * (size_t)g->n * element_bytes, (const char *)g->base + at,
                    (char *)g->c + at);
        product.base = g->c;
    }
    if (g->gelu_of == g->c)
        product.c = g->product;
    multiply(stream, &product);
    for (size_t at = 0; at < end; at += stride)
        finish(k, stream, g, rows, at);
}
