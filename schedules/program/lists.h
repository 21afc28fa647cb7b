/* schedules/program/lists.h — growing lists of ops, one per rank. */
#pragma once

#include "core/arena.h"
#include "core/op.h"

/* Returns an op of a whole stage; fields that most kinds do not use are neutral. */
static inline struct pp_op pp_stage_op(int kind, int stage, int pipe)
{
    return (struct pp_op){.kind = (uint8_t)kind,
                          .stage = (uint16_t)stage,
                          .pipe = (uint16_t)pipe,
                          .mb = -1,
                          .arg = -1,
                          .slot = -1};
}

/* Per-rank lists of compute ops: the result of any order rule. */
struct pp_orders {
    int ranks;
    struct pp_op **ops; /* [rank][position] */
    int *count;         /* [rank] */
    int *capacity;      /* [rank] */
    int left_out;       /* micro-batches that only repeat, and are not in the lists */
};
struct pp_orders *pp_orders_create(struct pp_arena *arena, int ranks);
void pp_orders_add(struct pp_arena *arena, struct pp_orders *orders, int rank, struct pp_op op);
/* Makes room for `count` more ops on a rank, so that adding them copies nothing. */
void pp_orders_reserve(struct pp_arena *arena, struct pp_orders *orders, int rank, int count);
struct pp_orders *pp_orders_copy(struct pp_arena *arena, const struct pp_orders *orders);
