/* Attention to cached keys and values of bfloat16; arithmetic is in float. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

typedef uint16_t element;
typedef uint16_t halves __attribute__((vector_size(32), aligned(2), may_alias));

PP_INLINE vf values(const uint16_t *x)
{
    return (vf)(__builtin_convertvector(*(const halves *)x, vu) << 16);
}

PP_INLINE void keep(uint16_t *to, size_t count, vf v)
{
    for (size_t i = 0; i < count; i++)
        to[i] = pp_bf16_round(v[i]);
}

#include "kernels/cpu/quick_cached.h"

size_t PP_AT(bf16_cached_scratch_bytes)(const struct pp_attention_cached *a)
{
    return attention_cached_scratch_bytes(a);
}

void PP_AT(bf16_cached)(void *stream, const struct pp_attention_cached *a)
{
    attention_cached(stream, a);
}
