/* What gradient sums get of a fabric on which all of them run at once. */
#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <string.h>

struct scene {
    struct pp_arena *arena;
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in;
    struct pp_device_links links; /* of the cluster */
    struct pp_sum_links *sums;
};

static void probe(struct scene *s, struct pp_arena *arena, struct setting setting,
                  enum pp_algorithm algorithm)
{
    struct pp_fabric *fabric;
    struct pp_error err = {0};

    s->arena = arena;
    s->in = inputs_of(arena, setting, &s->model, &s->cluster);
    s->in.algorithm = algorithm;
    cr_assert_eq(pp_fabric_make(arena, &s->cluster, s->in.layout.gpus, &fabric, &err), PP_OK, "%s",
                 err.message);
    s->in.fabric = fabric;
    s->links = pp_analytic_links(&s->in);
    s->sums = pp_analytic_sum_links(arena, &s->in);
}

static const char *limit_name(const struct scene *s, struct pp_sum_limit limit)
{
    return pp_fabric_link_name(s->in.fabric, limit.link,
                               pp_arena_alloc(s->arena, PP_LINK_NAME_BYTES));
}

#define SETTING(...) ((struct setting){__VA_ARGS__, .cp = 1, .mbs = 1, .seq = 1024})

static bool are_same(const struct pp_device_links *a, const struct pp_device_links *b)
{
    return !memcmp(&a->intra, &b->intra, sizeof a->intra) &&
           !memcmp(&a->inter, &b->inter, sizeof a->inter) &&
           !memcmp(&a->intra_ring, &b->intra_ring, sizeof a->intra_ring) &&
           !memcmp(&a->inter_ring, &b->inter_ring, sizeof a->inter_ring) &&
           a->is_cube_mesh == b->is_cube_mesh;
}

/* Nothing is shared but what the cluster's links speak of: not a bit changes. */
Test(sums, fabrics_that_do_not_bind_change_nothing)
{
    static const char *const clusters[] = {"h100",
                                           "a100",
                                           "v100",
                                           "h100 leaf:2",
                                           "h100 fabric:star",
                                           "h100 fabric:ideal",
                                           "gpu:8 nic:4x100Gbps",
                                           "gpu:8 nic:1x100Gbps leaf:1",
                                           "h100 leaf:2 oversub:2 nic:8x400Gbps node:2"};
    static const enum pp_algorithm algorithms[] = {PP_ALGORITHM_AUTO, PP_ALGORITHM_TREE,
                                                   PP_ALGORITHM_HIERARCHICAL};

    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct scene s;
            probe(&s, arena, SETTING("gpt2", clusters[i], .tp = 2, .pp = 2, .dp = 4),
                  algorithms[a]);
            for (int stage = 0; stage <= s.in.stages; stage++) {
                cr_assert_eq(s.sums[stage].network.sums, 0, "%s", clusters[i]);
                cr_assert(are_same(&s.sums[stage].links, &s.links), "%s", clusters[i]);
            }
        }
}

/* Leaves of 2 nodes with an uplink of 1/8 of a NIC: each rail of a leaf is left by one hop. */
Test(sums, uplinks_of_an_oversubscribed_leaf)
{
    static const enum pp_algorithm algorithms[] = {PP_ALGORITHM_AUTO, PP_ALGORITHM_RING,
                                                   PP_ALGORITHM_HIERARCHICAL};

    for (size_t a = 0; a < sizeof algorithms / sizeof *algorithms; a++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct scene s;
        probe(&s, arena, SETTING("gpt2-64", "h100 leaf:2 oversub:16", .tp = 8, .pp = 4, .dp = 8),
              algorithms[a]);
        for (int stage = 0; stage < 4; stage++) {
            const struct pp_sum_links *sum = &s.sums[stage];
            cr_assert_float_eq(sum->links.inter.bytes_per_s / (s.links.inter.bytes_per_s / 8), 1,
                               1e-12);
            cr_assert_eq(sum->links.inter.alpha_s, s.links.inter.alpha_s);
            if (algorithms[a] == PP_ALGORITHM_RING)
                continue; /* its hop is as slow alone */
            cr_assert_eq(sum->network.sums, 1);
            cr_assert_eq(strncmp(limit_name(&s, sum->network), "leaf", 4), 0);
        }
    }
}

/* Eight lanes of every node on one link to the neighbour, as fast as a NIC. */
Test(sums, neighbours_on_a_torus)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    probe(&s, arena, SETTING("gpt2-64", "h100 torus:8x4x1", .tp = 8, .pp = 4, .dp = 8),
          PP_ALGORITHM_AUTO);
    cr_assert_float_eq(s.sums[1].links.inter.bytes_per_s / (s.links.inter.bytes_per_s / 8), 1,
                       1e-12);
    cr_assert_eq(s.sums[1].network.sums, 8);
    cr_assert_str_eq(limit_name(&s, s.sums[1].network), "node8.x.up");
}

/* A flat ring leaves a node once, but the rings of all lanes leave it by one NIC. */
Test(sums, lanes_of_a_ring_on_one_nic)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    probe(&s, arena, SETTING("gpt2", "gpu:4 nic:1x100Gbps", .tp = 4, .pp = 1, .dp = 4),
          PP_ALGORITHM_RING);
    cr_assert_float_eq(s.sums[0].links.inter.bytes_per_s, 12.5e9 * 0.92 / 4, 1);
    cr_assert_eq(s.sums[0].network.sums, 4);
}

/* Four devices pass on through a memory of the speed of two: (in and out is one crossing.) */
Test(sums, devices_meet_in_host_memory)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    probe(&s, arena, SETTING("gpt2", "gpu:4 pcie:16GBps nic:4x100Gbps", .tp = 1, .pp = 1, .dp = 8),
          PP_ALGORITHM_AUTO);
    cr_assert_float_eq(s.sums[0].links.intra.bytes_per_s, 16e9 * 0.92 / 2, 1);
    cr_assert_str_eq(limit_name(&s, s.sums[0].node), "node0.host");
}

/* --link-bw of one NIC is seen by every algorithm that passes it. */
Test(sums, one_slow_nic)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct scene s;

    probe(&s, arena, SETTING("gpt2-64", "h100", .tp = 8, .pp = 1, .dp = 4), PP_ALGORITHM_AUTO);
    cr_assert_eq(pp_fabric_scale((struct pp_fabric *)s.in.fabric, "node3.nic0.up", 0.25, &err),
                 PP_OK);
    s.sums = pp_analytic_sum_links(arena, &s.in);
    cr_assert_float_eq(s.sums[0].links.inter.bytes_per_s / s.links.inter.bytes_per_s, 0.25, 1e-12);
    cr_assert_str_eq(limit_name(&s, s.sums[0].network), "node3.nic0.up");
}

static bool has_tables_of(const struct pp_costs *a, const struct pp_costs *b, int pp)
{
    const size_t links = (size_t)a->links;

    return a->links == b->links && !memcmp(a->link, b->link, (size_t)(pp * pp)) &&
           !memcmp(a->alpha_ps, b->alpha_ps, sizeof(*a->alpha_ps) * links) &&
           !memcmp(a->s_per_byte, b->s_per_byte, sizeof(*a->s_per_byte) * links);
}

static struct pp_costs messages_of(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    struct pp_costs costs = {0};

    pp_analytic_fill_links(arena, in, &costs);
    return costs;
}

static struct pp_fabric *network_of(struct pp_arena *arena, const struct pp_cluster *cluster)
{
    struct pp_error err = {0};
    struct pp_fabric *fabric;

    cr_assert_eq(pp_fabric_make(arena, cluster, 512, &fabric, &err), PP_OK, "%s", err.message);
    return fabric;
}

static void compare_with_new(struct pp_arena *arena, const struct pp_fabric *fabric,
                             struct pp_cost_inputs in)
{
    const struct pp_sum_links *new = pp_analytic_sum_links(arena, &in);
    const struct pp_costs messages = messages_of(arena, &in);

    in.fabric = fabric;
    const struct pp_sum_links *sums = pp_analytic_sum_links(arena, &in);
    const struct pp_costs kept = messages_of(arena, &in);
    for (int stage = 0; stage <= in.stages; stage++) {
        cr_assert(are_same(&sums[stage].links, &new[stage].links));
        cr_assert_eq(sums[stage].network.link, new[stage].network.link);
        cr_assert_eq(sums[stage].network.sums, new[stage].network.sums);
    }
    cr_assert(has_tables_of(&kept, &messages, in.layout.pp));
}

/* A fabric that keeps what it was asked before tells the same as a new one. */
Test(sums, kept_links_are_those_of_a_new_fabric)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *const clusters[] = {"gpu:1 torus:8x8x8", "h100 leaf:4 oversub:4", "p100-daint"};
    const enum pp_algorithm algorithms[] = {PP_ALGORITHM_AUTO, PP_ALGORITHM_TREE,
                                            PP_ALGORITHM_RING};
    struct pp_map_order orders[] = {pp_map_default, pp_map_default};
    struct pp_error err;

    cr_assert_eq(pp_map_parse("tp,cp,pp,dp", &orders[1], &err), PP_OK);
    for (size_t i = 0; i < PP_COUNT(clusters); i++) {
        const struct setting settings[] = {
            SETTING("gpt3-175b", clusters[i], .tp = 8, .pp = 2, .dp = 32),
            SETTING("gpt3-175b", clusters[i], .tp = 8, .pp = 2, .dp = 4),
            SETTING("gpt2-64", clusters[i], .tp = 8, .pp = 2, .dp = 4),
            SETTING("gpt2-64", clusters[i], .tp = 2, .pp = 8, .dp = 2),
        };
        const struct pp_fabric *fabric = NULL;
        for (size_t k = 0; k < 4 * PP_COUNT(settings) * PP_COUNT(algorithms); k++) {
            struct scene s;
            s.in = inputs_of(arena, settings[k % PP_COUNT(settings)], &s.model, &s.cluster);
            s.in.algorithm = algorithms[k / PP_COUNT(settings) % PP_COUNT(algorithms)];
            s.in.map = pp_map_make(orders[k / (PP_COUNT(settings) * PP_COUNT(algorithms)) % 2],
                                   &s.in.layout);
            s.in.fabric = network_of(arena, &s.cluster);
            fabric = fabric ? fabric : network_of(arena, &s.cluster);
            compare_with_new(arena, fabric, s.in);
        }
    }
}

/* ---- listed links ------------------------------------------------------------------------- */

enum { SIDE = 4, WAN = 4 * SIDE };
static const char *const names[WAN + 1] = {[WAN] = "wan"};

/* Two sides of hosts with a link out and a link in each, and a narrow link between the sides. */
static int find_route(void *context, int source, int dest, int32_t *links, int max,
                      struct pp_error *err)
{
    int count = 0;

    (void)context, (void)max, (void)err;
    links[count++] = 2 * source;
    if (source / SIDE != dest / SIDE)
        links[count++] = WAN;
    links[count++] = 2 * dest + 1;
    return count;
}

static void probe_sides(struct scene *s, struct pp_arena *arena, int pp, bool is_fatpipe)
{
    struct pp_fabric_link *links = PP_ARRAY(arena, struct pp_fabric_link, WAN + 1);
    const struct pp_route_source source = {.find = find_route};

    for (int i = 0; i < WAN; i++)
        links[i] = (struct pp_fabric_link){25e9, 1e-6, false};
    links[WAN] = (struct pp_fabric_link){1e9, 1e-3, is_fatpipe};
    s->arena = arena;
    s->in = inputs_of(
        arena,
        SETTING("gpt2", "gpu:1 nic:1x200Gbps latency:2us", .tp = 1, .pp = pp, .dp = 2 * SIDE / pp),
        &s->model, &s->cluster);
    s->cluster.eta_link = 1;
    s->in.fabric = pp_fabric_listed(arena, 2 * SIDE, links, names, WAN + 1, source);
    s->links = pp_analytic_links(&s->in);
    s->sums = pp_analytic_sum_links(arena, &s->in);
}

/* One ring over both sides crosses twice, there and back: half of the narrow link, its latency. */
Test(sums, ring_over_a_narrow_link)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    probe_sides(&s, arena, 1, false);
    cr_assert_float_eq(s.sums[0].links.inter.bytes_per_s, 0.5e9, 1e-3);
    cr_assert_float_eq(s.sums[0].links.inter.alpha_s, 1e-3 + 2e-6, 1e-12);
    cr_assert_eq(s.sums[0].network.sums, 2);
    cr_assert_str_eq(limit_name(&s, s.sums[0].network), "wan");
    probe_sides(&s, arena, 1, true);
    cr_assert_float_eq(s.sums[0].links.inter.bytes_per_s, 1e9, 1e-3);
}

/* A stage on each side: the sums stay there, the tied embedding's four pairs cross both ways. */
Test(sums, tied_embedding_over_a_narrow_link)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct scene s;

    probe_sides(&s, arena, 2, false);
    cr_assert_eq(s.sums[0].network.sums, 0);
    cr_assert_eq(s.sums[1].links.inter.bytes_per_s, s.links.inter.bytes_per_s);
    cr_assert_float_eq(s.sums[2].links.inter.bytes_per_s, 1e9 / 8, 1e-3);
    const struct pp_costs *costs = costs_of(arena, &s.in);
    cr_assert_float_eq(costs->tied->ps * 1e-12,
                       s.in.cluster->inter_ring.start_s +
                           costs->tied->bytes / (1e9 / 8 * s.in.cluster->inter_ring.frac) +
                           2 * (1e-3 + 2e-6),
                       1e-9);
}
