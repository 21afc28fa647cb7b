/* schedules/memory/changes.h — memory that every instruction of a rank takes at its start and
 * releases at its end. Private to schedules/memory. */
#pragma once

#include "schedules/memory/lifetimes.h"
#include "schedules/memory/memory.h"

struct pp_memory_away {  /* saved activations on another tier */
    double taken, given; /* bytes */
};
struct pp_memory_change {
    double saved_taken, saved_given;   /* bytes */
    double buffer_taken, buffer_given; /* bytes */
    double kv_taken, kv_given;         /* bytes of the cache of keys and values */
    int cells_taken, cells_given;      /* activations, in (granule, split) cells */
};

/* Bytes of one cell of a stage, whole numbers. */
struct pp_memory_sizes {
    double saved, checkpoint; /* saved by R and the forward before it; by the forward alone */
    double whole;             /* saved by a forward without R */
    double kept_for_weights;  /* part of `saved` from I to W */
    double boundary;          /* output for the next stage, and its gradient */
    double kv;                /* cached by one pass */
    double kv_up, kv_down;    /* buffers of COPY.kv-up, COPY.kv-down */
    double kv_room;           /* all buffers of blocks while F runs, that of COPY.kv-up included */
    double forward, recompute, backward, input, weights; /* scratch while F, R, B, I, W run */
    double dense_grad; /* a whole gradient before it is added up; no granule divides it */
};

/* Gathered parameters and gradients of a stage whose parameters or gradients are sharded. */
struct pp_memory_whole {
    double params[2]; /* bytes of gathers that are not dropped, in their order */
    double shares[2]; /* bytes of loads that no gather has taken, the last one first */
    int count;
    bool has_grads; /* of a visit */
    bool has_part;  /* buffer of gradients that leave for another tier, as one unit */
    double sum;     /* bytes of gradients that came up, until the next B or W */
};

/* Returns the position after whose op memory is released that is read at `at`: for both ops of a
 * pair together. The list begins at `begin`. */
static inline int pp_memory_end_of(const struct pp_program *p, int begin, int count, int at)
{
    const int i = begin + at;

    return p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST && at + 1 < count ? at + 1 : at;
}

/* Is true for the WAIT for a message: it takes no memory, and releases that of the message alone.
 */
static inline bool pp_memory_takes_none(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_WAIT && pp_op_kinds[p->aux[i]].stream == PP_STREAM_CHANNEL;
}

struct pp_memory_walk {
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_memory_place *places; /* [instruction] */
    const struct pp_memory_sizes *sizes;  /* [stage]; all 0 without bytes */
    bool is_infer, has_bytes, has_buffers;
    struct pp_memory_change
        *changes; /* [position in the current rank], and one for memory never released */
    struct pp_memory_away *away; /* as `changes`; NULL: nothing has moved so far */
    struct pp_arena *arena;
    int begin, count;              /* of the current rank */
    int last_update;               /* position of its last U, -1 = none */
    struct pp_memory_whole *whole; /* [stage], of the current rank; NULL: nothing is sharded */
    int gathered;                  /* units on the rank that are not dropped */
    double late_bytes;             /* of the last fetch, which has no room before the next DROP */
    double coming_bytes;           /* of the last COPY.kv-up, which has no room so far */
};

/* Returns what a stage keeps; all 0 without bytes. */
static inline const struct pp_stage_memory *pp_memory_of_stage(const struct pp_memory_walk *w,
                                                               int stage)
{
    static const struct pp_stage_memory none = {0};

    return w->has_bytes && stage < w->costs->stages ? &w->costs->memory[stage] : &none;
}

/* Takes memory for the time of one op; for a pair until both have ended. */
static inline void pp_memory_use(struct pp_memory_walk *w, int at, double bytes)
{
    w->changes[at].buffer_taken += bytes;
    w->changes[pp_memory_end_of(w->p, w->begin, w->count, at)].buffer_given += bytes;
}

/* Returns a walk in the arena. */
struct pp_memory_walk pp_memory_walk_make(struct pp_arena *scratch, const struct pp_program *p,
                                          const struct pp_costs *costs);
void pp_memory_walk_rank(struct pp_memory_walk *w, int rank);

/* Gathered parameters and their gradients, in gathered.c. F, B and I use parameters, B and W make
 * gradients; the others are of AG, a load, DROP, RS and of WAITs. Ops on whole state do nothing. */
void pp_memory_use_params(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_make_grads(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_gather(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_load(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_drop(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_scatter(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_wait_gather(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_wait_scatter(struct pp_memory_walk *w, const struct pp_op *op, int at);

/* Gradients that leave for another tier, in grads.c: B or W makes them, a MOVE and its WAIT. */
void pp_memory_make_part(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_move_part(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_wait_part(struct pp_memory_walk *w, const struct pp_op *op, int at);

/* Keys and values, in cache.c: a pass caches some; COPY.kv-up and COPY.kv-down, and their WAITs. */
void pp_memory_add_cache(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_move_cache(struct pp_memory_walk *w, const struct pp_op *op, int at);
void pp_memory_wait_cache(struct pp_memory_walk *w, const struct pp_op *op, int at);

/* Returns the bytes that the allocator wastes in addition to `tensors`. The sum of both grows with
 * them. */
double pp_memory_wasted_bytes(const struct pp_costs *costs, double tensors);
