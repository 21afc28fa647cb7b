/* A set of link ids, with their figures. */
#include "core/cluster/link_set.h"

struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected)
{
    const int capacity = expected < 64 ? 64 : expected, links = pp_fabric_links(fabric);
    const bool is_dense = links / 4 < capacity;

    return (struct pp_link_set){.arena = arena,
                                .fabric = fabric,
                                .capacity = capacity,
                                .link = PP_ARRAY(arena, int32_t, capacity),
                                .value = PP_ARRAY(arena, struct pp_fabric_link, capacity),
                                .places = is_dense ? PP_ARRAY(arena, int32_t, links + 1) : NULL,
                                .index = pp_map64_create(arena, is_dense ? 0 : capacity)};
}

int pp_link_set_at(struct pp_link_set *set, int32_t link)
{
    int32_t *place = set->places ? &set->places[link] : pp_map64_at(&set->index, (uint64_t)link, 0);
    int count = set->count, capacity = set->capacity;

    if (*place == 0) {
        *PP_PUSH(set->arena, set->link, count, capacity) = link;
        *PP_PUSH(set->arena, set->value, set->count, set->capacity) =
            pp_fabric_link(set->fabric, link);
        *place = set->count;
    }
    return *place - 1;
}
