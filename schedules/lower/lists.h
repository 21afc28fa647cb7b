/* schedules/lower/lists.h — edits of instruction lists, for the passes. */
#pragma once

#include "schedules/program/program.h"

/* Instructions to insert into one rank's list, each before an index of it (count = at the end).
 * Those of one index keep the order in which they were added. Start from {0}. */
struct pp_inserts {
    int count, capacity, spare_capacity;
    struct pp_insert {
        int before;
        struct pp_op op;
    } * data, *spare; /* spare: room to sort */
};
void pp_inserts_add(struct pp_arena *arena, struct pp_inserts *inserts, int before,
                    struct pp_op op);
/* Puts all inserts into the list of a rank, and empties them. Their room may serve another rank. */
void pp_inserts_apply(struct pp_arena *arena, struct pp_orders *lists, int rank,
                      struct pp_inserts *inserts);

/* Removes all ops for which `rule` holds. */
void pp_lists_drop(struct pp_orders *lists, bool (*rule)(const struct pp_op *op));
bool pp_lists_have(const struct pp_orders *lists, int kind);
/* Is true if `rule` holds for some op. Inline, so that the rule is inlined too. */
static inline bool pp_lists_any(const struct pp_orders *lists, bool (*rule)(const struct pp_op *op))
{
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++)
            if (rule(&lists->ops[rank][i]))
                return true;
    return false;
}
/* Is true for a WAIT for a sum of a stage's gradients. A rank's pipelines share a stage's sum. */
static inline bool pp_lists_waits_for_sum(const struct pp_op *op, int stage)
{
    return op->kind == PP_WAIT && (op->aux == PP_AR || op->aux == PP_RS) &&
           (op->stage == stage || (op->last_stage != 0 && op->last_stage == stage));
}
int pp_lists_longest(const struct pp_orders *lists);

/* Ops that a rank starts at once: one op on a part of a micro-batch, or the two of a pair. */
struct pp_moment {
    int32_t at, end; /* in the list; `end` is exclusive */
    int count;       /* ops */
    const struct pp_op *op[2];
};
/* Fills `moments`, with room for pp_lists_longest(), in order; returns their number. */
int pp_lists_moments(const struct pp_orders *lists, int rank, struct pp_moment *moments);

/* Index after the last F, B, I, W, R of a rank and the SENDs that follow it; 0 without any. */
int pp_lists_compute_end(const struct pp_orders *lists, int rank);
/* Index of the first U from `at` on, or the count. */
int pp_lists_next_update(const struct pp_orders *lists, int rank, int at);
/* Index of the first U from pp_lists_compute_end() on, or the count. */
int pp_lists_tail(const struct pp_orders *lists, int rank);
