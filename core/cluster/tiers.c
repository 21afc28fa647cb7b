/* The rows of memory tiers, and the way from a device to each of them. */
#include "core/cluster/tiers.h"

#include <math.h>
#include <stddef.h>

const struct pp_tier_row pp_tier_rows[PP_TIERS] = {
    [PP_TIER_DEVICE] = {.name = "device", .title = "in device memory"},
    [PP_TIER_HOST] = {.name = "host",
                      .title = "in host memory",
                      .via = PP_TIER_DEVICE,
                      .is_of_node = true,
                      .owner = "",
                      .lack = "says nothing of its host memory: ram:1TB and h2d:25GBps in its text "
                              "do"},
    [PP_TIER_NVME] = {.name = "nvme",
                      .title = "on nvme",
                      .via = PP_TIER_HOST,
                      .is_of_node = true,
                      .owner = "the nodes of ",
                      .lack = "have no drives: nvme:8TB@25GBps in its text gives them some",
                      .lack_rate = "this cluster has no drives: give their rate too, as in "
                                   "8TB@25GBps"},
};

double pp_tier_sharers(enum pp_tier tier, double devices)
{
    return pp_tier_rows[tier].is_of_node ? devices : 1;
}

double pp_tier_rate(const struct pp_tier_memory tiers[PP_TIERS], enum pp_tier tier, double devices)
{
    double rate = (double)INFINITY;

    for (; tier != PP_TIER_DEVICE; tier = pp_tier_rows[tier].via) {
        const struct pp_tier_memory *t = &tiers[tier];
        if (t->link_bytes_per_s > 0)
            rate = fmin(rate, t->link_bytes_per_s);
        if (t->bytes_per_s > 0)
            rate = fmin(rate, t->bytes_per_s / pp_tier_sharers(tier, devices));
    }
    return rate;
}

static bool is_there(const struct pp_tier_memory *t, enum pp_tier tier)
{
    return t->bytes > 0 && (pp_tier_rows[tier].via != PP_TIER_DEVICE || t->link_bytes_per_s > 0);
}

enum pp_tier pp_tier_lacking(const struct pp_tier_memory tiers[PP_TIERS], enum pp_tier tier)
{
    enum pp_tier lacking = PP_TIER_DEVICE;

    for (; tier != PP_TIER_DEVICE; tier = pp_tier_rows[tier].via)
        if (!is_there(&tiers[tier], tier))
            lacking = tier;
    return lacking;
}
