/* Idle devices of a node lend memory over the links of the node. */
#include "core/cluster/cluster.h"

#include <criterion/criterion.h>
#include <math.h>

static struct pp_cluster cluster_of(struct pp_arena *arena, const char *text)
{
    struct pp_cluster cluster;
    struct pp_error err = {0};

    cr_assert_eq(pp_cluster_load(arena, text, &cluster, &err), PP_OK, "%s", err.message);
    return cluster;
}

/* Returns the rate of one of `devices` that reach so many peers concurrently. */
static double rate_of(const struct pp_cluster *c, int peers, int devices)
{
    struct pp_tier_memory tiers[PP_TIERS] = {[PP_TIER_PEER] = pp_peers_memory(c, peers, 1)};

    return pp_tier_rate(tiers, pp_tier_route(PP_TIER_PEER, PP_TIER_DEVICE), devices);
}

Test(peers, a_run_leaves_idle_what_it_does_not_use_of_each_node)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cluster c = cluster_of(arena, "node:2 gpu:8 device:a100");

    for (int gpus = 1; gpus <= 16; gpus++)
        cr_expect_eq(pp_peers_idle(&c, gpus), gpus < 8 ? 8 - gpus : 0);
}

Test(peers, memory_is_that_of_a_device_but_what_it_reserves)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cluster c = cluster_of(arena, "a100"),
                            small = cluster_of(arena, "a100 memory:2GB");

    for (int peers = 0; peers <= 7; peers++)
        for (int percent = 50; percent <= 100; percent += 25)
            cr_expect_float_eq(pp_peers_memory(&c, peers, percent / 100.0).bytes,
                               peers * (c.device.memory_bytes * percent / 100 - c.other_bytes), 1);
    cr_expect_eq(pp_peers_memory(&small, 4, 1).bytes, 0); /* 3 GiB are reserved */
}

/* On a switch the links of the peers are shared, or a device's own is full. */
Test(peers, devices_share_the_links_of_peers)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cluster c = cluster_of(arena, "a100");

    for (int devices = 1; devices < 8; devices++)
        for (int peers = 1; peers + devices <= 8; peers++)
            cr_expect_float_eq(rate_of(&c, peers, devices),
                               0.92 * 300e9 * fmin(1, (double)peers / devices), 1, "%d, %d", peers,
                               devices);
}

/* Without a switch a peer is reached by the link to it alone, whatever others do. */
Test(peers, a_mesh_has_a_link_to_each_peer)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cluster mesh = cluster_of(arena, "mi300x"),
                            cube = cluster_of(arena, "v100-dgx1");

    for (int devices = 1; devices < 8; devices++)
        for (int peers = 1; peers + devices <= 8; peers++) {
            cr_expect_float_eq(rate_of(&mesh, peers, devices), 0.92 * 448e9 * peers / 7, 1,
                               "%d, %d", peers, devices);
            cr_expect_leq(rate_of(&cube, peers, devices), 0.92 * 25e9 * peers + 1);
        }
}

/* On PCIe bytes pass host memory, which all of them share. */
Test(peers, pcie_leads_through_host_memory)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_cluster c = cluster_of(arena, "rtx4090"),
                            slow = cluster_of(arena, "rtx4090 host:40GBps");

    cr_expect_float_eq(rate_of(&c, 4, 4), 25e9, 1);
    cr_expect_float_eq(rate_of(&slow, 4, 1), 25e9, 1);
    cr_expect_float_eq(rate_of(&slow, 4, 4), 0.92 * 40e9 / 4, 1);
}

/* No device is slower for one more peer, and none is faster than its links. */
Test(peers, more_peers_are_never_slower)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int i = 0; pp_cluster_name(i); i++) {
        const struct pp_cluster c = cluster_of(arena, pp_cluster_name(i));
        for (int devices = 1; devices < c.gpus_per_node; devices++)
            for (int peers = 1; peers <= pp_peers_idle(&c, devices); peers++) {
                cr_expect_leq(rate_of(&c, peers, devices), c.intra.bytes_per_s * c.eta_link);
                cr_expect(peers == 1 ||
                          rate_of(&c, peers, devices) >= rate_of(&c, peers - 1, devices));
            }
    }
}
