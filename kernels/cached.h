/* kernels/cached.h — a cache of keys and values, and attention of one new token a sequence to it.
 *
 * A cache is [batch][stride][2][kv_heads * head_dim] of T: of each position the keys of all heads,
 * then their values. The caller owns it. A piece of the sequences is a cache, too, which begins
 * with its first. Keys are cached as attention reads them: rotated, if the model rotates.
 *
 * The results of a sequence have the same bits, whatever the others are and however many. */
#pragma once

/* cache_append: keys and values of qkv go to positions first .. first + tokens - 1 of each
 * sequence. Other positions stay. */
struct pp_cache_append {
    int batch, tokens, heads, kv_heads, head_dim;
    int first, stride; /* first + tokens <= stride, the positions of a sequence */
    const void *qkv;   /* [batch * tokens][(heads + 2 kv_heads) * head_dim], as in attention */
    void *cache;
};

/* attention_cached: the query of position context - 1 of each sequence meets itself and those
 * before it, `context` in total, or `window` if that is fewer. Without a window, their order in the
 * cache does not matter. Their keys and values are in the
 * cache, its own too. Scores are scaled by 1 / sqrt(head_dim). Query head h reads key head
 * h / (heads / kv_heads). */
struct pp_attention_cached {
    int batch, heads, kv_heads, head_dim;
    int context;     /* 1 .. stride */
    int stride;      /* positions of a sequence in the cache */
    int window;      /* 0 = none */
    const void *qkv; /* [batch][(heads + 2 kv_heads) * head_dim]; queries are read */
    const void *cache;
    void *out;     /* [batch][heads * head_dim] */
    void *scratch; /* attention_cached_scratch_bytes, which grow with context and batch */
};

/* Returns the first position that the query meets. */
static inline int pp_cached_from(const struct pp_attention_cached *a)
{
    return a->window > 0 && a->window < a->context ? a->context - a->window : 0;
}
