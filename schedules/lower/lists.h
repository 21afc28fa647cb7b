/* schedules/lower/lists.h — editing instruction lists: what the passes share. */
#pragma once

#include "schedules/program/program.h"

/* Instructions to insert into one rank's list, each before an index of it (count = at the end).
 * Several at one index keep the order in which they were added. Start from {0}. */
struct pp_inserts {
    int count, capacity;
    struct pp_insert {
        int before;
        struct pp_op op;
    } * data;
};
void pp_inserts_add(struct pp_arena *arena, struct pp_inserts *inserts, int before,
                    struct pp_op op);
/* Replace the list of `rank` by one with the inserts. */
void pp_inserts_apply(struct pp_arena *arena, struct pp_orders *lists, int rank,
                      struct pp_inserts *inserts);

/* Remove all ops for which a rule holds. */
void pp_lists_drop(struct pp_orders *lists, bool (*rule)(const struct pp_op *op));
bool pp_lists_have(const struct pp_orders *lists, int kind);
/* Whether a rule holds for some op. Inline, as the rule then is. */
static inline bool pp_lists_any(const struct pp_orders *lists, bool (*rule)(const struct pp_op *op))
{
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++)
            if (rule(&lists->ops[rank][i]))
                return true;
    return false;
}
/* A WAIT for a sum of gradients of a stage. There is one sum of a stage that a rank holds for
 * several pipelines. */
static inline bool pp_lists_waits_for_sum(const struct pp_op *op, int stage)
{
    return op->kind == PP_WAIT && (op->aux == PP_AR || op->aux == PP_RS) &&
           (op->stage == stage || (op->last_stage != 0 && op->last_stage == stage));
}
/* Length of the longest list. */
int pp_lists_longest(const struct pp_orders *lists);

/* What a rank does at once: an op on a part of a micro-batch, or the two of a pair. */
struct pp_moment {
    int32_t at, end; /* in the list, end exclusive */
    int count;       /* ops */
    const struct pp_op *op[2];
};
/* Those of a rank, in order; returns how many. `moments` has room for pp_lists_longest(). */
int pp_lists_moments(const struct pp_orders *lists, int rank, struct pp_moment *moments);

/* Index after the last F, B, I, W, R of a rank and the SENDs that follow it; 0 without any. */
int pp_lists_compute_end(const struct pp_orders *lists, int rank);
/* Index of the first U from `at` on, or the count. */
int pp_lists_next_update(const struct pp_orders *lists, int rank, int at);
/* The same from pp_lists_compute_end() on. */
int pp_lists_tail(const struct pp_orders *lists, int rank);
