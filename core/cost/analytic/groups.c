/* Groups of devices that communicate, their places in nodes, and the links between them. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"

#include <string.h>

/* ---- links ----------------------------------------------------------------------------------- */

struct pp_device_links pp_analytic_links(const struct pp_cost_inputs *in)
{
    struct pp_device_links links = pp_collective_links_of(in->cluster);

    links.intra.bytes_per_s *= in->intra_factor > 0 ? in->intra_factor : 1;
    links.inter.bytes_per_s *= in->inter_factor > 0 ? in->inter_factor : 1;
    return links;
}

static struct pp_link hop_between(const struct pp_cost_inputs *in, int source, int dest)
{
    if (in->fabric) {
        const struct pp_route route = pp_fabric_cost(in->fabric, source, dest);
        return (struct pp_link){route.alpha_s, route.bytes_per_s};
    }
    const struct pp_device_links links = pp_analytic_links(in);
    return pp_cluster_same_node(in->cluster, source, dest) ? links.intra : links.inter;
}

/* ---- groups ---------------------------------------------------------------------------------- */

struct pp_device_group pp_analytic_group_over(int members, int nodes, int fewest)
{
    const int per_node = members / nodes > 0 ? members / nodes : 1;

    return (struct pp_device_group){
        .members = members,
        .per_node = per_node,
        .nodes = (members + per_node - 1) / per_node,
        .fewest = fewest,
    };
}

struct pp_device_group pp_analytic_group(const struct pp_cost_inputs *in, enum pp_axis axis)
{
    const int members = pp_layout_degree(&in->layout, axis);
    const int64_t span = (int64_t)(members - 1) * in->map.stride[axis];
    const int64_t nodes = span / in->cluster->gpus_per_node + 1;

    return pp_analytic_group_over(members, (int)(nodes < members ? nodes : members), 0);
}

/* Devices of a stage group (tp coordinate 0), ascending: nested loops, widest stride outermost. */
enum { STAGE_AXES = 3, RANKS = UINT16_MAX + 1 };
struct walk {
    int axis[STAGE_AXES], count[STAGE_AXES];
    uint16_t rank[RANKS]; /* ranks that hold the stage, ascending */
};

static int coordinate(const struct walk *walk, int level, int i)
{
    return walk->axis[level] == PP_AXIS_PP ? walk->rank[i] : i;
}

/* Counts the nodes of devices in ascending order, and the devices of the node with fewest. */
struct count {
    int gpus_per_node;
    int64_t nodes, last;
    int64_t in_last, fewest; /* devices of the last node; fewest of the nodes before it, 0 = none */
};

static void take_fewest(struct count *c, int64_t devices)
{
    if (devices > 0 && (c->fewest == 0 || devices < c->fewest))
        c->fewest = devices;
}

/* Returns how many of `count` devices, `stride` apart, lie below a node. */
static int64_t below(const struct count *c, int64_t first, int64_t stride, int64_t count,
                     int64_t node)
{
    const int64_t room = node * c->gpus_per_node - first,
                  fit = room > 0 ? (room + stride - 1) / stride : 0;

    return fit < count ? fit : count;
}

/* Counts `count` devices, `stride` apart. Nodes in between hold as many as fit, or one each. */
static void count_run(struct count *c, int64_t first, int64_t stride, int64_t count)
{
    const int64_t first_node = first / c->gpus_per_node,
                  last_node = (first + (count - 1) * stride) / c->gpus_per_node,
                  touched = last_node - first_node + 1,
                  in_first = below(c, first, stride, count, first_node + 1);

    c->nodes += (touched < count ? touched : count) - (first_node == c->last);
    if (first_node != c->last) {
        take_fewest(c, c->in_last);
        c->in_last = 0;
    }
    c->in_last += in_first;
    if (touched > 1) {
        take_fewest(c, c->in_last);
        c->in_last = count - below(c, first, stride, count, last_node);
    }
    if (touched > 2 && in_first < count - 1)
        take_fewest(c, stride < c->gpus_per_node ? c->gpus_per_node / stride : 1);
    c->last = last_node;
}

/* Counts the devices of a level. Two inner axes that continue one another are one run. */
static void count_axes(struct count *c, const struct pp_cost_inputs *in, const struct walk *walk,
                       int level, int64_t first)
{
    const int axis = walk->axis[level], count = walk->count[level];
    const int64_t stride = in->map.stride[axis];

    if (level == STAGE_AXES - 2 && axis != PP_AXIS_PP && walk->axis[level + 1] != PP_AXIS_PP) {
        const int64_t inner = in->map.stride[walk->axis[level + 1]],
                      of_inner = walk->count[level + 1];
        if (stride == inner * of_inner) {
            count_run(c, first, inner, count * of_inner);
            return;
        }
    }
    if (level == STAGE_AXES - 1 && axis != PP_AXIS_PP) {
        count_run(c, first, stride, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        const int64_t at = first + stride * coordinate(walk, level, i);
        if (level == STAGE_AXES - 1)
            count_run(c, at, 1, 1);
        else
            count_axes(c, in, walk, level + 1, at);
    }
}

/* Lists the ranks of a stage, each once, in ascending order; returns their number. */
static int stage_ranks(const struct pp_cost_inputs *in, int stage, uint16_t *ranks)
{
    uint64_t seen[RANKS / 64];
    int first = RANKS / 64, last = 0, count = 0; /* words that are in use */

    for (int p = 0; p < in->pipelines; p++) {
        const int word = in->rank_of[(int64_t)p * in->stages + stage] / 64;
        first = word < first ? word : first;
        last = word > last ? word : last;
    }
    for (int w = first; w <= last; w++)
        seen[w] = 0;
    for (int p = 0; p < in->pipelines; p++) {
        const int rank = in->rank_of[(int64_t)p * in->stages + stage];
        seen[rank / 64] |= UINT64_C(1) << rank % 64;
    }
    for (int w = first; w <= last; w++)
        for (uint64_t left = seen[w]; left; left &= left - 1)
            ranks[count++] = (uint16_t)(64 * w + __builtin_ctzll(left));
    return count;
}

static void stage_walk_init(struct walk *walk, const struct pp_cost_inputs *in, int stage)
{
    const int counts[PP_AXES] = {[PP_AXIS_CP] = in->layout.cp,
                                 [PP_AXIS_DP] = in->layout.dp,
                                 [PP_AXIS_PP] = stage_ranks(in, stage, walk->rank)};
    const int axes[STAGE_AXES] = {PP_AXIS_PP, PP_AXIS_DP, PP_AXIS_CP};

    for (int i = 0; i < STAGE_AXES; i++) {
        int at = i;
        for (; at > 0 && in->map.stride[walk->axis[at - 1]] < in->map.stride[axes[i]]; at--)
            walk->axis[at] = walk->axis[at - 1];
        walk->axis[at] = axes[i];
    }
    for (int i = 0; i < STAGE_AXES; i++)
        walk->count[i] = counts[walk->axis[i]];
}

struct pp_device_group pp_analytic_stage_group(const struct pp_cost_inputs *in, int stage)
{
    const int members = in->layout.dp * in->layout.cp * in->pipelines;
    struct count count = {.gpus_per_node = in->cluster->gpus_per_node, .last = -1};
    struct walk walk;

    stage_walk_init(&walk, in, stage);
    count_axes(&count, in, &walk, 0, 0);
    take_fewest(&count, count.in_last);
    return pp_analytic_group_over(members, (int)(count.nodes < members ? count.nodes : members),
                                  (int)count.fewest);
}

/* Other coordinates are equal in both ranks. Only those matter that do not shift by whole nodes. */
bool pp_analytic_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b)
{
    const int gpn = in->cluster->gpus_per_node, *stride = in->map.stride;
    const int64_t a = (int64_t)rank_a * stride[PP_AXIS_PP],
                  b = (int64_t)rank_b * stride[PP_AXIS_PP];
    int count[PP_AXES];

    if (rank_a == rank_b)
        return false;
    if ((a < b ? b - a : a - b) >= gpn)
        return true;
    for (int axis = 0; axis < PP_AXES; axis++)
        count[axis] = stride[axis] % gpn == 0 ? 1 : pp_layout_degree(&in->layout, axis);
    for (int d = 0; d < count[PP_AXIS_DP]; d++)
        for (int c = 0; c < count[PP_AXIS_CP]; c++)
            for (int t = 0; t < count[PP_AXIS_TP]; t++) {
                const int64_t other = pp_map_device(&in->map, t, c, d, 0);
                if ((a + other) / gpn != (b + other) / gpn)
                    return true;
            }
    return false;
}

/* ---- collectives ----------------------------------------------------------------------------- */

struct pp_cost pp_analytic_collective_cost(struct pp_collective_time time, double bytes)
{
    return (struct pp_cost){.ps = pp_units_ps(pp_collective_s(time)),
                            .latency_ps = pp_units_ps(time.latency_s),
                            .bytes = bytes};
}

struct pp_cost pp_analytic_collective(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                      struct pp_device_group group,
                                      const struct pp_device_links *links, double bytes)
{
    return pp_analytic_collective_cost(pp_collective_time(kind, in->algorithm, group, links, bytes),
                                       bytes);
}

double pp_analytic_collective_s(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                struct pp_device_group group, double bytes)
{
    const struct pp_device_links links = pp_analytic_links(in);

    return pp_collective_s(pp_collective_time(kind, in->algorithm, group, &links, bytes));
}

/* ---- rings ----------------------------------------------------------------------------------- */

static struct pp_ring allocate(struct pp_arena *arena, int positions)
{
    return (struct pp_ring){.positions = positions,
                            .device = PP_ARRAY(arena, int32_t, positions),
                            .rank = PP_ARRAY(arena, uint16_t, positions),
                            .replica = PP_ARRAY(arena, int32_t, positions),
                            .hop_ps = PP_ARRAY(arena, int64_t, positions),
                            .alpha_ps = PP_ARRAY(arena, int64_t, positions),
                            .gather_ps = PP_ARRAY(arena, int64_t, positions)};
}

struct pp_ring pp_analytic_ring(struct pp_arena *arena, const struct pp_cost_inputs *in, int stage)
{
    struct walk walk;

    stage_walk_init(&walk, in, stage);
    struct pp_ring ring = allocate(arena, walk.count[0] * walk.count[1] * walk.count[2]);
    int at[PP_AXES] = {0}, position = 0;
    for (int i = 0; i < walk.count[0]; i++)
        for (int j = 0; j < walk.count[1]; j++)
            for (int k = 0; k < walk.count[2]; k++, position++) {
                at[walk.axis[0]] = coordinate(&walk, 0, i);
                at[walk.axis[1]] = coordinate(&walk, 1, j);
                at[walk.axis[2]] = coordinate(&walk, 2, k);
                ring.device[position] =
                    pp_map_device(&in->map, 0, at[PP_AXIS_CP], at[PP_AXIS_DP], at[PP_AXIS_PP]);
                ring.rank[position] = (uint16_t)at[PP_AXIS_PP];
                ring.replica[position] = at[PP_AXIS_DP];
            }
    return ring;
}

static struct pp_link hop_into(const struct pp_cost_inputs *in, const struct pp_ring *ring,
                               int position)
{
    const int before = position > 0 ? position - 1 : ring->positions - 1;

    return hop_between(in, ring->device[before], ring->device[position]);
}

void pp_costs_rings(struct pp_arena *arena, const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    if (in->layout.dp * in->layout.cp * in->pipelines < 2)
        return;
    costs->rings = PP_ARRAY(arena, struct pp_ring, in->stages);
    for (int s = 0; s < in->stages; s++) {
        const struct pp_ring ring = pp_analytic_ring(arena, in, s);
        const double share_bytes = costs->op[PP_AR][s].bytes / ring.positions,
                     params_bytes = costs->op[PP_AG][s].bytes / ring.positions;
        for (int i = 0; i < ring.positions && ring.positions > 1; i++) {
            const struct pp_link hop = hop_into(in, &ring, i);
            ring.alpha_ps[i] = pp_units_ps(hop.alpha_s);
            ring.hop_ps[i] = pp_units_ps(hop.alpha_s + share_bytes / hop.bytes_per_s);
            ring.gather_ps[i] = pp_units_ps(hop.alpha_s + params_bytes / hop.bytes_per_s);
        }
        costs->rings[s] = ring;
    }
}
