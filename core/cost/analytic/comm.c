/* Communication inside ops, by the roofline model. A layer exchanges values over the
 * tensor-parallel and the context-parallel devices, a shared head over all stages. */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* Devices of experts, and their exchanges. Devices of a pipeline rank's replicas hold experts in
 * ascending order, as in Megatron Core's parallel groups. A group of etp neighbours shares one
 * expert, and ep such groups hold all experts. Other devices are replicas of these groups.
 *
 * Without sequence parallelism the devices of a tensor-parallel group have the same tokens. Each
 * takes the choices of its own experts. So tokens go to replicas alone. The sum that ends a dense
 * block adds up the parts of experts and of the shared one. */

/* ---- experts: groups ------------------------------------------------------------------------- */

/* Returns device `position` of the replicas in ascending order, without pipeline ranks. Without
 * sequence parallelism those of a tensor-parallel group follow each other. */
static int device_at(const struct pp_cost_inputs *in, int position)
{
    int axis[] = {PP_AXIS_TP, PP_AXIS_CP, PP_AXIS_DP}, device = 0;

    for (int i = 1 + in->is_tp_only; i < 3; i++)
        for (int k = i; k > in->is_tp_only && in->map.stride[axis[k]] < in->map.stride[axis[k - 1]];
             k--) {
            const int swapped = axis[k];
            axis[k] = axis[k - 1];
            axis[k - 1] = swapped;
        }
    for (int i = 0; i < 3; i++) {
        const int degree = pp_layout_degree(&in->layout, axis[i]);
        device += position % degree * in->map.stride[axis[i]];
        position /= degree;
    }
    return device;
}

/* Returns a group of `members` devices, `step` positions apart. */
static struct pp_device_group group_of(const struct pp_cost_inputs *in, int members, int step)
{
    int nodes = 1;

    for (int i = 1; i < members; i++)
        nodes += !pp_cluster_same_node(in->cluster, device_at(in, i * step),
                                       device_at(in, (i - 1) * step));
    return pp_analytic_group_over(members, nodes, 0);
}

struct pp_device_group pp_analytic_expert_group(const struct pp_cost_inputs *in)
{
    return group_of(in, pp_layer_expert_peers(in),
                    in->is_tp_only ? in->layout.tp : pp_layout_etp(&in->layout));
}

struct pp_device_group pp_analytic_expert_replicas(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;
    const int devices = pp_layout_expert_devices(l), all = l->tp * l->cp * l->dp;
    struct pp_device_group group = group_of(in, all / devices, devices);

    /* replicas of the stage in other pipelines are on other ranks, which fill nodes of their own */
    group.members *= in->pipelines;
    group.nodes = (group.members + group.per_node - 1) / group.per_node;
    return group;
}

/* ---- experts: exchanges ---------------------------------------------------------------------- */

static bool has_experts(const struct pp_cost_inputs *in, enum pp_layer_kind kind)
{
    return kind == PP_LAYER_MOE ||
           (kind == PP_LAYER_MTP && pp_model_last_kind(in->model) == PP_LAYER_MOE);
}

double pp_analytic_expert_bytes(const struct pp_cost_inputs *in, struct pp_layer_work work)
{
    return pp_layer_expert_work(in, work).sent * in->model->hidden *
           pp_dtype_bytes(&in->cluster->device);
}

/* Returns the expected number of places that have one of `chosen` experts. All experts are divided
 * between `places`, and all choices of different experts are equally likely. */
static double places_met(double places, double experts, double chosen)
{
    double missed = 1;

    for (int i = 0; i < chosen; i++)
        missed *= fmax(0, experts - experts / places - i) / (experts - i);
    return places * (1 - missed);
}

double pp_analytic_places_met(const struct pp_experts *e, double places)
{
    double experts = e->count, within = places;

    if (e->groups > 0 && e->group_limit < e->groups) {
        const double frac = (double)e->group_limit / e->groups;
        within = places > e->groups ? places * frac : places_met(places, e->groups, e->group_limit);
        experts *= frac;
    }
    return within > 1 ? places_met(within, experts, e->top_k) : 1;
}

/* Returns the time to send once to each node, and within it; both run concurrently. */
static double once_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                     struct pp_layer_work work)
{
    const struct pp_experts *e = &in->model->experts;
    const struct pp_device_group node = {group.per_node, group.per_node, 1, 0};
    const double copy = pp_analytic_expert_bytes(in, work) / e->top_k;
    const double to_nodes = copy * pp_analytic_places_met(e, group.nodes),
                 to_devices = copy * pp_analytic_places_met(e, group.members);

    return fmax(pp_analytic_collective_s(in, PP_A2A, group, to_nodes),
                pp_analytic_collective_s(in, PP_A2A, node, to_devices));
}

/* Tokens go out and come back; in the backward their gradients do. */
double pp_analytic_ep_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass)
{
    enum { EXCHANGES = 2 };

    if (!has_experts(in, kind) || pass == PP_PASS_W || pp_layer_expert_peers(in) == 1)
        return 0;
    const struct pp_device_group group = pp_analytic_expert_group(in);
    return EXCHANGES *
           (in->is_sent_once
                ? once_s(in, group, work)
                : pp_analytic_collective_s(in, PP_A2A, group, pp_analytic_expert_bytes(in, work)));
}

/* Returns seconds in which devices that share an expert gather its tokens and scatter the sums.
 * Without sequence parallelism a group's devices add up gradients of gates, in 32 bits. */
static double etp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                    struct pp_layer_work work, enum pp_pass pass)
{
    enum { GATE_BYTES = 4 };
    const int etp = pp_layout_etp(&in->layout);

    if (!has_experts(in, kind) || pass == PP_PASS_W)
        return 0;
    if (in->is_tp_only)
        return pass == PP_PASS_I
                   ? pp_analytic_collective_s(in, PP_AR, pp_analytic_group(in, PP_AXIS_TP),
                                              work.tokens * in->model->experts.top_k * GATE_BYTES)
                   : 0;
    if (etp == 1)
        return 0;
    return 2 * pp_analytic_collective_s(in, PP_AG, group_of(in, etp, 1),
                                        etp * pp_analytic_expert_bytes(in, work));
}

/* ---- experts: sums --------------------------------------------------------------------------- */

void pp_analytic_add_expert_sums(const struct pp_cost_inputs *in,
                                 const struct pp_device_links *links, int stage,
                                 struct pp_costs *costs)
{
    const double params = pp_analytic_apart_params(in, stage);
    const struct {
        enum pp_op_kind kind;
        double value_bytes;
    } sums[] = {{PP_AR, pp_cost_state_bytes(in).grads},
                {PP_RS, pp_cost_state_bytes(in).grads},
                {PP_AG, pp_dtype_bytes(&in->cluster->device)},
                {PP_BC, pp_dtype_bytes(&in->cluster->device)}};

    if (params == 0)
        return;
    const struct pp_device_group group = pp_analytic_expert_replicas(in);
    for (size_t i = 0; i < PP_COUNT(sums); i++) {
        struct pp_cost *cost = &costs->op[sums[i].kind][stage];
        *cost = pp_cost_sum(*cost, pp_analytic_collective(in, sums[i].kind, group, links,
                                                          params * sums[i].value_bytes));
    }
}

/* ---- exchanges of a layer -------------------------------------------------------------------- */

static struct pp_link slowest(const struct pp_cost_inputs *in, struct pp_device_group group)
{
    const struct pp_device_links links = pp_analytic_links(in);

    return group.nodes > 1 ? links.inter : links.intra;
}

double pp_analytic_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes)
{
    const struct pp_link link = slowest(in, group);

    if (group.members <= 1)
        return 0;
    return link.alpha_s + bytes / group.members / link.bytes_per_s;
}

/* Returns the number of exchanges of t h values between the matrices of a layer. With sequence
 * parallelism, gathers before and scatters after them (Korthikanti et al. 2022, section 4.2.2);
 * gathers for weight gradients overlap with these. Without it, sums after them. The forward has
 * sums in the embedding and in a block's halves, the backward in the head and in the halves
 * (Shoeybi et al. 2019, section 3). */
static int tp_exchanges(const struct pp_cost_inputs *in, enum pp_layer_kind kind, enum pp_pass pass)
{
    static const int gathers[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 1, 0}, [PP_LAYER_BLOCK] = {4, 4, 0}, [PP_LAYER_HEAD] = {1, 1, 0},
        [PP_LAYER_MOE] = {2, 2, 0}, /* attention's; etp_s() has those of shared experts */
        [PP_LAYER_MTP] = {2, 2, 0}, /* the merging matrix */
    };
    static const int sums[][PP_PASSES] = {
        [PP_LAYER_EMBEDDING] = {1, 0, 0}, [PP_LAYER_BLOCK] = {2, 2, 0}, [PP_LAYER_HEAD] = {0, 1, 0},
        [PP_LAYER_MOE] = {2, 2, 0},       [PP_LAYER_MTP] = {1, 1, 0},
    };
    const int(*const table)[PP_PASSES] = in->is_tp_only ? sums : gathers;
    int count = table[kind][pass];

    if (kind == PP_LAYER_MOE && in->model->experts.shared_ffn > 0)
        count = table[PP_LAYER_BLOCK][pass];
    if (kind == PP_LAYER_MTP)
        count += tp_exchanges(in, pp_model_last_kind(in->model), pass) + table[PP_LAYER_HEAD][pass];
    return count;
}

/* Returns the seconds in which a whole tensor is read and written, to put gathered parts together
 * or parts to scatter apart. PyTorch does so if they are not cut along the first dimension
 * (torch/distributed/_functional_collectives.py, all_gather_tensor, reduce_scatter_tensor). */
static double rearrange_s(const struct pp_cost_inputs *in, double bytes)
{
    const struct pp_device *device = &in->cluster->device;

    return pp_cost_framework(in)->is_cut_by_sequence && !in->is_tp_only
               ? device->launch_s + 2 * bytes / (device->memory_bytes_per_s * device->memory_eta)
               : 0;
}

double pp_analytic_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass)
{
    const struct pp_device_group group = pp_analytic_group(in, PP_AXIS_TP);
    const double bytes = work.tokens * in->model->hidden * pp_dtype_bytes(&in->cluster->device);
    const int exchanges = tp_exchanges(in, kind, pass);
    double s = 0;

    if (group.members <= 1)
        return 0;
    if (exchanges > 0)
        s = exchanges *
            (pp_analytic_collective_s(in, in->is_tp_only ? PP_AR : PP_AG, group, bytes) +
             rearrange_s(in, bytes));
    s += etp_s(in, kind, work, pass);
    if ((kind == PP_LAYER_HEAD || kind == PP_LAYER_MTP) &&
        pass == PP_PASS_F) /* maximum, sum and target of every token */
        s += 3 * pp_analytic_collective_s(in, PP_AR, group, work.tokens * 4);
    return s;
}

/* Ring attention (Liu et al. 2023): cp - 1 rounds. Each passes one device's keys and values on
 * while the attention over another's is computed. Only the rest of a round is exposed. The backward
 * passes keys, values and their gradients. */
double pp_analytic_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
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
    const struct pp_link link = slowest(in, pp_analytic_group(in, PP_AXIS_CP));
    const double round_s = link.alpha_s + bytes / link.bytes_per_s;
    const double core_s = pp_analytic_attention(in, work).s * (is_backward ? 2 : 1) / l->cp;
    return (l->cp - 1) * fmax(0, round_s - core_s);
}

double pp_analytic_boundary_bytes(const struct pp_cost_inputs *in)
{
    const int parts = pp_cost_framework(in)->sends_whole ? 1 : in->layout.tp;

    return (double)in->layout.mbs * in->layout.seq / in->layout.cp / parts * in->model->hidden *
           pp_dtype_bytes(&in->cluster->device);
}

/* Vocabulary parallelism (Yeung et al. 2024, Balancing Pipeline Parallelism with Vocabulary
 * Parallelism): every rank holds 1/p of the vocabulary. For each micro-batch the last blocks'
 * output goes to all ranks. Maximum, sum and target of its tokens are reduced over them, and their
 * parts of its gradient are summed. All of it overlaps with the compute of other micro-batches. */
double pp_analytic_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double blocks_s)
{
    const struct pp_device_group ranks = pp_analytic_group(in, PP_AXIS_PP);
    const double tp = in->is_tp_only ? 1 : in->layout.tp,
                 bytes =
                     work.tokens * in->model->hidden / tp * pp_dtype_bytes(&in->cluster->device);
    double s = 0;

    if (!pp_head_is_shared(in->head) || ranks.members < 2)
        return 0;
    if (pass == PP_PASS_F)
        s = pp_analytic_collective_s(in, PP_BC, ranks, bytes) +
            3 * pp_analytic_collective_s(in, PP_AR, ranks, work.tokens * 4);
    if (pass == PP_PASS_I)
        s = pp_analytic_collective_s(in, PP_AR, ranks, bytes);
    /* Each stage of a rank has its part of the messages. */
    return fmax(0, s * in->layout.pp / in->stages - blocks_s);
}
