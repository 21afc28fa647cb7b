/* sim/run/fold.h — decides whether one data-parallel replica stands for all: if no time changes.
 *
 * Replicas share their instructions. The times of one are those of all if nothing varies between
 * replicas and, in an engine that shares links,
 *   - messages of all replicas run over networks of the same wiring. Numbered in the order of first
 *     use, the links of all streams are the same list, with the same bandwidths and latencies;
 *   - no link of two replicas can limit a transfer. Traffic of such a link has passed links that
 *     one replica has alone, so the sum of their bandwidths bounds the demand, before the link as
 *     well as after it. A stream never asks for more than it gets alone. Max-min shares that
 *     respect a limit by themselves are the same with and without it. */
#pragma once

#include "sim/config/config.h"

enum pp_fold_obstacle {
    PP_FOLD_EXACT,  /* none */
    PP_FOLD_WIRING, /* two replicas use different links */
    PP_FOLD_SHARED, /* replicas meet on a link that their messages can fill */
};
struct pp_fold {
    enum pp_fold_obstacle obstacle;
    int32_t link;        /* first link that forbids folding, an id of the fabric */
    int replicas[2];     /* two replicas that differ or meet there */
    double demand_per_s; /* SHARED: largest demand on it, in bytes a second */
};
/* Compares the messages of a program among all replicas of the network's layout. */
struct pp_fold pp_fold_network(const struct pp_program *program, const struct pp_network *network);
/* Number of replicas to simulate: 1, or all. `note` is the reason, for the report, in the arena.
 * `network` may be NULL: nothing is shared. */
int pp_fold_replicas(struct pp_arena *arena, const struct pp_config *config,
                     const struct pp_program *program, const struct pp_costs *costs,
                     const struct pp_network *network, const char **note);
