/* exec/stage/stage.h — a chunk of the model: forward, input gradient and weight gradient on a
 * kernel table. It does not depend on ranks, schedules or messages.
 *
 * A call works on a granule: `rows` samples of a micro-batch (all if it is not cut) and one
 * sequence split of `tokens` tokens. A stage without layers passes its input on. Memory of a
 * micro-batch, in bytes per granule and split:
 *
 *   kept    from F to B/W: the stage's input, and the edge to the next stage on the same rank.
 *           The edge is the output of F until that stage has read it, then the gradient for B. If
 *           R computes parts of blocks, also what it does not make
 *   saved   from F (or R) to B/W: other tensors for the backward of each layer; I leaves those
 *           for W
 *
 * F, R and I write them completely, without padding. Elements are of the kernels' T, but statistics
 * and gradients of norms are of G. If T has 2 bytes, rows * tokens is even. */
#pragma once

#include "core/cost/cost.h"
#include "exec/stage/net.h"
#include "kernels/kernels.h"

/* Parts of a stage that R computes again. All 0: the whole stage, from its input. */
struct pp_stage_again {
    unsigned modules; /* of enum pp_again: of each block */
    int blocks;       /* the first ones, each from its input */
};

struct pp_stage_shape {
    int first_block, blocks; /* of 0 .. layers - 1 */
    bool has_embedding, has_head;
    bool has_edge; /* the next stage is on the same rank */
    bool has_w;    /* I and W are called, not B alone */
    bool has_r;    /* R is called, and F that only keeps */
    struct pp_stage_again again;
    int rows, tokens, splits;
    int tp, tp_index; /* devices that share each block, 0 or 1 = none; which of them this is */
};

/* Is true if R computes parts of blocks, or some of them. */
bool pp_stage_is_partly_again(const struct pp_stage_shape *shape);

/* Rounds up to cache lines of 64 bytes. */
static inline size_t pp_whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

struct pp_stage {
    const struct pp_net *net; /* with tensor parallelism, of the part that is here */
    struct pp_stage_shape shape;
    struct pp_param *params;
    int param_count;
    struct pp_flat_tensor *tensors; /* params, as kernels take them */
    int64_t elements; /* of a flat vector of all parameters; tensors begin at multiples of 16 */
    size_t kept_bytes, saved_bytes;
    size_t boundary_bytes;        /* activation between stages: rows * tokens * hidden elements */
    size_t edge_offset;           /* in kept */
    size_t scratch_bytes;         /* most of any call */
    size_t grad_scratch_bytes;    /* for exact gradients: most of any kernel call */
    struct pp_stage_graph *graph; /* private to exec/stage */
};

/* Creates a stage in the arena, for the kernels that will run it; `net` is kept by reference. */
struct pp_stage *pp_stage_create(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_stage_shape *shape,
                                 const struct pp_kernels *kernels);

/* Creates the whole model as one stage, in granules of `rows` samples. */
struct pp_stage *pp_stage_whole(struct pp_arena *arena, const struct pp_net *net, int rows,
                                int splits, const struct pp_kernels *kernels);
/* Does so for device `tp_index` of `tp`. */
struct pp_stage *pp_stage_whole_of(struct pp_arena *arena, const struct pp_net *net, int rows,
                                   int splits, int tp, int tp_index,
                                   const struct pp_kernels *kernels);

/* Return the tensor with an id, or the tied embedding matrix; NULL if the stage has none. */
const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id);
const struct pp_param *pp_stage_tied(const struct pp_stage *stage);

/* Destination of weight gradients: `sum`, elements of G. In exact mode, each tensor's gradient of a
 * granule and split is computed in `scratch`, of G. It is added to `fixed`, int64 with PP_GRAD_BITS
 * binary places, so that the order of additions does not matter. */
enum { PP_GRAD_BITS = 44 };
struct pp_grads {
    bool is_exact;
    void *sum;
    int64_t *fixed;
    void *scratch;
    int *status; /* enum pp_fixed_status */
};

/* Seconds per kind of layer in a call, for calibration. The thread's clock measures them, or timing
 * events between the parts if work runs later. */
enum pp_layer_part {
    PP_PART_EMBEDDING,
    PP_PART_BLOCK,
    PP_PART_HEAD,
    PP_PART_EXPERTS, /* a block with experts */
    PP_PARTS
};
enum { PP_TIMING_BEGIN = 3 * PP_PARTS }; /* begin of a call */
struct pp_probe {
    double (*now_s)(void); /* clock of the thread; NULL with timing events */
    void (*record_timing)(void *stream);
    /* [timing_count], of all calls since it was 0: PP_TIMING_BEGIN, or the part that ended, row of
     * `s` * PP_PARTS + part. It has room for pp_stage_timings() of each call. */
    uint8_t *timings;
    int timing_count;
    /* Times of the last call: F or R in [0], input gradients in [1], weight gradients in [2]. BLOCK
     * and EXPERTS are sums over the stage's blocks. */
    double s[3][PP_PARTS];
};

/* Returns the blocks that R computes again, whole or in part, if it does not compute the stage. */
int pp_stage_blocks_again(const struct pp_stage_shape *shape);
int pp_stage_timings(const struct pp_stage *stage); /* most timings of a call */

/* Arguments of a call; pointers that it does not use may be NULL. */
struct pp_stage_work {
    const struct pp_stage *stage;
    const void *weights;
    struct pp_grads grads;
    int split;
    void *const *kept, *const *saved; /* [split + 1]: of all splits up to this one */
    const void *in;                   /* forward: activation, not read with an embedding */
    void *out;                        /* forward: activation, NULL with a head */
    const void *grad_in;              /* I, B: gradient of the output, NULL with a head */
    void *grad_out;                   /* I, B: gradient of the input, NULL with an embedding */
    const int32_t *ids, *targets;     /* [rows][seq] */
    double loss_scale;                /* 1 / (targets of a step over all replicas that count) */
    double *loss;                     /* [rows * tokens] of the head: loss of each token */
    void *scratch;
    /* F: adds the tokens that each expert takes, and those it has no room for, [mixtures of the
     * stage][experts + 1]; NULL = not wanted */
    double *expert_tokens;
    struct pp_probe *probe; /* NULL = not wanted */
    int segment;            /* with tensor parallelism: the part of the call to run, from 0 on */
};
/* Reads `in` (or ids); fills kept, saved and out. */
void pp_stage_forward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
/* The same, but does not write saved: R will. */
void pp_stage_keep(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
/* R: fills saved from kept; does not write out. With splits only parts of blocks. */
void pp_stage_recompute(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
/* I: grad_in -> grad_out. W: weight gradients. B: both, layer by layer, with the same results. */
void pp_stage_input_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
void pp_stage_weight_grad(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
void pp_stage_backward(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);

/* An exchange of a tensor-parallel group: the sum of a tensor that each device has a part of. All
 * devices call alike, and each gets the sum, added up in their order. */
struct pp_tp_exchange {
    int64_t count;    /* elements of T */
    const void *from; /* the part of this device */
    void *to;         /* its copy of the sum, elsewhere */
};
/* Calls, as above. */
enum pp_stage_call_kind {
    PP_CALL_FORWARD,
    PP_CALL_KEEP,
    PP_CALL_RECOMPUTE,
    PP_CALL_INPUT_GRAD,
    PP_CALL_WEIGHT_GRAD,
    PP_CALL_BACKWARD,
    PP_CALLS
};
typedef void (*pp_stage_call)(const struct pp_kernels *, void *, const struct pp_stage_work *);
extern const pp_stage_call pp_stage_calls[PP_CALLS];
/* Returns the number of exchanges in a call, one after each of its segments but the last. Writes
 * them to `exchanges` unless NULL. */
int pp_stage_exchanges(const struct pp_stage_work *w, enum pp_stage_call_kind kind,
                       struct pp_tp_exchange *exchanges);
/* Returns the number of exchanges in a call that has an output. */
int pp_stage_exchange_count(const struct pp_stage *stage, enum pp_stage_call_kind kind);
/* Returns the time of an exchange by the costs of messages: a ring of `tp` devices. */
int64_t pp_tp_exchange_ps(const struct pp_costs *costs, int tp, double bytes);
/* Adds up one exchange for one device: from[tp] are the parts of all, in order. */
void pp_tp_exchange_run(const struct pp_kernels *k, void *stream,
                        const struct pp_tp_exchange *exchange, int tp, const void *const *from);
