/* schedules/memory/changes.h — the walk of schedules/memory/memory.h: the memory that every
 * instruction of a rank takes at its start and releases at its end. Private to schedules/memory. */
#pragma once

#include "schedules/memory/lifetimes.h"
#include "schedules/memory/memory.h"

struct pp_memory_change {
    double saved_taken, saved_given;   /* bytes */
    double buffer_taken, buffer_given; /* bytes */
    double away_taken, away_given;     /* bytes of what is saved, on another tier */
    int cells_taken, cells_given;      /* activations, in (granule, split) cells */
};

/* Bytes of one cell of a stage, whole ones. */
struct pp_memory_sizes {
    double saved, checkpoint; /* from the forward on: all, or until it is computed again */
    double kept_for_weights;  /* of what is saved, from I to W */
    double boundary;          /* what passes on to the next stage, and comes back */
    double forward, backward; /* while that runs */
};

/* What is whole of a stage whose parameters or gradients are cut. */
struct pp_memory_whole {
    double params[2]; /* bytes of gathers that are not dropped, in their order */
    double shares[2]; /* of loads that no gather has brought together, the last one first */
    int count;
    bool has_grads; /* of a visit */
};

struct pp_memory_walk {
    const struct pp_program *p;
    const struct pp_costs *costs;
    struct pp_lifetimes lives;
    const struct pp_memory_sizes *sizes; /* [stage]; all 0 without bytes */
    bool is_infer, has_bytes, has_buffers;
    struct pp_memory_change
        *changes;     /* [position in the rank at hand], one more for what is never given */
    int begin, count; /* of the rank at hand */
    int last_update;  /* position of its last U, -1 = none */
    struct pp_memory_whole *whole; /* [stage], of the rank at hand; NULL: nothing is cut */
    int gathered;                  /* units on the rank that are not dropped */
};

/* Notes all tensors of the program; in the arena. */
struct pp_memory_walk pp_memory_walk_make(struct pp_arena *scratch, const struct pp_program *p,
                                          const struct pp_costs *costs);
/* Fills `changes` for a rank. */
void pp_memory_walk_rank(struct pp_memory_walk *w, int rank);
