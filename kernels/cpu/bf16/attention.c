/* Attention in bfloat16. Gradients of a key head are sums in double over its queries. */
#include "kernels/cpu/bf16/bf16.h"
#include "kernels/cpu/shared.h"

#include <math.h>
#include <string.h>

struct keys {
    size_t from, until;
};

/* One head of one sequence. Offsets count elements within a token. */
struct head {
    const struct pp_attention *a;
    size_t batch, tokens, dim, width; /* width: of a token in qkv */
    size_t query_offset, key_offset, value_offset, out_offset;
    double scale;
    float *lse;           /* [tokens] */
    double *p;            /* scratch: probabilities of one query, [keys] */
    double *dk, *dv, *dq; /* scratch: [keys][dim], [keys][dim], [dim] */
};

/* Keys that the last query of a split sees. */
static size_t keys_of(const struct pp_attention *a)
{
    return (size_t)(a->split + 1) * (size_t)a->tokens;
}

size_t pp_bf16_attention_scratch_bytes(const struct pp_attention *a)
{
    const size_t keys = keys_of(a), dim = (size_t)a->head_dim;

    return sizeof(double) * (keys + 2 * keys * dim + dim);
}

static struct head head_of(const struct pp_attention *a, size_t b, size_t h)
{
    const size_t dim = (size_t)a->head_dim, heads = (size_t)a->heads,
                 kv_heads = (size_t)a->kv_heads, key_head = h / (heads / kv_heads);
    double *p = a->scratch, *dk = p + keys_of(a), *dv = dk + keys_of(a) * dim;

    return (struct head){.a = a,
                         .batch = b,
                         .tokens = (size_t)a->tokens,
                         .dim = dim,
                         .width = (heads + 2 * kv_heads) * dim,
                         .query_offset = h * dim,
                         .key_offset = (heads + key_head) * dim,
                         .value_offset = (heads + kv_heads + key_head) * dim,
                         .out_offset = h * dim,
                         .scale = 1 / sqrt(a->head_dim),
                         .lse = (float *)a->lse + (b * heads + h) * (size_t)a->tokens,
                         .p = p,
                         .dk = dk,
                         .dv = dv,
                         .dq = dv + keys_of(a) * dim};
}

/* Element `offset` of token `at` of the sequence, counted over splits, in qkv or dqkv. */
static const uint16_t *value_at(const struct head *x, size_t at, size_t offset)
{
    return (const uint16_t *)x->a->qkv[at / x->tokens] +
           (x->batch * x->tokens + at % x->tokens) * x->width + offset;
}
static uint16_t *gradient_at(const struct head *x, size_t at, size_t offset)
{
    return (uint16_t *)x->a->dqkv[at / x->tokens] +
           (x->batch * x->tokens + at % x->tokens) * x->width + offset;
}
/* Place of query t in the sequence. */
static size_t place_of(const struct head *x, size_t t)
{
    return (size_t)x->a->split * x->tokens + t;
}
/* Offset of query t in out and dout. */
static size_t row_of(const struct head *x, size_t t)
{
    return (x->batch * x->tokens + t) * (size_t)x->a->heads * x->dim + x->out_offset;
}

static double dot(size_t count, const uint16_t *x, const uint16_t *y)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += at(x, i) * at(y, i);
    return sum;
}

/* Writes scores of query t into p. Returns the keys that it meets. */
static struct keys score(const struct head *x, size_t t)
{
    const struct pp_keys met = pp_keys_met(x->a, (int)t);
    const struct keys keys = {(size_t)met.from, (size_t)met.until};
    const uint16_t *query = value_at(x, place_of(x, t), x->query_offset);

    for (size_t key = keys.from; key < keys.until; key++)
        x->p[key] = x->scale * dot(x->dim, query, value_at(x, key, x->key_offset));
    return keys;
}

static void forward(const struct head *x, size_t t)
{
    const struct keys keys = score(x, t);
    uint16_t *out = (uint16_t *)x->a->out + row_of(x, t);
    double max = -INFINITY, sum = 0;

    for (size_t key = keys.from; key < keys.until; key++)
        max = fmax(max, x->p[key]);
    for (size_t key = keys.from; key < keys.until; key++)
        sum += x->p[key] = exp(x->p[key] - max);
    x->lse[t] = (float)(max + log(sum));
    for (size_t i = 0; i < x->dim; i++) {
        double y = 0;
        for (size_t key = keys.from; key < keys.until; key++)
            y += x->p[key] * at(value_at(x, key, x->value_offset), i);
        out[i] = from(y / sum);
    }
}

/* d score = p (dp - sum of p dp), and that sum is dout . out (Dao et al. 2022). */
static void backward(const struct head *x, size_t t)
{
    const struct keys keys = score(x, t);
    const size_t own = place_of(x, t);
    const uint16_t *dout = (const uint16_t *)x->a->dout + row_of(x, t);
    const uint16_t *query = value_at(x, own, x->query_offset);
    const double sum = dot(x->dim, dout, (const uint16_t *)x->a->out + row_of(x, t));
    uint16_t *dq = gradient_at(x, own, x->query_offset);

    memset(x->dq, 0, sizeof(double) * x->dim);
    for (size_t key = keys.from; key < keys.until; key++) {
        const uint16_t *k = value_at(x, key, x->key_offset);
        const double p = exp(x->p[key] - (double)x->lse[t]);
        const double dp = dot(x->dim, dout, value_at(x, key, x->value_offset));
        const double ds = p * (dp - sum) * x->scale;
        for (size_t i = 0; i < x->dim; i++) {
            x->dq[i] += ds * at(k, i);
            x->dk[key * x->dim + i] += ds * at(query, i);
            x->dv[key * x->dim + i] += p * at(dout, i);
        }
    }
    for (size_t i = 0; i < x->dim; i++)
        dq[i] = from(x->dq[i]);
}

static void add_keys(const struct head *x)
{
    for (size_t key = 0; key < keys_of(x->a); key++)
        for (size_t i = 0; i < x->dim; i++) {
            uint16_t *dk = gradient_at(x, key, x->key_offset),
                     *dv = gradient_at(x, key, x->value_offset);
            dk[i] = from(at(dk, i) + x->dk[key * x->dim + i]);
            dv[i] = from(at(dv, i) + x->dv[key * x->dim + i]);
        }
}

void pp_bf16_attention_forward(void *stream, const struct pp_attention *a)
{
    (void)stream;
    for (size_t b = 0; b < (size_t)a->batch; b++)
        for (size_t h = 0; h < (size_t)a->heads; h++) {
            const struct head x = head_of(a, b, h);
            for (size_t t = 0; t < x.tokens; t++)
                forward(&x, t);
        }
}

void pp_bf16_attention_backward(void *stream, const struct pp_attention *a)
{
    const size_t heads = (size_t)a->heads, group = heads / (size_t)a->kv_heads;

    (void)stream;
    pp_attention_clear(a, sizeof(uint16_t));
    for (size_t b = 0; b < (size_t)a->batch; b++)
        for (size_t h = 0; h < heads; h++) {
            const struct head x = head_of(a, b, h);
            if (h % group == 0)
                memset(x.dk, 0, sizeof(double) * 2 * keys_of(a) * x.dim);
            for (size_t t = 0; t < x.tokens; t++)
                backward(&x, t);
            if (h % group == group - 1)
                add_keys(&x);
        }
}
