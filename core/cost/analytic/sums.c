/* Bandwidth of gradient sums on a fabric on which all of them run at once, one of every rank. The
 * hops of every ring or tree, of all lanes, are laid over the links. A hop gets the least share of
 * any of its links. Levels of an algorithm follow one another: hops inside the nodes meet only each
 * other, and so do those between nodes. The slowest hop stands for its level. */
#include "core/cluster/link_set.h"
#include "core/cost/analytic/parts.h"

#include <math.h>
#include <string.h>

enum phase { NODE, NETWORK, TIED, PHASES };
enum { WHOLE = 2, HALF = 1 }; /* data of a hop: each of two trees carries one half */
static const double SAME = 1e-9;

struct hop {
    struct pp_route route;
    int64_t first; /* index in `on` of its first link */
    bool is_local; /* inside a node */
};

struct probe {
    struct pp_arena *arena;
    const struct pp_cost_inputs *in;
    struct pp_link_set links;
    int32_t (*uses)[PHASES]; /* [index of `links`], in units of HALF */
    int room;
    int32_t *route; /* links of one hop */
    struct hop *hops;
    int count, capacity;
    int32_t *on; /* indices of `links`, hop after hop */
    int64_t on_count, on_capacity;
};

/* Hops of one level of one sum; a stage has two, NODE and NETWORK. */
struct level {
    enum phase phase;
    int first, count;
    double bytes; /* bytes of a hop in one round */
};

/* ---- hops ------------------------------------------------------------------------------------ */

static void use(struct probe *p, int32_t link, enum phase phase, int weight)
{
    const int at = pp_link_set_at(&p->links, link);

    if (p->links.capacity > p->room) {
        p->uses = pp_arena_grow(p->arena, p->uses, sizeof(*p->uses) * (size_t)p->room,
                                sizeof(*p->uses) * (size_t)p->links.capacity);
        p->room = p->links.capacity;
    }
    p->uses[at][phase] += weight;
    *PP_PUSH(p->arena, p->on, p->on_count, p->on_capacity) = at;
}

static void add_hop(struct probe *p, enum phase phase, int source, int dest, int weight)
{
    struct hop *hop = PP_PUSH(p->arena, p->hops, p->count, p->capacity);

    *hop = (struct hop){.route = pp_fabric_route(p->in->fabric, source, dest, p->route),
                        .first = p->on_count,
                        .is_local = pp_cluster_same_node(p->in->cluster, source, dest)};
    for (int i = 0; i < hop->route.count; i++)
        use(p, p->route[i], phase, weight);
}

/* Adds the hops of all lanes between two members. */
static void add_hops(struct probe *p, enum phase phase, int source, int dest, int weight)
{
    const int stride = p->in->map.stride[PP_AXIS_TP];

    for (int tp = 0; tp < p->in->layout.tp; tp++)
        add_hop(p, phase, source + tp * stride, dest + tp * stride, weight);
}

/* `count` members, `stride` apart in the list. */
struct members {
    const int32_t *device;
    int count, stride;
};

static int member(struct members m, int i)
{
    return m.device[(int64_t)i * m.stride];
}

static void add_ring(struct probe *p, enum phase phase, struct members m)
{
    for (int i = 0; m.count > 1 && i < m.count; i++)
        add_hops(p, phase, member(m, i), member(m, (i + 1) % m.count), WHOLE);
}

static void add_chain(struct probe *p, enum phase phase, struct members m)
{
    for (int i = 0; i + 1 < m.count; i++)
        add_hops(p, phase, member(m, i), member(m, i + 1), WHOLE);
}

/* Adds two binary trees in opposite order: an inner node of one is a leaf of the other. */
static void add_trees(struct probe *p, enum phase phase, struct members m)
{
    for (int i = 1; i < m.count; i++) {
        const int last = m.count - 1, parent = (i - 1) / 2;
        add_hops(p, phase, member(m, parent), member(m, i), HALF);
        add_hops(p, phase, member(m, last - parent), member(m, last - i), HALF);
    }
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Is true if every `per_node` devices in a row are all the members in one node. */
static bool is_even(const struct pp_cost_inputs *in, const struct pp_ring *ring, int per_node)
{
    for (int i = 1; i < ring->positions; i++)
        if (pp_cluster_same_node(in->cluster, ring->device[i - 1], ring->device[i]) !=
            (i % per_node != 0))
            return false;
    return ring->positions % per_node == 0;
}

static void add_stage(struct probe *p, int stage, double bytes, struct level level[2])
{
    const bool is_tree = p->in->algorithm == PP_ALGORITHM_TREE;
    const struct pp_device_group group = pp_analytic_stage_group(p->in, stage);
    const struct pp_ring ring = pp_analytic_ring(p->arena, p->in, stage);
    const bool is_flat =
        p->in->algorithm == PP_ALGORITHM_RING || !is_even(p->in, &ring, group.per_node);
    const int per_node = is_flat ? 1 : group.per_node, nodes = ring.positions / per_node;

    level[NODE] = (struct level){.phase = NODE, .first = p->count, .bytes = bytes / per_node};
    for (int k = 0; k < nodes && per_node > 1; k++) {
        const struct members m = {ring.device + (int64_t)k * per_node, per_node, 1};
        (is_tree ? add_chain : add_ring)(p, NODE, m);
    }
    level[NODE].count = p->count - level[NODE].first;
    level[NETWORK] =
        (struct level){.phase = NETWORK, .first = p->count, .bytes = bytes / ring.positions};
    for (int j = 0; j < per_node; j++) {
        const struct members m = {ring.device + j, nodes, per_node};
        (is_tree && !is_flat ? add_trees : add_ring)(p, NETWORK, m);
    }
    level[NETWORK].count = p->count - level[NETWORK].first;
}

/* Adds hops both ways between the first and the last stage of every replica. */
static struct level add_tied(struct probe *p, double bytes)
{
    const struct pp_cost_inputs *in = p->in;
    const int rank[2] = {in->rank_of[0], in->rank_of[in->stages - 1]};
    struct level level = {.phase = TIED, .first = p->count, .bytes = bytes / 2};

    for (int i = 0; i < in->layout.dp * in->layout.cp; i++) {
        const int cp = i % in->layout.cp, dp = i / in->layout.cp;
        const int a = pp_map_device(&in->map, 0, cp, dp, rank[0]),
                  b = pp_map_device(&in->map, 0, cp, dp, rank[1]);
        add_hops(p, TIED, a, b, WHOLE);
        add_hops(p, TIED, b, a, WHOLE);
    }
    level.count = p->count - level.first;
    return level;
}

/* ---- shares ---------------------------------------------------------------------------------- */

static double near(double value, double wanted)
{
    return fabs(value - wanted) <= SAME * wanted ? wanted : value;
}

/* Returns the bandwidth that a hop reaches, at most that of `most`; sets the limiting link. */
static struct pp_link reached(const struct probe *p, const struct hop *hop, enum phase phase,
                              struct pp_link most, struct pp_sum_limit *limit)
{
    struct pp_link link = {near(hop->route.alpha_s, most.alpha_s), most.bytes_per_s};

    *limit = (struct pp_sum_limit){0};
    for (int i = 0; i < hop->route.count; i++) {
        const int at = p->on[hop->first + i], uses = p->uses[at][phase];
        const struct pp_fabric_link *value = &p->links.value[at];
        const double sharers = value->is_fatpipe ? 1 : (double)uses / WHOLE;
        if (value->bytes_per_s / sharers < link.bytes_per_s * (1 - SAME)) {
            link.bytes_per_s = value->bytes_per_s / sharers;
            *limit = (struct pp_sum_limit){p->links.link[at], (int)ceil(sharers)};
        }
    }
    return link;
}

/* Chooses the hop that takes longest. */
static void choose(const struct probe *p, const struct level *level, bool is_local,
                   struct pp_link most, struct pp_link *chosen, struct pp_sum_limit *limit)
{
    double longest_s = 0;

    *chosen = most;
    for (int i = 0; i < level->count; i++) {
        const struct hop *hop = &p->hops[level->first + i];
        struct pp_sum_limit by;
        if (hop->is_local != is_local)
            continue;
        const struct pp_link link = reached(p, hop, level->phase, most, &by);
        const double s = link.alpha_s + level->bytes / link.bytes_per_s;
        if (s > longest_s) {
            longest_s = s;
            *chosen = link;
            *limit = by;
        }
    }
}

/* Returns the speed of a ring over all devices: that of its slowest hop, wherever it is. */
static struct pp_sum_links slowest_of_ring(const struct probe *p, const struct level *level)
{
    struct pp_sum_links sum = {.links = pp_analytic_links(p->in)};
    double longest_s = 0;

    for (int i = 0; i < level->count; i++) {
        const struct hop *hop = &p->hops[level->first + i];
        const struct pp_link alone = {hop->route.alpha_s, hop->route.bytes_per_s};
        struct pp_sum_limit by;
        const struct pp_link link = reached(p, hop, level->phase, alone, &by);
        const double s = link.alpha_s + level->bytes / link.bytes_per_s;
        if (s > longest_s) {
            longest_s = s;
            sum = (struct pp_sum_links){.links = {link, link}, .network = by};
        }
    }
    return sum;
}

static struct pp_sum_links slowest_of(const struct probe *p, const struct level *node,
                                      const struct level *network)
{
    const struct pp_device_links most = pp_analytic_links(p->in);
    struct pp_sum_links sum = {.links = most};

    choose(p, node, true, most.intra, &sum.links.intra, &sum.node);
    choose(p, network, false, most.inter, &sum.links.inter, &sum.network);
    return sum;
}

static struct pp_sum_links sum_of(const struct probe *p, const struct level level[2])
{
    if (p->in->algorithm == PP_ALGORITHM_RING)
        return slowest_of_ring(p, &level[NETWORK]);
    return slowest_of(p, level[NODE].count > 0 ? &level[NODE] : &level[NETWORK], &level[NETWORK]);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Is true if the cluster's own links describe all that sums meet: NICs, one peer at a time. */
static bool cannot_bind(const struct pp_cost_inputs *in)
{
    if (!in->fabric)
        return true;
    const struct pp_fabric_size size = pp_fabric_size(in->fabric);
    const bool is_switched =
        size.kind == PP_FABRIC_STAR || (size.kind == PP_FABRIC_FAT_TREE && size.uplinks == 0);
    const bool has_even_nics =
        size.rails > 0 && size.gpus_per_node % size.rails == 0 &&
        (size.rails == size.gpus_per_node || in->algorithm != PP_ALGORITHM_RING);
    const struct pp_device_links links = pp_analytic_links(in);

    if (size.kind == PP_FABRIC_IDEAL)
        return in->algorithm != PP_ALGORITHM_RING;
    return is_switched && has_even_nics && !size.is_pcie && in->algorithm != PP_ALGORITHM_RING &&
           !pp_fabric_is_scaled(in->fabric) && links.intra.bytes_per_s >= links.inter.bytes_per_s;
}

static struct pp_sum_links *unlimited(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    struct pp_sum_links *sums = PP_ARRAY(arena, struct pp_sum_links, in->stages + 1);

    for (int s = 0; s <= in->stages; s++)
        sums[s].links = pp_analytic_links(in);
    return sums;
}

/* Sets the turn of each stage; returns the number of turns. A rank's sums run one after the other,
 * so a stage takes the turn after those of all ranks that hold it. */
static int take_turns(struct pp_arena *arena, const struct pp_cost_inputs *in, int *turn)
{
    int *had = PP_ARRAY(arena, int, in->layout.pp), turns = 0;

    for (int s = 0; s < in->stages; s++) {
        for (int p = 0; p < in->pipelines; p++) {
            const int rank = in->rank_of[(int64_t)p * in->stages + s];
            turn[s] = had[rank] > turn[s] ? had[rank] : turn[s];
        }
        for (int p = 0; p < in->pipelines; p++)
            had[in->rank_of[(int64_t)p * in->stages + s]] = turn[s] + 1;
        turns = turn[s] + 1 > turns ? turn[s] + 1 : turns;
    }
    return turns;
}

static void clear(struct probe *p)
{
    if (p->links.count)
        memset(p->uses, 0, sizeof(*p->uses) * (size_t)p->links.count);
    p->count = 0;
    p->on_count = 0;
}

static void probe_stages(struct probe *p, const double *bytes, struct pp_sum_links *sums)
{
    const struct pp_cost_inputs *in = p->in;
    struct level *level = PP_ARRAY(p->arena, struct level, 2 * in->stages);
    int *turn = PP_ARRAY(p->arena, int, in->stages);
    const int turns = take_turns(p->arena, in, turn);

    for (int t = 0; t < turns; t++) {
        for (int s = 0; s < in->stages; s++)
            if (turn[s] == t)
                add_stage(p, s, bytes[s], &level[2 * s]);
        for (int s = 0; s < in->stages; s++)
            if (turn[s] == t)
                sums[s] = sum_of(p, &level[2 * s]);
        clear(p);
    }
}

static void probe_all(struct pp_arena *arena, const struct pp_cost_inputs *in, const double *bytes,
                      struct pp_sum_links *sums)
{
    struct probe p = {
        .arena = arena,
        .in = in,
        .links = pp_link_set_make(arena, in->fabric, 4 * in->layout.tp * in->layout.dp),
        .route = PP_ARRAY(arena, int32_t, pp_fabric_route_max(in->fabric) + 1),
    };
    if (in->layout.dp * in->layout.cp * in->pipelines > 1)
        probe_stages(&p, bytes, sums);
    if (pp_analytic_has_tied_copy(in)) {
        const struct level tied = add_tied(&p, bytes[in->stages]);
        sums[in->stages] = slowest_of(&p, &tied, &tied);
    }
}

/* Finds the links once for all costs of a layout on a fabric with the same bytes in the sums. */
struct pp_sum_links *pp_analytic_sum_links(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    struct pp_sum_links *sums = unlimited(arena, in);
    const size_t size = sizeof(*sums) * (size_t)(in->stages + 1);
    const struct pp_arena_mark mark = pp_arena_mark(arena);

    if (cannot_bind(in))
        return sums;
    struct pp_fabric_key key = pp_analytic_links_key(arena, in);
    const double grads = pp_cost_state_bytes(in).grads;
    for (int s = 0; s < in->stages; s++)
        *PP_PUSH(arena, key.value, key.count, key.capacity) = pp_cost_stage_params(in, s) * grads;
    *PP_PUSH(arena, key.value, key.count, key.capacity) =
        pp_analytic_has_tied_copy(in) ? pp_analytic_tied_bytes(in) : 0;
    if (!pp_fabric_recall(in->fabric, &key, sums, size)) {
        probe_all(arena, in, key.value + key.count - in->stages - 1, sums);
        pp_fabric_keep(in->fabric, &key, sums, size);
    }
    pp_arena_release(arena, mark);
    return sums;
}
