/* Rows of all that is no multiplication of matrices. */
#include "bench/gpu/block.h"
#include "kernels/cuda/attention/cudnn.h"

#include <stdio.h>

static const struct pp_kernels *const k = &pp_kernels_cuda_bf16;

static struct pp_norm norm_of(const struct block *b)
{
    return (struct pp_norm){.rows = b->rows,
                            .width = b->width,
                            .epsilon = 1e-5,
                            .x = b->x,
                            .gamma = b->weights,
                            .beta = b->weights,
                            .y = b->y,
                            .stats = b->stats,
                            .dy = b->dy,
                            .base = b->dx,
                            .dx = b->dx,
                            .dgamma = b->dweights,
                            .dbeta = (float *)b->dweights + b->width,
                            .dgamma_sum = b->m,
                            .dbeta_sum = (float *)b->m + b->width};
}

static void call_norm(void *context)
{
    const struct block *b = context;
    const struct pp_norm n = norm_of(b);

    k->norm_forward(&b->rig->stream, &n);
}

static void call_norm_backward(void *context)
{
    const struct block *b = context;
    const struct pp_norm n = norm_of(b);

    k->norm_backward(&b->rig->stream, &n);
}

static void call_attention(void *context)
{
    struct block *b = context;
    const struct pp_attention a = attention_of(b);

    k->attention_forward(&b->rig->stream, &a);
}

static void call_attention_backward(void *context)
{
    struct block *b = context;
    const struct pp_attention a = attention_of(b);

    k->attention_backward(&b->rig->stream, &a);
}

/* Rows of cuDNN, unless it has left the work to own kernels. */
static void report_cudnn(struct block *b, double flops, double bytes)
{
    struct pp_cuda_stream *stream = &b->rig->stream;
    const struct pp_attention a = attention_of(b);

    stream->cudnn = b->rig->cudnn;
    const bool has_forward = pp_cudnn_attention(stream, &a, false),
               has_backward = pp_cudnn_attention(stream, &a, true);
    fprintf(stderr, "  attention in training: %s\n", pp_cudnn_about());
    if (has_forward)
        report(b, "attention by cuDNN", 2 * flops, 4 * bytes, call_attention, b);
    if (has_backward)
        report(b, "attention backward by cuDNN", 5 * flops, 8 * bytes, call_attention_backward, b);
    stream->cudnn = NULL;
}

static void call_sum_rows(void *context)
{
    const struct block *b = context;

    k->sum_rows(&b->rig->stream, b->rows, 4 * b->width, b->dwide, b->dweights, true);
}

static void call_cross_entropy(void *context)
{
    const struct block *b = context;

    k->cross_entropy(&b->rig->stream, b->samples, b->seq, 0, b->seq, b->vocab, b->vocab, b->ids,
                     1e-4, b->logits, b->loss);
}

static void call_embed(void *context)
{
    const struct block *b = context;

    k->embed_forward(&b->rig->stream, b->samples, b->seq, 0, b->seq, b->width, b->ids, b->weights,
                     b->qkv, b->y);
}

static void call_embed_backward(void *context)
{
    const struct block *b = context;

    k->embed_backward(&b->rig->stream, b->samples, b->seq, 0, b->seq, b->width, b->vocab, b->ids,
                      b->dy, b->dweights, b->master, true);
}

/* The weights of a block. */
static struct pp_flat_tensor all_of(const struct block *b)
{
    return (struct pp_flat_tensor){0, 12 * (int64_t)b->width * b->width, true};
}

static void call_adamw(void *context)
{
    static const struct pp_adamw adamw = {0.9, 0.95, 1e-8, 0.1};
    const struct block *b = context;
    const struct pp_flat_tensor tensor = all_of(b);
    const struct pp_flat flat = {&tensor, 1, 0, tensor.until, b->dweights};

    k->adamw(&b->rig->stream, &flat, &adamw, b->now, b->weights, b->master, b->m, b->v);
}

static void call_squares(void *context)
{
    const struct block *b = context;
    const struct pp_flat_tensor tensor = all_of(b);
    const struct pp_flat flat = {&tensor, 1, 0, tensor.until, b->master};

    k->squares(&b->rig->stream, &flat, b->blocks);
}

/* Attention: two products forward, five backward, over the keys that causality leaves. */
void report_rest(struct block *b)
{
    const double rows = b->rows, size = rows * b->width, logits = rows * b->vocab;
    const double keys = (b->seq + 1) / 2.0, weights = 12.0 * b->width * b->width;
    const double embedded = (double)b->vocab * b->width;

    report(b, "norm", 0, 2 * T * size, call_norm, b);
    report(b, "norm backward", 0, 4 * T * size, call_norm_backward, b);
    report(b, "attention", 4 * size * keys, 4 * T * size, call_attention, b);
    report(b, "attention backward", 10 * size * keys, 8 * T * size, call_attention_backward, b);
    report(b, "up dbias", 0, 4 * T * size, call_sum_rows, b);
    report(b, "cross entropy", 0, 2 * T * logits, call_cross_entropy, b);
    report(b, "embedding", 0, 2 * T * size, call_embed, b);
    report(b, "embedding dW", 0, T * size + 2 * G * embedded, call_embed_backward, b);
    report(b, "adamw of a block", 0, (7 * G + T) * weights, call_adamw, b);
    report(b, "squares of a block", 0, G * weights, call_squares, b);
}
