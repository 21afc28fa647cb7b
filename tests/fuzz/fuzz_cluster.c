/* A cluster text is either refused with a message or describes a machine with positive, finite
 * numbers. A model has costs on that machine, and routes join its devices. */
#include "core/cluster/fabric.h"
#include "core/cost/analytic/roofline.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void check_positive(double value)
{
    FUZZ_CHECK(isfinite(value) && value > 0);
}

static void check_costs(struct pp_arena *arena, const struct pp_cluster *cluster)
{
    static const uint16_t ranks[] = {0, 1};
    static const int blocks[] = {6, 6};
    struct pp_model model;
    struct pp_error err = {0};
    struct pp_costs *costs;
    const struct pp_layout layout = {
        .tp = 2, .pp = 2, .dp = 3, .cp = 2, .ep = 1, .mbs = 1, .seq = 1024};
    const struct pp_cost_inputs in = {
        .model = &model,
        .cluster = cluster,
        .layout = layout,
        .map = pp_map_make(pp_map_default, &layout),
        .stages = 2,
        .pipelines = 1,
        .splits = 1,
        .granules = 1,
        .rank_of = ranks,
        .blocks_per_stage = blocks,
        .state = pp_state_spec_zero(1, (struct pp_mesh){1, 12}),
    };

    FUZZ_CHECK(pp_model_load(arena, "gpt2", &model, &err) == PP_OK);
    if (pp_costs_analytic(arena, &in, &costs, &err) != PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return;
    }
    for (int s = 0; s < 2; s++)
        FUZZ_CHECK(costs->op[PP_F][s].ps > 0 && costs->op[PP_RS][s].ps > 0);
    for (int i = 0; i < costs->links; i++)
        check_positive(costs->s_per_byte[i]);
}

/* Routes between some devices of a fabric of `devices`, in both forms. */
static void check_routes(struct pp_arena *arena, const struct pp_cluster *cluster, int devices)
{
    struct pp_error err = {0};
    struct pp_fabric *fabric;
    char name[PP_LINK_NAME_BYTES];

    if (pp_fabric_make(arena, cluster, devices, &fabric, &err) != PP_OK) {
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
        return;
    }
    int32_t *links = PP_ARRAY(arena, int32_t, pp_fabric_route_max(fabric));
    for (int i = 0; i < 16; i++) {
        const int a = i * 7 % devices, b = (devices - 1 - i * i % devices) % devices;
        const struct pp_route route = pp_fabric_route(fabric, a, b, links),
                              cost = pp_fabric_cost(fabric, a, b);
        FUZZ_CHECK(route.count <= pp_fabric_route_max(fabric) && (route.count > 0) == (a != b));
        FUZZ_CHECK(route.alpha_s == cost.alpha_s && route.bytes_per_s == cost.bytes_per_s);
        for (int k = 0; k < route.count; k++) {
            FUZZ_CHECK(links[k] >= 0 && links[k] < pp_fabric_links(fabric));
            check_positive(pp_fabric_link(fabric, links[k]).bytes_per_s);
            FUZZ_CHECK(pp_fabric_link(fabric, links[k]).latency_s >= 0);
            FUZZ_CHECK(strlen(pp_fabric_link_name(fabric, links[k], name)) > 4);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    char *text = pp_arena_alloc(arena, size + 1);
    struct pp_error err = {0};
    struct pp_cluster cluster;

    if (size > 0)
        memcpy(text, data, size);
    if (pp_cluster_load(arena, text, &cluster, &err) == PP_OK) {
        FUZZ_CHECK(cluster.name && cluster.title && cluster.source && cluster.device.name);
        FUZZ_CHECK(cluster.gpus_per_node >= 1 && cluster.nodes >= 0);
        check_positive(cluster.device.peak_flops_per_s);
        check_positive(cluster.device.memory_bytes);
        check_positive(cluster.device.memory_bytes_per_s);
        check_positive(cluster.intra.bytes_per_s);
        check_positive(cluster.inter.bytes_per_s);
        check_positive(cluster.inter.alpha_s);
        check_costs(arena, &cluster);
        for (int devices = 1; devices <= 1024; devices *= 32)
            check_routes(arena, &cluster, devices);
    } else {
        FUZZ_CHECK(err.status == PP_EINVAL && strstr(err.message, "--cluster") != NULL);
    }
    pp_arena_destroy(arena);
    return 0;
}
