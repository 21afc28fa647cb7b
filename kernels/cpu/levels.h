/* kernels/cpu/levels.h — the copies of the single precision kernels, one for each instruction set
 * level of the build. All levels with fused multiply-add give the same bits. In `bf16` all levels
 * do, but for attention. */
#pragma once

#include "kernels/kernels.h"

struct pp_few;

/* Members of struct pp_kernels, and the products of gemm_few (kernels/cpu/shared.h). */
struct pp_bf16_level {
    void (*quantise)(void *stream, int bits, int64_t count, const void *x, void *packed);
    void (*restore)(void *stream, int bits, int64_t count, const void *packed, void *x);
    void (*few)(const struct pp_few *f);
    size_t (*attention_cached_scratch_bytes)(const struct pp_attention_cached *a);
    void (*attention_cached)(void *stream, const struct pp_attention_cached *a);
};

struct pp_simd_level {
    const char *name;                 /* "avx512" */
    bool has_fused;                   /* multiply-add */
    bool (*is_supported)(void);       /* by this CPU */
    const struct pp_kernels *kernels; /* with this project's multiplication */
    const struct pp_bf16_level *bf16; /* where T is bfloat16 */
};
/* Best first; the last level runs everywhere. */
extern const struct pp_simd_level pp_levels[];
extern const int pp_level_count;

/* Returns the best level of this CPU. */
const struct pp_simd_level *pp_level_best(void);
bool pp_cpu_has_avx2(void);
