/* sim/engine/streams.h — what a program sends between two ranks, and the links that carry it.
 *
 * A stream is a pair of ranks, a lane and a replica: its messages all take one route. */
#pragma once

#include "core/cluster/link_set.h"
#include "core/cost/cost.h"
#include "schedules/program/program.h"
#include "sim/engine/network.h"

struct pp_rank_pair {
    uint16_t source, dest;
    int channels;         /* at most one transfer of each is under way */
    double message_bytes; /* of all messages of the program, per device */
};
/* The pairs of ranks with messages, by source and destination. Without costs the bytes are 0. */
struct pp_rank_pair *pp_rank_pairs(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs, int *count);
