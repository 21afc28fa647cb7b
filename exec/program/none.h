/* exec/program/none.h — a column of a program: a number for each instruction, none at first. */
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
