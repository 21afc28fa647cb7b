#include "core/cost/analytic/parts.h"

#include <math.h>
#include <string.h>

/* ---- links ----------------------------------------------------------------------------------- */

static struct pp_link scaled(struct pp_link link, double eta, double factor)
{
    link.bytes_per_s *= eta * (factor > 0 ? factor : 1);
    return link;
}

struct pp_device_links pp_roofline_links(const struct pp_cost_inputs *in)
{
    return (struct pp_device_links){
        .intra = scaled(in->cluster->intra, in->cluster->eta_link, in->intra_factor),
        .inter = scaled(in->cluster->inter, in->cluster->eta_link, in->inter_factor),
        .intra_ring = in->cluster->intra_ring,
        .inter_ring = in->cluster->inter_ring,
        .is_cube_mesh = in->cluster->is_cube_mesh,
    };
}

struct pp_link pp_roofline_hop(const struct pp_cost_inputs *in, int source, int dest)
{
    if (in->fabric) {
        const struct pp_route route = pp_fabric_cost(in->fabric, source, dest);
        return (struct pp_link){route.alpha_s, route.bytes_per_s};
    }
    const struct pp_device_links links = pp_roofline_links(in);
    return pp_cluster_same_node(in->cluster, source, dest) ? links.intra : links.inter;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int degree(const struct pp_layout *l, int axis)
{
    const int degrees[PP_AXES] = {l->tp, l->cp, l->dp, l->pp};

    return degrees[axis];
}

static struct pp_device_group group_of_nodes(int members, int nodes, int fewest)
{
    const int per_node = members / nodes > 0 ? members / nodes : 1;

    return (struct pp_device_group){
        .members = members,
        .per_node = per_node,
        .nodes = (members + per_node - 1) / per_node,
        .fewest = fewest,
    };
}

struct pp_device_group pp_roofline_group(const struct pp_cost_inputs *in, enum pp_axis axis)
{
    const int members = degree(&in->layout, axis);
    const int64_t span = (int64_t)(members - 1) * in->map.stride[axis];
    const int64_t nodes = span / in->cluster->gpus_per_node + 1;

    return group_of_nodes(members, (int)(nodes < members ? nodes : members), 0);
}

/* Counts the nodes of devices that come in ascending order, and the devices of the node that has
 * fewest. */
struct count {
    int gpus_per_node;
    int64_t nodes, last;
    int64_t in_last, fewest; /* of the nodes before the last; 0: none */
};

static void take_fewest(struct count *c, int64_t devices)
{
    if (devices > 0 && (c->fewest == 0 || devices < c->fewest))
        c->fewest = devices;
}

/* Those of `count` devices, `stride` apart, that lie below a node. */
static int64_t below(const struct count *c, int64_t first, int64_t stride, int64_t count,
                     int64_t node)
{
    const int64_t room = node * c->gpus_per_node - first,
                  fit = room > 0 ? (room + stride - 1) / stride : 0;

    return fit < count ? fit : count;
}

/* Nodes in between hold as many as fit, or one each where not every node has one. */
static void tally_run(struct count *c, int64_t first, int64_t stride, int64_t count)
{
    const int64_t first_node = first / c->gpus_per_node,
                  last_node = (first + (count - 1) * stride) / c->gpus_per_node,
                  in_first = below(c, first, stride, count, first_node + 1);

    if (first_node != c->last) {
        take_fewest(c, c->in_last);
        c->in_last = 0;
    }
    c->in_last += in_first;
    if (last_node == first_node)
        return;
    take_fewest(c, c->in_last);
    if (last_node - first_node > 1 && in_first < count - 1)
        take_fewest(c, stride < c->gpus_per_node ? c->gpus_per_node / stride : 1);
    c->in_last = count - below(c, first, stride, count, last_node);
}

/* `count` devices, `stride` apart. */
static void count_run(struct count *c, int64_t first, int64_t stride, int64_t count)
{
    const int64_t first_node = first / c->gpus_per_node,
                  last_node = (first + (count - 1) * stride) / c->gpus_per_node,
                  touched = last_node - first_node + 1;

    tally_run(c, first, stride, count);
    c->nodes += (touched < count ? touched : count) - (first_node == c->last);
    c->last = last_node;
}

/* Two inner axes that continue one another are one run. */
static void count_axes(struct count *c, const struct pp_cost_inputs *in,
                       const struct pp_stage_walk *walk, int level, int64_t first)
{
    const int axis = walk->axis[level], count = walk->count[level];
    const int64_t stride = in->map.stride[axis];

    if (level == PP_STAGE_AXES - 2 && axis != PP_AXIS_PP && walk->axis[level + 1] != PP_AXIS_PP) {
        const int64_t inner = in->map.stride[walk->axis[level + 1]],
                      of_inner = walk->count[level + 1];
        if (stride == inner * of_inner) {
            count_run(c, first, inner, count * of_inner);
            return;
        }
    }
    if (level == PP_STAGE_AXES - 1 && axis != PP_AXIS_PP) {
        count_run(c, first, stride, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        const int64_t at = first + stride * pp_stage_walk_at(walk, level, i);
        if (level == PP_STAGE_AXES - 1)
            count_run(c, at, 1, 1);
        else
            count_axes(c, in, walk, level + 1, at);
    }
}

/* Each rank once, in ascending order. */
static int stage_ranks(const struct pp_cost_inputs *in, int stage, uint16_t *ranks)
{
    uint64_t seen[PP_COST_RANKS_MAX / 64];
    const int words = (in->layout.pp + 63) / 64;
    int count = 0;

    memset(seen, 0, sizeof(*seen) * (size_t)words);
    for (int p = 0; p < in->pipelines; p++) {
        const int rank = in->rank_of[(int64_t)p * in->stages + stage];
        seen[rank / 64] |= UINT64_C(1) << rank % 64;
    }
    for (int w = 0; w < words; w++)
        for (uint64_t left = seen[w]; left; left &= left - 1)
            ranks[count++] = (uint16_t)(64 * w + __builtin_ctzll(left));
    return count;
}

void pp_stage_walk_init(struct pp_stage_walk *walk, const struct pp_cost_inputs *in, int stage)
{
    const int counts[PP_AXES] = {[PP_AXIS_CP] = in->layout.cp,
                                 [PP_AXIS_DP] = in->layout.dp,
                                 [PP_AXIS_PP] = stage_ranks(in, stage, walk->rank)};
    const int axes[PP_STAGE_AXES] = {PP_AXIS_PP, PP_AXIS_DP, PP_AXIS_CP};

    for (int i = 0; i < PP_STAGE_AXES; i++) {
        int at = i;
        for (; at > 0 && in->map.stride[walk->axis[at - 1]] < in->map.stride[axes[i]]; at--)
            walk->axis[at] = walk->axis[at - 1];
        walk->axis[at] = axes[i];
    }
    for (int i = 0; i < PP_STAGE_AXES; i++)
        walk->count[i] = counts[walk->axis[i]];
}

struct pp_device_group pp_roofline_stage_group(const struct pp_cost_inputs *in, int stage)
{
    const int members = in->layout.dp * in->layout.cp * in->pipelines;
    struct count count = {.gpus_per_node = in->cluster->gpus_per_node, .last = -1};
    struct pp_stage_walk walk;

    pp_stage_walk_init(&walk, in, stage);
    count_axes(&count, in, &walk, 0, 0);
    take_fewest(&count, count.in_last);
    return group_of_nodes(members, (int)(count.nodes < members ? count.nodes : members),
                          (int)count.fewest);
}

/* The other coordinates of the two ranks are alike, so that only those matter that do not shift
 * both by whole nodes. */
bool pp_roofline_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b)
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
        count[axis] = stride[axis] % gpn == 0 ? 1 : degree(&in->layout, axis);
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

struct pp_collective_time pp_roofline_collective(const struct pp_cost_inputs *in,
                                                 enum pp_op_kind kind, struct pp_device_group group,
                                                 double bytes)
{
    const struct pp_device_links links = pp_roofline_links(in);

    return pp_collective_time(kind, in->algorithm, group, &links, bytes);
}

double pp_roofline_collective_s(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                struct pp_device_group group, double bytes)
{
    return pp_collective_s(pp_roofline_collective(in, kind, group, bytes));
}

static struct pp_link slowest(const struct pp_cost_inputs *in, struct pp_device_group group)
{
    const struct pp_device_links links = pp_roofline_links(in);

    return group.nodes > 1 ? links.inter : links.intra;
}

double pp_roofline_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes)
{
    const struct pp_link link = slowest(in, group);

    if (group.members <= 1)
        return 0;
    return link.alpha_s + bytes / group.members / link.bytes_per_s;
}

/* Exchanges of t h values between the matrices of a layer. With sequence parallelism gathers before
 * and scatters behind them (Korthikanti et al. 2022, section 4.2.2); the gathers that weight
 * gradients need are hidden behind them. Without it sums behind them, in the forward of the
 * embedding and of a block's two halves, in the backward of the head and of the halves (Shoeybi et
 * al. 2019, section 3). */
static int tp_exchanges(const struct pp_cost_inputs *in, enum pp_layer_kind kind, enum pp_pass pass)
{
    static const int gathers[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 1, 0}, [PP_LAYER_BLOCK] = {4, 4, 0}, [PP_LAYER_HEAD] = {1, 1, 0},
        [PP_LAYER_MOE] = {2, 2, 0}, /* attention's; those that share an expert: below */
        [PP_LAYER_MTP] = {2, 2, 0}, /* the merging matrix */
    };
    static const int sums[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 0, 0}, [PP_LAYER_BLOCK] = {2, 2, 0}, [PP_LAYER_HEAD] = {0, 1, 0},
        [PP_LAYER_MOE] = {1, 1, 0},       [PP_LAYER_MTP] = {1, 1, 0},
    };
    const int(*const table)[PP_PASSES] = in->is_tp_only ? sums : gathers;
    int count = table[kind][pass];

    if (kind == PP_LAYER_MOE && in->model->experts.shared_ffn > 0)
        count = table[PP_LAYER_BLOCK][pass];
    if (kind == PP_LAYER_MTP)
        count += tp_exchanges(in, pp_model_last_kind(in->model), pass) + table[PP_LAYER_HEAD][pass];
    return count;
}

double pp_roofline_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass)
{
    const struct pp_device_group group = pp_roofline_group(in, PP_AXIS_TP);
    const double bytes = work.tokens * in->model->hidden * pp_dtype_bytes(&in->cluster->device);
    const int exchanges = tp_exchanges(in, kind, pass);
    double s = 0;

    if (group.members <= 1)
        return 0;
    if (exchanges > 0)
        s = exchanges * pp_roofline_collective_s(in, in->is_tp_only ? PP_AR : PP_AG, group, bytes);
    s += pp_roofline_etp_s(in, kind, work, pass);
    if ((kind == PP_LAYER_HEAD || kind == PP_LAYER_MTP) &&
        pass == PP_PASS_F) /* maximum, sum and target of every token */
        s += 3 * pp_roofline_collective_s(in, PP_AR, group, work.tokens * 4);
    return s;
}

/* Ring attention (Liu et al. 2023): cp - 1 rounds, each passes one device's keys and values on
 * while the attention over another's is computed. Only what takes longer than that is exposed. The
 * backward passes keys, values and their gradients. */
double pp_roofline_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                        enum pp_pass pass)
{
    const struct pp_layout *l = &in->layout;
    const struct pp_model *m = in->model;

    if (l->cp <= 1 || pass == PP_PASS_W)
        return 0;
    const bool is_backward = pass == PP_PASS_I;
    const double kv = fmax((double)m->kv_heads / l->tp, 1) * m->head_dim;
    const double bytes =
        (is_backward ? 4 : 2) * work.tokens * kv * pp_dtype_bytes(&in->cluster->device);
    const struct pp_link link = slowest(in, pp_roofline_group(in, PP_AXIS_CP));
    const double round_s = link.alpha_s + bytes / link.bytes_per_s;
    const double core_s = pp_roofline_attention(in, work).s * (is_backward ? 2 : 1) / l->cp;
    return (l->cp - 1) * fmax(0, round_s - core_s);
}
