/* All ways to share state out, against every triple of meshes tried one by one. */
#include "core/cost/analytic/shards.h"

#include <criterion/criterion.h>

/* The rules of core/cost/state.h read literally, on six numbers. */
static bool is_legal(struct pp_mesh all, const struct pp_mesh s[PP_STATE_SHARDED])
{
    for (int c = 0; c < PP_STATE_SHARDED; c++) {
        if (all.in_node % s[c].in_node || all.nodes % s[c].nodes)
            return false;
        if (s[c].nodes > 1 && s[c].in_node != all.in_node)
            return false;
        if (c > 0 && (s[c].in_node % s[c - 1].in_node || s[c].nodes % s[c - 1].nodes))
            return false;
    }
    const struct pp_mesh p = s[PP_STATE_PARAMS], g = s[PP_STATE_GRADS], o = s[PP_STATE_OPTIMIZER];
    return (g.in_node == p.in_node && g.nodes == p.nodes) ||
           (g.in_node == o.in_node && g.nodes == o.nodes);
}

static bool is_same(const struct pp_mesh *a, const struct pp_mesh *b)
{
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        if (a[c].in_node != b[c].in_node || a[c].nodes != b[c].nodes)
            return false;
    return true;
}

static bool has_point(const struct pp_shard_space *space, const struct pp_mesh *shard)
{
    int found = 0;

    for (int i = 0; i < space->count; i++)
        found += is_same(space->list[i].shard, shard);
    cr_assert_leq(found, 1);
    return found == 1;
}

static int brute_force(struct pp_mesh all, const struct pp_shard_space *space)
{
    struct pp_mesh s[PP_STATE_SHARDED];
    const int in_node = all.in_node, nodes = all.nodes;
    int count = 0;

    for (int p0 = 1; p0 <= in_node; p0++)
        for (int p1 = 1; p1 <= nodes; p1++)
            for (int g0 = 1; g0 <= in_node; g0++)
                for (int g1 = 1; g1 <= nodes; g1++)
                    for (int o0 = 1; o0 <= in_node; o0++)
                        for (int o1 = 1; o1 <= nodes; o1++) {
                            s[PP_STATE_PARAMS] = (struct pp_mesh){p0, p1};
                            s[PP_STATE_GRADS] = (struct pp_mesh){g0, g1};
                            s[PP_STATE_OPTIMIZER] = (struct pp_mesh){o0, o1};
                            if (!is_legal(all, s))
                                continue;
                            cr_assert(has_point(space, s));
                            count++;
                        }
    return count;
}

Test(shard_space, is_what_the_rules_allow)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int in_node = 1; in_node <= 8; in_node++)
        for (int nodes = 1; nodes <= 12; nodes++) {
            const struct pp_mesh all = {in_node, nodes};
            const struct pp_shard_space space = pp_shard_space(arena, all);
            const int count = brute_force(all, &space);
            cr_assert_eq(space.count, count, "%d x %d: %d instead of %d", in_node, nodes,
                         space.count, count);
        }
}

/* Powers of two: the meshes are a chain of K, and there are K^2 strategies. */
Test(shard_space, of_1024_devices)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_mesh all = {8, 128};

    cr_assert_eq(pp_shard_space(arena, all).count, 11 * 11);
}
