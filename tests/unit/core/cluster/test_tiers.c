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
