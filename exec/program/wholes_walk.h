/* exec/program/wholes_walk.h — private to wholes.c and whole_*.c: a walk over the lists of a
 * program, rank by rank, that takes buffers and gives them back. */
#pragma once

#include "exec/program/wholes.h"

enum { MOST_FETCHED = 2 }; /* units of a chunk: in use, and for the next use */

/* A chunk on the rank of the walk. */
struct pp_wholes_place {
    int32_t grads;                 /* buffer that backwards fill */
    int32_t last_grads;            /* buffer of the last scatter */
    int32_t fetched[MOST_FETCHED]; /* gathers or loads: the first one is in use, or will be next */
    int fetched_count;
    int32_t updated;         /* buffer of updated parameters on their way home */
    bool is_summed, is_home; /* the buffer began with the sum so far; it is on its tier */
};
struct pp_wholes_walk {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_stage *const *stages;
    const struct pp_cuts *cuts;
    struct pp_wholes *wholes;
    struct pp_wholes_place *places; /* [pipeline * stages + stage] */
    bool has_tied;
    bool are_away; /* gradients live on another tier */
    int rank;
    struct pp_wholes_buffers {
        bool *is_taken;
        int32_t *freed; /* instruction whose end freed it; -1 = none */
        int count, capacity, sizes;
    } buffers[PP_WHOLES];
};

static inline struct pp_wholes_place *pp_whole_place_of(const struct pp_wholes_walk *w, int i)
{
    return &w->places[w->p->pipe[i] * w->p->stages + w->p->stage[i]];
}

/* Takes the lowest free buffer of the rank, of at least so many elements. */
int32_t pp_whole_take(struct pp_wholes_walk *w, enum pp_whole_class what, int64_t elements);
/* Gives it back at the end of instruction `by`; -1 = none. No buffer (below 0): no effect. */
void pp_whole_release(struct pp_wholes_walk *w, enum pp_whole_class what, int32_t buffer,
                      int32_t by);
/* Notes what an instruction does to parameters. `target`: that of a WAIT, else itself. Returns true
 * if it does nothing else. */
bool pp_whole_walk_params(struct pp_wholes_walk *w, int instruction, int target);
