/* core/cluster/link_set.h — the used links of a fabric, numbered 0, 1, ... by first use. A fabric
 * may have far more links than are used. */
#pragma once

#include "core/arena.h"
#include "core/cluster/fabric.h"
#include "core/map64.h"

struct pp_link_set {
    struct pp_arena *arena;
    const struct pp_fabric *fabric;
    int count, capacity;          /* of `link` and `value` */
    int32_t *link;                /* [index]: id in the fabric */
    struct pp_fabric_link *value; /* [index] */
    int32_t *places;              /* [id in the fabric]: index + 1, 0 = unused; NULL = in the map */
    struct pp_map64 index;        /* the same, of a fabric with far more links than are expected */
};
/* Makes an empty set in the arena; `expected` is a hint. */
struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected);
/* Returns the index of a link; adds a new one. */
int pp_link_set_at(struct pp_link_set *set, int32_t link);
