/* Sizes of a fabric from its cluster: number and speed of the links of each level. */
#include "core/cluster/fabric_parts.h"

#include <assert.h>
#include <math.h>

enum {
    NODES_MAX = 1 << 24,    /* of a machine whose size is given */
    ARIES_ROUTER_NODES = 4, /* Cray XC: Alverson et al. 2012 */
    ARIES_ROUTERS = 16,
    ARIES_CHASSIS = 6,
};

static int64_t whole_over(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static double node_bytes_per_s(const struct pp_cluster *c)
{
    return c->inter.bytes_per_s * c->gpus_per_node;
}

/* Adds `count` links of a level; their ids follow those of earlier levels. */
static enum pp_status set_level(struct pp_fabric *f, enum pp_fabric_level_kind level, int64_t count,
                                double bytes_per_s, double latency_s, struct pp_error *err)
{
    if (count > INT32_MAX - f->links)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: the fabric of %d devices has more than %d links",
                            f->devices, INT32_MAX);
    f->level[level] = (struct pp_fabric_level){f->links, (int)count, bytes_per_s, latency_s};
    f->links += (int)count;
    return PP_OK;
}

/* Without a given bandwidth every byte is written and read. */
double pp_fabric_host_rate(const struct pp_cluster *c)
{
    return c->fabric.host_bytes_per_s > 0
               ? c->fabric.host_bytes_per_s
               : fmax(c->intra.bytes_per_s, c->intra.bytes_per_s * c->gpus_per_node / 2);
}

/* Adds the links of devices, each with half of the latency inside a node, and of host memory. */
static enum pp_status shape_devices(struct pp_fabric *f, const struct pp_cluster *c,
                                    struct pp_error *err)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const int gpus = c->gpus_per_node;

    f->size.is_pcie = s->is_pcie;
    f->has_device = gpus > 1 || s->is_pcie;
    f->size.rails = s->nics > 0 && s->nics < gpus ? s->nics : gpus;
    if (f->has_device)
        PP_TRY(set_level(f, PP_LEVEL_DEVICE, 2LL * f->size.nodes * gpus, c->intra.bytes_per_s,
                         fmin(f->intra_s, f->inter_s) / 2, err));
    return f->size.is_pcie
               ? set_level(f, PP_LEVEL_HOST, f->size.nodes, pp_fabric_host_rate(c), 0, err)
               : PP_OK;
}

/* Adds the links of nodes. With one device a node its link and the NIC carry the same transfers:
 * they are one link, as fast as the slower. NICs have the rest of the latency between nodes. */
static enum pp_status shape_node(struct pp_fabric *f, const struct pp_cluster *c,
                                 struct pp_error *err)
{
    PP_TRY(shape_devices(f, c, err));
    double nic = node_bytes_per_s(c) / f->size.rails;
    if (!f->has_device)
        nic = fmin(nic, c->intra.bytes_per_s);
    return set_level(f, PP_LEVEL_NIC, 2LL * f->size.nodes * f->size.rails, nic,
                     f->inter_s / 2 - f->level[PP_LEVEL_DEVICE].latency_s, err);
}

/* Adds the uplinks of leaves. Adaptive routing makes those of a leaf one link, which only limits if
 * it is slower than the NICs below it. */
static enum pp_status shape_fat_tree(struct pp_fabric *f, const struct pp_cluster *c,
                                     struct pp_error *err)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const double over = s->oversubscription > 0 ? s->oversubscription : 1;
    const int64_t leaves = s->leaf_nodes > 0 ? whole_over(f->size.nodes, s->leaf_nodes) : 1;
    const double up = s->leaf_nodes / over;

    PP_TRY(shape_node(f, c, err));
    if (leaves <= 1 || (!s->is_static && over <= 1))
        return PP_OK;
    if (s->is_static && (up < 1 || up != floor(up)))
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: leaf:%d oversub:%g leaves %g uplinks a leaf, and "
                            "routing:static needs a whole number: oversub:%g",
                            s->leaf_nodes, over, up, s->leaf_nodes / fmax(1, floor(up)));
    f->size.leaf_nodes = s->leaf_nodes;
    f->size.uplinks = s->is_static ? (int)up : 1;
    const double nic = node_bytes_per_s(c) / f->size.rails;
    return set_level(f, PP_LEVEL_LEAF, 2 * leaves * f->size.rails * f->size.uplinks,
                     s->is_static ? nic : nic * up, 0, err);
}

static int or_default(int value, int fallback)
{
    return value > 0 ? value : fallback;
}

/* Links that are not given are in proportion to a node's, as on Aries. There a NIC reaches 10.2
 * GB/s, two routers of a chassis two links of 5.25 GB/s (one by another router), two chassis 15.75
 * GB/s. The links of a group to all others together are as fast as its nodes. */
static enum pp_status shape_dragonfly(struct pp_fabric *f, const struct pp_cluster *c,
                                      struct pp_error *err)
{
    const struct pp_fabric_shape *s = &c->fabric;
    const double node = node_bytes_per_s(c);

    f->size.router_nodes = or_default(s->router_nodes, ARIES_ROUTER_NODES);
    f->size.routers = or_default(s->routers, ARIES_ROUTERS);
    f->size.chassis = or_default(s->chassis, ARIES_CHASSIS);
    const int64_t of_group = (int64_t)f->size.routers * f->size.chassis,
                  group_nodes = of_group * f->size.router_nodes;
    if (group_nodes > NODES_MAX || s->groups * group_nodes > NODES_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: a dragonfly of %dx%dx%dx%d is too large: at most %d nodes",
                            or_default(s->groups, 1), f->size.chassis, f->size.routers,
                            f->size.router_nodes, NODES_MAX);
    const int64_t wanted = whole_over(f->size.nodes, group_nodes),
                  groups = s->groups ? s->groups : wanted;
    if (groups < wanted)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: a dragonfly of %lldx%dx%dx%d holds %lld nodes, and %d are "
                            "needed: %lld groups",
                            (long long)groups, f->size.chassis, f->size.routers,
                            f->size.router_nodes, (long long)(groups * group_nodes), f->size.nodes,
                            (long long)wanted);
    if (s->is_static && groups > of_group)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: a group of %lld routers reaches %lld others, not %lld: "
                            "routing:adaptive or larger groups",
                            (long long)of_group, (long long)of_group - 1, (long long)groups - 1);
    f->size.groups = (int)groups;
    f->size.nodes = (int)(groups * group_nodes);
    f->size.is_static = s->is_static;
    PP_TRY(shape_node(f, c, err));

    const double chassis = s->chassis_bytes_per_s > 0 ? s->chassis_bytes_per_s : node * 10.5 / 10.2;
    const double group = s->group_bytes_per_s > 0 ? s->group_bytes_per_s : node * 15.75 / 10.2;
    const double global = s->global_bytes_per_s > 0
                              ? s->global_bytes_per_s
                              : node * (double)group_nodes / fmax(1, (double)groups - 1);
    const double detour = 2; /* links of the group that a spread flow uses one after the other */
    const double router =
        ((f->size.routers - 1) * chassis + (f->size.chassis - 1) * group) / detour;
    f->has_router = !s->is_static && of_group > 1 && router < node * f->size.router_nodes;
    f->has_global = groups > 1 && (s->is_static || global < node * (double)group_nodes);
    if (f->has_router)
        PP_TRY(set_level(f, PP_LEVEL_ROUTER, 2 * groups * of_group, router, 0, err));
    if (s->is_static) {
        PP_TRY(set_level(f, PP_LEVEL_CHASSIS, groups * of_group * (f->size.routers - 1), chassis, 0,
                         err));
        PP_TRY(
            set_level(f, PP_LEVEL_GROUP, groups * of_group * (f->size.chassis - 1), group, 0, err));
    }
    return f->has_global ? set_level(f, PP_LEVEL_GLOBAL, groups * (groups - 1), global, 0, err)
                         : PP_OK;
}

/* Makes a cubic torus: twice, takes the largest divisor up to the root of the rest. */
static void cubic(int nodes, int torus[PP_TORUS_DIMS])
{
    for (int dim = PP_TORUS_DIMS - 1; dim > 0; dim--) {
        int size = (int)(pow(nodes, 1.0 / (dim + 1)) + 1e-9);
        while (nodes % size != 0)
            size--;
        torus[dim] = size;
        nodes /= size;
    }
    torus[0] = nodes;
}

/* The ports of a torus are the NICs: a link to a neighbour is as fast as one of them. */
static enum pp_status shape_torus(struct pp_fabric *f, const struct pp_cluster *c,
                                  struct pp_error *err)
{
    const struct pp_fabric_shape *s = &c->fabric;
    int64_t nodes = 1;

    if (s->torus[0] > 0) {
        for (int dim = 0; dim < PP_TORUS_DIMS; dim++) {
            f->size.torus[dim] = or_default(s->torus[dim], 1);
            nodes *= f->size.torus[dim];
        }
    } else {
        cubic(f->size.nodes, f->size.torus);
        nodes = f->size.nodes;
    }
    if (nodes < f->size.nodes)
        return pp_error_set(
            err, PP_EINVAL,
            "--cluster: torus:%dx%dx%d holds %lld nodes, and %d are needed: torus:%dx%dx%d",
            f->size.torus[0], f->size.torus[1], f->size.torus[2], (long long)nodes, f->size.nodes,
            (int)whole_over(f->size.nodes, (int64_t)f->size.torus[1] * f->size.torus[2]),
            f->size.torus[1], f->size.torus[2]);
    if (nodes > NODES_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster: torus:%dx%dx%d is too large: at most %d nodes",
                            f->size.torus[0], f->size.torus[1], f->size.torus[2], NODES_MAX);
    f->size.nodes = (int)nodes;
    PP_TRY(shape_devices(f, c, err));
    const double nic = node_bytes_per_s(c) / (s->nics > 0 ? s->nics : c->gpus_per_node);
    return set_level(f, PP_LEVEL_TORUS, 2 * nodes * PP_TORUS_DIMS,
                     s->torus_bytes_per_s > 0 ? s->torus_bytes_per_s : nic, 0, err);
}

static enum pp_status shape_ideal(struct pp_fabric *f, const struct pp_cluster *c,
                                  struct pp_error *err)
{
    PP_TRY(set_level(f, PP_LEVEL_PAIR, (int64_t)f->devices * (f->devices - 1), c->inter.bytes_per_s,
                     f->inter_s, err));
    return set_level(f, PP_LEVEL_PAIR_NODE, 0, c->intra.bytes_per_s, f->intra_s, err);
}

static enum pp_status shape_file(struct pp_fabric *f, const struct pp_cluster *c,
                                 struct pp_error *err)
{
    (void)f;
    return pp_error_set(err, PP_EINVAL, "--cluster: links and routes of %s come from the file",
                        c->name);
}

static enum pp_status (*const shapes[PP_FABRIC_KINDS])(struct pp_fabric *,
                                                       const struct pp_cluster *,
                                                       struct pp_error *) = {
    [PP_FABRIC_FAT_TREE] = shape_fat_tree, [PP_FABRIC_DRAGONFLY] = shape_dragonfly,
    [PP_FABRIC_TORUS] = shape_torus,       [PP_FABRIC_STAR] = shape_node,
    [PP_FABRIC_IDEAL] = shape_ideal,       [PP_FABRIC_FILE] = shape_file,
};

/* A torus or dragonfly has the size of the whole machine; other fabrics that of the used nodes. */
enum pp_status pp_fabric_make(struct pp_arena *arena, const struct pp_cluster *c, int devices,
                              struct pp_fabric **fabric, struct pp_error *err)
{
    const bool is_whole =
        c->fabric.kind == PP_FABRIC_TORUS || c->fabric.kind == PP_FABRIC_DRAGONFLY;
    const int64_t needed = whole_over(devices, c->gpus_per_node);
    struct pp_fabric *f = PP_NEW(arena, struct pp_fabric);

    assert(devices > 0);
    if (c->nodes > 0 && needed > c->nodes)
        return pp_error_set(err, PP_EINVAL,
                            "--gpus %d: the cluster has %d nodes of %d, %lld devices", devices,
                            c->nodes, c->gpus_per_node, (long long)c->nodes * c->gpus_per_node);
    *f = (struct pp_fabric){.size = {.kind = c->fabric.kind,
                                     .nodes = is_whole && c->nodes > 0 ? c->nodes : (int)needed,
                                     .gpus_per_node = c->gpus_per_node},
                            .devices = devices,
                            .intra_s = c->intra.alpha_s,
                            .inter_s = c->inter.alpha_s,
                            .arena = arena,
                            .kept = pp_fabric_kept_make(arena)};
    PP_TRY(shapes[f->size.kind](f, c, err));
    for (int i = 0; i < PP_LEVELS; i++)
        f->level[i].bytes_per_s *= c->eta_link;
    *fabric = f;
    return PP_OK;
}
