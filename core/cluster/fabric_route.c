/* Routes of the computed fabrics. */
#include "core/cluster/fabric_parts.h"

enum { UP, DOWN };

static int local(const struct pp_fabric *f, int device)
{
    return device % f->size.gpus_per_node;
}

static void add(struct pp_route_walk *walk, const struct pp_fabric *f,
                enum pp_fabric_level_kind level, int index)
{
    walk->levels |= 1u << level;
    if (walk->links)
        walk->links[walk->count++] = f->level[level].first + index;
}

static void add_nic(struct pp_route_walk *walk, const struct pp_fabric *f, int node, int rail,
                    int way)
{
    add(walk, f, PP_LEVEL_NIC, 2 * (node * f->size.rails + rail) + way);
}

/* ---- fat tree -------------------------------------------------------------------------------- */

/* Is true if two nodes are under different leaves whose uplinks count. */
static bool climbs(const struct pp_fabric *f, int a, int b)
{
    return f->size.uplinks > 0 && a / f->size.leaf_nodes != b / f->size.leaf_nodes;
}

static void add_uplink(struct pp_route_walk *walk, const struct pp_fabric *f, int node, int rail,
                       int spine, int way)
{
    const int leaf = node / f->size.leaf_nodes * f->size.rails + rail;

    add(walk, f, PP_LEVEL_LEAF, 2 * (leaf * f->size.uplinks + spine) + way);
}

/* The destination chooses rail and spine (D-mod-K; Zahavi et al. 2010), as SimGrid's FAT_TREE:
 * destination number modulo the ports of a level, divided by them for the next. */
static void walk_fat_tree(const struct pp_fabric *f, int source, int dest,
                          struct pp_route_walk *walk)
{
    const int a = pp_fabric_node(f, source), b = pp_fabric_node(f, dest);
    const int rail = local(f, dest) % f->size.rails;

    add_nic(walk, f, a, rail, UP);
    if (climbs(f, a, b)) {
        const int spine = dest / f->size.rails % f->size.uplinks;
        add_uplink(walk, f, a, rail, spine, UP);
        add_uplink(walk, f, b, rail, spine, DOWN);
    }
    add_nic(walk, f, b, rail, DOWN);
}

/* ---- dragonfly ------------------------------------------------------------------------------- */

/* A router: its group, and its number in the group, chassis by chassis. */
struct router {
    int group, number;
};

static struct router router_of(const struct pp_fabric *f, int node)
{
    const int number = node / f->size.router_nodes, of_group = f->size.chassis * f->size.routers;

    return (struct router){number / of_group, number % of_group};
}

static int of_others(int self, int other)
{
    return other < self ? other : other - 1;
}

/* Walks inside a group: first along the chassis to the slot of the target, then to its chassis. */
static void walk_group(const struct pp_fabric *f, struct router from, int to,
                       struct pp_route_walk *walk)
{
    const int chassis = from.number / f->size.routers, slot = from.number % f->size.routers;
    const int to_chassis = to / f->size.routers, to_slot = to % f->size.routers;
    const int first = from.group * f->size.chassis * f->size.routers;

    if (slot != to_slot)
        add(walk, f, PP_LEVEL_CHASSIS,
            (first + from.number) * (f->size.routers - 1) + of_others(slot, to_slot));
    if (chassis != to_chassis)
        add(walk, f, PP_LEVEL_GROUP,
            (first + chassis * f->size.routers + to_slot) * (f->size.chassis - 1) +
                of_others(chassis, to_chassis));
}

/* Walks one minimal path, as SimGrid's DRAGONFLY: router h of a group holds its link to group h. */
static void walk_minimal(const struct pp_fabric *f, struct router from, struct router to,
                         struct pp_route_walk *walk)
{
    if (from.group != to.group) {
        walk_group(f, from, to.group, walk);
        add(walk, f, PP_LEVEL_GLOBAL,
            from.group * (f->size.groups - 1) + of_others(from.group, to.group));
        from = (struct router){to.group, from.group};
    }
    walk_group(f, from, to.number, walk);
}

/* Walks an adaptive route: a flow is spread over the paths of its group. Limits are all ports of a
 * router together, and the links between two groups. */
static void walk_adaptive(const struct pp_fabric *f, struct router from, struct router to,
                          struct pp_route_walk *walk)
{
    const int of_group = f->size.chassis * f->size.routers;
    const bool moves = from.group != to.group || from.number != to.number;

    if (f->has_router && moves)
        add(walk, f, PP_LEVEL_ROUTER, 2 * (from.group * of_group + from.number) + UP);
    if (f->has_global && from.group != to.group)
        add(walk, f, PP_LEVEL_GLOBAL,
            from.group * (f->size.groups - 1) + of_others(from.group, to.group));
    if (f->has_router && moves)
        add(walk, f, PP_LEVEL_ROUTER, 2 * (to.group * of_group + to.number) + DOWN);
}

static void walk_dragonfly(const struct pp_fabric *f, int source, int dest,
                           struct pp_route_walk *walk)
{
    const int a = pp_fabric_node(f, source), b = pp_fabric_node(f, dest);

    add_nic(walk, f, a, local(f, source) % f->size.rails, UP);
    (f->size.is_static ? walk_minimal : walk_adaptive)(f, router_of(f, a), router_of(f, b), walk);
    add_nic(walk, f, b, local(f, dest) % f->size.rails, DOWN);
}

/* ---- torus ----------------------------------------------------------------------------------- */

/* Walks one dimension the shorter way; at half way up, but to 0 down, as SimGrid's TORUS. */
static int walk_dimension(const struct pp_fabric *f, int node, int dim, int stride, int target,
                          struct pp_route_walk *walk)
{
    const int size = f->size.torus[dim];
    int at = node / stride % size;
    const int up = (target - at + size) % size;
    const bool is_up = 2 * up < size || (2 * up == size && target != 0);

    while (at != target) {
        add(walk, f, PP_LEVEL_TORUS, 2 * (node * PP_TORUS_DIMS + dim) + (is_up ? UP : DOWN));
        const int next = (at + (is_up ? 1 : size - 1)) % size;
        node += (next - at) * stride;
        at = next;
    }
    return node;
}

static void walk_torus(const struct pp_fabric *f, int source, int dest, struct pp_route_walk *walk)
{
    const int b = pp_fabric_node(f, dest);
    int node = pp_fabric_node(f, source), stride = 1;

    for (int dim = 0; dim < PP_TORUS_DIMS; dim++) {
        node = walk_dimension(f, node, dim, stride, b / stride % f->size.torus[dim], walk);
        stride *= f->size.torus[dim];
    }
}

/* ---- star ------------------------------------------------------------------------------------ */

static void walk_star(const struct pp_fabric *f, int source, int dest, struct pp_route_walk *walk)
{
    add_nic(walk, f, pp_fabric_node(f, source), local(f, source) % f->size.rails, UP);
    add_nic(walk, f, pp_fabric_node(f, dest), local(f, dest) % f->size.rails, DOWN);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Walks from one node to another, NICs included. */
static void (*const shapes[PP_FABRIC_KINDS])(const struct pp_fabric *, int source, int dest,
                                             struct pp_route_walk *) = {
    [PP_FABRIC_FAT_TREE] = walk_fat_tree,
    [PP_FABRIC_DRAGONFLY] = walk_dragonfly,
    [PP_FABRIC_TORUS] = walk_torus,
    [PP_FABRIC_STAR] = walk_star,
};

static int pair(const struct pp_fabric *f, int source, int dest)
{
    return source * (f->devices - 1) + of_others(source, dest);
}

struct pp_route_walk pp_fabric_walk(const struct pp_fabric *f, int source, int dest, int32_t *links)
{
    const int a = pp_fabric_node(f, source), b = pp_fabric_node(f, dest);
    struct pp_route_walk walk = {.links = links};

    if (source == dest)
        return walk;
    if (f->size.kind == PP_FABRIC_IDEAL) {
        add(&walk, f, PP_LEVEL_PAIR, pair(f, source, dest));
        walk.levels = 1u << (a == b ? PP_LEVEL_PAIR_NODE : PP_LEVEL_PAIR);
        return walk;
    }
    if (f->has_device)
        add(&walk, f, PP_LEVEL_DEVICE, 2 * source + UP);
    if (f->size.is_pcie)
        add(&walk, f, PP_LEVEL_HOST, a);
    if (a != b)
        shapes[f->size.kind](f, source, dest, &walk);
    if (f->size.is_pcie && a != b)
        add(&walk, f, PP_LEVEL_HOST, b);
    if (f->has_device)
        add(&walk, f, PP_LEVEL_DEVICE, 2 * dest + DOWN);
    return walk;
}
