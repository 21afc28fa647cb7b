/* Growing lists of ops, one per rank. */
#include "schedules/program/lists.h"

#include <string.h>

struct pp_orders *pp_orders_create(struct pp_arena *arena, int ranks)
{
    struct pp_orders *orders = PP_NEW(arena, struct pp_orders);

    orders->ranks = ranks;
    orders->ops = PP_ARRAY(arena, struct pp_op *, ranks);
    orders->count = PP_ARRAY(arena, int, ranks);
    orders->capacity = PP_ARRAY(arena, int, ranks);
    return orders;
}

void pp_orders_add(struct pp_arena *arena, struct pp_orders *orders, int rank, struct pp_op op)
{
    *PP_PUSH(arena, orders->ops[rank], orders->count[rank], orders->capacity[rank]) = op;
}

void pp_orders_reserve(struct pp_arena *arena, struct pp_orders *orders, int rank, int count)
{
    const size_t used = sizeof(struct pp_op) * (size_t)orders->count[rank];

    if (orders->capacity[rank] - orders->count[rank] >= count)
        return;
    orders->capacity[rank] = orders->count[rank] + count;
    orders->ops[rank] = pp_arena_grow(arena, orders->ops[rank], used,
                                      sizeof(struct pp_op) * (size_t)orders->capacity[rank]);
}

struct pp_orders *pp_orders_copy(struct pp_arena *arena, const struct pp_orders *orders)
{
    struct pp_orders *copy = pp_orders_create(arena, orders->ranks);

    for (int rank = 0; rank < orders->ranks; rank++) {
        pp_orders_reserve(arena, copy, rank, orders->count[rank]);
        copy->count[rank] = orders->count[rank];
        if (copy->count[rank] > 0)
            memcpy(copy->ops[rank], orders->ops[rank],
                   sizeof(struct pp_op) * (size_t)orders->count[rank]);
    }
    return copy;
}
