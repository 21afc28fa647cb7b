/* kernels/cuda/device/mma.cuh — tensor cores: PTX for sm_80 and later, or the emulation's
 * functions of the same names. A whole warp calls mma and ldmatrix.
 *
 * Fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16". For lane l, with
 * g = l / 4 and t = l % 4:
 *   a [16][16]  a[0]: row g, columns 2t, 2t + 1. a[1]: row g + 8. a[2], a[3]: the same, columns + 8
 *   b [16][8]   b[0]: rows 2t, 2t + 1 of column g. b[1]: rows + 8
 *   d [16][8]   d[0], d[1]: row g, columns 2t, 2t + 1. d[2], d[3]: row g + 8
 * The lower half of a word holds the first of two elements.
 *
 * For ldmatrix, lane l gives the address of row l % 8 of matrix l / 8. A row has 8 elements,
 * aligned to 16 bytes. r[i] of a lane is row g, columns 2t, 2t + 1 of matrix i. If transposed, it
 * is rows 2t, 2t + 1 of column g.
 */
#pragma once

#include "kernels/cuda/device/async.cuh"

#ifndef PP_CUDA_EMULATED

/* d [16][8] += a [16][16] b [16][8] */
static __device__ __forceinline__ void pp_mma_bf16(float d[4], const uint32_t a[4],
                                                   const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* d [16][8] = a [16][16] b [16][8], without zeros in registers. */
static __device__ __forceinline__ void pp_mma_bf16_first(float d[4], const uint32_t a[4],
                                                         const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};\n"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(0.0f));
}

static __device__ __forceinline__ void pp_ldmatrix_x4(uint32_t r[4], pp_shared_at shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

static __device__ __forceinline__ void pp_ldmatrix_x4_trans(uint32_t r[4], pp_shared_at shared)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared)
                 : "memory");
}

#else

static inline void pp_ldmatrix_x4(uint32_t r[4], pp_shared_at shared)
{
    pp_ldmatrix_x4(r, (const void *)shared);
}

static inline void pp_ldmatrix_x4_trans(uint32_t r[4], pp_shared_at shared)
{
    pp_ldmatrix_x4_trans(r, (const void *)shared);
}

static inline void pp_mma_bf16_first(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    for (int i = 0; i < 4; i++)
        d[i] = 0;
    pp_mma_bf16(d, a, b);
}

#endif
