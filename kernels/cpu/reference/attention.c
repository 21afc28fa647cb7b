/* Attention in double precision, row by row of scores. */
#include "kernels/cpu/reference/reference.h"

#include <math.h>

void pp_reference_rotate(void *stream, int batch, int tokens, int heads, int head_dim, int stride,
                         int first, double theta, bool is_inverse, void *x)
{
    const int half = head_dim / 2;

    (void)stream;
    for (int row = 0; row < batch * tokens; row++)
        for (int h = 0; h < heads; h++) {
            double *a = (double *)x + (size_t)row * (size_t)stride + (size_t)(h * head_dim);
            for (int i = 0; i < half; i++) {
                const double angle = (first + row % tokens) * pow(theta, -2.0 * i / head_dim);
                const double c = cos(angle), s = is_inverse ? -sin(angle) : sin(angle);
                const double u = a[i], v = a[i + half];
                a[i] = u * c - v * s;
                a[i + half] = v * c + u * s;
            }
        }
}

/* One query: where its row of every tensor lies. Keys 0 .. keys - 1 of the sequence are seen. */
struct query {
    const struct pp_attention *a;
    size_t batch, width, key_offset, value_offset; /* width: of a token in qkv */
    size_t offset, out_offset;                     /* of the query in qkv[split], in out */
    int keys;
    double scale;
    double *lse;
};

static struct query query_of(const struct pp_attention *a, int b, int h, int t)
{
    const size_t dim = (size_t)a->head_dim, row = (size_t)b * (size_t)a->tokens + (size_t)t;
    const size_t key_head = (size_t)(h / (a->heads / a->kv_heads));
    const size_t width = (size_t)(a->heads + 2 * a->kv_heads) * dim;

    return (struct query){
        .a = a,
        .batch = (size_t)b,
        .width = width,
        .key_offset = ((size_t)a->heads + key_head) * dim,
        .value_offset = ((size_t)(a->heads + a->kv_heads) + key_head) * dim,
        .offset = row * width + (size_t)h * dim,
        .out_offset = (row * (size_t)a->heads + (size_t)h) * dim,
        .keys = a->split * a->tokens + t + 1,
        .scale = 1 / sqrt(a->head_dim),
        .lse = (double *)a->lse + ((size_t)(b * a->heads + h) * (size_t)a->tokens + (size_t)t),
    };
}

/* Where token `key` of the query's sequence begins in qkv[key / tokens]. */
static size_t token_offset(const struct query *q, int key)
{
    const size_t tokens = (size_t)q->a->tokens;

    return (q->batch * tokens + (size_t)key % tokens) * q->width;
}

static const double *values_at(const struct query *q, int key, size_t offset)
{
    return (const double *)q->a->qkv[key / q->a->tokens] + token_offset(q, key) + offset;
}

static double *gradients_at(const struct query *q, int key, size_t offset)
{
    return (double *)q->a->dqkv[key / q->a->tokens] + token_offset(q, key) + offset;
}

static double dot(int count, const double *x, const double *y)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

static double score(const struct query *q, int key)
{
    const double *x = (const double *)q->a->qkv[q->a->split] + q->offset;

    return q->scale * dot(q->a->head_dim, x, values_at(q, key, q->key_offset));
}

static void forward(const struct query *q)
{
    double *out = (double *)q->a->out + q->out_offset, max = -INFINITY, sum = 0;

    for (int key = 0; key < q->keys; key++)
        max = fmax(max, score(q, key));
    for (int key = 0; key < q->keys; key++)
        sum += exp(score(q, key) - max);
    *q->lse = max + log(sum);
    for (int i = 0; i < q->a->head_dim; i++)
        out[i] = 0;
    for (int key = 0; key < q->keys; key++) {
        const double p = exp(score(q, key) - *q->lse);
        for (int i = 0; i < q->a->head_dim; i++)
            out[i] += p * values_at(q, key, q->value_offset)[i];
    }
}

/* d score = p (dp - sum of p dp), and that sum is dout . out (Dao et al. 2022). */
static void backward(const struct query *q)
{
    const double *dout = (const double *)q->a->dout + q->out_offset;
    const double *x = (const double *)q->a->qkv[q->a->split] + q->offset;
    double *dx = (double *)q->a->dqkv[q->a->split] + q->offset;
    const double sum = dot(q->a->head_dim, dout, (const double *)q->a->out + q->out_offset);

    for (int i = 0; i < q->a->head_dim; i++)
        dx[i] = 0;
    for (int key = 0; key < q->keys; key++) {
        const double p = exp(score(q, key) - *q->lse);
        const double dp = dot(q->a->head_dim, dout, values_at(q, key, q->value_offset));
        const double ds = p * (dp - sum) * q->scale;
        for (int i = 0; i < q->a->head_dim; i++) {
            dx[i] += ds * values_at(q, key, q->key_offset)[i];
            gradients_at(q, key, q->key_offset)[i] += ds * x[i];
            gradients_at(q, key, q->value_offset)[i] += p * dout[i];
        }
    }
}

static void each_query(const struct pp_attention *a, void (*visit)(const struct query *))
{
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (int t = 0; t < a->tokens; t++) {
                const struct query q = query_of(a, b, h, t);
                visit(&q);
            }
}

size_t pp_reference_attention_scratch_bytes(const struct pp_attention *a)
{
    (void)a;
    return 0;
}

void pp_reference_attention_forward(void *stream, const struct pp_attention *a)
{
    (void)stream;
    each_query(a, forward);
}

void pp_reference_attention_backward(void *stream, const struct pp_attention *a)
{
    (void)stream;
    each_query(a, backward);
}
