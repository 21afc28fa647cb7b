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
 * In few bits, values of both are packed one by one: see graph.h.
 *
 * F, R and I write them completely, without padding. Elements are of the kernels' T, but statistics
 * and gradients of norms are of G. If T has 2 bytes, rows * tokens is even. */
#pragma once

#include "core/cost/cost.h"
#include "exec/nodes/work.h"

/* Is true if R computes parts of blocks, or some of them. */
bool pp_stage_is_partly_again(const struct pp_stage_shape *shape);

/* Creates a stage in the arena, for the kernels that will run it; `net` is kept by reference. */
struct pp_stage *pp_stage_create(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_stage_shape *shape,
                                 const struct pp_kernels *kernels);

/* Creates the whole model as one stage, in granules of `rows` samples. */
struct pp_stage *pp_stage_whole(struct pp_arena *arena, const struct pp_net *net, int rows,
                                int splits, const struct pp_kernels *kernels);
/* Does so for a device, as in struct pp_stage_shape. */
struct pp_stage_share {
    int tp, tp_index, etp, act_bits;
    bool is_sequence_parallel;
};
struct pp_stage *pp_stage_whole_of(struct pp_arena *arena, const struct pp_net *net, int rows,
                                   int splits, struct pp_stage_share share,
                                   const struct pp_kernels *kernels);

/* Return the tensor with an id, or the tied embedding matrix; NULL if the stage has none. */
const struct pp_param *pp_stage_find(const struct pp_stage *stage, int id);
const struct pp_param *pp_stage_tied(const struct pp_stage *stage);

/* Returns the layers of a kind that R computes again, whole or in part. */
int pp_stage_layers_again(const struct pp_stage *stage, enum pp_layer_part part);
int pp_stage_timings(const struct pp_stage *stage); /* most timings of a call */

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

enum { PP_GROUP_MEMBERS = 256 }; /* at most */
/* An exchange of a group: devices that share each block, or replicas that share experts. Each
 * member has a part of a tensor, and gets what the rule makes of all. All members call alike. */
struct pp_group_exchange {
    int64_t count;    /* elements of `to` */
    const void *from; /* the part of this member */
    void *to;         /* its copy of the result, elsewhere */
    enum pp_exchange_rule rule;
    struct pp_rows_exchange rows; /* instead of a rule, where replicas share experts */
    int index;                    /* SCATTER: this member */
    const void *base;             /* SCATTER: what is added last; NULL = nothing */
    bool is_hidden;               /* the next part of the rows is computed meanwhile */
};
/* Devices of a tensor-parallel group exchange, or replicas that share experts. */
enum pp_exchange_among { PP_AMONG_TP, PP_AMONG_EP, PP_AMONG };
enum pp_exchange_among pp_group_exchange_among(const struct pp_group_exchange *exchange);
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
                       struct pp_group_exchange *exchanges);
/* exchange.c: returns the number of exchanges in a call that has an output. */
int pp_stage_exchange_count(const struct pp_stage *stage, enum pp_stage_call_kind kind);
/* Returns the time of those of a kind of group that are not hidden. */
int64_t pp_stage_exchanges_ps(struct pp_arena *arena, const struct pp_stage *stage,
                              enum pp_stage_call_kind kind, enum pp_exchange_among among,
                              const struct pp_kernels *kernels, const struct pp_costs *costs);

/* Bytes of an element by a rule; of the tensor of all tokens. */
size_t pp_rule_element_bytes(const struct pp_kernels *kernels, enum pp_exchange_rule rule);
double pp_group_exchange_bytes(const struct pp_kernels *kernels, int members,
                               const struct pp_group_exchange *exchange);
/* Returns the most bytes of such a tensor in any call of a stage. */
size_t pp_stage_most_exchanged_bytes(const struct pp_stage *stage,
                                     const struct pp_kernels *kernels);
/* Returns the time of an exchange by the costs of messages: a ring of `members`. */
int64_t pp_group_exchange_ps(const struct pp_costs *costs, const struct pp_kernels *kernels,
                             const struct pp_group_exchange *exchange, int members);
/* Range of bytes of the part of member `from` that member `to` reads. Of rows it is known after the
 * exchange of counts. */
struct pp_piece pp_group_exchange_piece(const struct pp_kernels *k,
                                        const struct pp_group_exchange *e, int members, int from,
                                        int to);
/* Rounds of an exchange whose members copy such ranges. More than two members add up a large tensor
 * in two rounds: each a share, and then all gather the shares. An element is the same sum as in
 * one. Writes the exchanges of member `index`, and returns their number. */
enum { PP_ROUNDS = 2 };
int pp_group_exchange_rounds(const struct pp_kernels *k, const struct pp_group_exchange *e,
                             int members, int index, struct pp_group_exchange *rounds);
/* Most bytes of a range in a round; of any exchange of a stage. */
size_t pp_group_exchange_most_bytes(const struct pp_kernels *k, const struct pp_group_exchange *e,
                                    int members);
size_t pp_stage_most_piece_bytes(const struct pp_stage *stage, const struct pp_kernels *kernels);
/* Most bytes of a slot of rows in any exchange of a stage: see pp_rows_slot_bytes(). */
size_t pp_stage_most_slot_bytes(const struct pp_stage *stage, const struct pp_kernels *kernels);
/* Makes the result of one exchange for one member: from[members] are the parts of all, in order. */
void pp_group_exchange_run(const struct pp_kernels *k, void *stream,
                           const struct pp_group_exchange *exchange, int members,
                           const void *const *from);
