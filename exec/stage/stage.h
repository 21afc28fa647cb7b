/* exec/stage/stage.h — a chunk of the model: forward, input gradient, weight gradient, written once
 * on a kernel table. Knows nothing of ranks, schedules or messages.
 *
 * Everything is per granule: `rows` samples of a micro-batch (all of them when it is not cut), one
 * sequence split of `tokens` tokens. A stage may hold no block at all: then it passes on what it
 * gets. Where a micro-batch keeps what, in bytes per granule and split:
 *
 *   kept    from F to B/W: the stage's input, and the edge: output of F until the next stage on the
 *           same rank has read it, then the gradient that this stage's backward will find there
 *   saved   from F (or R) to B/W: what the backward of each layer reads; I leaves there what W
 * needs
 *
 * Both are written completely by F, R, I: no padding. Their elements are of the kernels' T, but for
 * statistics and the gradients of norms, which are of G. Where T has 2 bytes, rows * tokens is
 * even.
 */
#pragma once

#include "exec/stage/net.h"
#include "kernels/kernels.h"

struct pp_stage_shape {
    int first_block, blocks; /* of 0 .. layers - 1 */
    bool has_embedding, has_head;
    bool has_edge; /* the next stage lies on the same rank */
    int rows, tokens, splits;
};

/* Rounded up to lines of the cache. */
static inline size_t pp_whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

struct pp_stage {
    const struct pp_net *net;
    struct pp_stage_shape shape;
    struct pp_param *params;
    int param_count;
    struct pp_flat_tensor *tensors; /* the same, for kernels */
    int64_t elements; /* of a flat vector of all parameters: every tensor starts on 16 elements */
    size_t kept_bytes, saved_bytes;
    size_t boundary_bytes;          /* activation between stages: rows * tokens * hidden elements */
    size_t edge_offset;             /* in kept */
    size_t scratch_bytes;           /* of any one call */
    size_t grad_scratch_bytes;      /* largest tensor, for exact gradients */
    struct pp_stage_layout *layout; /* private to exec/stage */
};

/* In the arena; `net` is kept by reference. `element_bytes` of the kernels that will run it. */
struct pp_stage *pp_stage_create(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_stage_shape *shape,
                                 const struct pp_kernels *kernels);

/* The whole model as one stage, in granules of `rows` samples. */
struct pp_stage *pp_stage_whole(struct pp_arena *arena, const struct pp_net *net, int rows,
                                int splits, const struct pp_kernels *kernels);

/* The tensor with an id; NULL when the stage holds none. */
const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id);
/* The tied embedding matrix; NULL when the stage holds none. */
const struct pp_param *pp_stage_tied(const struct pp_stage *stage);

/* Where weight gradients go: `sum`, elements of G, is added to. In exact mode, each tensor's
 * gradient of one granule and split is computed in `scratch`, of G. Then it is added to `fixed`,
 * int64 with PP_GRAD_BITS binary places. So the order of additions does not matter. */
enum { PP_GRAD_BITS = 44 };
struct pp_grads {
    bool is_exact;
    void *sum;
    int64_t *fixed;
    void *scratch;
    int *status; /* enum pp_fixed_status */
};

/* Seconds per kind of layer inside one call, for calibration. The clock is that of the thread. If
 * work runs later, timing events between the parts give the times. */
enum pp_layer_part { PP_PART_EMBEDDING, PP_PART_BLOCK, PP_PART_HEAD, PP_PARTS };
enum { PP_TIMING_BEGIN = 3 * PP_PARTS }; /* of a call */
struct pp_probe {
    double (*now_s)(void); /* of this thread; NULL where there are timing events */
    void (*record_timing)(void *stream);
    /* [timing_count], of all calls since that was 0: PP_TIMING_BEGIN, or what ends there,
     * row of `s` * PP_PARTS + part; room for pp_stage_timings of each call */
    uint8_t *timings;
    int timing_count;
    /* Of the last call: F or R in [0], input gradients in [1], weight gradients in [2]; BLOCK is
     * the sum over the stage's blocks. */
    double s[3][PP_PARTS];
};

int pp_stage_timings(const struct pp_stage *stage); /* at most, of one call */

/* One call. Pointers of a kind that the call does not use may be NULL. */
struct pp_stage_work {
    const struct pp_stage *stage;
    const void *weights;
    struct pp_grads grads;
    int split;
    void *kept;                   /* of this split */
    void *const *saved;           /* [split + 1]: of the splits up to this one, which is the last */
    const void *in;               /* forward: activation, not read with an embedding */
    void *out;                    /* forward: activation, NULL with a head */
    const void *grad_in;          /* I, B: gradient of the output, NULL with a head */
    void *grad_out;               /* I, B: gradient of the input, NULL with an embedding */
    const int32_t *ids, *targets; /* [rows][seq] */
    double loss_scale;            /* 1 / (tokens of a step over all replicas) */
    double *loss;                 /* [rows * tokens] of the head: loss of each token */
    void *scratch;
    struct pp_probe *probe; /* NULL: not wanted */
};
/* Read `in` (or ids), fill kept, saved and out. */
void pp_stage_forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
/* Fill saved again from kept; out is not written. Only without splits. */
void pp_stage_recompute(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
/* I: grad_in -> grad_out. W: weight gradients. B: both, layer by layer, with the same results. */
void pp_stage_input_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
void pp_stage_weight_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
void pp_stage_backward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
