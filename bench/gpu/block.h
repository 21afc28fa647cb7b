/* bench/gpu/block.h — the tensors of a block and of the ends of GPT-2 in bf16, and rows of the
 * table of kernels over them. */
#ifndef PP_BENCH_GPU_BLOCK_H
#define PP_BENCH_GPU_BLOCK_H

#include "bench/gpu/rig.h"
#include "kernels/cuda/table.h"

enum { HEAD_DIM = 64, T = 2, G = 4 }; /* bytes of an element */
struct shape {
    const char *model;
    int width, samples;
};

/* A block's tensors; [rows][...] of T unless it says otherwise. */
struct block {
    struct gpu_rig *rig;
    int width, heads, rows, seq, samples, vocab;
    void *x, *y, *dy, *dx;       /* [width] */
    void *qkv, *dqkv;            /* [3 width] */
    void *wide, *active, *dwide; /* [4 width] */
    void *logits;                /* [vocab] */
    void *weights, *dweights;    /* of the largest matrix; dweights of G, as all below */
    void *master, *m, *v, *stats, *lse, *scratch;
    int32_t *ids;
    double *loss, *blocks;
    struct pp_adamw_step *now;
    const void *qkv_of[1];
    void *dqkv_of[1];
    const char *model;
    const char *only; /* NULL, or the row that is called once, without a time */
    bool is_found;    /* it was called */
};

/* Until gpu_release. `scale` divides the shape: a trial of the table. */
struct block block_of(struct gpu_rig *rig, const struct shape *s, int scale);
struct pp_attention attention_of(struct block *b);

/* Time a call and add its row, unless another one is called alone. `bytes` are what has to be moved
 * when each tensor is read or written once. */
void report(struct block *b, const char *name, double flops, double bytes,
            void (*call)(void *context), void *context);
void report_gemms(struct block *b);
void report_rest(struct block *b);

#endif
