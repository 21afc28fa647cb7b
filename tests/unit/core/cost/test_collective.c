/* Collectives against their algorithms played round by round. */
#include "core/cost/collective.h"

#include <criterion/criterion.h>
#include <math.h>

static const struct pp_device_links h100 = {{3e-6, 360e9}, {8e-6, 40e9}};

static struct pp_device_group group_of(int per_node, int nodes)
{
    return (struct pp_device_group){per_node * nodes, per_node, nodes};
}

static double seconds(enum pp_op_kind kind, enum pp_algorithm algorithm,
                      struct pp_device_group group, double bytes)
{
    return pp_collective_s(pp_collective_time(kind, algorithm, group, &h100, bytes));
}

static double message_s(struct pp_link link, double bytes)
{
    return link.alpha_s + bytes / link.bytes_per_s;
}

static void check(double got_s, double want_s, const char *what, struct pp_device_group group)
{
    cr_assert_float_eq(got_s / want_s, 1, 1e-12, "%s over %d x %d: %g s, expected %g s", what,
                       group.per_node, group.nodes, got_s, want_s);
}

/* n - 1 rounds of a share each, as slow as the link that leaves the node. */
static double play_ring(int members, struct pp_link slowest, double bytes)
{
    double s = 0;

    for (int round = 0; round < members - 1; round++)
        s += message_s(slowest, bytes / members);
    return s;
}

/* Gather by recursive doubling: what a member holds doubles; across nodes first. */
static double play_doubling(struct pp_device_group group, double bytes)
{
    double s = 0, held = bytes / group.members;

    for (int reach = 1; reach < group.nodes; reach *= 2, held *= 2)
        s += message_s(h100.inter, held);
    for (int reach = 1; reach < group.per_node; reach *= 2, held *= 2)
        s += message_s(h100.intra, held);
    return s;
}

Test(collective, algorithms_round_by_round)
{
    for (int g = 1; g <= 8; g *= 2)
        for (int m = 1; m <= 64; m *= 4)
            for (double bytes = 1e3; bytes < 1e10; bytes *= 100) {
                const struct pp_device_group group = group_of(g, m);
                const struct pp_link slowest = m > 1 ? h100.inter : h100.intra;
                if (group.members == 1)
                    continue;
                const double ring_s = play_ring(group.members, slowest, bytes);
                const double levels_s =
                    play_ring(g, h100.intra, bytes) + play_ring(m, h100.inter, bytes / g);
                check(seconds(PP_AG, PP_ALGORITHM_RING, group, bytes), ring_s, "ring", group);
                check(seconds(PP_RS, PP_ALGORITHM_RING, group, bytes), ring_s, "ring", group);
                check(seconds(PP_A2A, PP_ALGORITHM_RING, group, bytes), ring_s, "ring", group);
                check(seconds(PP_AR, PP_ALGORITHM_RING, group, bytes), 2 * ring_s, "ring", group);
                check(seconds(PP_AG, PP_ALGORITHM_TREE, group, bytes), play_doubling(group, bytes),
                      "tree", group);
                check(seconds(PP_AG, PP_ALGORITHM_HIERARCHICAL, group, bytes), levels_s, "levels",
                      group);
                check(seconds(PP_AR, PP_ALGORITHM_HIERARCHICAL, group, bytes), 2 * levels_s,
                      "levels", group);
            }
}

/* Two trees: both halves of the data climb and descend at once, 2 bytes each way a member; a chain
 * in the node. */
Test(collective, trees_and_exchanges)
{
    const double gib = 1 << 30;

    check(seconds(PP_AR, PP_ALGORITHM_TREE, group_of(1, 64), gib), 2 * (6 * 8e-6 + gib / 40e9),
          "tree", group_of(1, 64));
    check(seconds(PP_AR, PP_ALGORITHM_TREE, group_of(8, 16), gib),
          2 * (7 * 3e-6 + 4 * 8e-6 + gib / 8 / 40e9), "tree", group_of(8, 16));
    check(seconds(PP_AR, PP_ALGORITHM_TREE, group_of(8, 1), gib), 2 * (7 * 3e-6 + gib / 360e9),
          "tree", group_of(8, 1));
    check(seconds(PP_BC, PP_ALGORITHM_TREE, group_of(8, 1), gib), 7 * 3e-6 + gib / 360e9, "tree",
          group_of(8, 1));
    check(seconds(PP_A2A, PP_ALGORITHM_TREE, group_of(8, 1), gib),
          3 * message_s(h100.intra, gib / 2), "bruck", group_of(8, 1));
    check(seconds(PP_A2A, PP_ALGORITHM_HIERARCHICAL, group_of(8, 4), gib),
          7 * message_s(h100.intra, gib / 32) + 24 * message_s(h100.inter, gib / 32), "exchange",
          group_of(8, 4));
}

/* Every ring of NCCL passes the NVLinks of its nodes and once their NICs, all at the same time. A
 * share of 1/n enters and leaves each hop in each of n - 1 steps. The rings are played chunk by
 * chunk. Step k of a hop begins when the hop before it has finished step k - 1. */
static double play_rings(struct pp_device_group group, const struct pp_device_links *links,
                         double bytes, int turns)
{
    const double shares[] = {
        bytes / group.members / links->intra.bytes_per_s / links->intra_ring.frac,
        bytes / group.members / group.per_node / links->inter.bytes_per_s / links->inter_ring.frac};
    const double steps[] = {links->intra.alpha_s, links->inter.alpha_s};
    const bool is_wide = group.per_node > 1;
    double busy_s[2] = {0}, latency_s = 0;

    for (int step = 0; step < turns * (group.members - 1); step++) {
        busy_s[0] += is_wide ? shares[0] : 0;
        busy_s[1] += group.nodes > 1 ? shares[1] : 0;
    }
    for (int hop = 1; hop < group.members; hop++)
        latency_s += steps[hop % group.per_node == 0];
    return (is_wide ? links->intra_ring.start_s : 0) +
           (group.nodes > 1 ? links->inter_ring.start_s : 0) + turns * latency_s +
           fmax(busy_s[0], busy_s[1]);
}

static const struct pp_device_links tuned = {.intra = {2e-6, 400e9},
                                             .inter = {8e-6, 50e9},
                                             .intra_ring = {25e-6, 0.9},
                                             .inter_ring = {20e-6, 0.8}};

static double tuned_s(enum pp_op_kind kind, struct pp_device_group group, double bytes)
{
    return pp_collective_s(pp_collective_time(kind, PP_ALGORITHM_AUTO, group, &tuned, bytes));
}

Test(collective, auto_is_pipelined_rings)
{
    for (int g = 1; g <= 8; g *= 2)
        for (int m = 1; m <= 64; m *= 4)
            for (double bytes = 1e3; bytes < 1e10; bytes *= 100) {
                const struct pp_device_group group = group_of(g, m);
                if (group.members == 1)
                    continue;
                check(tuned_s(PP_AG, group, bytes), play_rings(group, &tuned, bytes, 1), "gather",
                      group);
                check(tuned_s(PP_RS, group, bytes), play_rings(group, &tuned, bytes, 1), "scatter",
                      group);
                cr_assert(tuned_s(PP_AR, group, bytes) <=
                          play_rings(group, &tuned, bytes, 2) * (1 + 1e-12));
                /* both levels at once: where nodes are wide, less than one after the other */
                cr_assert(g < 8 || m == 1 ||
                          tuned_s(PP_AR, group, 1e10) <
                              seconds(PP_AR, PP_ALGORITHM_HIERARCHICAL, group, 1e10));
            }
    check(tuned_s(PP_AR, group_of(8, 1), 1e6), play_rings(group_of(8, 1), &tuned, 1e6, 2), "sum",
          group_of(8, 1));
    /* Between 64 nodes a tree has 6 levels up and 6 down. It reaches 0.6 of 0.8625 of a ring's
     * bandwidth at 1 MiB, 0.9 at 32 MiB, all of it from 128 MiB on. With 2 nodes, or much data,
     * rings are faster. */
    const double mib = 1 << 20, tree = 0.92 * 120 / 128;
    check(tuned_s(PP_AR, group_of(1, 64), mib),
          20e-6 + 2 * 6 * 8e-6 + 2 * mib / (0.6 * tree) / 40e9, "sum", group_of(1, 64));
    check(tuned_s(PP_AR, group_of(8, 64), 32 * mib),
          45e-6 + 2 * (7 * 2e-6 + 6 * 8e-6) + 2 * 32 * mib / (0.9 * tree) / 320e9, "sum",
          group_of(8, 64));
    check(tuned_s(PP_AR, group_of(8, 64), 1e9),
          45e-6 + 2 * (7 * 2e-6 + 6 * 8e-6) + 2 * 1e9 / tree / 320e9, "sum", group_of(8, 64));
    check(tuned_s(PP_AR, group_of(8, 64), 1e11), play_rings(group_of(8, 64), &tuned, 1e11, 2),
          "sum", group_of(8, 64));
    check(tuned_s(PP_AR, group_of(8, 2), 1e9), play_rings(group_of(8, 2), &tuned, 1e9, 2), "sum",
          group_of(8, 2));
    check(tuned_s(PP_A2A, group_of(8, 1), 8e6), 25e-6 + 7 * 2e-6 + 7e6 / 360e9, "exchange",
          group_of(8, 1));
    check(tuned_s(PP_A2A, group_of(8, 4), 32e6), 45e-6 + 28 * 2e-6 + 3 * 8e-6 + 24e6 / 40e9,
          "exchange", group_of(8, 4));
}

Test(collective, one_member_costs_nothing_and_more_bytes_take_longer)
{
    static const enum pp_op_kind kinds[] = {PP_AR, PP_RS, PP_AG, PP_BC, PP_A2A};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int a = 0; a < PP_ALGORITHMS; a++) {
            const enum pp_algorithm algorithm = (enum pp_algorithm)a;
            double last_s = 0;
            cr_assert_eq(seconds(kinds[k], algorithm, group_of(1, 1), 1e9), 0);
            for (double bytes = 0; bytes < 1e9; bytes = 2 * bytes + 1e3) {
                const double s = seconds(kinds[k], algorithm, group_of(4, 3), bytes);
                cr_assert(s > last_s);
                last_s = s;
            }
        }
}

/* The own share is copied within the node's part, so a slower network hides it. */
Test(collective, an_exchange_copies_the_own_share)
{
    static const enum pp_op_kind kinds[] = {PP_A2A, PP_A2A, PP_AR};
    static const int nodes[] = {1, 4, 1};
    static const double copy_s[] = {4e9 / 1e12, 0, 0};

    for (size_t i = 0; i < PP_COUNT(kinds); i++) {
        struct pp_device_links links = h100;
        const struct pp_device_group group = group_of(2, nodes[i]);
        links.copy_bytes_per_s = 1e12;
        cr_assert_float_eq(
            pp_collective_s(pp_collective_time(kinds[i], PP_ALGORITHM_AUTO, group, &links, 8e9)) -
                seconds(kinds[i], PP_ALGORITHM_AUTO, group, 8e9),
            copy_s[i], 1e-12);
    }
}

/* Devices of a full mesh reach each other over g - 1 of their links. */
Test(collective, a_full_mesh_has_a_link_for_each_other_member)
{
    const struct pp_device_links mesh = {
        .intra = {0, 70e9}, .inter = {0, 1e9}, .intra_ring = {.frac = 1}, .mesh_links = 7};
    const enum pp_op_kind kinds[] = {PP_AR, PP_RS, PP_A2A};

    for (size_t i = 0; i < PP_COUNT(kinds); i++)
        for (int g = 2; g <= 8; g++) {
            struct pp_device_links links = mesh;
            links.mesh_links = 0;
            links.intra.bytes_per_s *= (g - 1) / 7.0;
            cr_assert_float_eq(pp_collective_s(pp_collective_time(kinds[i], PP_ALGORITHM_AUTO,
                                                                  group_of(g, 1), &mesh, 7e9)),
                               pp_collective_s(pp_collective_time(kinds[i], PP_ALGORITHM_AUTO,
                                                                  group_of(g, 1), &links, 7e9)),
                               1e-12);
        }
    /* two members, one link: 2 x 1/2 x 7 GB over 10 GB/s */
    cr_assert_float_eq(
        pp_collective_s(pp_collective_time(PP_AR, PP_ALGORITHM_AUTO, group_of(2, 1), &mesh, 7e9)),
        0.7, 1e-9);
}
