/* kernels/cpu/tokens.h — the gradient of an embedding, once for all element types. */
#ifndef PP_KERNELS_CPU_TOKENS_H
#define PP_KERNELS_CPU_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As embed_backward of kernels/kernels.h has them. */
struct pp_token_rows {
    int batch, tokens, first, stride, width, vocab;
    const int32_t *ids;
    size_t element_bytes, gradient_bytes;
    void (*add_row)(size_t width, const void *x, void *y); /* y of G += x of T */
};

/* Rows of dy are added one by one, in the order of the tokens. */
void pp_tokens_add_rows(const struct pp_token_rows *rows, const void *dy, void *dtable,
                        void *dpositions, bool add);

#endif
