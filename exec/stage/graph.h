/* exec/stage/graph.h — private to exec/stage: a stage as a list of nodes, and the places of their
 * tensors. build.c appends the nodes of each layer, and gradients.c the tensors of the backward.
 * plan.c and scratch.c place all tensors when a stage is created. Calls only walk the list, and
 * segments.c cuts the walk where a group exchanges parts.
 *
 * Places. The input of a stage without an embedding is in `kept`. What I or W reads of F is in
 * `saved`, tensors of T before those of G. I replaces tensors that only I needs by gradients that W
 * needs: a gradient takes a place of its size whose readers have run. If none is free yet, it is in
 * scratch, and I copies it at its end. Places are added where too few are free then, and for what
 * the last node makes. In B, gradients of the residual stream are where I has them, and so is what
 * a place was added for. Others live within a layer, and are in scratch, which is in the cache.
 * With splits, the backward of earlier splits still reads x of ATTEND, and adds to dx. So dx has a
 * place of its own. dnorm is in `saved` if W comes later, else in scratch.
 *
 * Recomputation. R makes tensors of `saved` again, from those of `kept`. F either fills both, or
 * keeps only and has the others in scratch. R of a whole stage makes all but the stage's input. R
 * of blocks makes all of them but the outputs of blocks. R of modules makes what they do not keep:
 *
 *   core_attn   y of ATTEND, stats        act   act of LINEAR, y of GATE
 *   layernorm   y of NORM, stats          mlp   y of the LINEAR before act or GATE, too
 *   moe         logits, rows, and all of experts and shared expert that a backward reads
 *
 * Routing itself is kept: R takes the choices of F, and repeats its exchanges of rows. Then all
 * else that a backward reads is in `kept`. With splits, so are x of ATTEND and its gradient: the
 * backward of a split finds those of earlier ones, which R has not reached. ATTEND does not rotate
 * a kept x again. Gradients take places in both, and add them in `saved`.
 *
 * Few bits (Pan et al. 2021). A tensor that B reads is in scratch in F. When its last reader has
 * run, F packs it. B restores it to scratch before its first reader. So packing changes no bit of a
 * forward. What R makes, or reads, R packs, in `saved`. F keeps what R reads in full. So B reads
 * the same values with R and without, and also at the begin of a stage. In full stay tensors of G,
 * integers, logits of experts, and those of words, where F leaves a gradient. So do rows of experts
 * without whole groups of values, and x of ATTEND with splits, which later splits read. Gradients
 * are in scratch, but for dx of ATTEND with splits.
 */
#pragma once

#include "exec/nodes/call.h"
#include "exec/stage/stage.h"

/* build.c: appends the nodes of all layers, with their parameters. */
void pp_stage_build(struct pp_arena *arena, struct pp_stage *stage, const struct pp_kernels *k);
/* Append a tensor: `width` elements of T for each token, or each token of the residual stream here;
 * or `elements` of G. */
struct pp_tensor *pp_stage_tensor(struct pp_stage_graph *g, int width);
struct pp_tensor *pp_stage_stream(struct pp_stage_graph *g, int width);
struct pp_tensor *pp_stage_tensor_of_g(struct pp_stage_graph *g, int64_t elements);
/* gradients.c: appends the tensors of the backward, and finds who makes and reads each tensor. */
void pp_stage_gradients(const struct pp_stage *stage);
/* again.c: chooses what R makes again. */
void pp_stage_choose_again(const struct pp_stage *stage);
/* bits.c: chooses what rests in few bits. Gives it places there, and in scratch, and finds when F
 * packs and B restores it; sets packed_bytes, unpacked_bytes. */
void pp_stage_choose_packed(const struct pp_stage *stage);
void pp_stage_place_packed(struct pp_arena *arena, struct pp_stage *stage);
/* plan.c: places all tensors; sets kept_bytes, saved_bytes, scratch_bytes. */
void pp_stage_place(struct pp_arena *arena, struct pp_stage *stage);
/* The same for a stage that generates; sets scratch_bytes. */
void pp_stage_place_forward(struct pp_arena *arena, struct pp_stage *stage);
/* gradients.c: finds when F makes and reads the tensors of a node, which is its step `n`. */
void pp_stage_live_in_f(const struct pp_stage_node *node, int n);
/* parts.c: lets parts of exchanges, which have their places, live until the next exchange. */
void pp_stage_hold_parts(const struct pp_stage *stage);
/* scratch.c: places the tensors that a pass has in scratch; returns the bytes that they take. */
size_t pp_stage_scratch(struct pp_arena *arena, struct pp_stage_graph *g, enum pp_call_pass pass);

/* bits.c: packs what no later node of F reads, as the call fills it; returns whether there is any.
 * Restores what a step of B reads first. */
bool pp_call_pack(struct pp_call *c, const struct pp_stage_node *n);
void pp_call_restore(struct pp_call *c, int step);

/* segments.c: begins to measure a call, if that is wanted. */
void pp_call_begin_probe(struct pp_call *c);
/* Records the time of the part of F, I or W that has just ended. */
void pp_call_stamp(struct pp_call *c, enum pp_call_pass row, enum pp_layer_part part);
/* Is true if B does the W of a node right after its I, so that gradients leave scratch early. Else
 * it does so layer by layer, as where a group exchanges parts. */
static inline bool pp_stage_is_tight(const struct pp_stage_shape *shape)
{
    return (shape->is_moved || shape->act_bits > 0) && shape->tp <= 1 && shape->ep <= 1;
}
/* Is true in the segment that is to run. */
static inline bool pp_call_is_on(const struct pp_call *c)
{
    return c->segment == c->w->segment;
}
/* End the segment before or after a pass of a node, if the group exchanges parts of what the node
 * reads or has made. List the exchange in c->exchanges unless NULL. */
void pp_call_end_forward(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part);
void pp_call_begin_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part);
void pp_call_end_back(struct pp_call *c, const struct pp_stage_node *n, enum pp_layer_part part);
void pp_call_begin_weight_grad(struct pp_call *c, const struct pp_stage_node *n,
                               enum pp_layer_part part);
