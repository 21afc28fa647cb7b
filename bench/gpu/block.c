#include "bench/gpu/block.h"
#include "core/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEQ = 1024, VOCAB = 50304 };

struct block block_of(struct gpu_rig *rig, const struct shape *s, int scale)
{
    const int heads = s->width / HEAD_DIM / scale ? s->width / HEAD_DIM / scale : 1;
    struct block b = {.rig = rig, .heads = heads, .width = heads * HEAD_DIM};

    b.samples = s->samples / scale ? s->samples / scale : 1;
    b.seq = SEQ / scale;
    b.vocab = VOCAB / scale;
    b.rows = b.samples * b.seq;
    const size_t rows = (size_t)b.rows, width = (size_t)b.width, vocab = (size_t)b.vocab;
    const size_t size = rows * width, all = 12 * width * width;
    const size_t largest = vocab * width > all ? vocab * width : all;
    b.x = gpu_bf16(size), b.y = gpu_bf16(size), b.dy = gpu_bf16(size), b.dx = gpu_bf16(size);
    b.qkv = gpu_bf16(3 * size), b.dqkv = gpu_bf16(3 * size);
    b.wide = gpu_bf16(4 * size), b.active = gpu_bf16(4 * size), b.dwide = gpu_bf16(4 * size);
    b.logits = gpu_bf16(rows * vocab);
    b.weights = gpu_bf16(largest), b.dweights = gpu_float(largest);
    b.master = gpu_float(all), b.m = gpu_float(all);
    b.v = gpu_float(all), b.stats = gpu_float(2 * rows);
    b.lse = gpu_float(rows * (size_t)heads);
    b.ids = gpu_shared(rows * sizeof *b.ids);
    b.loss = gpu_shared(rows * sizeof *b.loss);
    b.blocks = gpu_shared((all / PP_SQUARES_BLOCK + 1) * sizeof *b.blocks);
    b.now = gpu_shared(sizeof *b.now);
    *b.now = (struct pp_adamw_step){1e-6, 0.5, 0.5, 1};
    for (size_t i = 0; i < rows; i++)
        b.ids[i] = (int32_t)(pp_random_bits(3, i) % vocab);
    const struct pp_attention a = attention_of(&b);
    b.scratch = gpu_float(pp_kernels_cuda_bf16.attention_scratch_bytes(&a) / sizeof(float) + 1);
    return b;
}

struct pp_attention attention_of(struct block *b)
{
    b->qkv_of[0] = b->qkv, b->dqkv_of[0] = b->dqkv; /* not before: blocks are copied */
    return (struct pp_attention){.batch = b->samples,
                                 .tokens = b->seq,
                                 .heads = b->heads,
                                 .kv_heads = b->heads,
                                 .head_dim = HEAD_DIM,
                                 .qkv = b->qkv_of,
                                 .out = b->y,
                                 .lse = b->lse,
                                 .scratch = b->scratch,
                                 .dout = b->dy,
                                 .dqkv = b->dqkv_of};
}

void report(struct block *b, const char *name, double flops, double bytes,
            void (*call)(void *context), void *context)
{
    const struct gpu_device *d = &b->rig->device;

    if (b->only) {
        if (strcmp(b->only, name) == 0) {
            call(context);
            cudaDeviceSynchronize();
            b->is_found = true;
        }
        return;
    }
    const double s = gpu_time_s(b->rig, call, context);
    const double least_s =
        fmax(bytes / d->bytes_per_s, d->bf16_flops_per_s > 0 ? flops / d->bf16_flops_per_s : 0);
    const double reached_s =
        fmax(bytes / b->rig->copied_bytes_per_s, flops / b->rig->multiplied_flops_per_s);

    fprintf(stderr,
            "  %-24s %9.1f us %8.1f GB/s %7.1f TF/s  roofline %5.1f %%, measured %5.1f %%\n", name,
            s * 1e6, bytes / s * 1e-9, flops / s * 1e-12, 100 * least_s / s, 100 * reached_s / s);
    printf("{\"model\": \"%s\", \"rows\": %d, \"width\": %d, \"kernel\": \"%s\", \"time_s\": %.4g, "
           "\"flops\": %.6g, \"bytes\": %.6g, \"roofline_frac\": %.4f, "
           "\"measured_roofline_frac\": %.4f}\n",
           b->model, b->rows, b->width, name, s, flops, bytes, least_s / s, reached_s / s);
    fflush(stdout);
}
