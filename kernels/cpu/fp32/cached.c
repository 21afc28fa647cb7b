/* Attention of one query a sequence to cached keys and values. Keys are read once, in the order of
 * the cache, for all heads; then values. So the work goes at the speed of memory. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/fp32/softmax.h"
#include "kernels/cpu/simd.h"

#include <math.h>

/* One sequence. */
struct sequence {
    size_t heads, kv, group, dim; /* group: query heads of a key head */
    size_t keys, row;             /* keys met; elements of a position */
    const float *query, *cache;   /* cache: from the first key met on */
    float *out, *scores;          /* scores [heads][keys] */
};

size_t PP_AT(attention_cached_scratch_bytes)(const struct pp_attention_cached *a)
{
    return sizeof(float) * (size_t)a->heads * (size_t)a->context;
}

PP_INLINE float dot(const float *x, const float *y, size_t dim)
{
    vf sum = {0};
    size_t i = 0;

    for (; i + LANES <= dim; i += LANES)
        sum = multiply_add(load(x + i), load(y + i), sum);
    if (i < dim)
        sum = multiply_add(load_part(x + i, dim - i), load_part(y + i, dim - i), sum);
    return sum_lanes(sum);
}

/* scores = scale query . key */
static void score(const struct sequence *s)
{
    const float scale = 1 / sqrtf((float)s->dim);

    for (size_t key = 0; key < s->keys; key++)
        for (size_t h = 0; h < s->heads; h++)
            s->scores[h * s->keys + key] =
                scale *
                dot(s->query + h * s->dim, s->cache + key * s->row + h / s->group * s->dim, s->dim);
}

/* Replaces scores by probabilities. */
static void softmax(const struct sequence *s)
{
    for (size_t h = 0; h < s->heads; h++) {
        float *p = s->scores + h * s->keys;
        const float inverse = 1 / exponentials(p, s->keys, largest(p, s->keys));
        for (size_t i = 0; i < s->keys; i += LANES)
            store_some(p + i, s->keys - i, load_some(p + i, s->keys - i) * inverse);
    }
}

enum { KEYS = 4 };

/* out of one head += the sum of p value over `count` positions, one by one. */
PP_INLINE void mix_keys(const struct sequence *s, size_t h, const float *values, const float *p,
                        const size_t count)
{
    float *out = s->out + h * s->dim;

    for (size_t i = 0; i < s->dim; i += LANES) {
        vf sum = load_some(out + i, s->dim - i);
        for (size_t key = 0; key < count; key++)
            sum = multiply_add(load_some(values + key * s->row + i, s->dim - i), all(p[key]), sum);
        store_some(out + i, s->dim - i, sum);
    }
}

static void mix(const struct sequence *s)
{
    const float *values = s->cache + s->kv * s->dim;

    memset(s->out, 0, sizeof(float) * s->heads * s->dim);
    for (size_t key = 0; key < s->keys; key += KEYS)
        for (size_t h = 0; h < s->heads; h++) {
            const float *of_head = values + key * s->row + h / s->group * s->dim;
            const float *p = s->scores + h * s->keys + key;
            if (s->keys - key >= KEYS)
                mix_keys(s, h, of_head, p, KEYS);
            else
                mix_keys(s, h, of_head, p, s->keys - key);
        }
}

void PP_AT(attention_cached)(void *stream, const struct pp_attention_cached *a)
{
    const size_t dim = (size_t)a->head_dim, heads = (size_t)a->heads, kv = (size_t)a->kv_heads;
    const size_t row = 2 * kv * dim, from = (size_t)pp_cached_from(a);

    (void)stream;
    for (size_t b = 0; b < (size_t)a->batch; b++) {
        const struct sequence s = {
            .heads = heads,
            .kv = kv,
            .group = heads / kv,
            .dim = dim,
            .keys = (size_t)a->context - from,
            .row = row,
            .query = (const float *)a->qkv + b * (heads + 2 * kv) * dim,
            .cache = (const float *)a->cache + (b * (size_t)a->stride + from) * row,
            .out = (float *)a->out + b * heads * dim,
            .scores = a->scratch,
        };
        score(&s);
        softmax(&s);
        mix(&s);
    }
}
