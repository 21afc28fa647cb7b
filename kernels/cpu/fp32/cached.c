/* Attention to cached keys and values, in single precision. */
#include "kernels/cpu/fp32/fp32.h"

typedef float element;

#include "kernels/cpu/quick_cached.h"

PP_INLINE vt values(const float *x)
{
    return *(const vt_unaligned *)x;
}

PP_INLINE void keep(float *to, size_t count, vf v)
{
    store_some(to, count, v);
}

size_t PP_AT(attention_cached_scratch_bytes)(const struct pp_attention_cached *a)
{
    return attention_cached_scratch_bytes(a);
}

void PP_AT(attention_cached)(void *stream, const struct pp_attention_cached *a)
{
    attention_cached(stream, a);
}
