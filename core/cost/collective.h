/* core/cost/collective.h — seconds of a collective over a group of devices, by algorithm.
 *
 * A group has about `per_node` members in each of `nodes` nodes, and at least `fewest` in any.
 * `fewest` rings or trees enter and leave every node, each through NICs of its own. A message takes
 * alpha + bytes / bandwidth, inside a node of `intra`, between nodes of `inter`. The latter's
 * bandwidth is that of one device while the others of its node send too. Formulas with their
 * sources: docs/costs.md. */
#pragma once

#include "core/cluster/cluster.h"
#include "core/op.h"

struct pp_device_group {
    int members, per_node, nodes;
    int fewest; /* 0 = per_node */
};
struct pp_device_links {
    struct pp_link intra, inter;                /* reached bandwidths */
    struct pp_ring_link intra_ring, inter_ring; /* for `auto`; 0 = as the links */
    bool is_cube_mesh;
    int mesh_links;
    double copy_bytes_per_s; /* inside a device, of the own share of an exchange; 0 = at once */
};
/* Returns a cluster's links as messages reach them, and its rings. */
struct pp_device_links pp_collective_links_of(const struct pp_cluster *cluster);

enum pp_algorithm {
    PP_ALGORITHM_AUTO, /* as NCCL does: pipelined rings, trees between nodes where faster, with the
                        * constants of struct pp_ring_link */
    PP_ALGORITHM_RING,
    PP_ALGORITHM_TREE,
    PP_ALGORITHM_HIERARCHICAL, /* rings inside the nodes, then rings between them */
    PP_ALGORITHMS
};
extern const char *const pp_algorithm_names[]; /* terminated by NULL */

/* Returns the links with the bandwidths that an algorithm reaches: `auto` has its own. */
struct pp_device_links pp_collective_links(struct pp_device_links links,
                                           enum pp_algorithm algorithm);
/* Time of a collective: bytes inside the nodes, bytes between them, latencies of all rounds. */
struct pp_collective_time {
    double node_s, network_s, latency_s;
    double tree_frac; /* of a ring's bandwidth, where `auto` chose trees; else 0 */
};
/* Returns the time of AR, RS, AG, BC or A2A. `bytes`: AR, BC the buffer; RS, AG the whole that is
 * scattered or gathered; A2A the data of one sender, its own share included. */
struct pp_collective_time pp_collective_time(enum pp_op_kind kind, enum pp_algorithm algorithm,
                                             struct pp_device_group group,
                                             const struct pp_device_links *links, double bytes);
static inline double pp_collective_s(struct pp_collective_time time)
{
    return time.node_s + time.network_s + time.latency_s;
}
