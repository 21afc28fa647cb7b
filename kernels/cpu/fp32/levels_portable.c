/* Level of unknown processors: the default of the compiler. */
#include "kernels/cpu/levels.h"

extern const struct pp_kernels pp_fp32_kernels_base;
extern const struct pp_bf16_level pp_fp32_bf16_base;

static bool has_base(void)
{
    return true;
}

bool pp_cpu_has_avx2(void)
{
    return false;
}

const struct pp_simd_level pp_levels[] = {
    {"portable", false, has_base, &pp_fp32_kernels_base, &pp_fp32_bf16_base}};
const int pp_level_count = 1;
