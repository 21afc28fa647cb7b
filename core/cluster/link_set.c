/* A set of link ids as an open-addressing hash table. */
#include "core/cluster/link_set.h"

#include <string.h>

static void rehash(struct pp_link_set *set, uint32_t size)
{
    set->slots = PP_ARRAY(set->arena, int32_t, size);
    set->mask = size - 1;
    for (int i = 0; i < set->count; i++) {
        uint32_t at = (uint32_t)set->link[i] * UINT32_C(0x9e3779b1);
        for (at = (at ^ at >> 16) & set->mask; set->slots[at]; at = (at + 1) & set->mask)
            ;
        set->slots[at] = i + 1;
    }
}

struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected)
{
    struct pp_link_set set = {.arena = arena, .fabric = fabric, .capacity = 64};
    uint32_t size = 128;

    while (set.capacity < expected && set.capacity < 1 << 28) {
        set.capacity *= 2;
        size *= 2;
    }
    set.link = PP_ARRAY(arena, int32_t, set.capacity);
    set.value = PP_ARRAY(arena, struct pp_fabric_link, set.capacity);
    rehash(&set, size);
    return set;
}

static void grow(struct pp_link_set *set)
{
    int32_t *link = PP_ARRAY(set->arena, int32_t, 2 * set->capacity);
    struct pp_fabric_link *value = PP_ARRAY(set->arena, struct pp_fabric_link, 2 * set->capacity);

    memcpy(link, set->link, (size_t)set->count * sizeof(*link));
    memcpy(value, set->value, (size_t)set->count * sizeof(*value));
    set->link = link;
    set->value = value;
    set->capacity *= 2;
    rehash(set, 2 * (set->mask + 1));
}

int pp_link_set_at(struct pp_link_set *set, int32_t link)
{
    uint32_t at = (uint32_t)link * UINT32_C(0x9e3779b1);

    for (at = (at ^ at >> 16) & set->mask; set->slots[at]; at = (at + 1) & set->mask)
        if (set->link[set->slots[at] - 1] == link)
            return set->slots[at] - 1;
    if (set->count == set->capacity) {
        grow(set);
        return pp_link_set_at(set, link);
    }
    set->link[set->count] = link;
    set->value[set->count] = pp_fabric_link(set->fabric, link);
    set->slots[at] = ++set->count;
    return set->count - 1;
}
