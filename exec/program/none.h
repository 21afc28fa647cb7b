/* exec/program/none.h — numbers for a walk over a program: a column of them, none at first, and
 * places, the lowest that is free. */
#pragma once

#include "schedules/program/program.h"

enum { PP_NONE = -1 };

/* Returns [instruction] PP_NONE, in the arena. */
static inline int32_t *pp_none_of(struct pp_arena *arena, const struct pp_program *p)
{
    int32_t *all = PP_ARRAY(arena, int32_t, pp_program_size(p) + 1);

    for (int i = 0; i < pp_program_size(p); i++)
        all[i] = PP_NONE;
    return all;
}

/* Returns the number of a cell: a granule and sequence split of a stage. */
static inline size_t pp_cell_of(const struct pp_program *p, int stage, int granule, int split)
{
    return ((size_t)stage * (size_t)(p->micro_batches * p->granules) + (size_t)granule) *
               (size_t)p->splits +
           (size_t)split;
}

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
