#include "core/roofline_parts.h"

#include <math.h>

static struct pp_link scaled(struct pp_link link, double eta, double factor)
{
    link.bytes_per_s *= eta * (factor > 0 ? factor : 1);
    return link;
}

struct pp_link pp_roofline_intra(const struct pp_cost_inputs *in)
{
    return scaled(in->cluster->intra, in->cluster->eta_link, in->intra_factor);
}

struct pp_link pp_roofline_inter(const struct pp_cost_inputs *in)
{
    return scaled(in->cluster->inter, in->cluster->eta_link, in->inter_factor);
}

static struct pp_group group_of_nodes(int members, int nodes)
{
    const int per_node = members / nodes > 0 ? members / nodes : 1;

    return (struct pp_group){
        .members = members, .per_node = per_node, .nodes = (members + per_node - 1) / per_node};
}

struct pp_group pp_roofline_group(const struct pp_cost_inputs *in, int members, int stride)
{
    const int64_t span = (int64_t)(members - 1) * stride;
    const int64_t nodes = span / in->cluster->gpus_per_node + 1;

    return group_of_nodes(members, (int)(nodes < members ? nodes : members));
}

/* Devices of a stage for c = t = 0; others lie beside them. Ranks come in any order, so nodes are
 * counted as changes along each rank's replicas: two ranks that share a node count it twice unless
 * they are neighbours, which only makes the estimate cautious. */
struct pp_group pp_roofline_stage_group(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_layout *l = &in->layout;
    const int64_t stride = l->tp, per_rank = (int64_t)l->dp * l->cp,
                  gpn = in->cluster->gpus_per_node;
    const int64_t members = per_rank * in->pipelines;
    int64_t nodes = 0, last = -1;

    for (int p = 0; p < in->pipelines; p++) {
        const int64_t rank = in->rank_of[(int64_t)p * in->stages + stage];
        const int64_t first_node = rank * per_rank * stride / gpn;
        const int64_t last_node = (rank * per_rank + per_rank - 1) * stride / gpn;
        const int64_t touched = last_node - first_node + 1;
        nodes += touched < per_rank ? touched : per_rank;
        if (first_node == last)
            nodes--;
        last = last_node;
    }
    return group_of_nodes((int)members, (int)(nodes < 1 ? 1 : nodes < members ? nodes : members));
}

bool pp_roofline_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b)
{
    const struct pp_layout *l = &in->layout;
    const int64_t width = (int64_t)l->dp * l->cp * l->tp, gpn = in->cluster->gpus_per_node;

    if (rank_a == rank_b)
        return false;
    const int64_t a = rank_a * width, b = rank_b * width, distance = a < b ? b - a : a - b;
    if (distance >= gpn)
        return true;
    for (int64_t k = 0; k < width; k++)
        if ((a + k) / gpn != (b + k) / gpn)
            return true;
    return false;
}

/* Inside the node first, then one ring per device across the nodes over its share of the buffer. */
struct pp_collective pp_roofline_gather(const struct pp_cost_inputs *in, struct pp_group group,
                                        double bytes)
{
    const struct pp_link intra = pp_roofline_intra(in), inter = pp_roofline_inter(in);
    const double g = group.per_node, n = group.nodes;

    if (group.members <= 1)
        return (struct pp_collective){0};
    return (struct pp_collective){
        .node_s = (g - 1) * (bytes / g / intra.bytes_per_s),
        .network_s = (n - 1) * (bytes / g / n / inter.bytes_per_s),
        .latency_s = (g - 1) * intra.alpha_s + (n - 1) * inter.alpha_s,
    };
}

/* Reduce-scatter and all-gather; across nodes the latency grows with the logarithm where that is
 * less than a ring's (Rabenseifner; NCCL's double trees): 2 log2(n) alpha + 2 (n-1)/n bytes. */
struct pp_collective pp_roofline_reduce(const struct pp_cost_inputs *in, struct pp_group group,
                                        double bytes)
{
    const struct pp_collective once = pp_roofline_gather(in, group, bytes);
    const double g = group.per_node, n = group.nodes;

    if (group.members <= 1)
        return once;
    return (struct pp_collective){
        .node_s = 2 * once.node_s,
        .network_s = 2 * once.network_s,
        .latency_s = 2 * (g - 1) * pp_roofline_intra(in).alpha_s +
                     2 * fmin(n - 1, ceil(log2(n))) * pp_roofline_inter(in).alpha_s,
    };
}

static double seconds_of(struct pp_collective c)
{
    return c.node_s + c.network_s + c.latency_s;
}

double pp_roofline_gather_s(const struct pp_cost_inputs *in, struct pp_group group, double bytes)
{
    return seconds_of(pp_roofline_gather(in, group, bytes));
}

double pp_roofline_reduce_s(const struct pp_cost_inputs *in, struct pp_group group, double bytes)
{
    return seconds_of(pp_roofline_reduce(in, group, bytes));
}

double pp_roofline_ring_step_s(const struct pp_cost_inputs *in, struct pp_group group, double bytes)
{
    const struct pp_link link = group.nodes > 1 ? pp_roofline_inter(in) : pp_roofline_intra(in);

    if (group.members <= 1)
        return 0;
    return link.alpha_s + bytes / group.members / link.bytes_per_s;
}

double pp_roofline_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_work work, enum pp_pass pass)
{
    /* All-gathers and reduce-scatters of t h, with sequence parallelism (Korthikanti et al. 2022,
     * section 4.2.2); the gathers that weight gradients need are hidden behind them. The head
     * also reduces maximum, sum and target of every token. */
    static const int gathers[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 1, 0},
        [PP_LAYER_BLOCK] = {4, 4, 0},
        [PP_LAYER_HEAD] = {1, 1, 0},
    };
    const struct pp_group group = pp_roofline_group(in, in->layout.tp, 1);
    const double bytes = work.tokens * in->model->hidden * pp_dtype_bytes(&in->cluster->device);
    double s = gathers[kind][pass] * pp_roofline_gather_s(in, group, bytes);

    if (kind == PP_LAYER_HEAD && pass == PP_PASS_F)
        s += 3 * pp_roofline_reduce_s(in, group, work.tokens * 4);
    return s;
}

/* Ring attention (Liu et al. 2023): cp - 1 rounds, each passes one device's keys and values on
 * while the attention over another's is computed. Only what takes longer than that is exposed. The
 * backward passes keys, values and their gradients. */
double pp_roofline_cp_s(const struct pp_cost_inputs *in, struct pp_work work, enum pp_pass pass)
{
    const struct pp_layout *l = &in->layout;
    const struct pp_model *m = in->model;

    if (l->cp <= 1 || pass == PP_PASS_W)
        return 0;
    const bool is_backward = pass == PP_PASS_I;
    const double kv = fmax((double)m->kv_heads / l->tp, 1) * m->head_dim;
    const double bytes =
        (is_backward ? 4 : 2) * work.tokens * kv * pp_dtype_bytes(&in->cluster->device);
    const struct pp_group group = pp_roofline_group(in, l->cp, l->tp);
    const struct pp_link link = group.nodes > 1 ? pp_roofline_inter(in) : pp_roofline_intra(in);
    const double round_s = link.alpha_s + bytes / link.bytes_per_s;
    const double core_s = pp_roofline_attention(in, work).s * (is_backward ? 2 : 1) / l->cp;
    return (l->cp - 1) * fmax(0, round_s - core_s);
}
