/* tests/cuda/attention_case.h — attention of the CUDA kernels, forward of all splits and then
 * backward, held against the reference in double on the same values. */
#ifndef PP_TESTS_CUDA_ATTENTION_CASE_H
#define PP_TESTS_CUDA_ATTENTION_CASE_H

#include "kernels/cuda/device/functions.h"
#include "tests/cuda/device.h"

#include <math.h>

enum { MAX_SPLITS = 3 };

struct problem {
    int head_dim, heads, kv_heads, tokens, splits, batch;
    double scale;     /* of queries, keys, values */
    int offset;       /* elements by which tensors miss 16 bytes */
    double looseness; /* factor on tolerances of fp32 */
    bool is_low;      /* all scores are below 0 */
    int window;       /* keys that a query meets; 0 = all */
    bool is_full;     /* of an encoder */
};

struct scene {
    struct problem p;
    bool is_bf16;
    struct drawn_tensor qkv[MAX_SPLITS], dqkv[MAX_SPLITS], out[MAX_SPLITS], dout[MAX_SPLITS],
        lse[MAX_SPLITS];
    void *scratch;
};

static inline void draw(struct drawn_tensor *of_splits, const struct problem *p, size_t count,
                        bool is_bf16, double scale)
{
    for (int j = 0; j < p->splits; j++)
        of_splits[j] = drawn_tensor(count, is_bf16, scale, p->offset);
}

static inline struct pp_attention shape_of(const struct problem *p, int split)
{
    return (struct pp_attention){.batch = p->batch,
                                 .tokens = p->tokens,
                                 .heads = p->heads,
                                 .kv_heads = p->kv_heads,
                                 .head_dim = p->head_dim,
                                 .split = split,
                                 .window = p->window,
                                 .is_full = p->is_full};
}

/* Queries become positive, keys negative. */
static inline void make_low(struct scene *s)
{
    const size_t query = (size_t)(s->p.heads * s->p.head_dim);
    const size_t key = query + (size_t)(s->p.kv_heads * s->p.head_dim);
    const size_t width = 2 * key - query;

    for (int j = 0; j < s->p.splits; j++) {
        double *x = s->qkv[j].host;
        for (size_t i = 0; i < s->qkv[j].count; i++)
            if (i % width < key)
                x[i] = i % width < query ? fabs(x[i]) : -fabs(x[i]);
        device_write(s->qkv[j].device, x, s->qkv[j].count, s->is_bf16);
    }
}

static inline struct scene scene_of(const struct problem *p, bool is_bf16)
{
    const size_t rows = (size_t)(p->batch * p->tokens), out = (size_t)(p->heads * p->head_dim);
    const size_t width = out + (size_t)(2 * p->kv_heads * p->head_dim);
    const struct pp_attention last = shape_of(p, p->splits - 1);
    struct scene s = {.p = *p, .is_bf16 = is_bf16};

    draw(s.qkv, p, rows * width, is_bf16, p->scale);
    if (p->is_low)
        make_low(&s);
    draw(s.dqkv, p, rows * width, is_bf16, 0.5);
    draw(s.out, p, rows * out, is_bf16, 1);
    draw(s.dout, p, rows * out, is_bf16, 1);
    draw(s.lse, p, rows * (size_t)p->heads, false, 1);
    s.scratch = device_bytes(pp_cuda_attention_scratch_bytes(&last));
    return s;
}

static inline void scene_free(struct scene *s)
{
    for (int j = 0; j < s->p.splits; j++) {
        drawn_tensor_free(&s->qkv[j]);
        drawn_tensor_free(&s->dqkv[j]);
        drawn_tensor_free(&s->out[j]);
        drawn_tensor_free(&s->dout[j]);
        drawn_tensor_free(&s->lse[j]);
    }
    device_must(cudaFree(s->scratch));
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef void (*call)(void *stream, const struct pp_attention *a);

static inline void *at(const struct drawn_tensor *t, bool on_device)
{
    return on_device ? t->device : t->host;
}

/* All splits: in order, or, `is_backward`, in reverse. */
static inline void run(const struct scene *s, void *stream, bool on_device, call what,
                       bool is_backward)
{
    const void *qkv[MAX_SPLITS];
    void *dqkv[MAX_SPLITS];

    for (int j = 0; j < s->p.splits; j++) {
        qkv[j] = at(&s->qkv[j], on_device);
        dqkv[j] = at(&s->dqkv[j], on_device);
    }
    for (int i = 0; i < s->p.splits; i++) {
        const int j = is_backward ? s->p.splits - 1 - i : i;
        struct pp_attention a = shape_of(&s->p, j);
        a.qkv = qkv;
        a.dqkv = dqkv;
        a.out = at(&s->out[j], on_device);
        a.dout = at(&s->dout[j], on_device);
        a.lse = at(&s->lse[j], on_device);
        a.scratch = s->scratch;
        a.add = j + 1 < s->p.splits;
        what(stream, &a);
    }
}

static inline void launch_device(const struct scene *s)
{
    struct pp_cuda_stream *stream = device_stream();

    run(s, stream, true,
        s->is_bf16 ? pp_cuda_attention_forward_bf16 : pp_cuda_attention_forward_fp32, false);
    run(s, stream, true,
        s->is_bf16 ? pp_cuda_attention_backward_bf16 : pp_cuda_attention_backward_fp32, true);
}

static inline void run_device(const struct scene *s)
{
    launch_device(s);
    device_finish();
}

/* ---- comparison ------------------------------------------------------------------------------ */

static inline double largest(const double *x, size_t count)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

static inline void compare(const struct scene *s, const double *got, const double *want,
                           size_t count, double tolerance, const char *what, size_t at)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(fabs(got[i] - want[i]) <= tolerance,
                  "%s, %s: element %zu of %zu (part %zu): %.9g is not %.9g, by %.3g > %.3g; "
                  "head_dim %d, heads %d, kv_heads %d, tokens %d, splits %d, batch %d, window %d%s",
                  s->is_bf16 ? "bf16" : "fp32", what, i, count, at, got[i], want[i],
                  fabs(got[i] - want[i]), tolerance, s->p.head_dim, s->p.heads, s->p.kv_heads,
                  s->p.tokens, s->p.splits, s->p.batch, s->p.window, s->p.is_full ? ", full" : "");
}

/* Each head's row of out by its own scale. */
static inline void compare_out(const struct scene *s, int j, double tolerance)
{
    const size_t dim = (size_t)s->p.head_dim;
    const double *want = s->out[j].host;
    double *got = drawn_tensor_read(&s->out[j]);

    for (size_t i = 0; i < s->out[j].count; i += dim)
        compare(s, got + i, want + i, dim, tolerance * largest(want + i, dim), "out", i / dim);
    free(got);
}

static inline void compare_lse(const struct scene *s, int j, double tolerance)
{
    const struct drawn_tensor *want = &s->lse[j];
    double *got = drawn_tensor_read(want);

    compare(s, got, want->host, want->count, tolerance * fmax(1, largest(want->host, want->count)),
            "lse", 0);
    free(got);
}

/* Compares gradients of queries, keys and values, each relative to the largest of its kind, or to
 * 0.1. Gradients of a query that sees a single key are 0: they are differences of nonzero terms. */
static inline void compare_gradients(const struct scene *s, int j, double tolerance)
{
    const size_t query = (size_t)(s->p.heads * s->p.head_dim);
    const size_t key = (size_t)(s->p.kv_heads * s->p.head_dim), width = query + 2 * key;
    const struct {
        const char *name;
        size_t first, count;
    } parts[] = {{"dqueries", 0, query}, {"dkeys", query, key}, {"dvalues", query + key, key}};
    const struct drawn_tensor *want = &s->dqkv[j];
    double *got = drawn_tensor_read(want);

    for (size_t p = 0; p < 3; p++) {
        double scale = 0.1;
        for (size_t i = parts[p].first; i < want->count; i += width)
            scale = fmax(scale, largest(want->host + i, parts[p].count));
        for (size_t i = parts[p].first; i < want->count; i += width)
            compare(s, got + i, want->host + i, parts[p].count, tolerance * scale, parts[p].name,
                    i / width);
    }
    free(got);
}

/* The reference's backward gets what the device's got: out and lse of the device. */
static inline void try_problem(const struct problem *p, bool is_bf16)
{
    struct scene s = scene_of(p, is_bf16);
    const double tolerance = p->looseness > 0 ? 1e-5 * p->looseness : 1e-5;

    run_device(&s);
    run(&s, NULL, false, pp_kernels_reference.attention_forward, false);
    for (int j = 0; j < p->splits; j++) {
        compare_lse(&s, j, tolerance);
        compare_out(&s, j, is_bf16 ? 1e-2 : tolerance);
        device_read(s.out[j].device, s.out[j].host, s.out[j].count, is_bf16);
        device_read(s.lse[j].device, s.lse[j].host, s.lse[j].count, false);
    }
    run(&s, NULL, false, pp_kernels_reference.attention_backward, true);
    for (int j = 0; j < p->splits; j++)
        compare_gradients(&s, j, is_bf16 ? 1e-2 : tolerance);
    scene_free(&s);
}

static inline void try_problems(const struct problem *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        try_problem(&p[i], false);
        try_problem(&p[i], true);
    }
}

#define TRY(problems) try_problems(problems, sizeof(problems) / sizeof *(problems))

#endif
