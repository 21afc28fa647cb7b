/* kernels/cpu/plain_cached.h — a cache of keys and values, and attention to it, as plain loops in
 * double. `element`, at() and from() are as in kernels/cpu/plain.h. kernels/cached.h has meaning
 * and shapes. */
#pragma once

#include "kernels/cpu/plain.h"

static void cache_append(void *stream, const struct pp_cache_append *a)
{
    (void)stream;
    pp_cache_rows(a, sizeof(element));
}

/* Probabilities of one query. */
static size_t attention_cached_scratch_bytes(const struct pp_attention_cached *a)
{
    return sizeof(double) * (size_t)a->context;
}

/* Writes exp(score - max) of the keys met into p; returns their sum. The keys are those of one
 * head; `row` elements lie between two positions. */
static double cached_weights(const struct pp_attention_cached *a, const element *query,
                             const element *keys, size_t row, double *p)
{
    const size_t from = (size_t)pp_cached_from(a), until = (size_t)a->context;
    double max = -INFINITY, sum = 0;

    for (size_t key = from; key < until; key++) {
        double dot = 0;
        for (size_t i = 0; i < (size_t)a->head_dim; i++)
            dot += at(query, i) * at(keys, key * row + i);
        p[key] = dot / sqrt(a->head_dim);
        max = fmax(max, p[key]);
    }
    for (size_t key = from; key < until; key++)
        sum += p[key] = exp(p[key] - max);
    return sum;
}

static void attention_cached(void *stream, const struct pp_attention_cached *a)
{
    const size_t dim = (size_t)a->head_dim, heads = (size_t)a->heads, kv = (size_t)a->kv_heads;
    const size_t row = 2 * kv * dim, sequence = (size_t)a->stride * row;
    double *p = a->scratch;

    (void)stream;
    for (size_t b = 0; b < (size_t)a->batch; b++)
        for (size_t h = 0; h < heads; h++) {
            const element *query = (const element *)a->qkv + (b * (heads + 2 * kv) + h) * dim;
            const element *keys = (const element *)a->cache + b * sequence + h / (heads / kv) * dim;
            const double sum = cached_weights(a, query, keys, row, p);

            for (size_t i = 0; i < dim; i++) {
                double mix = 0;
                for (size_t key = (size_t)pp_cached_from(a); key < (size_t)a->context; key++)
                    mix += p[key] * at(keys, key * row + kv * dim + i);
                ((element *)a->out)[(b * heads + h) * dim + i] = from(mix / sum);
            }
        }
}
