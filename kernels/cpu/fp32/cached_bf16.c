/* Attention to cached keys and values of bfloat16; arithmetic is in float. */
#include "kernels/cpu/fp32/fp32.h"

typedef uint16_t element;

#include "kernels/cpu/quick_cached.h"

typedef uint16_t halves __attribute__((vector_size(2 * PP_TILE_WIDTH), aligned(2), may_alias));
typedef uint32_t words __attribute__((vector_size(4 * PP_TILE_WIDTH)));

PP_INLINE vt values(const uint16_t *x)
{
#if PP_TILE_WIDTH == 16 /* GCC would make halves of it */
    return (vt)((words)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)x)) << 16);
#else
    return (vt)(__builtin_convertvector(*(const halves *)x, words) << 16);
#endif
}

PP_INLINE void keep(uint16_t *to, size_t count, vf v)
{
    for (size_t i = 0; i < count; i++)
        to[i] = pp_bf16_round(v[i]);
}

size_t PP_AT(bf16_cached_scratch_bytes)(const struct pp_attention_cached *a)
{
    return attention_cached_scratch_bytes(a);
}

void PP_AT(bf16_cached)(void *stream, const struct pp_attention_cached *a)
{
    attention_cached(stream, a);
}
