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
                            .dgamma_added = b->m,
                            .dbeta_added = (float *)b->m + b->width,
                            .dx_sum = (float *)b->dweights + 2 * b->width,
                            .dx_added = (float *)b->m + 2 * b->width};
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

/* Two products forward, five backward. */
static void report_attention(struct block *b, const char *by, double flops, double bytes)
{
    char forward[64], backward[64];

    snprintf(forward, sizeof forward, "attention%s", by);
    snprintf(backward, sizeof backward, "attention backward%s", by);
    report(b, forward, 2 * flops, 4 * bytes, call_attention, b);
    report(b, backward, 5 * flops, 8 * bytes, call_attention_backward, b);
}

/* Rows of cuDNN, unless it leaves the work to own kernels. */
static void report_cudnn(struct block *b, double flops, double bytes)
{
    struct pp_cuda_stream *stream = &b->rig->stream;
    const struct pp_attention a = attention_of(b);

    stream->cudnn = b->rig->cudnn;
    if (pp_cudnn_attention(stream, &a, false) && pp_cudnn_attention(stream, &a, true))
        report_attention(b, " by cuDNN", flops, bytes);
    fprintf(stderr, "  attention in training: %s\n", pp_cudnn_about());
    stream->cudnn = NULL;
}

/* The gradient of a bias of `times` the width. */
static void sum_rows(const struct block *b, int times)
{
    k->sum_rows(&b->rig->stream, b->rows, times * b->width, b->dwide, b->dweights, true);
}

static void call_up_bias(void *context)
{
    sum_rows(context, 4);
}

static void call_qkv_bias(void *context)
{
    sum_rows(context, 3);
}

static void call_cross_entropy(void *context)
{
    const struct block *b = context;

    k->cross_entropy(&b->rig->stream, b->samples, b->seq, 0, b->seq, b->vocab, b->vocab, b->ids,
                     1e-4, b->logits, b->loss);
}

static struct pp_embedding embedding_of(const struct block *b)
{
    return (struct pp_embedding){.batch = b->samples,
                                 .tokens = b->seq,
                                 .stride = b->seq,
                                 .width = b->width,
                                 .words = b->vocab,
                                 .ids = b->ids,
                                 .table = b->weights,
                                 .positions = b->qkv,
                                 .y = b->y,
                                 .dy = b->dy,
                                 .dtable = b->dweights,
                                 .dpositions = b->master,
                                 .add = true};
}

static void call_embed(void *context)
{
    const struct block *b = context;

    const struct pp_embedding e = embedding_of(b);

    k->embed_forward(&b->rig->stream, &e);
}

static void call_embed_backward(void *context)
{
    const struct block *b = context;

    const struct pp_embedding e = embedding_of(b);

    k->embed_backward(&b->rig->stream, &e);
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

/* Activations at rest in 8 bits. Bytes are those of a copy, which it is compared with. */
static void call_quantise(void *context)
{
    const struct block *b = context;

    k->quantise(&b->rig->stream, 8, (int64_t)b->rows * b->width, b->x, b->y);
}

static void call_restore(void *context)
{
    const struct block *b = context;

    k->restore(&b->rig->stream, 8, (int64_t)b->rows * b->width, b->y, b->dx);
}

/* Attention is over the keys that causality leaves. */
void report_rest(struct block *b)
{
    const double rows = b->rows, size = rows * b->width, logits = rows * b->vocab;
    const double keys = (b->seq + 1) / 2.0, weights = 12.0 * b->width * b->width;
    const double embedded = (double)b->vocab * b->width;

    report(b, "norm", 0, 2 * T * size, call_norm, b);
    report(b, "norm backward", 0, 4 * T * size, call_norm_backward, b);
    report_attention(b, "", 2 * size * keys, T * size);
    report_cudnn(b, 2 * size * keys, T * size);
    report(b, "qkv dbias", 0, 3 * T * size, call_qkv_bias, b);
    report(b, "up dbias", 0, 4 * T * size, call_up_bias, b);
    report(b, "cross entropy", 0, 2 * T * logits, call_cross_entropy, b);
    report(b, "embedding", 0, 2 * T * size, call_embed, b);
    report(b, "embedding dW", 0, T * size + 2 * G * embedded, call_embed_backward, b);
    report(b, "adamw of a block", 0, (8 * G + T) * weights, call_adamw, b);
    report(b, "squares of a block", 0, G * weights, call_squares, b);
    report(b, "quantise 8 bits", 0, 2 * T * size, call_quantise, b);
    report(b, "restore 8 bits", 0, 2 * T * size, call_restore, b);
}
