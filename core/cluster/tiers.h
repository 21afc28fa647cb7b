/* core/cluster/tiers.h — memory tiers: device memory, and places that data may be moved to. A new
 * tier is a value of enum pp_tier, a row of pp_tier_rows, and its numbers in the presets. */
#pragma once

#include <stdbool.h>

enum pp_tier { PP_TIER_DEVICE, PP_TIER_HOST, PP_TIER_NVME, PP_TIER_PEER, PP_TIERS };

/* Properties of a tier on all clusters. */
struct pp_tier_row {
    const char *name;      /* "host": in options, reports, JSON keys */
    const char *title;     /* "does not fit TITLE": "in host memory" */
    enum pp_tier via;      /* next tier on the way to the device; an earlier row */
    bool is_of_node;       /* shared by the devices of a node; else each device has its own */
    bool is_of_host;       /* the processors of the node can add and update what is there */
    const char *owner;     /* start of the message if a cluster lacks it: "OWNER cluster X LACK" */
    const char *lack;      /* end of that message, with the keys of a cluster text that add it;
                            * NULL: the devices of a run decide, not the cluster */
    const char *lack_rate; /* message if a text gives a size without a rate; NULL: allowed */
};
extern const struct pp_tier_row pp_tier_rows[PP_TIERS];

/* A tier of one cluster; 0 = none or unknown. Nothing can be moved to a tier without bytes. */
struct pp_tier_memory {
    double bytes, bytes_per_s; /* of a node or of a device (is_of_node); each way */
    double link_bytes_per_s;   /* of a device's own link, reached, each way; next to the device */
    double uplink_bytes_per_s; /* of the links of all devices of a node together, reached, each way:
                                * switches share them; 0 = nothing is shared */
};

/* Returns how many of the `devices` that a node uses share a tier. */
double pp_tier_sharers(enum pp_tier tier, double devices);

/* Route between two tiers. A hop uses the memory of its tier and the link from there to `via`. Hops
 * are in order from the device; a tier to itself has none. */
struct pp_tier_route {
    enum pp_tier hop[PP_TIERS];
    int count;
};
struct pp_tier_route pp_tier_route(enum pp_tier from, enum pp_tier to);
/* Returns bytes per second of one device along a route, each way, if all `devices` of a node copy
 * concurrently: the least of its hops. INFINITY without hops. */
double pp_tier_rate(const struct pp_tier_memory tiers[PP_TIERS], struct pp_tier_route route,
                    double devices);
/* Returns the first tier on the way to `tier` that the cluster lacks, or PP_TIER_DEVICE. */
enum pp_tier pp_tier_lacking(const struct pp_tier_memory tiers[PP_TIERS], enum pp_tier tier);
