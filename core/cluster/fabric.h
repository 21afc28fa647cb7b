/* core/cluster/fabric.h — the network of a cluster as directed links and fixed routes.
 *
 * Devices 0 .. devices-1 are numbered node by node. The route from one device to another is a list
 * of links. A transfer waits for the route's latency, then uses all its links at once. It shares
 * each of them fairly with the other transfers (max-min fairness, SimGrid's CM02 without
 * crosstraffic). Links and routes are computed, not stored, except for those read from a file.
 * Bandwidths are those reached (data sheet times eta_link), per direction. Lives in an arena;
 * read-only. */
#pragma once

#include "core/cluster/cluster.h"

#include <stdint.h>

struct pp_fabric;

struct pp_fabric_link {
    double bytes_per_s, latency_s;
    bool is_fatpipe; /* every transfer gets the whole bandwidth: nothing is shared */
};

struct pp_route {
    double alpha_s;     /* sum of the latencies, on a torus also those of both ends */
    double bytes_per_s; /* of the slowest link, which a lone transfer gets; infinite from a device
                         * to itself */
    int count;          /* number of links; 0 from a device to itself */
};

/* Makes the fabric of a cluster with room for `devices` devices. PP_EINVAL if the cluster has too
 * few devices (the message has their number) or no such shape. */
enum pp_status pp_fabric_make(struct pp_arena *arena, const struct pp_cluster *cluster, int devices,
                              struct pp_fabric **fabric, struct pp_error *err);
/* Source of routes that are not computed. `find` writes the link ids of a route into `links` (room
 * for `max`) and returns their number. Without a route it returns -1 with the reason in `err`. */
struct pp_route_source {
    int (*find)(void *context, int source, int dest, int32_t *links, int max, struct pp_error *err);
    void *context;
    double alpha_s; /* latency of every route, added to those of its links */
};
/* Makes a fabric of listed links; keeps `names` and `links` [link_count] by reference. Each route
 * is asked for once and kept. */
struct pp_fabric *pp_fabric_listed(struct pp_arena *arena, int devices,
                                   const struct pp_fabric_link *links, const char *const *names,
                                   int link_count, struct pp_route_source source);
/* PP_EINVAL with the first requested route that was not found. Such a route costs nothing and has
 * no links, so check before results are used. */
enum pp_status pp_fabric_check(const struct pp_fabric *fabric, struct pp_error *err);

/* Multiplies the bandwidth of links. `name` is a link, a name with '*' for any run of characters,
 * or a class of links. Classes are "node" (links of devices and hosts) and "network" (all others).
 * A file's links are all "network". PP_EINVAL with near names if nothing has that name. */
enum pp_status pp_fabric_scale(struct pp_fabric *fabric, const char *name, double factor,
                               struct pp_error *err);
bool pp_fabric_is_scaled(const struct pp_fabric *fabric); /* single links are, not only classes */

/* Shape of a computed fabric; 0 for what it lacks. */
struct pp_fabric_size {
    enum pp_fabric_kind kind;
    bool is_pcie;
    int gpus_per_node, nodes;
    int rails;               /* NICs of a node among which transfers choose */
    int leaf_nodes, uplinks; /* fat tree: of a leaf; 0 uplinks never limit and are left out */
    int torus[PP_TORUS_DIMS];
    int groups, chassis, routers, router_nodes;
    bool is_static;
};
struct pp_fabric_size pp_fabric_size(const struct pp_fabric *fabric);

int pp_fabric_devices(const struct pp_fabric *fabric);
int pp_fabric_links(const struct pp_fabric *fabric); /* ids are 0 .. links-1 */
struct pp_fabric_link pp_fabric_link(const struct pp_fabric *fabric, int link);
/* "node3.gpu2.up", "node3.nic0.down", "leaf1.rail5.up": unique, without blanks. */
enum { PP_LINK_NAME_BYTES = 128 };
const char *pp_fabric_link_name(const struct pp_fabric *fabric, int link,
                                char text[PP_LINK_NAME_BYTES]);
/* Returns a number below PP_LINK_FORMS: links of equal number have names that differ in digits
 * alone. -1 if the fabric lists its links. */
enum { PP_LINK_FORMS = 66 };
int pp_fabric_link_form(const struct pp_fabric *fabric, int link);
int pp_fabric_route_max(const struct pp_fabric *fabric); /* links of the longest route */
/* Writes the links of a route in order into `links` (room for pp_fabric_route_max). */
struct pp_route pp_fabric_route(const struct pp_fabric *fabric, int source, int dest,
                                int32_t *links);
/* Returns latency and bandwidth alone (count is 0), as cheaply as the shape allows. */
struct pp_route pp_fabric_cost(const struct pp_fabric *fabric, int source, int dest);

/* Figures from which a value follows, together with the routes of a fabric. */
struct pp_fabric_key {
    double *value;
    int64_t count, capacity;
};
/* Keeps a copy of a value, so that it is computed once. The fabric forgets values when it is scaled
 * or has many. */
void pp_fabric_keep(const struct pp_fabric *fabric, const struct pp_fabric_key *key,
                    const void *value, size_t bytes);
/* Copies the value of a key to `value`; false if there is none of this size. */
bool pp_fabric_recall(const struct pp_fabric *fabric, const struct pp_fabric_key *key, void *value,
                      size_t bytes);
