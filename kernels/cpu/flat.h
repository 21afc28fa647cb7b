/* kernels/cpu/flat.h — operations on all tensors of a flat vector, once for all element types. The
 * vector is taken in pieces of at most PP_SQUARES_BLOCK elements of one tensor. */
#ifndef PP_KERNELS_CPU_FLAT_H
#define PP_KERNELS_CPU_FLAT_H

#include "kernels/kernels.h"

/* What happens to a piece. */
struct pp_flat_parts {
    size_t element_bytes, gradient_bytes;
    void (*fixed_read)(int64_t count, const int64_t *sum, int bits, void *x); /* x of G */
    void (*adamw)(int64_t count, const struct pp_adamw *adamw, const struct pp_adamw_step *step,
                  const void *grad, void *weights, void *master, void *m, void *v);
    double (*squares)(int64_t count, const void *x); /* their sum */
};

void pp_flat_adamw(const struct pp_flat_parts *parts, const struct pp_flat *flat,
                   const struct pp_adamw *adamw, const struct pp_adamw_step *step, void *weights,
                   void *master, void *m, void *v);
void pp_flat_squares(const struct pp_flat_parts *parts, const struct pp_flat *flat, double *blocks);

#endif
