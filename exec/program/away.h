/* exec/program/away.h — places of saved activations on another tier. A COPY.down takes one until
 * the last COPY.up of its micro-batches has ended. */
#pragma once

#include "core/arena.h"
#include "schedules/program/program.h"

struct pp_away {
    int32_t *of;   /* [instruction] place of a COPY; -1 = none */
    int32_t *from; /* [instruction] of a COPY: the F that saved what it moves; -1 = none */
    int32_t *down; /* [instruction] of a COPY.up: its COPY.down; -1 = none */
    int *count;    /* [rank] number of places */
};
/* Returns the places of a lowered program, in the arena. */
struct pp_away *pp_away_find(struct pp_arena *arena, const struct pp_program *program);
