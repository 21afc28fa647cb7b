/* Idle devices of a node: how many there are, their memory, and the links to it. */
#include "core/cluster/fabric_parts.h"

#include <math.h>

enum { CUBE_LINKS = 6 }; /* of a device of a DGX-1, wired to four others */

int pp_peers_idle(const struct pp_cluster *c, int gpus)
{
    return gpus < c->gpus_per_node ? c->gpus_per_node - gpus : 0;
}

/* Returns the share of a device's links that lead to so many peers. On a switch all do. */
static double wired_frac(const struct pp_cluster *c, int peers)
{
    const int links = c->is_cube_mesh ? CUBE_LINKS : c->mesh_links;

    return links > 0 ? fmin((double)peers / links, 1) : 1;
}

struct pp_tier_memory pp_peers_memory(const struct pp_cluster *c, int peers, double usable_frac)
{
    const double link = c->intra.bytes_per_s * c->eta_link,
                 free_bytes = c->device.memory_bytes * usable_frac - c->other_bytes;

    return (struct pp_tier_memory){
        .bytes = peers * fmax(free_bytes, 0),
        .bytes_per_s = peers * link,
        .link_bytes_per_s = link * wired_frac(c, peers),
        .uplink_bytes_per_s = c->fabric.is_pcie ? pp_fabric_host_rate(c) * c->eta_link : 0};
}
