/* Link classes of the messages between pipeline ranks. Each device of a rank sends its part of a
 * message to its counterpart. All replicas have one cost, the least of any of them, so that no
 * engine with contention is faster. */
#include "core/cost/analytic/parts.h"
#include "core/quantile.h"
#include "core/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODE, NETWORK, KINDS, MAX_CLASSES = 255, UNKNOWN = 255 };
static const char *const names[KINDS] = {[NODE] = "node", [NETWORK] = "network"};

/* A distinct pair of latency and bandwidth. */
struct class
{
    struct pp_link link;
    int kind;
};

struct found {
    int count; /* of classes */
    struct class class[MAX_CLASSES];
    unsigned char of[]; /* [source * ranks + dest] */
};

struct table {
    const struct pp_cost_inputs *in;
    int lanes;
    int32_t *route; /* links of all lanes of a message */
    struct found *found;
};

int pp_lanes(const struct pp_cluster *cluster, const struct pp_layout *layout)
{
    const struct pp_fabric_shape *shape = &cluster->fabric;
    const bool has_own_nics = shape->nics == 0 || shape->nics >= cluster->gpus_per_node;
    const bool is_switched = shape->kind == PP_FABRIC_FAT_TREE || shape->kind == PP_FABRIC_STAR;

    if (shape->kind == PP_FABRIC_IDEAL || (is_switched && has_own_nics && !shape->is_pcie))
        return 1;
    return layout->tp * layout->cp;
}

/* Is true if the last stage sends to the first: tokens of the next pass. */
static bool is_closed(const struct pp_cost_inputs *in)
{
    return in->generation && in->generation->passes > 1;
}

struct pp_fabric_key pp_analytic_links_key(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;
    const struct pp_device_links of = pp_analytic_links(in);
    const double figures[] = {l->tp,
                              l->cp,
                              l->dp,
                              l->pp,
                              in->stages,
                              in->pipelines,
                              in->cluster->gpus_per_node,
                              pp_lanes(in->cluster, l),
                              in->algorithm,
                              of.intra.alpha_s,
                              of.intra.bytes_per_s,
                              of.inter.alpha_s,
                              of.inter.bytes_per_s,
                              of.intra_ring.start_s,
                              of.intra_ring.frac,
                              of.inter_ring.start_s,
                              of.inter_ring.frac,
                              of.is_cube_mesh,
                              of.mesh_links,
                              is_closed(in)};
    struct pp_fabric_key key = {0};

    for (size_t i = 0; i < PP_COUNT(figures); i++)
        *PP_PUSH(arena, key.value, key.count, key.capacity) = figures[i];
    for (int axis = 0; axis < PP_AXES; axis++)
        *PP_PUSH(arena, key.value, key.count, key.capacity) = in->map.stride[axis];
    for (int64_t i = 0; i < (int64_t)in->pipelines * in->stages; i++)
        *PP_PUSH(arena, key.value, key.count, key.capacity) = in->rank_of[i];
    return key;
}

struct lane {
    int source, dest;
};

static struct lane lane_of(const struct table *t, struct lane ranks, int replica, int lane)
{
    const struct pp_cost_inputs *in = t->in;
    const int tp = lane % in->layout.tp, cp = lane / in->layout.tp;

    return (struct lane){pp_map_device(&in->map, tp, cp, replica, ranks.source),
                         pp_map_device(&in->map, tp, cp, replica, ranks.dest)};
}

static struct class min_class(struct class a, struct class b)
{
    return b.link.bytes_per_s < a.link.bytes_per_s ? b : a;
}

/* Returns the slowest link that several lanes cross together. The last lane is done when the bytes
 * of all have passed, after the latency of the first. */
static struct class crowded_class(const struct table *t, int count, struct class first)
{
    struct class slowest = {.link.bytes_per_s = INFINITY};

    qsort(t->route, (size_t)count, sizeof(*t->route), pp_ascending_ints);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && t->route[end] == t->route[i];)
            end++;
        const struct pp_fabric_link link = pp_fabric_link(t->in->fabric, t->route[i]);
        const struct class class = {{first.link.alpha_s, link.bytes_per_s / (end - i)}, first.kind};
        if (end - i > 1 && !link.is_fatpipe)
            slowest = min_class(slowest, class);
    }
    return slowest;
}

/* Returns the slowest lane of one replica's message, alone or on a link that lanes share. */
static struct class replica_class(const struct table *t, struct lane ranks, int replica)
{
    const struct pp_cost_inputs *in = t->in;
    struct class slowest = {.link.bytes_per_s = INFINITY};
    struct class first = {.link.alpha_s = INFINITY, .kind = NODE}; /* over all lanes */
    int count = 0;

    for (int k = 0; k < t->lanes; k++) {
        const struct lane lane = lane_of(t, ranks, replica, k);
        const struct pp_route route =
            t->lanes > 1 ? pp_fabric_route(in->fabric, lane.source, lane.dest, t->route + count)
                         : pp_fabric_cost(in->fabric, lane.source, lane.dest);
        const bool is_node = pp_cluster_same_node(in->cluster, lane.source, lane.dest);
        const struct class class = {{route.alpha_s, route.bytes_per_s}, is_node ? NODE : NETWORK};
        slowest = min_class(slowest, class);
        first.link.alpha_s = fmin(first.link.alpha_s, route.alpha_s);
        first.kind = class.kind == NETWORK ? NETWORK : first.kind;
        count += route.count;
    }
    if (count > 0)
        slowest = min_class(slowest, crowded_class(t, count, first));
    return slowest;
}

static int add_class(struct found *f, struct class class)
{
    for (int i = 0; i < f->count; i++)
        if (f->class[i].kind == class.kind && f->class[i].link.alpha_s == class.link.alpha_s &&
            f->class[i].link.bytes_per_s == class.link.bytes_per_s)
            return i;
    if (f->count < MAX_CLASSES) {
        f->class[f->count] = class;
        return f->count++;
    }
    struct class *last = &f->class[MAX_CLASSES - 1]; /* stands for all further classes */
    last->link.alpha_s = fmin(last->link.alpha_s, class.link.alpha_s);
    last->link.bytes_per_s = fmax(last->link.bytes_per_s, class.link.bytes_per_s);
    return MAX_CLASSES - 1;
}

static void add_pair(struct table *t, int source, int dest)
{
    const struct pp_cost_inputs *in = t->in;
    unsigned char *of = &t->found->of[(size_t)source * (size_t)in->layout.pp + (size_t)dest];
    const struct lane ranks = {source, dest};

    if (*of != UNKNOWN || source == dest)
        return;
    if (!in->fabric) {
        *of = (unsigned char)(pp_analytic_crosses(in, source, dest) ? NETWORK : NODE);
        return;
    }
    struct class best = replica_class(t, ranks, 0);
    for (int replica = 1; replica < in->layout.dp; replica++) {
        const struct class other = replica_class(t, ranks, replica);
        best.link.alpha_s = fmin(best.link.alpha_s, other.link.alpha_s);
        best.link.bytes_per_s = fmax(best.link.bytes_per_s, other.link.bytes_per_s);
        best.kind = other.kind == NODE ? NODE : best.kind;
    }
    *of = (unsigned char)add_class(t->found, best);
}

static void add_pairs(struct table *t)
{
    const struct pp_cost_inputs *in = t->in;

    for (int p = 0; p < in->pipelines; p++) {
        const uint16_t *rank = in->rank_of + (int64_t)p * in->stages;
        for (int s = 0; s + 1 < in->stages; s++) {
            add_pair(t, rank[s], rank[s + 1]);
            add_pair(t, rank[s + 1], rank[s]);
        }
        if (is_closed(in))
            add_pair(t, rank[in->stages - 1], rank[0]);
    }
}

static void find_links(struct pp_arena *arena, const struct pp_cost_inputs *in, struct found *found,
                       size_t pairs)
{
    const struct pp_device_links links = pp_analytic_links(in);
    struct table t = {.in = in, .lanes = pp_lanes(in->cluster, &in->layout), .found = found};

    found->count = 0;
    memset(found->of, UNKNOWN, pairs);
    if (!in->fabric) {
        add_class(found, (struct class){links.intra, NODE});
        add_class(found, (struct class){links.inter, NETWORK});
    }
    if (in->fabric && t.lanes > 1)
        t.route =
            PP_ARRAY(arena, int32_t, (size_t)t.lanes * (size_t)pp_fabric_route_max(in->fabric));
    add_pairs(&t);
    if (found->count == 0) /* no messages */
        add_class(found, (struct class){links.intra, NODE});
    for (size_t i = 0; i < pairs; i++)
        found->of[i] = found->of[i] == UNKNOWN ? 0 : found->of[i];
}

/* Finds the links once for all costs of a layout on a fabric. */
static const struct found *found_links(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    const size_t pairs = (size_t)in->layout.pp * (size_t)in->layout.pp,
                 bytes = sizeof(struct found) + pairs;
    struct found *found = pp_arena_alloc_raw(arena, bytes);
    const struct pp_fabric_key key = pp_analytic_links_key(arena, in);

    if (in->fabric && pp_fabric_recall(in->fabric, &key, found, bytes))
        return found;
    find_links(arena, in, found, pairs);
    if (in->fabric)
        pp_fabric_keep(in->fabric, &key, found, bytes);
    return found;
}

void pp_analytic_fill_links(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs)
{
    const struct found *found = found_links(arena, in);
    const char **link_names = PP_ARRAY(arena, const char *, found->count);

    costs->links = found->count;
    costs->link = found->of;
    costs->alpha_ps = PP_ARRAY(arena, int64_t, found->count);
    costs->s_per_byte = PP_ARRAY(arena, double, found->count);
    for (int i = 0; i < found->count; i++) {
        link_names[i] = names[found->class[i].kind];
        costs->alpha_ps[i] = pp_units_ps(found->class[i].link.alpha_s);
        costs->s_per_byte[i] = 1 / found->class[i].link.bytes_per_s;
    }
    costs->link_names = link_names;
}

/* ---- exchanges without compute --------------------------------------------------------------- */

/* Returns the time of a message between two stages, if there are both. Without sequence parallelism
 * the receiver gathers the parts of its tensor-parallel devices. */
static struct pp_cost exchange(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               int stage, int next)
{
    const struct pp_device_group group = pp_analytic_group(in, PP_AXIS_TP);
    const double bytes = pp_analytic_boundary_bytes(in) / in->splits;
    int64_t gather_ps = 0;

    if (stage < 0 || stage >= in->stages || next < 0 || next >= in->stages ||
        in->rank_of[stage] == in->rank_of[next])
        return (struct pp_cost){0};
    const int link =
        costs->link[(size_t)in->rank_of[stage] * (size_t)in->layout.pp + in->rank_of[next]];
    if (in->is_tp_only && group.members > 1 && !pp_cost_framework(in)->sends_whole)
        gather_ps = pp_units_ps(pp_analytic_collective_s(in, PP_AG, group, bytes * group.members));
    return (struct pp_cost){.ps = costs->alpha_ps[link] +
                                  pp_units_ps(bytes * costs->s_per_byte[link]) + gather_ps,
                            .tp_ps = gather_ps};
}

void pp_analytic_add_exchanges(const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    const enum pp_exchange how = pp_cost_framework(in)->exchange;

    for (int i = 0; how != PP_EXCHANGE_HIDDEN && i < in->stages * in->splits; i++) {
        const int s = i / in->splits;
        struct pp_cost down = exchange(in, costs, s, s + 1), up = exchange(in, costs, s, s - 1);
        if (how == PP_EXCHANGE_IN_TURN) {
            down = pp_cost_sum(down, exchange(in, costs, s - 1, s));
            up = pp_cost_sum(up, exchange(in, costs, s + 1, s));
        }
        costs->op[PP_F][i] = pp_cost_sum(costs->op[PP_F][i], down);
        costs->op[PP_I][i] = pp_cost_sum(costs->op[PP_I][i], up);
        costs->op[PP_B][i] = pp_cost_sum(costs->op[PP_B][i], up);
    }
}
