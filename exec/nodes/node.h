/* exec/nodes/node.h — private to exec/nodes and exec/stage: a node of a stage, and its tensors.
 *
 * Per granule and split, T = rows * tokens. Every matrix is stored [out][in]. So a forward is x
 * W^T, an input gradient dy W and a weight gradient dy^T x. In OpenBLAS at widths of 128 to 1024,
 * the other layout differs only by noise.
 *
 * A node makes y of x. Its I makes dx, the gradient of x, of dy. Its W makes the gradients of its
 * parameters. If x has several readers, dx includes `dx_base`, the gradients that come before. The
 * gradient of the base of a LINEAR is that of its output.
 *
 *   node     y                          I reads               W reads     other tensors
 *   EMBED    rows of tables             -                     dy
 *   GATHER   x of all tokens            - (see below)         -
 *   NORM     norm of x                  x, stats, dy          dnorm       stats [T][2] of G: mean,
 *                                                                         1 / deviation; dnorm
 *   LINEAR   base + x W^T + bias        dy                    x, dy       act = GELU of y
 *   QK_NORM  x, heads of queries and    x, stats, dy: dx is   dnorm       stats, for each head;
 *            keys normalized            in dy                             dnorm; bias: gain of keys
 *   ATTEND   attention of x, rotated    x, y, stats, dy       -           stats = lse, [T heads]
 *   GATE     SwiGLU of x                x, dy: dx is in x     -
 *   ROUTE    - (see struct pp_routes)   x, gates, dgates:     -           x: logits of experts
 *                                       dx is in x
 *   DISPATCH rows of x                  order, dy             -
 *   GROUPED  x W^T + bias, by expert    order, dy             x, dy       act, as of LINEAR
 *   COMBINE  base + gates times rows x  x, gates, dy:         -           I also makes dgates
 *                                       dx is in x
 *   ACTIVATE f(x)                       x, dy: dx is in dy    -
 *   LOSS     F leaves dx in x           -                     -           max, sums: see below
 *
 * If x of a LINEAR is `act` of another, its I makes the gradient of the other's y, `slope_of`. So
 * no multiplication may write what its epilogue reads. dnorm has rows of [hidden] of G. They are
 * the gradient of a bias before the norm, d gamma and d beta. If a norm is the first reader of y of
 * a LINEAR, it sums the gradient of the LINEAR's bias. The norm of a head does not. So last blocks
 * of all stages launch the same kernels, and a stage's time does not depend on whether it has the
 * head.
 *
 * With tensor parallelism, blocks have the dimensions of the part that is here. A LINEAR that ends
 * in the residual stream makes a part of y, `part`, which an exchange adds up to y. One that reads
 * the stream makes a part of dx, `dx_part`. The first device alone adds bias, base and dx_base. A
 * call is cut into segments after these nodes. Other devices may read a part until the group meets
 * again. So no tensor takes its place before the next exchange. EMBED has rows of some words, and
 * zeros for others. The head makes logits of the same words. LOSS_MAX and LOSS_SUMS before LOSS
 * make parts of `max` and `sums` of struct pp_entropy. All heads share the gains of QK_NORM. So
 * each device makes a part of their gradient, `dnorm_part`.
 *
 * Experts are cut like a dense feed-forward layer. Each device routes all tokens by the whole
 * router, so all have the same rows. GROUPED makes parts of rows, which COMBINE weighs; one
 * exchange adds up its y. `dgates` is a sum of parts of G. DISPATCH and the shared expert make
 * parts of dx, to which the first device adds that of the router. If devices share tokens, GATHER
 * makes all for the router, and COMBINE adds the shared expert to its part.
 *
 * With sequence parallelism (Korthikanti et al. 2022), tensors of the residual stream have the
 * tokens of this device: T / tp rows, one device after the other. NORM works on them, and makes
 * parts of gradients. EMBED and the LINEARs that end in the stream scatter the sum of their parts,
 * and `after` is added last. They read gradients of all tokens, which are gathered before: dy_part
 * is this device's share of dy. GATHER makes a tensor of all tokens for the matrix that reads it.
 * dx_part of this matrix is scattered to the gradient of the share, and dx_after added. Only the
 * share is saved: x_part of the matrix, whose W gathers it again to x_again. W alone gathers dy
 * again, too. The dense layer of an encoder's head is whole on each device, and works on shares.
 * So its W gathers dy to dy_again, and makes the gradient of all tokens.
 *
 * A stage that generates has no backward. Its ATTEND_CACHED puts keys and values into a cache, and
 * meets those of earlier calls there. LAST takes the last token of each sequence, for the head.
 * Then LOGITS, a LINEAR, is the end; devices of a group gather the logits of all words.
 *
 * If replicas share experts, COUNT, SEND and RETURN exchange rows between them: see rows.c.
 *
 * Where elements have 2 bytes, T is even, so that each place begins at a multiple of 4 bytes.
 *
 * Rows of logits are padded to `logits_width`. The rows of the head's matrix for the padding are a
 * gap of the flat vectors, so zero. Gradients of padded logits are zero: they add zero to d n, and
 * the gradient of the gap is zero. */
#pragma once

#include "exec/nodes/work.h"

enum { PP_STAGE_SPLITS = 255 }; /* most that an instruction can count */

/* Calls by the gradients that they make, as bits. */
enum pp_call_pass {
    PP_PASS_F, /* R, too */
    PP_PASS_I,
    PP_PASS_W,
    PP_PASS_B = PP_PASS_I | PP_PASS_W,
    PP_PASS_KEEP, /* F that only keeps */
    PP_PASSES
};

/* Memory of a call. */
enum pp_base {
    PP_NOWHERE,
    PP_KEPT,
    PP_SAVED,
    PP_SCRATCH,
    PP_OUT,
    PP_GRAD_IN,
    PP_GRAD_OUT,
    PP_IN, /* of a stage that generates, as the next one */
    PP_LOGITS,
    PP_BASES
};
struct pp_tensor_place {
    enum pp_base base;
    size_t at; /* bytes */
};

struct pp_stage_node;
struct pp_tensor {
    int width; /* elements of T of a token; 0 = it is of G */
    size_t bytes;
    struct pp_tensor_place place[PP_PASSES];
    const struct pp_stage_node *maker; /* NULL = the stage before */
    struct pp_tensor *grad;            /* sum of the gradients so far */
    bool is_grad, is_stream;           /* is_stream: of the residual stream, or its gradient */
    /* for the planner: step of its maker, and of its last reader, in F, I alone and B; -1 = none */
    int made[PP_PASSES], read[PP_PASSES];
    bool is_for_w, is_taken; /* W reads it; a gradient has replaced it, or none may */
    bool is_again;           /* R makes it */
    int first_read;          /* step of its first reader in B; -1 = none */
    /* Few bits: it rests packed, and is in scratch in full while it is in use. Or it is rounded in
     * its place, by way of `rounding`. is_for_r: R reads it. is_of_r: R packs or rounds it, and so
     * does F that fills all. F that keeps only does so with the rest. */
    bool is_packed, is_rounded, is_for_r, is_of_r;
    struct pp_tensor_place packed;
    struct pp_tensor *rounding;
};

/* Routing of a mixture of experts: see struct pp_routing of kernels/kernels.h. Tensors of T by row
 * have room for `rows` rows; those that are not in use are zero. */
struct pp_routes {
    int rows;
    int mixture;                              /* number among the mixtures of the stage */
    struct pp_tensor *gates, *dgates, *order; /* order: all its integers */
    double balanced;                          /* rows of a replica, if all have room */
    /* Rows of all replicas, for the experts that are here: by replica, then by expert. `order` has
     * the first row of each expert: [ep][experts + 1]. */
    bool is_held;
};

struct pp_call;
struct pp_node_kind {
    void (*forward)(struct pp_call *c, const struct pp_stage_node *n);
    void (*input_grad)(struct pp_call *c, const struct pp_stage_node *n);  /* NULL = none */
    void (*weight_grad)(struct pp_call *c, const struct pp_stage_node *n); /* NULL = none */
    /* Finds the exchange of rows after F or I of the node; false = none. NULL: see `part` */
    bool (*exchange)(const struct pp_call *c, const struct pp_stage_node *n, bool is_forward,
                     struct pp_rows_exchange *e);
    bool i_reads_x, i_reads_y, w_reads_x, w_reads_dy;
    bool is_in_place;    /* dx is in x */
    bool is_in_gradient; /* dx is in dy */
    unsigned again;      /* of enum pp_again: modules of which it makes y */
};
extern const struct pp_node_kind pp_node_embed, pp_node_norm, pp_node_linear, pp_node_attend,
    pp_node_qk_norm, pp_node_gate, pp_node_activate, pp_node_route, pp_node_dispatch,
    pp_node_grouped, pp_node_combine, pp_node_loss, pp_node_loss_max, pp_node_loss_sums,
    pp_node_count, pp_node_send, pp_node_return, pp_node_gather, pp_node_attend_cached,
    pp_node_last;

struct pp_stage_node {
    const struct pp_node_kind *kind;
    struct pp_tensor *x, *y, *base, *act, *slope_of, *stats;
    struct pp_tensor *dy, *dx, *dx_base, *dnorm;
    struct pp_tensor *after, *dx_after; /* shares that are added to a scattered y, or dx */
    /* this device's parts of y, dx, dnorm and dy; NULL = it has all. COMBINE: dnorm is dgates */
    struct pp_tensor *part, *dx_part, *dnorm_part, *dy_part;
    enum pp_exchange_rule rule;         /* of parts of y */
    struct pp_tensor *x_part, *x_again; /* of x, and what W reads instead of it; NULL = x */
    struct pp_tensor *dy_again;         /* what W reads instead of dy; NULL = dy */
    struct pp_tensor *max, *sums;       /* LOSS: what it reads of shared words; NULL = has all */
    struct pp_tensor *scratch;          /* of a kernel, at the begin of scratch */
    const struct pp_routes *routes;     /* of x or y, which is in rows; NULL = none */
    const struct pp_param *weight, *bias;
    const struct pp_param *types;       /* EMBED: table of token types; NULL = none */
    int window;                         /* ATTEND: keys that a query meets at most; 0 = all */
    int first_slot, slots;              /* ATTEND_CACHED: its places in the cache of a sequence */
    const struct pp_param *bias_before; /* NORM: whose gradient it makes */
    bool is_bias_summed;                /* LINEAR: by a norm */
    bool is_whole; /* LINEAR: each device has the whole matrix, and parts of the gradient of x */
    bool is_part;  /* LINEAR, GROUPED: y or dx is a part that a later node adds up */
    bool is_of_experts; /* between the norm and the output of a mixture */
    bool is_again;      /* R runs it */
};

/* Returns whether the group scatters the sum of a node's parts. */
static inline bool pp_node_is_scattered(const struct pp_stage_node *n)
{
    return n->part != NULL && n->rule == PP_RULE_SCATTER;
}

/* Returns whether a tensor is this device's part of a sum that a later node makes. */
static inline bool pp_node_has_part_of(const struct pp_tensor *t)
{
    return t != NULL && t->maker != NULL && t->maker->is_part;
}

/* Returns whether W alone gathers dy of a node: its own W reads it, or that of a part of its base.
 */
static inline bool pp_node_gathers_dy_again(const struct pp_stage_node *n)
{
    return n->dy_part != NULL && (n->kind->weight_grad != NULL || pp_node_has_part_of(n->base));
}

struct pp_layer {
    enum pp_layer_part part;
    int first, end; /* nodes */
};

struct pp_stage_graph {
    int tokens;                           /* T */
    int stream_tokens;                    /* rows of tensors of the residual stream here */
    struct pp_words words;                /* of embedding and head */
    int logits_width;                     /* most words of a device, and padding: a multiple of the
                                           * kernels' vocab_multiple */
    size_t element_bytes, gradient_bytes; /* of T and G of the kernels */
    bool is_first;                        /* of its tensor-parallel group, or alone */
    bool has_fast_epilogue, is_immediate; /* of the kernels */
    struct pp_layer *layers;
    struct pp_stage_node *nodes;
    struct pp_tensor *tensors, **copies; /* copies: at the end of I, to their places in W */
    int layer_count, node_count, tensor_count, copy_count;
    struct pp_tensor *input, *output;         /* of all layers */
    struct pp_tensor *logits;                 /* of a stage that generates; NULL = no head */
    struct pp_tensor *balance;                /* sums of all mixtures, with a head; NULL = none */
    struct pp_tensor *grad_top, *grad_bottom; /* gradients of output and input */
    /* Few bits; else NULL. Tensors that F packs or rounds after node n: packed[packed_from[n]] up
     * to the next node's. Those that B restores before step s: restored[restored_from[s]] up to the
     * next. */
    struct pp_tensor **packed, **restored;
    int *packed_from, *restored_from;
};

/* Returns whether a recomputation of the node exchanges what it makes. The last output of a stage
 * is not wanted. */
static inline bool pp_node_is_exchanged_again(const struct pp_stage_graph *g,
                                              const struct pp_stage_node *n)
{
    return n->is_again && n->y != g->output;
}

/* Returns whether R makes the activation of a LINEAR alone, whose input is kept. If its kernel
 * might have other bits than the multiplication, that makes both again. */
static inline bool pp_node_is_activation_alone(const struct pp_stage_graph *g,
                                               const struct pp_stage_node *n)
{
    return n->kind == &pp_node_linear && n->is_again && !n->y->is_again && !g->has_fast_epilogue;
}

/* Returns the tokens of a tensor of T: all, or those of this device. */
static inline int pp_tensor_tokens(const struct pp_stage_graph *g, const struct pp_tensor *t)
{
    return (int)(t->bytes / ((size_t)t->width * g->element_bytes));
}
