/* kernels/cpu/blas.h — a library's matrix multiplication: OpenBLAS (blas.c) or blas_none.c. */
#pragma once

#include "kernels/kernels.h"

/* Loads the library once, single-threaded. When `is_pinned`, with the core type that every machine
 * with AVX2 has, unless OPENBLAS_CORETYPE is set. Returns its name ("OpenBLAS 0.3.21 Haswell"), or
 * NULL if there is none; pp_blas_multiply must not be called then. */
const char *pp_blas_load(bool is_pinned);
/* c = op(a) op(b), plus c unless base is NULL; ignores the other fields of `g`. */
void pp_blas_multiply(void *stream, const struct pp_gemm *g);
