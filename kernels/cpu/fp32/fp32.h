/* kernels/cpu/fp32/fp32.h — the single precision kernels, compiled once for each instruction set
 * level: PP_AT(name) is the name of this level's copy. kernels/kernels.h has meaning and shapes. */
#pragma once

#include "kernels/cpu/levels.h"
#include "kernels/cpu/shared.h"

/* PP_LEVEL, from meson.build: base, v3, v4. */
#define PP_AT_PASTE(name, level)  pp_fp32_##name##_##level
#define PP_AT_EXPAND(name, level) PP_AT_PASTE(name, level)
#define PP_AT(name)               PP_AT_EXPAND(name, PP_LEVEL)

extern const struct pp_kernels PP_AT(kernels);

/* c [m][n] = a b, plus c when `add`: element (i, p) of a is a[i a_row + p a_column], rows of b and
 * c are dense. Each element of c is one chain of multiply-adds over p in order (fused if the
 * instruction set has it), for every shape. For matrices that fit into the first caches. */
struct pp_small_gemm {
    size_t m, n, k;
    const float *a, *b;
    float *c;
    size_t a_row, a_column, ldb, ldc;
    bool add;
};
void PP_AT(small_gemm)(const struct pp_small_gemm *g);

/* gemm.c: c = op(a) op(b), plus c unless base is NULL, without the epilogue */
void PP_AT(multiply)(void *stream, const struct pp_gemm *g);
/* few.c: the same for a gemm_few */
void PP_AT(multiply_few)(void *stream, const struct pp_gemm *g);
/* rows.c */
void PP_AT(add_bias)(void *stream, int rows, int width, const void *bias, void *x);
void PP_AT(sum_rows)(void *stream, int rows, int width, const void *dy, void *dbias, bool add);
/* norm.c */
void PP_AT(norm_forward)(void *stream, const struct pp_norm *n);
void PP_AT(norm_backward)(void *stream, const struct pp_norm *n);
/* activation.c */
void PP_AT(activate_forward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                             void *y);
void PP_AT(activate_backward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                              const void *dy, void *dx);
void PP_AT(gate_forward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                         void *y);
void PP_AT(gate_backward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                          const void *dy, void *dx);
void PP_AT(scale)(void *stream, int64_t count, double factor, void *x);
/* packed.c */
void PP_AT(quantise)(void *stream, int bits, int64_t count, const void *x, void *packed);
void PP_AT(restore)(void *stream, int bits, int64_t count, const void *packed, void *x);
/* packed_bf16.c, few_bf16.c, cached_bf16.c */
extern const struct pp_bf16_level PP_AT(bf16);
void PP_AT(bf16_few)(const struct pp_few *f);
size_t PP_AT(bf16_cached_scratch_bytes)(const struct pp_attention_cached *a);
void PP_AT(bf16_cached)(void *stream, const struct pp_attention_cached *a);
/* rotate.c */
void PP_AT(rotate)(void *stream, const struct pp_rotation *r, void *x);
/* attention.c */
size_t PP_AT(attention_scratch_bytes)(const struct pp_attention *a);
void PP_AT(attention_forward)(void *stream, const struct pp_attention *a);
void PP_AT(attention_backward)(void *stream, const struct pp_attention *a);
/* cached.c */
size_t PP_AT(attention_cached_scratch_bytes)(const struct pp_attention_cached *a);
void PP_AT(attention_cached)(void *stream, const struct pp_attention_cached *a);
/* tokens.c */
void PP_AT(embed_forward)(void *stream, const struct pp_embedding *e);
void PP_AT(embed_backward)(void *stream, const struct pp_embedding *e);
void PP_AT(cross_entropy)(void *stream, int batch, int tokens, int first, int stride, int vocab,
                          int ld, const int32_t *targets, double scale, void *x, double *loss);
void PP_AT(entropy_max)(void *stream, const struct pp_entropy *e);
void PP_AT(entropy_sums)(void *stream, const struct pp_entropy *e);
void PP_AT(entropy_end)(void *stream, const struct pp_entropy *e);
/* experts.c */
void PP_AT(route_forward)(void *stream, const struct pp_routing *r);
void PP_AT(route_backward)(void *stream, const struct pp_routing *r);
void PP_AT(dispatch_forward)(void *stream, const struct pp_token_exchange *e);
void PP_AT(dispatch_backward)(void *stream, const struct pp_token_exchange *e);
void PP_AT(combine_forward)(void *stream, const struct pp_token_exchange *e);
void PP_AT(combine_backward)(void *stream, const struct pp_token_exchange *e);
/* update.c */
void PP_AT(add)(void *stream, int64_t count, const void *x, void *y);
void PP_AT(sum)(void *stream, int64_t count, int parts, const void *const *x, void *y);
void PP_AT(max)(void *stream, int64_t count, int parts, const void *const *x, void *y);
extern const struct pp_flat_parts PP_AT(flat_parts);
void PP_AT(adamw)(void *stream, const struct pp_flat *flat, const struct pp_adamw *adamw,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v);
void PP_AT(squares)(void *stream, const struct pp_flat *flat, double *blocks);
void PP_AT(fixed_add)(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                      int *status);
