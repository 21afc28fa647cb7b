/* schedules/memory/changes.h — memory that every instruction of a rank takes at its start and
 * releases at its end. Private to schedules/memory. */
#pragma once

#include "schedules/memory/lifetimes.h"
#include "schedules/memory/memory.h"

struct pp_memory_change {
    double saved_taken, saved_given;   /* bytes */
    double buffer_taken, buffer_given; /* bytes */
    double away_taken, away_given;     /* saved activations on another tier, bytes */
    int cells_taken, cells_given;      /* activations, in (granule, split) cells */
};

/* Bytes of one cell of a stage, whole numbers. */
struct pp_memory_sizes {
    double saved, checkpoint; /* saved by the forward: all; or, with R, only its input */
    double kept_for_weights;  /* part of `saved` from I to W */
    double boundary;          /* output for the next stage, and its gradient */
    double forward, backward; /* scratch while that runs */
};

/* Gathered parameters and gradients of a stage whose parameters or gradients are sharded. */
struct pp_memory_whole {
    double params[2]; /* bytes of gathers that are not dropped, in their order */
    double shares[2]; /* bytes of loads that no gather has taken, the last one first */
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
        *changes;     /* [position in the current rank], and one for memory never released */
    int begin, count; /* of the current rank */
    int last_update;  /* position of its last U, -1 = none */
    struct pp_memory_whole *whole; /* [stage], of the current rank; NULL: nothing is sharded */
    int gathered;                  /* units on the rank that are not dropped */
};

/* Returns a walk with the lifetimes of all tensors of the program; in the arena. */
struct pp_memory_walk pp_memory_walk_make(struct pp_arena *scratch, const struct pp_program *p,
                                          const struct pp_costs *costs);
void pp_memory_walk_rank(struct pp_memory_walk *w, int rank);

/* Returns the bytes that the allocator wastes in addition to `tensors`. The sum of both grows with
 * them. */
double pp_memory_wasted_bytes(const struct pp_costs *costs, double tensors);
