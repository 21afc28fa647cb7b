/* The table of one instruction set level. */
#include "kernels/cpu/balance.h"
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/grouped.h"
#include "kernels/cpu/routes.h"
#include "kernels/cpu/shared.h"

static void gemm(void *stream, const struct pp_gemm *g)
{
    pp_gemm_compose(&PP_AT(kernels), PP_AT(multiply), stream, g);
}

static void gemm_few(void *stream, const struct pp_gemm *g)
{
    pp_gemm_compose(&PP_AT(kernels), PP_AT(multiply_few), stream, g);
}

static void cache_append(void *stream, const struct pp_cache_append *a)
{
    (void)stream;
    pp_cache_rows(a, sizeof(float));
}

const struct pp_kernels PP_AT(kernels) = {
    .name = "fp32",
    .is_immediate = true,
    .element_bytes = sizeof(float),
    .gradient_bytes = sizeof(float),
    .vocab_multiple = 1,
    .gemm = gemm,
    .add_bias = PP_AT(add_bias),
    .sum_rows = PP_AT(sum_rows),
    .norm_forward = PP_AT(norm_forward),
    .norm_backward = PP_AT(norm_backward),
    .activate_forward = PP_AT(activate_forward),
    .activate_backward = PP_AT(activate_backward),
    .gate_forward = PP_AT(gate_forward),
    .gate_backward = PP_AT(gate_backward),
    .rotate = PP_AT(rotate),
    .attention_scratch_bytes = PP_AT(attention_scratch_bytes),
    .attention_forward = PP_AT(attention_forward),
    .attention_backward = PP_AT(attention_backward),
    .gemm_few = gemm_few,
    .cache_append = cache_append,
    .attention_cached_scratch_bytes = PP_AT(attention_cached_scratch_bytes),
    .attention_cached = PP_AT(attention_cached),
    .embed_forward = PP_AT(embed_forward),
    .embed_backward = PP_AT(embed_backward),
    .cross_entropy = PP_AT(cross_entropy),
    .entropy_max = PP_AT(entropy_max),
    .entropy_sums = PP_AT(entropy_sums),
    .entropy_end = PP_AT(entropy_end),
    .quantise = PP_AT(quantise),
    .restore = PP_AT(restore),
    .scale = PP_AT(scale),
    .route_forward = PP_AT(route_forward),
    .route_backward = PP_AT(route_backward),
    .route_count = pp_routes_count,
    .balance_sums = pp_balance_sums,
    .balance_grad = pp_balance_grad,
    .balance_add = pp_balance_add,
    .balance_loss = pp_balance_loss,
    .dispatch_forward = PP_AT(dispatch_forward),
    .dispatch_backward = PP_AT(dispatch_backward),
    .combine_forward = PP_AT(combine_forward),
    .combine_backward = PP_AT(combine_backward),
    .grouped_gemm = pp_grouped_gemm,
    .grouped_weight_grad = pp_grouped_weight_grad,
    .grouped_sum_rows = pp_grouped_sum_rows,
    .sum = PP_AT(sum),
    .sum_of_g = PP_AT(sum),
    .max_of_g = PP_AT(max),
    .copy = pp_bytes_copy,
    .zero = pp_bytes_zero,
    .add = PP_AT(add),
    .adamw = PP_AT(adamw),
    .squares = PP_AT(squares),
    .fixed_add = PP_AT(fixed_add),
    .fixed_merge = pp_fixed_merge,
    .fixed_fits = pp_fixed_fits,
};
