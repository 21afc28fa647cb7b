/* exec/program/memory.h — memory of a rank before it is taken: one block, laid out once.
 *
 * Slots of the program (schedules/lower/slots.c) become places in the block; a slot is as large as
 * the largest tensor that it ever carries. */
#pragma once

#include "exec/stage/stage.h"
#include "schedules/program/program.h"

enum pp_slot_class {                /* as the slots pass numbers them */
                     PP_SLOT_KEPT,  /* F, where R fills `saved` again */
                     PP_SLOT_SAVED, /* F, kept and saved; or R, saved alone */
                     PP_SLOT_RECV_F,
                     PP_SLOT_RECV_B,
                     PP_SLOT_SEND_F,
                     PP_SLOT_SEND_B,
                     PP_SLOT_CLASSES
};
/* PP_EPROGRAM when an instruction whose tensor needs a slot has none: a file may give some only. */
enum pp_status pp_slots_check(const struct pp_program *program, struct pp_error *err);
/* Class of the slot that each instruction carries, -1 when it carries none: [instructions]. */
int8_t *pp_slot_classes(struct pp_arena *arena, const struct pp_program *program);
/* Bytes per granule of a slot. is_recompute: that of an R, which holds `saved` alone; that of an F
 * holds kept, then saved. */
size_t pp_slot_pitch(const struct pp_stage *stage, enum pp_slot_class class, bool is_recompute);

struct pp_rank_layout {
    int slots[PP_SLOT_CLASSES];
    size_t *offset[PP_SLOT_CLASSES], *bytes[PP_SLOT_CLASSES]; /* [slot] */
    size_t *state_offset; /* [pipeline * stages + stage]; weights, gradients, m, v, master
                           * (see exec/stage/state.h) follow each
                           * other; SIZE_MAX where the rank does not hold the chunk */
    size_t state_bytes;   /* of all chunks: the begin of the block */
    size_t transient_offset, transient_bytes; /* saved of an F whose R fills it again */
    size_t scratch_offset, scratch_bytes;     /* of any one call of a stage, or of the norm */
    size_t tensor_offset, tensor_bytes;       /* one tensor, for exact gradients */
    size_t weights_offset, weights_bytes;     /* likewise, of work on the weight-gradient stream */
    size_t loss_offset, loss_bytes;           /* of every token whose loss the rank computes */
    size_t block_bytes; /* the whole, with padding to 64 bytes between the parts */

    /* payload without padding, by kind */
    size_t params_bytes, grads_bytes, optimizer_bytes, activations_bytes, buffers_bytes,
        other_bytes;
    size_t peak_bytes; /* sum of the above: the prediction */
};

/* [stage]: the number of copies, in all replicas and pipelines, that share the optimizer state. RS
 * scatters the gradients of these stages; 1 = each copy has all of it. */
int *pp_memory_copies(struct pp_arena *arena, const struct pp_program *program, int replicas);

/* Layout of every rank, [ranks] in the arena, alike in all replicas. stages [stages] of one replica
 * of the program. */
struct pp_rank_layout *pp_memory_layout(struct pp_arena *arena, const struct pp_program *program,
                                        const struct pp_stage *const *stages,
                                        const struct pp_kernels *kernels, bool is_exact,
                                        int replicas);
