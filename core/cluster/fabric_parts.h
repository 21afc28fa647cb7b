/* core/cluster/fabric_parts.h — what the files of the fabric share. Private to
 * core/cluster/fabric*.c. */
#pragma once

#include "core/cluster/fabric.h"

#include <stdbool.h>

/* Links of a computed fabric come in levels: all links of a level are alike but for their factor.
 * Their ids follow one another. */
enum pp_fabric_level_kind {
    PP_LEVEL_DEVICE,  /* 2 of a device: to and from the NVSwitch or the PCIe root */
    PP_LEVEL_HOST,    /* 1 of a node: host memory */
    PP_LEVEL_NIC,     /* 2 of a rail of a node */
    PP_LEVEL_LEAF,    /* fat tree: 2 of an uplink of a leaf */
    PP_LEVEL_ROUTER,  /* dragonfly, adaptive: all ports of a router inside the group, in and out */
    PP_LEVEL_CHASSIS, /* dragonfly, static: between two routers of a chassis */
    PP_LEVEL_GROUP,   /* dragonfly, static: between routers of the same slot of two chassis */
    PP_LEVEL_GLOBAL,  /* dragonfly: between two groups */
    PP_LEVEL_TORUS,   /* torus: from a node to its neighbours, 2 in each dimension */
    PP_LEVEL_PAIR,    /* ideal: one for each ordered pair of devices */
    PP_LEVEL_PAIR_NODE, /* those of them inside a node: speed and latency, no ids of its own */
    PP_LEVELS
};

struct pp_fabric_level {
    int first, count;
    double bytes_per_s, latency_s;
};

enum {
    PP_COMPUTED_ROUTE_MAX = 12, /* without the hops of a torus: devices 2, hosts 2, NICs 2, and 5 of
                                 * a minimal path or 2 uplinks */
    PP_LISTED_ROUTE_MAX = 1024,
};

struct pp_fabric_cache; /* routes of a listed fabric */

struct pp_fabric {
    struct pp_fabric_size size;
    int devices; /* asked for */
    int links;
    bool has_device, has_router, has_global; /* routes have links of those levels */
    double intra_s, inter_s;                 /* latency of a route inside a node, between nodes */
    struct pp_fabric_level level[PP_LEVELS];
    double *factors;  /* [link] --link-bw of single links; NULL = all 1 */
    int32_t *scratch; /* room for a route, where costs need the links; else NULL */
    struct pp_arena *arena;

    const struct pp_fabric_link *listed; /* [link], kind PP_FABRIC_FILE */
    const char *const *names;
    struct pp_fabric_cache *cache;
};

static inline int pp_fabric_node(const struct pp_fabric *f, int device)
{
    return device / f->size.gpus_per_node;
}

/* A computed route, whose links are written where there is room for them. */
struct pp_route_walk {
    int32_t *links; /* NULL: only their levels are wanted */
    int count;
    unsigned levels; /* a set of bits */
};
struct pp_route_walk pp_fabric_walk(const struct pp_fabric *fabric, int source, int dest,
                                    int32_t *links);

/* "network" of --link-bw, else "node". */
bool pp_fabric_is_network(enum pp_fabric_level_kind level);

/* Routes of a listed fabric; fabric_listed.c. */
struct pp_route pp_fabric_listed_route(const struct pp_fabric *fabric, int source, int dest,
                                       int32_t *links);
