/* tests/property/lists.h — for tests that make mistakes in instruction lists: numbers at random,
 * and ops that change places. */
#ifndef PP_TESTS_LISTS_H
#define PP_TESTS_LISTS_H

#include "schedules/program/program.h"

#include <string.h>

/* Xorshift; the state must not be 0. In [0, below), 0 when that is empty. */
static inline int list_draw(uint64_t *random, int below)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return below > 0 ? (int)((*random >> 32) % (uint64_t)below) : 0;
}

static inline struct pp_op list_cut(struct pp_orders *o, int rank, int at)
{
    const struct pp_op op = o->ops[rank][at];

    o->count[rank]--;
    memmove(&o->ops[rank][at], &o->ops[rank][at + 1], sizeof(op) * (size_t)(o->count[rank] - at));
    return op;
}

static inline void list_swap(struct pp_orders *o, int rank, int a, int b)
{
    const struct pp_op op = o->ops[rank][a];

    o->ops[rank][a] = o->ops[rank][b];
    o->ops[rank][b] = op;
}

#endif
