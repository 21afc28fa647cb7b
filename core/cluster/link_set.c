/* A set of link ids, with their figures. */
#include "core/cluster/link_set.h"

struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected)
{
    const int capacity = expected < 64 ? 64 : expected;

    return (struct pp_link_set){.arena = arena,
                                .fabric = fabric,
                                .capacity = capacity,
                                .link = PP_ARRAY(arena, int32_t, capacity),
                                .value = PP_ARRAY(arena, struct pp_fabric_link, capacity),
                                .index = pp_map64_create(arena, capacity)};
}

int pp_link_set_at(struct pp_link_set *set, int32_t link)
{
    const int32_t index = *pp_map64_at(&set->index, (uint64_t)link, set->count);
    int count = set->count, capacity = set->capacity;

    if (index < count)
        return index;
    *PP_PUSH(set->arena, set->link, count, capacity) = link;
    *PP_PUSH(set->arena, set->value, set->count, set->capacity) = pp_fabric_link(set->fabric, link);
    return index;
}
