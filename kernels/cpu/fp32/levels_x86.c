/* Levels of x86-64: features of -march=x86-64-v3 and -v4. */
#include "kernels/cpu/levels.h"

extern const struct pp_kernels pp_fp32_kernels_base, pp_fp32_kernels_v3, pp_fp32_kernels_v4;
extern const struct pp_bf16_level pp_fp32_bf16_base, pp_fp32_bf16_v3, pp_fp32_bf16_v4;

static bool has_base(void)
{
    return true;
}

bool pp_cpu_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static bool has_v4(void)
{
    return pp_cpu_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const struct pp_simd_level pp_levels[] = {
    {"avx512", true, has_v4, &pp_fp32_kernels_v4, &pp_fp32_bf16_v4},
    {"avx2", true, pp_cpu_has_avx2, &pp_fp32_kernels_v3, &pp_fp32_bf16_v3},
    {"sse2", false, has_base, &pp_fp32_kernels_base, &pp_fp32_bf16_base},
};
const int pp_level_count = PP_COUNT(pp_levels);
