/* Costs under every order of the devices: groups, messages and rings against counting devices one
 * by one. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <stdlib.h>

static struct pp_map_order nth_order(int n)
{
    struct pp_map_order order;
    bool used[PP_AXES] = {0};

    for (int i = 0; i < PP_AXES; i++) {
        int left = n % (PP_AXES - i), axis = 0;
        n /= PP_AXES - i;
        while (used[axis] || left-- > 0)
            axis++;
        used[axis] = true;
        order.axis[i] = (uint8_t)axis;
    }
    return order;
}
enum { ORDERS = 24 };

static struct pp_fabric *fabric_of(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    struct pp_fabric *fabric = NULL;
    struct pp_error err = {0};

    cr_assert_eq(pp_fabric_make(arena, in->cluster, in->layout.gpus, &fabric, &err), PP_OK, "%s",
                 err.message);
    return fabric;
}

/* Members of a stage group in ascending order of devices, by looking at every device. */
static int members_of(const struct pp_cost_inputs *in, int stage, int *device, int *rank,
                      int *replica)
{
    const struct pp_layout *l = &in->layout;
    int count = 0;

    for (int at = 0; at < l->gpus; at++)
        for (int p = 0; p < l->pp; p++)
            for (int d = 0; d < l->dp; d++)
                for (int c = 0; c < l->cp; c++) {
                    bool holds = false;
                    for (int pipe = 0; pipe < in->pipelines; pipe++)
                        holds |= in->rank_of[pipe * in->stages + stage] == p;
                    if (!holds || pp_map_device(&in->map, 0, c, d, p) != at)
                        continue;
                    device[count] = at;
                    rank[count] = p;
                    replica[count++] = d;
                }
    return count;
}

static void check_stage(struct pp_arena *arena, const struct pp_cost_inputs *in,
                        const struct pp_costs *costs, int stage)
{
    const int gpus = in->layout.gpus;
    int *device = PP_ARRAY(arena, int, gpus), *rank = PP_ARRAY(arena, int, gpus),
        *replica = PP_ARRAY(arena, int, gpus), nodes = 0, last = -1, in_node = 0, fewest = gpus;
    const int count = members_of(in, stage, device, rank, replica);
    const struct pp_ring *ring = costs->rings ? &costs->rings[stage] : NULL;

    for (int i = 0; i < count; i++) {
        const int node = device[i] / in->cluster->gpus_per_node;
        in_node = node == last ? in_node + 1 : 1;
        nodes += node != last;
        last = node;
        if (i + 1 == count || device[i + 1] / in->cluster->gpus_per_node != node)
            fewest = in_node < fewest ? in_node : fewest;
    }
    const struct pp_device_group group = pp_analytic_stage_group(in, stage);
    cr_assert_eq(group.members, count);
    cr_assert_eq(group.per_node, count / nodes, "%d in %d nodes: %d", count, nodes, group.per_node);
    cr_assert_eq(group.fewest, fewest, "%d in %d nodes: %d, not %d in the least", count, nodes,
                 group.fewest, fewest);
    if (!ring)
        return;
    cr_assert_eq(ring->positions, count);
    for (int i = 0; i < count; i++) {
        const struct pp_route route =
            pp_fabric_cost(in->fabric, device[(i + count - 1) % count], device[i]);
        cr_assert(ring->device[i] == device[i] && ring->rank[i] == rank[i] &&
                  ring->replica[i] == replica[i]);
        if (count < 2)
            continue;
        cr_assert_eq(ring->hop_ps[i], pp_units_ps(route.alpha_s + costs->op[PP_AR][stage].bytes /
                                                                      count / route.bytes_per_s));
        cr_assert_eq(ring->alpha_ps[i], pp_units_ps(route.alpha_s));
    }
}

/* A message costs no more than that of any replica's first lane alone on its route. */
static void check_messages(const struct pp_cost_inputs *in, const struct pp_costs *costs, int a,
                           int b)
{
    const struct pp_layout *l = &in->layout;
    const int class = costs->link[a * l->pp + b];
    bool crosses = false;
    int64_t least_ps = INT64_MAX;

    for (int d = 0; d < l->dp; d++)
        for (int c = 0; c < l->cp; c++)
            for (int t = 0; t < l->tp; t++)
                crosses |= !pp_cluster_same_node(in->cluster, pp_map_device(&in->map, t, c, d, a),
                                                 pp_map_device(&in->map, t, c, d, b));
    cr_assert_eq(pp_analytic_crosses(in, a, b), crosses);
    for (int d = 0; d < l->dp; d++) {
        const struct pp_route route = pp_fabric_cost(
            in->fabric, pp_map_device(&in->map, 0, 0, d, a), pp_map_device(&in->map, 0, 0, d, b));
        const int64_t ps = pp_units_ps(route.alpha_s) + pp_units_ps(1e6 / route.bytes_per_s);
        least_ps = ps < least_ps ? ps : least_ps;
    }
    const int64_t ps = costs->alpha_ps[class] + pp_units_ps(1e6 * costs->s_per_byte[class]);
    if (pp_lanes(in->cluster, l) == 1)
        cr_assert_eq(ps, least_ps, "ranks %d to %d", a, b);
}

Test(cost_map, groups_messages_and_rings_by_counting)
{
    static const char *const clusters[] = {"h100", "h100 gpu:3", "v100-dgx1", "p100-daint",
                                           "node:64 gpu:4 nic:2x100Gbps"};

    srand(1);
    for (int i = 0; i < 600; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting setting = {
            "gpt2-64", clusters[rand() % 5], 1 << rand() % 3, 4, 1 + rand() % 6, 1 << rand() % 2, 1,
            512};
        static const uint16_t two_way[] = {0, 1, 2, 3, 3, 2, 1, 0};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        in.map = pp_map_make(nth_order(i % ORDERS), &in.layout);
        if (rand() % 2) {
            in.pipelines = 2;
            in.rank_of = two_way;
        }
        in.fabric = fabric_of(arena, &in);
        struct pp_costs *costs = costs_of(arena, &in);
        pp_costs_rings(arena, &in, costs);
        for (int s = 0; s < in.stages; s++)
            check_stage(arena, &in, costs, s);
        for (int r = 0; r + 1 < 4; r++) {
            check_messages(&in, costs, r, r + 1);
            check_messages(&in, costs, r + 1, r);
        }
    }
}

/* Which degree is inside the node decides whose traffic is cheap. */
Test(cost_map, the_innermost_degree_has_the_fast_links)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt2-64", "h100", 1, 8, 8, 1, 1, 512};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    struct pp_error err = {0};
    struct pp_map_order order;
    const struct pp_costs *costs[2];

    in.fabric = fabric_of(arena, &in);
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(pp_map_parse(k == 0 ? "dp" : "pp", &order, &err), PP_OK);
        in.map = pp_map_make(order, &in.layout);
        costs[k] = costs_of(arena, &in);
        cr_assert_eq(costs[k]->links, 1);
        cr_assert_str_eq(costs[k]->link_names[0], k == 0 ? "network" : "node");
    }
    cr_assert(costs[0]->s_per_byte[0] > 8 * costs[1]->s_per_byte[0]);
    cr_assert(5 * costs[0]->op[PP_AR][3].ps < costs[1]->op[PP_AR][3].ps);
}

/* Where all links are alike, no order is better than another. */
Test(cost_map, orders_do_not_matter_when_links_are_alike)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt2-64", "h100 gpu:4 fabric:ideal", 4, 4, 6, 2, 1, 512};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    const struct pp_costs *first = NULL;

    cluster.intra = cluster.inter;
    in.fabric = fabric_of(arena, &in);
    in.algorithm = PP_ALGORITHM_RING; /* a hierarchy has more rounds the more nodes it has */
    for (int i = 0; i < ORDERS; i++) {
        in.map = pp_map_make(nth_order(i), &in.layout);
        struct pp_costs *costs = costs_of(arena, &in);
        pp_costs_rings(arena, &in, costs);
        first = first ? first : costs;
        for (int s = 0; s < in.stages; s++) {
            cr_assert_eq(costs->op[PP_F][s].ps, first->op[PP_F][s].ps);
            cr_assert_eq(costs->op[PP_B][s].ps, first->op[PP_B][s].ps);
            cr_assert_eq(costs->op[PP_AR][s].ps, first->op[PP_AR][s].ps);
            for (int k = 0; k < costs->rings[s].positions; k++)
                cr_assert_eq(costs->rings[s].hop_ps[k], first->rings[s].hop_ps[0]);
        }
        for (int r = 0; r + 1 < 4; r++) {
            const int a = costs->link[r * 4 + r + 1], b = first->link[r * 4 + r + 1];
            cr_assert_eq(costs->alpha_ps[a], first->alpha_ps[b]);
            cr_assert_float_eq(costs->s_per_byte[a], first->s_per_byte[b], 0);
        }
    }
}

/* Devices of a rank that send together share what they cross together, and nothing else. */
Test(cost_map, lanes_of_a_message_share_links)
{
    static const struct {
        const char *cluster;
        double bytes_per_s;
    } rows[] = {
        {"gpu:8 nvlink:10GBps nic:1x640Gbps", 10e9},      /* 8 of 10 GB/s fill the NIC */
        {"gpu:8 nvlink:10GBps nic:1x320Gbps", 40e9 / 8},  /* it is half as fast */
        {"gpu:8 nvlink:450GBps nic:3x400Gbps", 50e9 / 3}, /* 3, 3 and 2 on a NIC */
        {"gpu:8 pcie:25GBps nic:8x400Gbps", 100e9 / 8},   /* host memory */
        {"gpu:8 nic:1x400Gbps torus:2 hop:80GBps", 10e9}, /* one way to the neighbor */
        {"gpu:8 nic:8x400Gbps routing:adaptive", 50e9},   /* a NIC for everyone */
        {"gpu:8 nic:2x400Gbps fabric:ideal", 50e9 / 4},   /* shared NICs in the data sheet */
    };

    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting setting = {"gpt3-175b", rows[k].cluster, 8, 2, 1, 1, 1, 512};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        in.fabric = fabric_of(arena, &in);
        const struct pp_costs *costs = costs_of(arena, &in);
        cr_assert_eq(costs->links, 1);
        cr_assert_float_eq(1 / costs->s_per_byte[0] / cluster.eta_link / rows[k].bytes_per_s, 1,
                           1e-12, "%s: %g", rows[k].cluster, 1 / costs->s_per_byte[0]);
    }
}
