/* sim/engine/network.h — the fabric as a program uses it: devices of its ranks, routes of its
 * messages.
 *
 * A program rank of a replica is tp * cp devices. Each of them sends its part of a message to its
 * counterpart, bytes/tp each. These parts are lanes. If every device has its own NIC, all lanes are
 * alike and one stands for all. If NICs are shared, all lanes are simulated. */
#pragma once

#include "core/cluster/fabric.h"
#include "core/cluster/layout.h"
#include "core/cluster/map.h"

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
