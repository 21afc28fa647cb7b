/* exec/stage/build.h — private to exec/stage: what layers are built of. Calls append to the graph,
 * in the order in which a forward walks it. */
#pragma once

#include "exec/stage/graph.h"

static const double PP_DEVIATION = 0.02; /* of initial weights */

struct pp_builder {
    struct pp_stage *stage;
    struct pp_stage_graph *g;
    const struct pp_net *net;
    const struct pp_kernels *k;
    struct pp_arena *arena;
    int layer, tensor; /* of the next parameter */
    int mixture;       /* mixtures of experts so far */
};

/* A tensor of `count` elements (0 = no tensor), with a gap after it up to `room`. */
struct pp_new_param {
    const char *name;
    int64_t count, room;
    enum pp_init init;
    double deviation;
    bool is_tied;
    int experts;
    bool is_cut; /* see struct pp_param */
    struct pp_slice slice;
};

struct pp_new_param pp_build_matrix(const char *name, int64_t rows, int64_t columns,
                                    double deviation);
struct pp_new_param pp_build_gain(const char *name, int width);
struct pp_new_param pp_build_bias(const char *name, int64_t width); /* name NULL: none */
/* Appends a parameter. The table has room for all, so it never moves. Ids are those of a layer's
 * tensors in order, whether they are there or not. */
const struct pp_param *pp_build_push(struct pp_builder *b, struct pp_new_param w);

/* Appends a tensor of `bytes`. */
struct pp_tensor *pp_build_tensor(struct pp_stage_graph *g, int width, size_t bytes);
/* Appends a node with an output of `width` (0 = none). */
struct pp_stage_node *pp_build_node(struct pp_builder *b, const struct pp_node_kind *kind,
                                    struct pp_tensor *x, int width);

/* With tensor parallelism, gives a node that ends in the residual stream a part of y, and y the
 * tokens that are here. */
void pp_build_scattered(const struct pp_builder *b, struct pp_stage_node *n);
/* If devices share tokens, appends a GATHER of x, a tensor of the residual stream or its norm.
 * Returns all tokens. */
struct pp_tensor *pp_build_all_tokens(struct pp_builder *b, struct pp_tensor *x);
/* Gives a node that reads them a part of dx, and x gathered again. */
void pp_build_gathered(const struct pp_builder *b, struct pp_stage_node *n);
/* Lets W of n gather x for another node that reads it, whose W comes next. */
void pp_build_same_x(struct pp_stage_node *n, const struct pp_stage_node *next);

struct pp_linear {
    struct pp_tensor *x, *base; /* base NULL: none; else y is of the residual stream */
    int width;
    const char *weight, *bias; /* bias NULL: none */
    bool is_activated;
    /* With tensor parallelism, rows of the matrix here: group by group, cut by rows. Without groups
     * and base, all rows are on each device. */
    int groups[PP_SLICE_PIECES];
    bool is_part; /* y, or dx, is a part that a later node adds up */
};

/* Appends a LINEAR. Returns y, or its activation. Matrices that end in the residual stream, two of
 * a block, begin with smaller weights. */
struct pp_tensor *pp_build_linear(struct pp_builder *b, struct pp_linear l);

/* Appends a NORM: `rows` of the bias before it, see exec/nodes/node.h, gain and bias. */
struct pp_tensor *pp_build_norm(struct pp_builder *b, struct pp_tensor *x, const char *weight_name,
                                const char *bias_name);

/* build_ends.c: returns what the tokens are embedded to; appends head and loss of x. */
struct pp_tensor *pp_build_embedding(struct pp_builder *b);
void pp_build_head(struct pp_builder *b, struct pp_tensor *x);
/* build_experts.c: returns base + the feed-forward layer of x, of experts. */
struct pp_tensor *pp_build_experts(struct pp_builder *b, struct pp_tensor *x,
                                   struct pp_tensor *base);
