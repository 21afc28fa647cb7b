/* A cache of keys and values (kernels/cached.h): what is appended. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

namespace
{
/* Columns are those of a row of the cache. */
template <class T> struct append {
    const T *qkv; /* keys of the first token */
    T *cache;
    int tokens, first, stride, width, columns;

    template <int N> __device__ void run(int row, int column) const
    {
        const size_t to = (size_t)(row / tokens) * stride + first + row % tokens;

        pp_save(cache + to * columns + column, pp_load<N>(qkv + (size_t)row * width + column));
    }
};

template <class T> void append_rows(void *stream, const struct pp_cache_append *a)
{
    const int queries = a->heads * a->head_dim, columns = 2 * a->kv_heads * a->head_dim;
    const T *keys = (const T *)a->qkv + queries;
    const bool is_aligned = (queries + columns) % PP_WIDE<T> == 0 && pp_are_aligned(keys, a->cache);

    pp_map_rows<PP_WIDE<T>>(
        stream, a->batch * a->tokens, columns, is_aligned,
        append<T>{keys, (T *)a->cache, a->tokens, a->first, a->stride, queries + columns, columns});
}

} // namespace

#define APPEND(name, T)                                                                            \
    void pp_cuda_cache_append_##name(void *stream, const struct pp_cache_append *a)                \
    {                                                                                              \
        append_rows<T>(stream, a);                                                                 \
    }
APPEND(fp32, float)
APPEND(bf16, pp_bf16)
