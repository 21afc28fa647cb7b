/* exec/nodes/work.h — a stage, and the arguments of a call: see exec/stage/stage.h. */
#pragma once

#include "exec/net/net.h"
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
    bool is_moved; /* saved activations move between memory tiers */
    bool has_w;    /* I and W are called, not B alone */
    bool has_r;    /* R is called, and F that only keeps */
    struct pp_stage_again again;
    int act_bits;    /* of a saved value at rest: 2, 4 or 8, without has_w; 0 = all */
    bool is_rounded; /* act_bits: values are rounded to these bits, but rest in full */
    int rows, tokens, splits;
    int tp, tp_index; /* devices that share each block, 0 or 1 = none; which of them this is */
    int etp;          /* devices of these that share each expert; divides tp, 0 = tp */
    int ep, ep_index; /* replicas that share the experts, likewise */
    /* devices that share each block also share the tokens of the residual stream and its norms; tp
     * divides rows * tokens */
    bool is_sequence_parallel;
    /* parts by rows of a multiplication whose result the group adds up: each part is added up while
     * the next one is computed. Divides rows * tokens; 0 or 1 = none */
    int tp_split;
    /* positions of a sequence in the cache of a stage that generates: see exec/stage/generate.h.
     * 0 = the stage trains */
    int context;
};

/* Devices of a tensor-parallel group are sets of `etp` neighbours. Each set has different experts,
 * and replicas share these. */
struct pp_expert_share {
    int etp, etp_index, sets;
    int of_set, first_of_set; /* experts of this device's set; the first of them */
    int here, first;          /* of this device */
};
static inline struct pp_expert_share pp_share_experts(const struct pp_stage_shape *shape,
                                                      int experts)
{
    const int tp = shape->tp > 1 ? shape->tp : 1, etp = shape->etp > 0 ? shape->etp : tp,
              of_set = experts / (tp / etp), here = of_set / (shape->ep > 1 ? shape->ep : 1),
              first_of_set = shape->tp_index / etp * of_set;

    return (struct pp_expert_share){.etp = etp,
                                    .etp_index = shape->tp_index % etp,
                                    .sets = tp / etp,
                                    .of_set = of_set,
                                    .first_of_set = first_of_set,
                                    .here = here,
                                    .first = first_of_set + shape->ep_index * here};
}

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
    struct pp_flat_tensor *tensors; /* params, as kernels take them: those of experts one by one */
    int tensor_count;
    int64_t elements;     /* of a flat vector of all parameters; tensors begin at multiples of 16 */
    int64_t experts_from; /* first of experts that replicas share, which are last; 0 = none */
    size_t kept_bytes, saved_bytes;
    struct pp_left {
        size_t first, second, until;
    } kept_left, saved_left; /* what F leaves in each: bytes below `first`, and from `second`
                              * to `until`. I or B alone writes the rest */
    size_t packed_bytes, unpacked_bytes; /* of these, in few bits; and the same values in full */
    size_t rounded_bytes;                /* of these, in full but of few bits */
    size_t boundary_bytes;        /* activation between stages: rows * tokens * hidden elements, or
                                   * this device's share of them; sums of balance follow */
    size_t balance_at;            /* where they do */
    size_t edge_offset;           /* in kept */
    size_t scratch_bytes;         /* most of any call */
    int cache_positions;          /* of a sequence, in all blocks; 0 = the stage trains */
    size_t grad_scratch_bytes;    /* for exact gradients: most of any kernel call */
    struct pp_stage_graph *graph; /* private to exec/nodes and exec/stage */
};

/* Exchange of rows between replicas that share experts. PP_ROWS_COUNT: first rows of all experts, a
 * "row" for each replica. PP_ROWS_OUT: rows to where their experts are. PP_ROWS_BACK: rows to where
 * their tokens are. */
enum pp_rows_way { PP_ROWS_NONE, PP_ROWS_COUNT, PP_ROWS_OUT, PP_ROWS_BACK };
struct pp_rows_exchange {
    enum pp_rows_way way;
    int devices, index;    /* replicas that share experts; which of them this is */
    int experts;           /* of each */
    const int32_t *begins; /* [devices][stride] see struct pp_row_exchange */
    int stride;
    int slot_rows;                /* most rows that go from one to another */
    size_t row_bytes, room_bytes; /* of a row; of `to`, whose rest becomes 0 */
    double step_bytes;            /* from one replica to another, at balance */
    double *moved_bytes;          /* counts rows from other replicas; NULL = not wanted */
    const void *from;
    void *to;
};
/* Does one exchange for one replica: from[devices] are those of all. */
void pp_rows_exchange_run(const struct pp_kernels *k, void *stream,
                          const struct pp_rows_exchange *exchange, const void *const *from);
/* The same in two steps, on a device: `slots` becomes what others read, a slot of so many bytes for
 * each. The slots of all for this replica are from[devices]. */
size_t pp_rows_slot_bytes(const struct pp_rows_exchange *exchange);
void pp_rows_exchange_pack(const struct pp_kernels *k, void *stream,
                           const struct pp_rows_exchange *exchange, void *slots);
/* Loads the kernels of the first step; the result is undefined. */
void pp_rows_exchange_try(const struct pp_kernels *k, void *stream,
                          const struct pp_rows_exchange *exchange);
void pp_rows_exchange_unpack(const struct pp_kernels *k, void *stream,
                             const struct pp_rows_exchange *exchange, const void *const *from);
struct pp_piece {
    size_t offset, bytes;
};
/* Range of the rows of replica `from` that replica `to` reads. */
struct pp_piece pp_rows_exchange_piece(const struct pp_rows_exchange *exchange, int from, int to);

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

/* The result of an exchange: the sum of all parts of a tensor, in the order of members, or the
 * largest of each element. Elements are of T, or of G. SCATTER: this member's share of tokens of
 * the sum. GATHER: the shares of all, one after the other. */
enum pp_exchange_rule {
    PP_RULE_SUM,
    PP_RULE_SUM_OF_G,
    PP_RULE_MAX_OF_G,
    PP_RULE_SCATTER,
    PP_RULE_GATHER,
    PP_RULES
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

/* Returns the bytes of one sequence in the cache of a stage that generates. */
size_t pp_stage_sequence_bytes(const struct pp_stage *stage);

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
    /* F and exchanges add to the numbers of pp_net_expert_tokens(), of mixtures of the stage; NULL
     * = not wanted */
    double *expert_tokens;
    struct pp_probe *probe; /* NULL = not wanted */
    int segment;            /* with exchanges: the part of the call to run, from 0 on */
    /* of a stage that generates */
    int position; /* of the first token of each sequence; 0 = the call reads prompts */
    void *cache;  /* of the first sequence of the call; NULL = it is not wanted */
    void *logits; /* of the head: see pp_stage_logits_bytes() */
};
