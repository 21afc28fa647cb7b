#include "core/fabric.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { LINKS_MAX = 64 };

static struct pp_fabric *make(struct pp_arena *arena, const char *text, int devices)
{
    struct pp_error err = {0};
    struct pp_cluster cluster;
    struct pp_fabric *fabric;

    cr_assert_eq(pp_cluster_load(arena, text, &cluster, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_fabric_make(arena, &cluster, devices, &fabric, &err), PP_OK, "%s: %s", text,
                 err.message);
    return fabric;
}

static const struct {
    const char *text;
    int devices;
} fabrics[] = {
    {"h100", 64},
    {"h100", 8},
    {"v100-dgx1", 40},
    {"v100-dgx2", 64},
    {"p100-daint", 1024},
    {"gb200", 144},
    {"gpu:8 leaf:2 oversub:2", 64},
    {"gpu:8 nic:4x100Gbps leaf:4 oversub:2", 100},
    {"gpu:8 leaf:4 oversub:2 routing:static", 96},
    {"gpu:8 leaf:2 routing:static", 96},
    {"gpu:4 nic:2x100Gbps leaf:2 routing:static", 32},
    {"gpu:4 fabric:torus torus:3x4x2", 96},
    {"gpu:1 fabric:torus", 30},
    {"gpu:2 fabric:torus torus:5x4", 40},
    {"p100-daint routing:static", 1200},
    {"gpu:2 fabric:dragonfly dragonfly:3x2x3x2 rank1:1GBps rank2:2GBps rank3:4GBps", 72},
    {"gpu:2 fabric:dragonfly dragonfly:4x2x3x2 routing:static", 90},
    {"gpu:8 fabric:star", 64},
    {"gpu:1 fabric:star", 16},
    {"gpu:4 fabric:ideal", 17},
    {"gpu:4 pcie:25GBps nic:1x100Gbps", 12},
    {"gpu:4 pcie:25GBps host:40GBps fabric:star", 12},
    {"gpu:1 pcie:25GBps", 4},
};
enum { FABRICS = sizeof fabrics / sizeof *fabrics };

/* The cost is the route's; latencies add up; no link twice; each link that is named is in range. */
Test(fabric, closed_form_is_the_route)
{
    for (int i = 0; i < FABRICS; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_fabric *f = make(arena, fabrics[i].text, fabrics[i].devices);
        const int devices = pp_fabric_devices(f), step = devices > 200 ? 7 : 1;

        cr_assert_eq(devices, fabrics[i].devices);
        cr_assert_leq(pp_fabric_route_max(f), LINKS_MAX);
        for (int a = 0; a < devices; a += step)
            for (int b = 0; b < devices; b += step) {
                int32_t links[LINKS_MAX];
                const struct pp_route route = pp_fabric_route(f, a, b, links),
                                      cost = pp_fabric_cost(f, a, b);
                double alpha = 0, slowest = INFINITY;
                cr_assert_leq(route.count, pp_fabric_route_max(f));
                cr_assert_eq(route.count == 0, a == b);
                for (int k = 0; k < route.count; k++) {
                    cr_assert(links[k] >= 0 && links[k] < pp_fabric_links(f));
                    for (int j = 0; j < k; j++)
                        cr_assert_neq(links[j], links[k], "%s %d-%d", fabrics[i].text, a, b);
                    const struct pp_fabric_link link = pp_fabric_link(f, links[k]);
                    alpha += link.latency_s;
                    slowest = fmin(slowest, link.bytes_per_s);
                }
                cr_assert_eq(cost.alpha_s, route.alpha_s);
                cr_assert_eq(cost.bytes_per_s, route.bytes_per_s, "%s %d-%d", fabrics[i].text, a,
                             b);
                cr_assert_eq(slowest, route.bytes_per_s);
                if (!strstr(fabrics[i].text, "torus"))
                    cr_assert_float_eq(alpha, route.alpha_s, 1e-15, "%s %d-%d %g", fabrics[i].text,
                                       a, b, alpha);
            }
    }
}
