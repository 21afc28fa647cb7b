/* kernels/cpu/epilogue.h — the epilogue of a multiplication, composed from other functions of the
 * same table. */
#ifndef PP_KERNELS_CPU_EPILOGUE_H
#define PP_KERNELS_CPU_EPILOGUE_H

#include "kernels/kernels.h"

/* All of `g`, in the order that kernels/kernels.h states: base, product, bias, GELU. `multiply` is
 * called once, with a base that is c or NULL, and does nothing but product and base. */
void pp_gemm_compose(const struct pp_kernels *k,
                     void (*multiply)(void *stream, const struct pp_gemm *g), void *stream,
                     const struct pp_gemm *g);

#endif
