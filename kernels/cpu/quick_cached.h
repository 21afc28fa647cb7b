/* kernels/cpu/quick_cached.h — attention of one query a sequence to cached keys and values, as
 * vector code. Keys are read once, in the order of the cache, for all heads; then values. So the
 * work goes at the speed of memory. The file that includes this first defines T, `element`. Later
 * it defines
 *
 *   vt values(const element *x)                    WIDTH elements
 *   void keep(element *to, size_t count, vf v)     the first `count` of 16, rounded */
#pragma once

#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

#include <math.h>

/* PP_TILE_WIDTH, from meson.build: lanes of a register. */
enum { WIDTH = PP_TILE_WIDTH, PIECES = LANES / WIDTH };
typedef float vt __attribute__((vector_size(4 * PP_TILE_WIDTH)));
typedef float vt_unaligned __attribute__((vector_size(4 * PP_TILE_WIDTH), aligned(4), may_alias));

PP_INLINE vt values(const element *x);
PP_INLINE void keep(element *to, size_t count, vf v);

/* a b + c, fused if the level has it. */
PP_INLINE vt fuse(vt a, vt b, vt c)
{
#if PP_TILE_WIDTH == 16
    return (vt)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif PP_TILE_WIDTH == 8
    return (vt)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

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

/* Returns 16 elements: x, or a copy of the first `count` with zeros after them. */
PP_INLINE const element *whole(const element *x, size_t count, element copy[LANES])
{
    if (count >= LANES)
        return x;
    memset(copy, 0, sizeof(element) * LANES);
    memcpy(copy, x, sizeof(element) * count);
    return copy;
}

/* Asks for the keys, or values, of a later position. */
PP_INLINE void ask_ahead(const struct sequence *s, const element *x)
{
    enum { AHEAD = 6, LINE = 64 };
    const uintptr_t from = (uintptr_t)x + AHEAD * s->row * sizeof(element);

    for (size_t at = 0; at < s->row / 2 * sizeof(element); at += LINE)
        __builtin_prefetch((const void *)(from + at), 0, 2);
}

/* Sums of products of one query and key, lane by lane: `to` is their sum by the tree of sum_lanes.
 */
PP_INLINE float dot(const float *query, const element *key, size_t dim)
{
    vt sum[PIECES] = {{0}};
    element copy[LANES];
    vf lanes;

    for (size_t i = 0; i < dim; i += LANES) {
        const element *x = whole(key + i, dim - i, copy);
#pragma GCC unroll 4
        for (int v = 0; v < PIECES; v++)
            sum[v] =
                fuse(*(const vt_unaligned *)(query + i + v * WIDTH), values(x + v * WIDTH), sum[v]);
    }
    memcpy(&lanes, sum, sizeof lanes);
    return sum_lanes(lanes);
}

/* scores = query . key / sqrt(dim), and 0 after the last head */
static void score(const struct sequence *s)
{
    const float scale = 1 / sqrtf((float)s->dim);
    const element *keys = s->cache;
    float *to = s->scores;

    for (size_t key = 0; key < s->keys; key++, keys += s->row, to += s->score_row) {
        ask_ahead(s, keys);
        for (size_t h = 0; h < s->heads; h++)
            to[h] = scale * dot(s->query + h * s->dim_row, keys + h / s->group * s->dim, s->dim);
        for (size_t h = s->heads; h < s->score_row; h++)
            to[h] = 0;
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
    element copy[LANES];

    for (size_t i = 0; i < s->dim; i += LANES) {
        float *mix = s->mix + h * s->dim_row + i;
        vt sum[PIECES];
        memcpy(sum, mix, sizeof sum);
        for (size_t key = 0; key < count; key++) {
            const element *x = whole(value + key * s->row + i, s->dim - i, copy);
#pragma GCC unroll 4
            for (int v = 0; v < PIECES; v++)
                sum[v] = fuse(values(x + v * WIDTH), p[key * s->score_row + h] - (vt){0}, sum[v]);
        }
        memcpy(mix, sum, sizeof sum);
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

static void load_query(const struct sequence *s, const element *query)
{
    element copy[LANES];

    for (size_t h = 0; h < s->heads; h++)
        for (size_t i = 0; i < s->dim; i += LANES) {
            const element *x = whole(query + h * s->dim + i, s->dim - i, copy);
            for (size_t v = 0; v < LANES; v += WIDTH)
                *(vt_unaligned *)(s->query + h * s->dim_row + i + v) = values(x + v);
        }
}

static void attend(const struct sequence *s, const element *query, element *out)
{
    const float *inverse = s->scores + s->keys * s->score_row;

    load_query(s, query);
    score(s);
    softmax(s);
    mix(s);
    for (size_t h = 0; h < s->heads; h++)
        for (size_t i = 0; i < s->dim; i += LANES)
            keep(out + h * s->dim + i, s->dim - i < LANES ? s->dim - i : LANES,
                 load(s->mix + h * s->dim_row + i) * inverse[h]);
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
