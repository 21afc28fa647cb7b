/* Routes by name, link by link, and what two transfers share. */
#include "core/cluster/link_set.h"
#include "tests/unit/core/cluster/fabric_of.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* Reached share of links of h100, on which the texts are based. */
static const double ETA = 0.92;

enum { LINKS_MAX = 64 };

/* Names of a route's links, joined by blanks. */
static const char *route_text(struct pp_arena *arena, const struct pp_fabric *f, int source,
                              int dest)
{
    int32_t links[LINKS_MAX];
    char name[PP_LINK_NAME_BYTES];
    const struct pp_route route = pp_fabric_route(f, source, dest, links);
    const char *text = "";

    for (int i = 0; i < route.count; i++)
        text = pp_arena_printf(arena, "%s%s%s", text, i ? " " : "",
                               pp_fabric_link_name(f, links[i], name));
    return text;
}

#define STATIC_TREE "gpu:4 nic:2x100Gbps leaf:4 oversub:2 routing:static"
#define STATIC_FLY  "gpu:1 dragonfly:3x2x4x2 routing:static"
#define TORUS       "gpu:1 torus:4x3x2"

static const struct {
    const char *text;
    int devices, source, dest;
    const char *links;
} routes[] = {
    /* one NVSwitch */
    {"h100", 64, 0, 1, "node0.gpu0.up node0.gpu1.down"},
    {"h100", 64, 9, 9, ""},
    /* the rail is the destination's */
    {"h100", 64, 0, 8, "node0.gpu0.up node0.nic0.up node1.nic0.down node1.gpu0.down"},
    {"h100", 64, 3, 61, "node0.gpu3.up node0.nic5.up node7.nic5.down node7.gpu5.down"},
    {"v100-dgx1", 64, 3, 15, "node0.gpu3.up node0.nic3.up node1.nic3.down node1.gpu7.down"},
    {"v100-dgx1", 64, 3, 11, "node0.gpu3.up node0.nic3.up node1.nic3.down node1.gpu3.down"},
    /* uplinks of leaves: not where they cannot bind, one where they are adaptive */
    {"gpu:4 leaf:2", 32, 0, 31, "node0.gpu0.up node0.nic3.up node7.nic3.down node7.gpu3.down"},
    {"gpu:4 leaf:2 oversub:2", 32, 0, 7,
     "node0.gpu0.up node0.nic3.up node1.nic3.down node1.gpu3.down"},
    {"gpu:4 leaf:2 oversub:2", 32, 0, 31,
     "node0.gpu0.up node0.nic3.up leaf0.rail3.up leaf3.rail3.down node7.nic3.down node7.gpu3.down"},
    /* static: spine = destination / rails modulo uplinks */
    {STATIC_TREE, 64, 0, 30,
     "node0.gpu0.up node0.nic0.up leaf0.rail0.spine1.up leaf1.rail0.spine1.down node7.nic0.down "
     "node7.gpu2.down"},
    {STATIC_TREE, 64, 0, 61,
     "node0.gpu0.up node0.nic1.up leaf0.rail1.spine0.up leaf3.rail1.spine0.down node15.nic1.down "
     "node15.gpu1.down"},
    {"gpu:1 leaf:8 oversub:2 routing:static", 32, 1, 14,
     "node1.nic0.up leaf0.rail0.spine2.up leaf1.rail0.spine2.down node14.nic0.down"},
    /* dragonfly: 2 nodes a router, 4 routers a chassis, 2 chassis (16 nodes) a group */
    {STATIC_FLY, 48, 0, 1, "node0.nic0.up node1.nic0.down"},
    {STATIC_FLY, 48, 0, 6, "node0.nic0.up group0.chassis0.router0-3 node6.nic0.down"},
    {STATIC_FLY, 48, 0, 8, "node0.nic0.up group0.slot0.chassis0-1 node8.nic0.down"},
    {STATIC_FLY, 48, 9, 7,
     "node9.nic0.up group0.chassis1.router0-3 group0.slot3.chassis1-0 node7.nic0.down"},
    {STATIC_FLY, 48, 2, 16, "node2.nic0.up group0-1 node16.nic0.down"},
    {STATIC_FLY, 48, 14, 47,
     "node14.nic0.up group0.chassis1.router3-2 group0.slot2.chassis1-0 group0-2 "
     "group2.chassis0.router0-3 group2.slot3.chassis0-1 node47.nic0.down"},
    /* adaptive: only what can be full */
    {"p100-daint", 1000, 3, 383, "node3.nic0.up node383.nic0.down"},
    {"p100-daint", 1000, 3, 384, "node3.nic0.up group0-1 node384.nic0.down"},
    {"gpu:1 dragonfly:3x2x4x2 rank1:1GBps rank2:2GBps rank3:1GBps", 48, 0, 47,
     "node0.nic0.up group0.router0.up group0-2 group2.router7.down node47.nic0.down"},
    {"gpu:1 dragonfly:3x2x4x2 rank1:1GBps rank2:2GBps rank3:1GBps", 48, 0, 1,
     "node0.nic0.up node1.nic0.down"},
    /* torus: dimension by dimension, the shorter way; half way up, but down to 0 */
    {TORUS, 24, 0, 1, "node0.x.up"},
    {TORUS, 24, 0, 3, "node0.x.down"},
    {TORUS, 24, 0, 2, "node0.x.up node1.x.up"},
    {TORUS, 24, 2, 0, "node2.x.down node1.x.down"},
    {TORUS, 24, 1, 3, "node1.x.up node2.x.up"},
    {TORUS, 24, 3, 1, "node3.x.up node0.x.up"},
    {TORUS, 24, 0, 8, "node0.y.down"},
    {TORUS, 24, 0, 23, "node0.x.down node3.y.down node11.z.up"},
    {"gpu:2 torus:3", 6, 1, 4, "node0.gpu1.up node0.x.down node2.gpu0.down"},
    /* star: every device by its own NIC */
    {"gpu:4 nic:2x100Gbps fabric:star", 16, 1, 14,
     "node0.gpu1.up node0.nic1.up node3.nic0.down node3.gpu2.down"},
    /* ideal */
    {"gpu:2 fabric:ideal", 6, 0, 1, "node0.gpu0-node0.gpu1"},
    {"gpu:2 fabric:ideal", 6, 5, 0, "node2.gpu1-node0.gpu0"},
    /* PCIe: host memory in every node on the way */
    {"gpu:4 pcie:25GBps nic:1x100Gbps", 8, 0, 1, "node0.gpu0.up node0.host node0.gpu1.down"},
    {"gpu:4 pcie:25GBps nic:1x100Gbps", 8, 0, 7,
     "node0.gpu0.up node0.host node0.nic0.up node1.nic0.down node1.host node1.gpu3.down"},
};

Test(fabric_routes, links_by_name)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const struct pp_fabric *f = fabric_of(arena, routes[i].text, routes[i].devices);
        cr_assert_str_eq(route_text(arena, f, routes[i].source, routes[i].dest), routes[i].links,
                         "%s %d-%d: %s", routes[i].text, routes[i].source, routes[i].dest,
                         route_text(arena, f, routes[i].source, routes[i].dest));
    }
}

static double speed_of(const struct pp_fabric *f, int a, int b)
{
    return pp_fabric_cost(f, a, b).bytes_per_s / 1e9;
}

/* Speeds and latencies are the data sheets' times the share that is reached. */
Test(fabric_routes, speeds_and_latencies)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_fabric *f = fabric_of(arena, "h100", 64);

    cr_assert_float_eq(speed_of(f, 0, 1), ETA * 450, 1e-9);
    cr_assert_float_eq(speed_of(f, 0, 8), ETA * 50, 1e-9);
    cr_assert_eq(pp_fabric_cost(f, 0, 1).alpha_s, 2e-6);
    cr_assert_eq(pp_fabric_cost(f, 0, 9).alpha_s, 8e-6);
    cr_assert_eq(pp_fabric_cost(f, 7, 7).alpha_s, 0);
    cr_assert(isinf(pp_fabric_cost(f, 7, 7).bytes_per_s));
    /* four NICs for eight devices: alone, a transfer has a whole one */
    cr_assert_float_eq(speed_of(fabric_of(arena, "v100-dgx1", 64), 0, 8), ETA * 12.5, 1e-9);
    cr_assert_float_eq(speed_of(fabric_of(arena, "gpu:2 nic:1x100Gbps", 4), 0, 2), ETA * 12.5,
                       1e-9);
    /* more NICs than devices: together */
    cr_assert_float_eq(speed_of(fabric_of(arena, "gpu:1 nic:4x100Gbps", 4), 0, 2), ETA * 50, 1e-9);
    cr_assert_float_eq(speed_of(fabric_of(arena, "gpu:4 leaf:1 oversub:4", 8), 0, 7), ETA * 12.5,
                       1e-9);
    /* one device a node: its own link is the NIC's limit */
    cr_assert_float_eq(speed_of(fabric_of(arena, "gpu:1 nic:4x400Gbps nvlink:60GBps", 4), 0, 2),
                       ETA * 60, 1e-9);
    f = fabric_of(arena, "p100-daint", 1000);
    cr_assert_float_eq(speed_of(f, 0, 999), 0.8 * 10.2, 1e-9);
    f = fabric_of(arena, "p100-daint routing:static dragonfly:3x6x16x4", 1000);
    cr_assert_float_eq(speed_of(f, 0, 4), 0.8 * 10.2, 1e-9);
    f = fabric_of(arena, "gpu:1 nic:1x80Gbps torus:3x3 hop:5GBps", 9);
    cr_assert_float_eq(speed_of(f, 0, 4), ETA * 5, 1e-9);
    f = fabric_of(arena, "gpu:2 nic:4x80Gbps torus:3x3", 18);
    cr_assert_float_eq(speed_of(f, 0, 4), ETA * 10, 1e-9);
    f = fabric_of(arena, "gpu:4 pcie:16GBps host:10GBps", 8);
    cr_assert_float_eq(speed_of(f, 0, 1), ETA * 10, 1e-9);
    cr_assert_float_eq(speed_of(fabric_of(arena, "gpu:4 pcie:16GBps", 8), 0, 1), ETA * 16, 1e-9);
    f = fabric_of(arena, "gpu:4 fabric:ideal", 8);
    cr_assert_float_eq(speed_of(f, 0, 1), ETA * 450, 1e-9);
    cr_assert_float_eq(speed_of(f, 0, 7), ETA * 50, 1e-9);
}

/* Bandwidth of the slowest link that both routes have, infinite where they have none. */
static double shared(const struct pp_fabric *f, const int pair[4])
{
    int32_t a[LINKS_MAX], b[LINKS_MAX];
    const int n = pp_fabric_route(f, pair[0], pair[1], a).count,
              m = pp_fabric_route(f, pair[2], pair[3], b).count;
    double slowest = INFINITY;

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (a[i] == b[j] && !pp_fabric_link(f, a[i]).is_fatpipe)
                slowest = fmin(slowest, pp_fabric_link(f, a[i]).bytes_per_s);
    return slowest / 1e9;
}

Test(fabric_routes, what_two_transfers_share)
{
    static const struct {
        const char *text;
        int devices, pair[4];
        double shared;
    } cases[] = {
        {"h100", 64, {0, 1, 1, 0}, INFINITY}, /* up and down are two links */
        {"h100", 64, {0, 8, 8, 0}, INFINITY},
        {"h100", 64, {0, 2, 1, 2}, 450}, /* into one device */
        {"h100", 64, {0, 8, 8 * 2, 8}, 50},
        {"h100", 64, {0, 8, 1, 9}, INFINITY}, /* rails */
        {"h100", 64, {0, 8, 1, 16}, 50},      /* to other nodes, on one rail */
        {"v100-dgx1", 64, {0, 8, 4, 12}, 12.5},
        {"v100-dgx1", 64, {0, 8, 1, 9}, INFINITY},
        {"v100-dgx2", 64, {0, 16, 8, 24}, 12.5},
        {"gpu:8 leaf:2 oversub:2", 64, {0, 32, 8, 40}, 50}, /* an uplink of two nodes */
        {"gpu:8 leaf:2", 64, {0, 32, 8, 40}, INFINITY},
        {"gpu:8 leaf:2 routing:static", 64, {0, 32, 8, 48}, 50}, /* one spine */
        {"gpu:8 leaf:2 routing:static", 64, {0, 32, 8, 40}, INFINITY},
        {"p100-daint", 1000, {0, 400, 300, 700}, 338.4},
        {"p100-daint", 1000, {0, 100, 1, 101}, INFINITY},
        {"p100-daint routing:static", 1000, {0, 100, 1, 101}, 10.5},
        {"gpu:1 torus:4x4 nic:1x80Gbps", 16, {0, 2, 1, 2}, 10},
        {"gpu:1 torus:4x4 nic:1x80Gbps", 16, {0, 2, 2, 0}, INFINITY},
        {"gpu:1 fabric:star nic:1x80Gbps", 16, {0, 2, 1, 2}, 10},
        {"gpu:1 fabric:star nic:1x80Gbps", 16, {0, 2, 2, 1}, INFINITY},
        {"gpu:4 fabric:ideal", 16, {0, 2, 0, 2}, INFINITY},
        {"gpu:4 pcie:16GBps host:40GBps", 16, {0, 1, 2, 3}, 40},
        {"gpu:4 pcie:16GBps host:40GBps", 16, {0, 1, 1, 0}, 40}, /* both ways */
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pp_fabric *f = fabric_of(arena, cases[i].text, cases[i].devices);
        const bool is_daint = strncmp(cases[i].text, "p100", 4) == 0;
        const double expected = (is_daint ? 0.8 : ETA) * cases[i].shared,
                     found = shared(f, cases[i].pair);
        cr_assert(found == expected || fabs(found - expected) < 1e-9, "%s, case %zu: %g",
                  cases[i].text, i, found);
    }
}

/* Few and many expected links: by a map and by a list of all links of the fabric. */
Test(fabric, sets_of_links_number_them_by_first_use)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_fabric *f = fabric_of(arena, "h100", 1024);
    struct pp_link_set few = pp_link_set_make(arena, f, 1),
                       many = pp_link_set_make(arena, f, pp_fabric_links(f));

    cr_assert(!few.places && many.places);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 200; i++) {
            const int32_t link = (int32_t)(i * 7919L % pp_fabric_links(f));
            cr_assert_eq(pp_link_set_at(&few, link), i);
            cr_assert_eq(pp_link_set_at(&many, link), i);
            cr_assert_eq(few.link[i], link);
            cr_assert_eq(many.link[i], link);
        }
}
