/* schedules/lower/messages.h — tensors that cross ranks, derived from the compute order alone.
 *
 * A unit is started by a rank at once: one instruction, or the two of an OVERLAP_F_B pair. SENDs,
 * RECVs and their WAITs are no units. A message is one F output (or B, I output) whose consumer
 * stage is on another rank. Messages are numbered by channel and, within a channel, in the order of
 * sending, which is the order of producing. All is in the arena of pp_messages_build(). */
#pragma once

#include "schedules/lower/lower.h"

struct pp_message {
    int32_t mb;       /* first granule */
    int32_t channel;  /* in pp_messages.channels */
    int32_t produced; /* unit on the source rank, directly followed by the SEND */
    int32_t consumed; /* first unit on the destination that reads it */
    int32_t last;     /* last unit that reads it (differs if granules are cut finer there) */
    int32_t post;     /* unit before which the destination posts its RECV */
    int32_t wait;     /* unit before which the destination waits for it */
    int32_t done;     /* unit before which the source waits for its SEND; units = at the end */
    uint16_t stage;   /* of the sender */
    uint8_t split, granules;
};

struct pp_unit_list {
    int32_t count;
    int32_t *first; /* [count] index in the rank's list; a pair's B follows its F */
};

struct pp_messages {
    const struct pp_program_head *head;
    const struct pp_orders *lists;
    struct pp_unit_list *units; /* [ranks] */
    struct pp_channel *channels;
    int32_t channel_count, message_count;
    struct pp_message *messages;

    int32_t *in_begin; /* [ranks + 1] into `in` and `posts` */
    int32_t *in;       /* messages to a rank in the order of their first use */
    int32_t *posts;    /* messages to a rank in the order of their RECVs, set by a policy */

    size_t cells;        /* granules * splits of all micro-batches: one row of `of` */
    int32_t *of[2];      /* [direction][stage * cells + granule * splits + split]: message or -1 */
    int32_t *channel_of; /* [(direction * pipelines + pipe) * stages + stage], -1 = same rank */
};

/* PP_EPROGRAM: an instruction outside the program or on the wrong rank, a message produced twice,
 * an input without a producer, an output without a reader. PP_EINVAL: too big. */
enum pp_status pp_messages_build(struct pp_arena *arena, const struct pp_program_head *head,
                                 const struct pp_orders *lists, struct pp_messages **messages,
                                 struct pp_error *err);

/* Returns the message with granule `granule` of the input of `op`; -1: none, or same rank. */
int32_t pp_message_input(const struct pp_messages *m, const struct pp_op *op, int granule);
/* Returns the message that carries the output of `op`, or -1. */
int32_t pp_message_output(const struct pp_messages *m, const struct pp_op *op);

static inline int pp_unit_length(const struct pp_op *first)
{
    return first->kind == PP_F && first->aux == PP_FUSED_FIRST ? 2 : 1;
}

/* Returns op `i` of unit `u` of a rank, or NULL after its last. */
static inline const struct pp_op *pp_unit_op(const struct pp_messages *m, int rank, int32_t u,
                                             int i)
{
    const int32_t at = m->units[rank].first[u];
    const struct pp_op *first = &m->lists->ops[rank][at];

    return i < pp_unit_length(first) && at + i < m->lists->count[rank] ? &first[i] : NULL;
}

/* Returns the earliest slot in which every unit ends, [rank][unit], when each compute instruction
 * takes one slot and messages none. Units that can never run end with their predecessor. */
int32_t **pp_messages_slots(struct pp_arena *arena, const struct pp_messages *m);
/* Returns the slots of a unit: 2 for a pair, 1 for other compute of a micro-batch, else 0. */
int pp_messages_weight(const struct pp_messages *m, int rank, int32_t unit);

/* Fills `post` and `wait` of every message, and `posts` of every rank. The batched policy fills
 * `done` too. The sender policy fails with PP_EPROGRAM if the compute order itself is cyclic. */
typedef enum pp_status (*pp_posting)(struct pp_arena *arena, struct pp_messages *messages,
                                     int recv_slots, struct pp_error *err);
extern const pp_posting pp_postings[]; /* by enum pp_post */

/* Fills `done` of every message of a program of forwards alone; at most `window` SENDs of a channel
 * are open where that is safe. */
void pp_messages_settle_forwards(struct pp_arena *arena, struct pp_messages *messages, int window);
