/* kernels/cpu/shared.h — functions that the tables of the CPU share, for all element types. */
#pragma once

#include "kernels/kernels.h"

/* All of `g`, composed of functions of the same table, in the order base, product, bias,
 * activation. `multiply` is called once, with a base that is c or NULL; it does product and base
 * only. */
void pp_gemm_compose(const struct pp_kernels *k,
                     void (*multiply)(void *stream, const struct pp_gemm *g), void *stream,
                     const struct pp_gemm *g);

/* c [m][n] = a b^T in float: rows of a and b are contiguous. A piece of a gemm_few: at most
 * PP_FEW_ROWS rows, and a few columns. */
struct pp_few {
    size_t m, n, k;
    const void *a, *b; /* of T */
    float *c;
    size_t lda, ldb, ldc;
};
/* Cuts g into pieces, and finishes each: its products belong to row i and column j of c on. */
void pp_few_pieces(const struct pp_gemm *g, size_t element_bytes,
                   void (*products)(const struct pp_few *f),
                   void (*complete)(const struct pp_gemm *g, const struct pp_few *f, size_t i,
                                    size_t j));

/* sum += round(x * scale), ties to even, where the scale is a power of two. If the value or the sum
 * does not fit, the sum is wrong and *status has the reason; the first reason stays. */
void pp_fixed_add_one(double x, double scale, int64_t *sum, int *status);
void pp_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status);
void pp_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status);

/* Clears the gradients to which an attention without `add` adds. */
void pp_attention_clear(const struct pp_attention *a, size_t element_bytes);

/* cache_append of kernels/kernels.h. */
void pp_cache_rows(const struct pp_cache_append *a, size_t element_bytes);

void pp_bytes_copy(void *stream, size_t bytes, const void *from, void *to);
void pp_bytes_zero(void *stream, size_t bytes, void *x);

/* Functions on a piece. */
struct pp_flat_parts {
    size_t element_bytes, gradient_bytes;
    void (*fixed_read)(int64_t count, const int64_t *sum, int bits, void *x); /* x is of G */
    void (*adamw)(int64_t count, const struct pp_adamw *adamw, const struct pp_adamw_step *step,
                  const void *grad, void *weights, void *master, void *m, void *v);
    double (*squares)(int64_t count, const void *x); /* their sum */
};

void pp_flat_adamw(const struct pp_flat_parts *parts, const struct pp_flat *flat,
                   const struct pp_adamw *adamw, const struct pp_adamw_step *step, void *weights,
                   void *master, void *m, void *v);
void pp_flat_squares(const struct pp_flat_parts *parts, const struct pp_flat *flat, double *blocks);

/* embed_backward of kernels/kernels.h: adds rows of dy one by one, in the order of the tokens. */
struct pp_token_rows {
    size_t element_bytes, gradient_bytes;
    void (*add_row)(size_t width, const void *x, void *y); /* y of G += x of T */
};
void pp_tokens_add_rows(const struct pp_token_rows *rows, const struct pp_embedding *e);
