/* Rows of memory tiers, and routes between tiers. */
#include "core/cluster/tiers.h"

#include <math.h>

const struct pp_tier_row pp_tier_rows[PP_TIERS] = {
    [PP_TIER_DEVICE] = {.name = "device", .title = "in device memory"},
    [PP_TIER_HOST] = {.name = "host",
                      .title = "in host memory",
                      .via = PP_TIER_DEVICE,
                      .is_of_node = true,
                      .is_of_host = true,
                      .owner = "",
                      .lack = "has no host memory: add ram:1TB and h2d:25GBps to its text"},
    [PP_TIER_NVME] = {.name = "nvme",
                      .title = "on nvme",
                      .via = PP_TIER_HOST,
                      .is_of_node = true,
                      .is_of_host = true,
                      .owner = "the nodes of ",
                      .lack = "have no drives: nvme:8TB@25GBps in its text gives them some",
                      .lack_rate = "this cluster has no drives: give their rate too, as in "
                                   "8TB@25GBps"},
    [PP_TIER_PEER] = {.name = "peer",
                      .title = "in the memory of peers",
                      .via = PP_TIER_DEVICE,
                      .is_of_node = true},
};

double pp_tier_sharers(enum pp_tier tier, double devices)
{
    return pp_tier_rows[tier].is_of_node ? devices : 1;
}

/* Is true if `tier` lies on the way from the device to `end`, the end included. */
static bool is_on_way(enum pp_tier tier, enum pp_tier end)
{
    while (end != PP_TIER_DEVICE && end != tier)
        end = pp_tier_rows[end].via;
    return end != PP_TIER_DEVICE;
}

struct pp_tier_route pp_tier_route(enum pp_tier from, enum pp_tier to)
{
    struct pp_tier_route route = {0};

    for (int tier = PP_TIER_DEVICE + 1; tier < PP_TIERS; tier++)
        if (is_on_way((enum pp_tier)tier, from) != is_on_way((enum pp_tier)tier, to))
            route.hop[route.count++] = (enum pp_tier)tier;
    return route;
}

double pp_tier_rate(const struct pp_tier_memory tiers[PP_TIERS], struct pp_tier_route route,
                    double devices)
{
    double rate = (double)INFINITY;

    for (int i = 0; i < route.count; i++) {
        const struct pp_tier_memory *t = &tiers[route.hop[i]];
        if (t->link_bytes_per_s > 0)
            rate = fmin(rate, t->link_bytes_per_s);
        if (t->uplink_bytes_per_s > 0)
            rate = fmin(rate, t->uplink_bytes_per_s / devices);
        if (t->bytes_per_s > 0)
            rate = fmin(rate, t->bytes_per_s / pp_tier_sharers(route.hop[i], devices));
    }
    return rate;
}

static bool is_there(const struct pp_tier_memory *t, enum pp_tier tier)
{
    return t->bytes > 0 && (pp_tier_rows[tier].via != PP_TIER_DEVICE || t->link_bytes_per_s > 0);
}

enum pp_tier pp_tier_lacking(const struct pp_tier_memory tiers[PP_TIERS], enum pp_tier tier)
{
    const struct pp_tier_route route = pp_tier_route(PP_TIER_DEVICE, tier);

    for (int i = 0; i < route.count; i++)
        if (!is_there(&tiers[route.hop[i]], route.hop[i]))
            return route.hop[i];
    return PP_TIER_DEVICE;
}
