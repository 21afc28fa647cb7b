/* Built without OpenBLAS. */
#include "kernels/cpu/blas.h"

#include <assert.h>

const char *pp_blas_load(bool is_pinned)
{
    (void)is_pinned;
    return NULL;
}

void pp_blas_multiply(void *stream, const struct pp_gemm *g)
{
    (void)stream;
    (void)g;
    assert(!"no library was loaded");
}
