/* sim/run/fold.h — may one data-parallel replica stand for all? Only where that changes no time.
 *
 * Replicas share their instructions. One of them tells the times of all when nothing varies between
 * replicas and, in an engine that shares links,
 *   - their messages run over networks of the same wiring: numbered in the order of first use, the
 *     links of all streams are the same list, with the same bandwidths and latencies;
 *   - no link used by two replicas can limit a transfer. What reaches such a link has passed links
 *     that one replica has for itself, so the sum of those bandwidths bounds the demand, on the way
 *     in as well as on the way out; a stream never asks for more than it gets alone. Max-min shares
 *     that respect a limit by themselves are the same with and without it. */
#pragma once

#include "sim/config/config.h"

enum pp_fold_obstacle {
    PP_FOLD_EXACT,  /* none */
    PP_FOLD_WIRING, /* two replicas use different links */
    PP_FOLD_SHARED, /* replicas meet on a link that their messages can fill */
};
struct pp_fold {
    enum pp_fold_obstacle obstacle;
    int32_t link;        /* the first that forbids it, an id of the fabric */
    int replicas[2];     /* two replicas that differ or meet there */
    double demand_per_s; /* SHARED: bytes a second that may be asked of it */
};
/* About the messages of a program, for all replicas of the network's layout. */
struct pp_fold pp_fold_network(const struct pp_program *program, const struct pp_network *network);
/* Replicas to simulate: 1, or all. `note` says why, for the report; it lives in the arena.
 * `network` may be NULL: nothing is shared. */
int pp_fold_replicas(struct pp_arena *arena, const struct pp_config *config,
                     const struct pp_program *program, const struct pp_costs *costs,
                     const struct pp_network *network, const char **note);
