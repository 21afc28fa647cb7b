/* kernels/cpu/quick_cached.h — attention of one query a sequence to cached keys and values, as
 * vector code. Keys are read once, in the order of the cache, for all heads; then values. So the
 * work goes at the speed of memory. The file that includes this first defines T, `element`, and
 *
 *   vf values(const element *x)                    16 elements
 *   void keep(element *to, size_t count, vf v)     the first `count` of 16, rounded */
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

#include <math.h>

/* One sequence. A row of scores has an entry for each head. A row of query and mix has one for each
 * element of a head. Both are rounded up to whole vectors. */
struct sequence {
    size_t heads, group, dim; /* group: query heads of a key head */
    size_t keys, row;         /* keys met; elements of a position */
    size_t score_row, dim_row;
    const element *cache; /* from the first key met on */
    float *query, *mix;   /* [heads][dim_row] */
    float *scores;        /* [keys + 1][score_row]; the last row: 1 / the sum of the others */
};

static size_t whole_vectors(size_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static size_t attention_cached_scratch_bytes(const struct pp_attention_cached *a)
{
    const size_t heads = (size_t)a->heads;

    return sizeof(float) * (whole_vectors(heads) * ((size_t)a->context + 1) +
                            2 * heads * whole_vectors((size_t)a->head_dim));
}

/* The first `count` of 16 elements; others are zero. */
PP_INLINE vf some_values(const element *x, size_t count)
{
    element part[LANES] = {0};

    if (count >= LANES)
        return values(x);
    memcpy(part, x, sizeof(element) * count);
    return values(part);
}

/* Asks for the keys, or values, of a later position. */
PP_INLINE void ask_ahead(const struct sequence *s, const element *x)
{
    enum { AHEAD = 6, LINE = 64 };
    const uintptr_t from = (uintptr_t)x + AHEAD * s->row * sizeof(element);

    for (size_t at = 0; at < s->row / 2 * sizeof(element); at += LINE)
        __builtin_prefetch((const void *)(from + at), 0, 2);
}

PP_INLINE vf dot(const float *query, const element *key, size_t dim)
{
    vf sum = {0};
    size_t i = 0;

    for (; i + LANES <= dim; i += LANES)
        sum = multiply_add(load(query + i), values(key + i), sum);
    if (i < dim)
        sum = multiply_add(load(query + i), some_values(key + i, dim - i), sum);
    return sum;
}

/* Scores of 16 heads from h on; those after the last are 0. */
PP_INLINE vf score_heads(const struct sequence *s, const element *keys, size_t h)
{
    vf sums[LANES];

    for (size_t i = 0; i < LANES; i++)
        sums[i] = h + i < s->heads ? dot(s->query + (h + i) * s->dim_row,
                                         keys + (h + i) / s->group * s->dim, s->dim)
                                   : (vf){0};
    return sums_of_lanes(sums);
}

/* scores = query . key / sqrt(dim) */
static void score(const struct sequence *s)
{
    const float scale = 1 / sqrtf((float)s->dim);
    const element *keys = s->cache;
    float *to = s->scores;

    for (size_t key = 0; key < s->keys; key++, keys += s->row, to += s->score_row) {
        ask_ahead(s, keys);
        for (size_t h = 0; h < s->heads; h += LANES)
            store(to + h, scale * score_heads(s, keys, h));
    }
}

/* Replaces scores by exp(score - max). */
static void softmax(const struct sequence *s)
{
    for (size_t h = 0; h < s->heads; h += LANES) {
        float *const scores = s->scores + h, *const end = scores + s->keys * s->score_row;
        vf max = load(scores), sum = {0};

        for (const float *p = scores; p < end; p += s->score_row)
            max = larger(load(p), max);
        for (float *p = scores; p < end; p += s->score_row) {
            const vf e = exp_lanes(load(p) - max);
            store(p, e);
            sum += e;
        }
        store(end, 1.0f / sum);
    }
}

/* mix of one head += the sum of p value over `count` positions, one by one. */
PP_INLINE void mix_keys(const struct sequence *s, size_t h, const element *value, const float *p,
                        const size_t count)
{
    float *mix = s->mix + h * s->dim_row;

    for (size_t i = 0; i < s->dim; i += LANES) {
        vf sum = load(mix + i);
        for (size_t key = 0; key < count; key++)
            sum = multiply_add(some_values(value + key * s->row + i, s->dim - i),
                               all(p[key * s->score_row + h]), sum);
        store(mix + i, sum);
    }
}

static void mix(const struct sequence *s)
{
    enum { KEYS = 4 };
    const element *value = s->cache + s->row / 2;
    const float *p = s->scores;

    memset(s->mix, 0, sizeof(float) * s->heads * s->dim_row);
    for (size_t key = 0; key < s->keys; key += KEYS, p += KEYS * s->score_row) {
        const size_t count = s->keys - key < KEYS ? s->keys - key : KEYS;
        const element *from = value + key * s->row;
        for (size_t i = 0; i < count; i++)
            ask_ahead(s, from + i * s->row);
        for (size_t h = 0; h < s->heads; h++)
            if (count == KEYS)
                mix_keys(s, h, from + h / s->group * s->dim, p, KEYS);
            else
                mix_keys(s, h, from + h / s->group * s->dim, p, count);
    }
}

static void attend(const struct sequence *s, const element *query, element *out)
{
    const size_t dim = s->dim;

    for (size_t h = 0; h < s->heads; h++)
        for (size_t i = 0; i < dim; i += LANES)
            store(s->query + h * s->dim_row + i, some_values(query + h * dim + i, dim - i));
    score(s);
    softmax(s);
    mix(s);
    for (size_t h = 0; h < s->heads; h++)
        for (size_t i = 0; i < dim; i += LANES)
            keep(out + h * dim + i, dim - i < LANES ? dim - i : LANES,
                 load(s->mix + h * s->dim_row + i) * s->scores[s->keys * s->score_row + h]);
}

static void attention_cached(void *stream, const struct pp_attention_cached *a)
{
    const size_t dim = (size_t)a->head_dim, heads = (size_t)a->heads, kv = (size_t)a->kv_heads,
                 dim_row = whole_vectors(dim), from = (size_t)pp_cached_from(a);
    float *const scratch = a->scratch;
    struct sequence s = {
        .heads = heads,
        .group = heads / kv,
        .dim = dim,
        .keys = (size_t)a->context - from,
        .row = 2 * kv * dim,
        .score_row = whole_vectors(heads),
        .dim_row = dim_row,
        .query = scratch,
        .mix = scratch + heads * dim_row,
        .scores = scratch + 2 * heads * dim_row,
    };

    (void)stream;
    for (size_t b = 0; b < (size_t)a->batch; b++) {
        s.cache = (const element *)a->cache + (b * (size_t)a->stride + from) * s.row;
        attend(&s, (const element *)a->qkv + b * (heads + 2 * kv) * dim,
               (element *)a->out + b * heads * dim);
    }
}
