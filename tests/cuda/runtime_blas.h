/* tests/cuda/runtime_blas.h — a multiplication as cuBLASLt describes it. Private to
 * runtime_blas*.cc.
 *
 *   D [m][n] = epilogue(alpha op(A) op(B) + beta C)
 *
 * in float, over k in order, rounded once where it is stored. Epilogues, in this order: + bias [m],
 * stored to aux, GELU (tanh form, tanh right to 2^-11); or times GELU' of aux. */
#ifndef PP_TESTS_CUDA_RUNTIME_BLAS_H
#define PP_TESTS_CUDA_RUNTIME_BLAS_H

#include "tests/cuda/include/cublasLt.h"

#include <stdint.h>

enum { PP_EMULATED_AUX = 128 }; /* part of epilogues with an auxiliary matrix */

struct pp_emulated_matrix_layout {
    int32_t type;
    uint64_t rows, columns;
    int64_t ld;
};

struct pp_emulated_matmul_desc {
    int32_t compute_type, scale_type, a_op, b_op;
    uint32_t epilogue;
    void *bias, *aux;
    int64_t aux_ld;
    int32_t sm_count;
};

struct pp_emulated_preference {
    uint32_t reduction_schemes;
    uint64_t workspace_bytes;
    uint32_t alignment_bytes[4]; /* of A, B, C, D */
};

struct multiplication {
    struct pp_emulated_matmul_desc how;
    struct pp_emulated_matrix_layout layouts[4]; /* of A, B, C, D */
    const void *a, *b, *c;
    void *d;
    float alpha, beta;
};

void pp_emulated_matmul(const struct multiplication *x);

#endif
