/* sim/streams.h — what a program sends between two ranks, and the links that carry it.
 *
 * A stream is a pair of ranks, a lane and a replica: its messages all take one route. */
#ifndef PP_SIM_STREAMS_H
#define PP_SIM_STREAMS_H

#include "core/cost.h"
#include "schedules/program.h"
#include "sim/network.h"

struct pp_rank_pair {
    uint16_t source, dest;
    int channels;         /* at most one transfer of each is under way */
    double message_bytes; /* of all messages of the program, per device */
};
/* The pairs of ranks with messages, by source and destination. Without costs the bytes are 0. */
struct pp_rank_pair *pp_rank_pairs(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs, int *count);

/* The links that were asked for, numbered 0, 1, ... in the order of their first use. A fabric may
 * have far more links than a run uses. */
struct pp_link_set {
    struct pp_arena *arena;
    const struct pp_fabric *fabric;
    int count, capacity;
    int32_t *link;                /* [index]: id in the fabric */
    struct pp_fabric_link *value; /* [index] */
    int32_t *slots;               /* open addressing, index + 1, 0 = free */
    uint32_t mask;
};
/* Lives in the arena; `expected` links is a hint. */
struct pp_link_set pp_link_set_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                    int expected);
/* Index of a link, which is added when it is new. */
int pp_link_set_at(struct pp_link_set *set, int32_t link);

#endif
