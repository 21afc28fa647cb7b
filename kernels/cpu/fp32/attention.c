/* Attention, 64 queries at a time, with scores transposed: a row belongs to a key, a lane to a
 * query. So a softmax runs down the rows, and only the queries and the gradient of the output are
 * transposed. Masked scores are skipped, in blocks of 16 x 16; those before a window, key by key.
 * The backward recomputes scores from `lse`: memory grows with the keys, not with their square. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

#include <math.h>

enum { BLOCK = 64 };

/* 64 queries of one head of one sequence, and their scratch. */
struct block {
    const struct pp_attention *a;
    size_t width, out_width;            /* elements of a token in qkv, in out */
    size_t row, query, key, value, out; /* first token; columns of this head */
    size_t first, count, chunks;        /* queries of the split; 16s of them */
    size_t begin, hidden;               /* keys before the diagonal, from the first met on */
    size_t diagonal;                    /* 16s of keys on the diagonal; 0 with full ones */
    float *query_t, *dout_t, *scores, *dscores; /* [head_dim][64] x 2, [keys][64] x 2 */
};

static size_t keys_of(const struct pp_attention *a)
{
    return ((size_t)a->split + 1) * (size_t)a->tokens;
}

size_t PP_AT(attention_scratch_bytes)(const struct pp_attention *a)
{
    return sizeof(float) * BLOCK * 2 * ((size_t)a->head_dim + keys_of(a));
}

static struct block block_of(const struct pp_attention *a, int b, int h, size_t first)
{
    const size_t dim = (size_t)a->head_dim, heads = (size_t)a->heads, kv = (size_t)a->kv_heads;
    const size_t tokens = (size_t)a->tokens, key_head = (size_t)h / (heads / kv);
    const size_t count = tokens - first < BLOCK ? tokens - first : BLOCK;
    const size_t chunks = (count + LANES - 1) / LANES;
    float *scratch = a->scratch;

    return (struct block){
        .a = a,
        .width = (heads + 2 * kv) * dim,
        .out_width = heads * dim,
        .row = (size_t)b * tokens,
        .query = (size_t)h * dim,
        .key = (heads + key_head) * dim,
        .value = (heads + kv + key_head) * dim,
        .out = ((size_t)b * tokens + first) * heads * dim + (size_t)h * dim,
        .first = first,
        .count = count,
        .chunks = chunks,
        .begin = (size_t)pp_keys_met(a, (int)first).from,
        .hidden = a->is_full ? tokens : (size_t)a->split * tokens + first,
        .diagonal = a->is_full ? 0 : chunks,
        .query_t = scratch,
        .dout_t = scratch + dim * BLOCK,
        .scores = scratch + 2 * dim * BLOCK,
        .dscores = scratch + (2 * dim + keys_of(a)) * BLOCK,
    };
}

/* Offset of the first query in the split, of a token in a split. */
static size_t query_at(const struct block *x)
{
    return (x->row + x->first) * x->width + x->query;
}

static size_t token_at(const struct block *x, size_t token)
{
    return (x->row + token) * x->width;
}

/* to [dim][64] = from [count][stride] transposed, times scale; zero beyond. */
static void columns_of(const float *from, size_t stride, size_t count, size_t dim, float scale,
                       float *to)
{
    if (count < BLOCK)
        memset(to, 0, sizeof(float) * dim * BLOCK);
    transpose(from, stride, count, dim, scale, to, BLOCK);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Keys from `token` on of split j against queries from `from` on of the block. */
struct part {
    size_t split, token, keys, from;
};

static float *part_row(const struct block *x, const struct part *p, float *scores)
{
    return scores + (p->split * (size_t)x->a->tokens + p->token) * BLOCK + p->from;
}

/* scores = x queries_t. x is keys or values, at column `column` of qkv. */
static void dot_part(const struct block *x, const struct part *p, size_t column,
                     const float *queries_t, float *scores)
{
    PP_AT(small_gemm)
    (&(struct pp_small_gemm){
        .m = p->keys,
        .n = x->chunks * LANES - p->from,
        .k = (size_t)x->a->head_dim,
        .a = (const float *)x->a->qkv[p->split] + token_at(x, p->token) + column,
        .a_row = x->width,
        .a_column = 1,
        .b = queries_t + p->from,
        .ldb = BLOCK,
        .c = part_row(x, p, scores),
        .ldc = BLOCK,
    });
}

/* to [queries] += scores^T x */
static void mix_part(const struct block *x, const struct part *p, size_t queries, size_t column,
                     float *scores, float *to, size_t ldc)
{
    PP_AT(small_gemm)
    (&(struct pp_small_gemm){
        .m = queries,
        .n = (size_t)x->a->head_dim,
        .k = p->keys,
        .a = part_row(x, p, scores),
        .a_row = 1,
        .a_column = BLOCK,
        .b = (const float *)x->a->qkv[p->split] + token_at(x, p->token) + column,
        .ldb = x->width,
        .c = to + p->from * ldc,
        .ldc = ldc,
        .add = p->split * (size_t)x->a->tokens + p->token > x->begin,
    });
}

/* dx [keys] += scores from. dx is the gradients of keys or values, from is [queries][ldb]. */
static void gradient_part(const struct block *x, const struct part *p, size_t column, float *scores,
                          const float *from, size_t ldb)
{
    PP_AT(small_gemm)
    (&(struct pp_small_gemm){
        .m = p->keys,
        .n = (size_t)x->a->head_dim,
        .k = x->count - p->from,
        .a = part_row(x, p, scores),
        .a_row = BLOCK,
        .a_column = 1,
        .b = from + p->from * ldb,
        .ldb = ldb,
        .c = (float *)x->a->dqkv[p->split] + token_at(x, p->token) + column,
        .ldc = x->width,
        .add = true,
    });
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The keys before the diagonal that are met in a split; there may be none. */
static struct part hidden_part(const struct block *x, size_t split)
{
    const size_t tokens = (size_t)x->a->tokens, from = split * tokens,
                 end = least(x->hidden - from, tokens),
                 token = x->begin > from ? least(x->begin - from, end) : 0;

    return (struct part){split, token, end - token, 0};
}

/* 16 keys on the diagonal, and the queries from the first of them on. */
static struct part diagonal_keys(const struct block *x, size_t chunk)
{
    const size_t from = chunk * LANES;

    return (struct part){(size_t)x->a->split, x->first + from, least(LANES, x->count - from), from};
}

/* 16 queries, and the keys of the diagonal up to them. */
static struct part diagonal_queries(const struct block *x, size_t chunk)
{
    return (struct part){(size_t)x->a->split, x->first, least((chunk + 1) * LANES, x->count),
                         chunk * LANES};
}

static void dot_all(const struct block *x, size_t column, const float *queries_t, float *scores)
{
    struct part p;

    for (size_t split = 0; split <= (size_t)x->a->split; split++) {
        p = hidden_part(x, split);
        if (p.keys > 0)
            dot_part(x, &p, column, queries_t, scores);
    }
    for (size_t c = 0; c < x->diagonal; c++) {
        p = diagonal_keys(x, c);
        dot_part(x, &p, column, queries_t, scores);
    }
}

static void mix_all(const struct block *x, size_t column, float *scores, float *to, size_t ldc)
{
    struct part p;

    for (size_t split = 0; split <= (size_t)x->a->split; split++) {
        p = hidden_part(x, split);
        if (p.keys > 0)
            mix_part(x, &p, x->count, column, scores, to, ldc);
    }
    for (size_t c = 0; c < x->diagonal; c++) {
        p = diagonal_queries(x, c);
        mix_part(x, &p, least(LANES, x->count - p.from), column, scores, to, ldc);
    }
}

static void gradient_all(const struct block *x, size_t column, float *scores, const float *from,
                         size_t ldb)
{
    struct part p;

    for (size_t split = 0; split <= (size_t)x->a->split; split++) {
        p = hidden_part(x, split);
        if (p.keys > 0)
            gradient_part(x, &p, column, scores, from, ldb);
    }
    for (size_t c = 0; c < x->diagonal; c++) {
        p = diagonal_keys(x, c);
        gradient_part(x, &p, column, scores, from, ldb);
    }
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* End of the keys that the queries of a chunk have scores for. */
static size_t keys_end(const struct block *x, size_t chunk)
{
    return x->diagonal > 0 ? x->hidden + least((chunk + 1) * LANES, x->count) : x->hidden;
}

static float *lse_of(const struct block *x, size_t chunk)
{
    const struct pp_attention *a = x->a;
    const size_t head = x->query / (size_t)a->head_dim;

    return (float *)a->lse + (x->row * (size_t)a->heads + head * (size_t)a->tokens) + x->first +
           chunk * LANES;
}

/* Sets scores of later keys to -inf, and those of keys before the window. */
static void mask(const struct block *x, size_t chunk)
{
    const vi lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const vf none = all(-__builtin_inff());
    const struct part p = diagonal_keys(x, chunk);
    const size_t query = x->hidden + chunk * LANES, window = (size_t)x->a->window;
    const size_t end = window > 0 ? least(query + LANES, keys_end(x, chunk) + window) : 0;
    float *row = part_row(x, &p, x->scores);

    for (size_t key = 0; key < p.keys; key++, row += BLOCK)
        store(row, choose(lane < (int32_t)key, none, load(row)));
    row = x->scores + x->begin * BLOCK + chunk * LANES;
    for (size_t key = x->begin + window; key < end; key++, row += BLOCK)
        store(row, choose(lane < (int32_t)key - (int32_t)query, load(row), none));
}

/* Replaces scores of a chunk by exp(score - max); returns 1 / their sum. */
static vf softmax(const struct block *x, size_t chunk)
{
    const size_t keys = keys_end(x, chunk), rest = x->count - chunk * LANES;
    float *const top = x->scores + chunk * LANES;
    vf max = load(top + x->begin * BLOCK), sum = {0};

    for (size_t key = x->begin + 1; key < keys; key++)
        max = larger(load(top + key * BLOCK), max);
    for (size_t key = x->begin; key < keys; key++) {
        const vf e = exp_lanes(load(top + key * BLOCK) - max);
        store(top + key * BLOCK, e);
        sum += e;
    }
    store_some(lse_of(x, chunk), rest, max + log_lanes(sum));
    return 1.0f / sum;
}

static void forward(const struct block *x)
{
    const size_t dim = (size_t)x->a->head_dim;
    const float *qkv = x->a->qkv[x->a->split];
    float *out = (float *)x->a->out + x->out, inverse[BLOCK];

    columns_of(qkv + query_at(x), x->width, x->count, dim, 1 / sqrtf((float)dim), x->query_t);
    dot_all(x, x->key, x->query_t, x->scores);
    for (size_t c = 0; c < x->chunks; c++) {
        if (x->diagonal > 0)
            mask(x, c);
        store(inverse + c * LANES, softmax(x, c));
    }
    mix_all(x, x->value, x->scores, out, x->out_width);
    for (size_t q = 0; q < x->count; q++, out += x->out_width)
        for (size_t i = 0; i < dim; i += LANES)
            store_some(out + i, dim - i, load_some(out + i, dim - i) * inverse[q]);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* sums = dout . out of each query, which is the sum of p dp over its keys (Dao et al. 2022). */
static void dot_out(const struct block *x, float *sums)
{
    const size_t dim = (size_t)x->a->head_dim;
    const float *out = (const float *)x->a->out + x->out,
                *dout = (const float *)x->a->dout + x->out;

    for (size_t q = 0; q < x->count; q++, out += x->out_width, dout += x->out_width) {
        vf sum = {0};
        for (size_t i = 0; i < dim; i += LANES)
            sum += load_some(out + i, dim - i) * load_some(dout + i, dim - i);
        sums[q] = sum_lanes(sum);
    }
}

/* Replaces scores by probabilities p, dscores (dp) by p (dp - sum) scale. */
static void softmax_backward(const struct block *x, size_t chunk, const float *sums, float scale)
{
    const size_t keys = keys_end(x, chunk), at = chunk * LANES;
    const vf lse = load_some(lse_of(x, chunk), x->count - at), sum = load(sums + at);

    for (size_t key = x->begin; key < keys; key++) {
        float *s = x->scores + key * BLOCK + at, *d = x->dscores + key * BLOCK + at;
        const vf p = exp_lanes(load(s) - lse);
        store(s, p);
        store(d, p * (load(d) - sum) * scale);
    }
}

static void backward(const struct block *x)
{
    const size_t dim = (size_t)x->a->head_dim;
    const float scale = 1 / sqrtf((float)dim), *qkv = x->a->qkv[x->a->split];
    const float *dout = (const float *)x->a->dout + x->out;
    float *dqueries = (float *)x->a->dqkv[x->a->split] + query_at(x), sums[BLOCK] = {0};

    columns_of(qkv + query_at(x), x->width, x->count, dim, scale, x->query_t);
    columns_of(dout, x->out_width, x->count, dim, 1, x->dout_t);
    dot_out(x, sums);
    dot_all(x, x->key, x->query_t, x->scores);
    dot_all(x, x->value, x->dout_t, x->dscores);
    for (size_t c = 0; c < x->chunks; c++) {
        if (x->diagonal > 0)
            mask(x, c);
        softmax_backward(x, c, sums, scale);
    }
    mix_all(x, x->key, x->dscores, dqueries, x->width);
    gradient_all(x, x->value, x->scores, dout, x->out_width);
    gradient_all(x, x->key, x->dscores, qkv + query_at(x), x->width);
}

static void each_block(const struct pp_attention *a, void (*visit)(const struct block *))
{
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (size_t first = 0; first < (size_t)a->tokens; first += BLOCK) {
                const struct block x = block_of(a, b, h, first);
                visit(&x);
            }
}

void PP_AT(attention_forward)(void *stream, const struct pp_attention *a)
{
    (void)stream;
    each_block(a, forward);
}

void PP_AT(attention_backward)(void *stream, const struct pp_attention *a)
{
    (void)stream;
    pp_attention_clear(a, sizeof(float));
    each_block(a, backward);
}
