/* core/cluster/tiers.h — memory tiers: the device's own memory, and the places that data may be
 * moved to. A new tier is a value of enum pp_tier, a row of pp_tier_rows, and its numbers in the
 * presets of clusters. */
#pragma once

#include <stdbool.h>

enum pp_tier { PP_TIER_DEVICE, PP_TIER_HOST, PP_TIER_NVME, PP_TIERS };

/* A tier as all clusters have it. */
struct pp_tier_row {
    const char *name;      /* "host": in options, reports, JSON keys */
    const char *title;     /* "does not fit TITLE": "in host memory" */
    enum pp_tier via;      /* the next tier on the way to the device; an earlier row */
    bool is_of_node;       /* shared by the devices of a node; else each device has its own */
    const char *owner;     /* of a message if a cluster lacks it: "OWNER cluster X LACK" */
    const char *lack;      /* with the keys of a cluster text that add it */
    const char *lack_rate; /* message if a text gives a size without a rate; NULL: allowed */
};
extern const struct pp_tier_row pp_tier_rows[PP_TIERS];

/* A tier of one cluster. 0 = none, or not known: nothing can be moved to a tier without bytes. */
struct pp_tier_memory {
    double bytes, bytes_per_s; /* of a node or of a device (is_of_node); each way */
    double link_bytes_per_s;   /* next to the device: of its own link, reached, each way */
};

/* Devices that share a tier, of `devices` that a node uses. */
double pp_tier_sharers(enum pp_tier tier, double devices);

/* The way between two tiers. A hop uses the memory of its tier and the link from there to `via`.
 * Hops stand in order from the device; there are none from a tier to itself. */
struct pp_tier_route {
    enum pp_tier hop[PP_TIERS];
    int count;
};
struct pp_tier_route pp_tier_route(enum pp_tier from, enum pp_tier to);
/* Bytes per second of one device along a route, each way, while all `devices` of a node copy: the
 * least of its hops. INFINITY without hops. */
double pp_tier_rate(const struct pp_tier_memory tiers[PP_TIERS], struct pp_tier_route route,
                    double devices);
/* The first tier on the way from the device to `tier` that the cluster lacks; PP_TIER_DEVICE: none.
 */
enum pp_tier pp_tier_lacking(const struct pp_tier_memory tiers[PP_TIERS], enum pp_tier tier);
