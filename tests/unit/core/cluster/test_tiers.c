/* Memory tiers: the way between two of them, and its rate. */
#include "core/cluster/tiers.h"

#include <criterion/criterion.h>
#include <math.h>

Test(tiers, a_route_has_the_hops_between_its_ends)
{
    static const struct {
        enum pp_tier from, to, hop[PP_TIERS];
        int count;
    } rows[] = {
        {PP_TIER_DEVICE, PP_TIER_DEVICE, {0}, 0},
        {PP_TIER_DEVICE, PP_TIER_HOST, {PP_TIER_HOST}, 1},
        {PP_TIER_NVME, PP_TIER_DEVICE, {PP_TIER_HOST, PP_TIER_NVME}, 2},
        {PP_TIER_HOST, PP_TIER_NVME, {PP_TIER_NVME}, 1},
        {PP_TIER_NVME, PP_TIER_NVME, {0}, 0},
        {PP_TIER_PEER, PP_TIER_DEVICE, {PP_TIER_PEER}, 1},
        {PP_TIER_PEER, PP_TIER_NVME, {PP_TIER_HOST, PP_TIER_NVME, PP_TIER_PEER}, 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct pp_tier_route route = pp_tier_route(rows[i].from, rows[i].to);
        cr_assert_eq(route.count, rows[i].count);
        for (int k = 0; k < route.count; k++)
            cr_assert_eq(route.hop[k], rows[i].hop[k]);
    }
}

Test(tiers, the_slowest_hop_has_the_rate)
{
    const struct pp_tier_memory tiers[PP_TIERS] = {
        [PP_TIER_HOST] = {.bytes = 1e12, .bytes_per_s = 80e9, .link_bytes_per_s = 25e9},
        [PP_TIER_NVME] = {.bytes = 8e12, .bytes_per_s = 24e9}};
    const struct pp_tier_route host = pp_tier_route(PP_TIER_DEVICE, PP_TIER_HOST),
                               nvme = pp_tier_route(PP_TIER_NVME, PP_TIER_DEVICE);

    cr_assert_eq(pp_tier_rate(tiers, host, 1), 25e9);
    cr_assert_eq(pp_tier_rate(tiers, host, 8), 10e9);
    cr_assert_eq(pp_tier_rate(tiers, nvme, 1), 24e9);
    cr_assert_eq(pp_tier_rate(tiers, nvme, 8), 3e9);
    cr_assert(isinf(pp_tier_rate(tiers, pp_tier_route(PP_TIER_HOST, PP_TIER_HOST), 8)));
}

/* Devices of a node share switches and memory. The least counts: the link of a device, or its part
 * of what all share. */
Test(tiers, devices_share_the_links_of_their_node)
{
    const struct pp_tier_memory tiers[PP_TIERS] = {
        [PP_TIER_HOST] = {.bytes = 1e12,
                          .bytes_per_s = 256e9,
                          .link_bytes_per_s = 12.5e9,
                          .uplink_bytes_per_s = 64e9},
        [PP_TIER_NVME] = {.bytes = 8e12, .bytes_per_s = 28e9}};
    const struct pp_tier_route host = pp_tier_route(PP_TIER_DEVICE, PP_TIER_HOST),
                               up = pp_tier_route(PP_TIER_HOST, PP_TIER_NVME);

    for (int devices = 1; devices <= 64; devices++)
        cr_assert_eq(pp_tier_rate(tiers, host, devices),
                     fmin(12.5e9, fmin(64e9 / devices, 256e9 / devices)), "%d", devices);
    cr_assert_eq(pp_tier_rate(tiers, up, 16), 28e9 / 16); /* drives are on the host's side */
}
