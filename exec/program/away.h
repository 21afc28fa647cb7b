/* exec/program/away.h — saved activations on another tier. A COPY.down takes a place there until
 * the last COPY.up of its granules has ended. */
#pragma once

#include "core/arena.h"
#include "exec/program/edges.h"

/* A granule of a COPY. */
struct pp_away_cell {
    int32_t slot;  /* F or COPY.up in whose slot it is on the device */
    int32_t down;  /* the COPY.down that moves it, or has moved it */
    bool is_again; /* R makes `saved` again: `kept` alone moves */
};

struct pp_away {
    int32_t *of;                /* [instruction] place of a COPY.down; -1 = none */
    int32_t *first;             /* [instruction] of a COPY: its first cell; -1 = none */
    struct pp_away_cell *cells; /* one after the other for the granules of a COPY */
    int *count;                 /* [rank] number of places */
    struct pp_edges edges;
};
/* Returns the places of a lowered program, in the arena. */
struct pp_away *pp_away_find(struct pp_arena *arena, const struct pp_program *program);

/* Returns the cell of granule g of a COPY. */
static inline const struct pp_away_cell *pp_away_cell(const struct pp_away *away,
                                                      const struct pp_program *p, int copy, int g)
{
    return &away->cells[away->first[copy] + g - p->mb[copy]];
}
