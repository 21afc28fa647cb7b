/* kernels/cpu/fixed.h — what does not depend on the element type: bytes, and sums in int64 fixed
 * point, which have the same bits in any order. */
#ifndef PP_KERNELS_CPU_FIXED_H
#define PP_KERNELS_CPU_FIXED_H

#include "kernels/kernels.h"

/* sum += round(x * 2^bits), ties to even. When the value or the sum does not fit, the sum is no
 * longer right, and *status says why; the first reason stays. */
void pp_fixed_add_one(double x, int bits, int64_t *sum, int *status);
void pp_fixed_merge(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status);
void pp_fixed_fits(void *stream, int64_t count, const int64_t *x, int copies, int *status);

void pp_bytes_copy(void *stream, size_t bytes, const void *from, void *to);
void pp_bytes_zero(void *stream, size_t bytes, void *x);

#endif
