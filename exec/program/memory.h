/* exec/program/memory.h — layout of a rank's memory: one block on each tier. A slot of the program
 * (schedules/lower/slots.c) has a place on the device that is as large as the slot's largest
 * tensor. */
#pragma once

#include "exec/program/generation.h"
#include "exec/program/moved.h"
#include "exec/program/updates.h"
#include "exec/program/wholes.h"
#include "exec/stage/batch.h"
#include "exec/tiers/tiers.h"
#include "schedules/lower/lower.h"

/* Returns the bytes per granule of a slot. That of an R (is_recompute) holds `saved` alone; that of
 * an F holds kept, then saved. */
size_t pp_slot_pitch(const struct pp_stage *stage, enum pp_slot_class class, bool is_recompute);

/* Pieces of the state of a place, at most: weights, gradients, two parts of each moment. */
enum { PP_STATE_PIECES = 2 + 2 * PP_MOMENTS };
/* Consecutive bytes of the states of a rank, and where they are. */
struct pp_state_piece {
    size_t at, bytes; /* at: from the begin of the states */
    struct pp_tier_place place;
};

struct pp_rank_layout {
    int slots[PP_SLOT_CLASSES];
    size_t *offset[PP_SLOT_CLASSES]; /* [slot] */
    /* [pipeline * stages + stage]: weights, gradients, m, v, master (exec/state/state.h) of a
     * chunk, among the states of all chunks; SIZE_MAX = not on this rank */
    size_t *state_offset;
    size_t state_bytes; /* of these states; at the begin of the block unless they are scattered */
    bool is_scattered;  /* a class of state lives on another tier */
    struct pp_tier_place (*home)[PP_STATE_SHARDED]; /* likewise, of each class */
    struct pp_state_piece *pieces;                  /* [piece_count] all of them, by `at` */
    int piece_count;
    struct pp_update_layout *updates; /* [place] */
    struct pp_update_bucket bucket;   /* of all of them in turn */
    /* [place of exec/program/away.h] what moves, on its tier; what stays of it, on the device */
    struct pp_tier_place *away;
    size_t *here_offset;
    size_t *edge_offset; /* [place of exec/program/edges.h] */
    size_t sum_offset;   /* in the host's block: a sum in a file, while the host adds to it */
    size_t *whole_offset[PP_WHOLES]; /* [buffer] whole parameters and gradients, after the states */
    size_t parts_bytes;              /* states and these buffers: all that collectives move */
    size_t scratch_offset, scratch_bytes;   /* of any one call of a stage, or of the norm */
    size_t tensor_offset, tensor_bytes;     /* one tensor, for exact gradients */
    size_t weights_offset, weights_bytes;   /* one tensor, for the weight-gradient stream */
    size_t loss_offset, loss_bytes;         /* of every token whose loss the rank computes */
    struct pp_generating_layout generating; /* of a generating program */
    size_t expert_bytes;         /* after them, tokens of experts: pp_net_expert_tokens() doubles */
    size_t block_bytes;          /* the whole, with padding to 64 bytes between the parts */
    size_t tier_bytes[PP_TIERS]; /* blocks of other tiers; that of NVMe is a file */

    /* payload without padding, by kind */
    size_t params_bytes, grads_bytes, optimizer_bytes, activations_bytes, buffers_bytes,
        other_bytes;
    size_t peak_bytes; /* sum of these six, and of caches: the prediction */
    size_t away_bytes[PP_TIERS][PP_STATE_CLASSES]; /* payload on other tiers, by class */
};

/* Returns the host memory of a rank: its block, and what transfers of its file need. */
size_t pp_memory_host_bytes(const struct pp_rank_layout *rank);

/* Returns [stage]: how the copies, in all replicas and pipelines, shard its state. Those of stages
 * without RS have all of it. */
struct pp_cuts *pp_memory_cuts(struct pp_arena *arena, const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_batch *batch);
/* Copies with equal `group` hold a part of a state once, those with equal `index` have the same
 * range. With cut gradients a group is in one pipeline: its copies use the stage at the same
 * places. Copies with equal `visit` gather parameters together. Those with equal `update` have the
 * same parameters, and each updates a range of them. Of shared experts, copies are those of
 * replicas with the same experts. */
struct pp_sharer {
    int index, group, visit, update;
};
struct pp_sharer pp_memory_sharer(struct pp_cuts cuts, enum pp_state_part part, int pipelines,
                                  int replica, int pipe);

/* Returns [ranks] in the arena: the layout of each rank, alike in all replicas. `wholes`: those of
 * the program. */
struct pp_rank_layout *pp_memory_layout(struct pp_arena *arena, const struct pp_program *program,
                                        const struct pp_stage *const *stages,
                                        const struct pp_kernels *kernels, bool is_exact,
                                        const struct pp_cuts *cuts, const struct pp_wholes *wholes,
                                        const struct pp_away *away);
