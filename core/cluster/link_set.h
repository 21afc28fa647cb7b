/* core/cluster/link_set.h — links numbered 0, 1, ... in the order of their first use. A fabric may
 * have far more links than are used. */
#pragma once

#include "core/arena.h"
#include "core/cluster/fabric.h"
#include "core/map64.h"

struct pp_link_set {
    struct pp_arena *arena;
    const struct pp_fabric *fabric;
    int count, capacity;          /* of link and value */
    int32_t *link;                /* [index]: id in the fabric */
    struct pp_fabric_link *value; /* [index] */
    struct pp_map64 index;        /* of an id */
};
/* Lives in the arena; `expected` links is a hint. */
struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected);
/* Index of a link, which is added when it is new. */
int pp_link_set_at(struct pp_link_set *set, int32_t link);
