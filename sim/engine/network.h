/* sim/engine/network.h — the fabric as a program uses it: devices of its ranks, messages between
 * two of them, and the links that carry these.
 *
 * A program rank of a replica is tp * cp devices. Each of them sends its part of a message,
 * bytes/tp, to its counterpart. These parts are lanes. If every device has its own NIC, all
 * lanes are alike and one stands for all. If NICs are shared, all lanes are simulated. A stream
 * is a pair of ranks, a lane and a replica: its messages all take one route. */
#pragma once

#include "core/cluster/fabric.h"
#include "core/cluster/layout.h"
#include "core/cluster/link_set.h"
#include "core/cluster/map.h"
#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_network {
    const struct pp_fabric *fabric;
    struct pp_layout layout;
    struct pp_map map;
    int lanes; /* 1, or tp * cp */
};

static inline int pp_network_device(const struct pp_network *n, int rank, int replica, int lane)
{
    return pp_map_device(&n->map, lane % n->layout.tp, lane / n->layout.tp, replica, rank);
}

struct pp_network *pp_network_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                   const struct pp_cluster *cluster, const struct pp_layout *layout,
                                   struct pp_map_order order);

struct pp_rank_pair {
    uint16_t source, dest;
    int channels;         /* at most one current transfer each */
    double message_bytes; /* of all messages of the program, per device */
};
/* Pairs of ranks with messages, by source and destination. Without costs the bytes are 0. */
struct pp_rank_pair *pp_rank_pairs(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs, int *count);
