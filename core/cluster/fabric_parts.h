/* core/cluster/fabric_parts.h — declarations for the files of the fabric. Private to them. */
#pragma once

#include "core/cluster/fabric.h"

#include <stdbool.h>

/* Level of a computed fabric. Its links differ only in their factor, and have consecutive ids. */
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
    PP_LEVEL_PAIR_NODE, /* ideal: pairs inside a node; speed and latency, no ids of its own */
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

/* Returns the bandwidth of host memory in which the devices of a node meet on PCIe. */
double pp_fabric_host_rate(const struct pp_cluster *cluster);

struct pp_fabric_cache; /* routes of a listed fabric */

/* Kept values, in an arena of their own: that of the fabric may hold data soon released. */
struct pp_fabric_kept {
    struct pp_arena *arena; /* NULL if there are none */
    const struct pp_kept_value *last;
    size_t bytes;
};
struct pp_fabric_kept *pp_fabric_kept_make(struct pp_arena *arena);
void pp_fabric_forget(struct pp_fabric_kept *kept);

struct pp_fabric {
    struct pp_fabric_size size;
    int devices; /* number asked for */
    int links;
    bool has_device, has_router, has_global; /* routes use links of those levels */
    double intra_s, inter_s;                 /* latency of a route inside a node, between nodes */
    struct pp_fabric_level level[PP_LEVELS];
    double *factors;  /* [link] --link-bw of single links; NULL = all 1 */
    int32_t *scratch; /* room for a route, if costs need its links; else NULL */
    struct pp_arena *arena;
    struct pp_fabric_kept *kept;

    const struct pp_fabric_link *listed; /* [link], kind PP_FABRIC_FILE */
    const char *const *names;
    struct pp_fabric_cache *cache;
};

static inline int pp_fabric_node(const struct pp_fabric *f, int device)
{
    return device / f->size.gpus_per_node;
}

/* A computed route; its links are written if there is room for them. */
struct pp_route_walk {
    int32_t *links; /* NULL: only the levels are wanted */
    int count;
    unsigned levels; /* set of bits, one per level */
};
struct pp_route_walk pp_fabric_walk(const struct pp_fabric *fabric, int source, int dest,
                                    int32_t *links);

/* Is true if --link-bw counts the level as "network", false for "node". */
bool pp_fabric_is_network(enum pp_fabric_level_kind level);

struct pp_route pp_fabric_listed_route(const struct pp_fabric *fabric, int source, int dest,
                                       int32_t *links);
