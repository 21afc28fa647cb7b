/* exec/program/places.h — numbers of places: the lowest that is free. */
#pragma once

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct pp_place_list {
    bool *is_taken; /* [place] */
    int count, capacity;
};

/* Takes a place; the list grows in the arena. */
static inline int32_t pp_places_take(struct pp_arena *arena, struct pp_place_list *places)
{
    int at = 0;

    while (at < places->count && places->is_taken[at])
        at++;
    if (at == places->count)
        *PP_PUSH(arena, places->is_taken, places->count, places->capacity) = false;
    places->is_taken[at] = true;
    return at;
}
