#include "core/cost/analytic/shard_space.h"

/* Meshes from the whole on every device to the finest. */
static struct pp_mesh *meshes_of(struct pp_arena *arena, struct pp_mesh replicas, int *count)
{
    struct pp_mesh *list = NULL;
    int capacity = 0;

    *count = 0;
    for (int d = 1; d <= replicas.in_node; d++)
        if (replicas.in_node % d == 0)
            *PP_PUSH(arena, list, *count, capacity) = (struct pp_mesh){d, 1};
    for (int n = 2; n <= replicas.nodes; n++)
        if (replicas.nodes % n == 0)
            *PP_PUSH(arena, list, *count, capacity) = (struct pp_mesh){replicas.in_node, n};
    return list;
}

static bool fits_into(struct pp_mesh a, struct pp_mesh b)
{
    return b.in_node % a.in_node == 0 && b.nodes % a.nodes == 0;
}

struct pp_shard_space pp_shard_space(struct pp_arena *arena, struct pp_mesh replicas)
{
    struct pp_shard_space space = {0};
    int meshes, capacity = 0;
    const struct pp_mesh *mesh = meshes_of(arena, replicas, &meshes);

    for (int p = 0; p < meshes; p++)
        for (int g = p; g < meshes; g++)
            for (int o = g; o < meshes; o++)
                if ((g == p || g == o) && fits_into(mesh[p], mesh[o]))
                    *PP_PUSH(arena, space.list, space.count, capacity) =
                        (struct pp_shard_point){{mesh[p], mesh[g], mesh[o]}};
    return space;
}

/* Divisors d of n, and pairs d | e | n. */
struct divisors {
    int64_t count, pairs;
};

static struct divisors divisors_of(int n)
{
    struct divisors result = {1, 1};

    for (int prime = 2; n > 1; prime++) {
        int64_t power = 0;
        if ((int64_t)prime * prime > n)
            prime = n;
        for (; n % prime == 0; n /= prime)
            power++;
        result.count *= power + 1;
        result.pairs *= (power + 1) * (power + 2) / 2;
    }
    return result;
}

int64_t pp_shard_space_size(struct pp_mesh replicas)
{
    const struct divisors node = divisors_of(replicas.in_node), nodes = divisors_of(replicas.nodes);
    const int64_t meshes = node.count + nodes.count - 1;
    /* Parameters and optimizer state both inside a node, inside and across nodes, both across. */
    const int64_t pairs = node.pairs + node.count * (nodes.count - 1) + nodes.pairs - nodes.count;

    /* Gradients follow either; where both are alike, that is one strategy. */
    return 2 * pairs - meshes;
}
