/* kernels/cpu/levels.h — the copies of the single precision kernels, one for each instruction set
 * level of the build. All levels with fused multiply-add give the same bits. */
#pragma once

#include "kernels/kernels.h"

struct pp_simd_level {
    const char *name;                 /* "avx512" */
    bool has_fused;                   /* multiply-add */
    bool (*is_supported)(void);       /* by this CPU */
    const struct pp_kernels *kernels; /* with this project's multiplication */
};
/* Best first; the last level runs everywhere. */
extern const struct pp_simd_level pp_levels[];
extern const int pp_level_count;

bool pp_cpu_has_avx2(void);
