/* Groups that sum and gather sharded state, and the spread of updated parameters (rule R4 of
 * docs/costs-memory.md, "Sharded state", which has the formulas). core/cost/state.h has the rules,
 * core/cost/analytic/gathers.c the costs of gathers. */
#include "core/cost/analytic/parts.h"

#include <math.h>

/* ---- meshes ---------------------------------------------------------------------------------- */

static int largest_divisor(int of, int most)
{
    while (most > 1 && of % most != 0)
        most--;
    return most > 1 ? most : 1;
}

struct pp_mesh pp_cost_replicas(const struct pp_cost_inputs *in)
{
    const int stages = in->pipelines > 1 ? in->stages : 1;
    struct pp_mesh mesh = {0, 0};

    for (int s = 0; s < stages; s++) {
        const struct pp_device_group group = pp_analytic_stage_group(in, s);
        const int in_node = largest_divisor(group.members, group.per_node);
        if (mesh.in_node == 0 || in_node < mesh.in_node)
            mesh = (struct pp_mesh){in_node, group.members / in_node};
    }
    return mesh;
}

/* Returns the group of a mesh; one device for {1, 1} and {0, 0}. */
static struct pp_device_group mesh_group(struct pp_mesh mesh)
{
    const int members = pp_mesh_size(mesh);

    return members > 1 ? (struct pp_device_group){members, mesh.in_node, mesh.nodes, 0}
                       : (struct pp_device_group){1, 1, 1, 1};
}

/* The group of all replicas is that of the stage, however unevenly they are spread. */
struct pp_device_group pp_analytic_group_within(const struct pp_cost_inputs *in, int stage,
                                                struct pp_mesh fine, struct pp_mesh coarse)
{
    if (pp_mesh_size(coarse) == 1 && pp_mesh_size(fine) > 1 &&
        pp_mesh_is_same(fine, in->state.replicas))
        return pp_analytic_stage_group(in, stage);
    return mesh_group(pp_mesh_within(fine, coarse));
}

/* ---- sums ------------------------------------------------------------------------------------ */

int pp_analytic_matrices(const struct pp_cost_inputs *in)
{
    return in->model->is_gated ? 5 : 4;
}

double pp_analytic_regroup_s(const struct pp_cost_inputs *in, double grads_bytes)
{
    const struct pp_device *device = &in->cluster->device;

    return pp_cost_framework(in)->regroup_passes * grads_bytes /
           (device->memory_bytes_per_s * device->memory_eta);
}

struct pp_state_sums pp_analytic_state_sums(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_class_bytes bytes = pp_cost_state_bytes(in);
    const struct pp_state_spec *state = &in->state;
    const double params = (pp_cost_stage_params(in, stage) - pp_analytic_apart_params(in, stage)) /
                          pp_state_cut(state, PP_STATE_PARAMS);
    const struct pp_mesh *shard = state->shard;
    const struct pp_device_group sum =
        pp_state_is_gathered(state)
            ? pp_analytic_group_within(in, stage, state->replicas, shard[PP_STATE_PARAMS])
            : pp_analytic_stage_group(in, stage);
    const bool is_by_tensor =
        pp_cost_framework(in)->is_gathered_by_tensor && pp_state_is_gathered(state);
    const int matrices = in->blocks_per_stage[stage] * pp_analytic_matrices(in);
    struct pp_device_group scatter = sum, rest = {1, 1, 1, 1};

    if (pp_state_is_spread(state)) {
        scatter =
            pp_analytic_group_within(in, stage, shard[PP_STATE_OPTIMIZER], shard[PP_STATE_PARAMS]);
        rest = pp_analytic_group_within(in, stage, state->replicas, shard[PP_STATE_OPTIMIZER]);
    }
    return (struct pp_state_sums){
        .sum = sum,
        .pieces = is_by_tensor && matrices > 1 ? matrices : 1,
        .scatter = scatter,
        .rest = rest,
        .grads_bytes = params * bytes.grads,
        .rest_bytes = params * bytes.grads / scatter.members,
        .params_bytes = params * pp_dtype_bytes(&in->cluster->device),
    };
}

/* Returns the time of a stage's sums that may overlap with its last backward. */
static double summed_ps(const struct pp_cost_inputs *in, int stage, const struct pp_costs *costs)
{
    if (!pp_state_is_spread(&in->state))
        return (double)costs->op[PP_AR][stage].ps;
    return (double)(costs->op[PP_RS][stage].ps + costs->purpose[PP_FOR_REST][stage].ps);
}

void pp_analytic_slow_backward(const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    const double share = pp_cost_framework(in)->gather_share_frac;

    if (!in->is_dp_overlapped || in->is_sum_share_given)
        return;
    for (int s = 0; s < in->stages; s++) {
        const int last = s * in->splits + in->splits - 1;
        const double sum_ps = summed_ps(in, s, costs),
                     backward_ps = (double)(costs->op[PP_B][last].ps + costs->op[PP_R][last].ps);
        const int64_t slowed_ps =
            (int64_t)fmin(share * sum_ps, fmax(0, (1 + share) * backward_ps - sum_ps));
        costs->op[PP_U][s].ps += slowed_ps;
        costs->op[PP_U][s].gather_ps += slowed_ps;
    }
}

/* ---- updated parameters ---------------------------------------------------------------------- */

/* Least number of tensors of a block: four matrices of the attention, three of a gated
 * feed-forward, two norms. A device updates at least one tensor if tensors are not cut. */
enum { TENSORS_PER_BLOCK = 9 };

/* Returns the time in which each member broadcasts its updated part, one after the other (Chen et
 * al. 2024, AMSP, section 4.3: T_os1; InternEvo's hybrid_zero_optim.py). */
static struct pp_collective_time broadcasts(const struct pp_cost_inputs *in,
                                            const struct pp_device_links *links,
                                            struct pp_device_group group, int stage, double bytes)
{
    const double tensors = TENSORS_PER_BLOCK * fmax(1, in->blocks_per_stage[stage]),
                 count = fmin(group.members, tensors);
    const struct pp_collective_time one =
        pp_collective_time(PP_BC, in->algorithm, group, links, bytes / count);

    return (struct pp_collective_time){count * one.node_s, count * one.network_s,
                                       count * one.latency_s};
}

struct pp_collective_time pp_analytic_spread(const struct pp_cost_inputs *in,
                                             const struct pp_device_links *links,
                                             struct pp_device_group group, int stage, double bytes)
{
    return pp_cost_framework(in)->has_param_broadcasts
               ? broadcasts(in, links, group, stage, bytes)
               : pp_collective_time(PP_AG, in->algorithm, group, links, bytes);
}

/* The gather is concurrent with the next step's first forward: a layer waits for its own
 * parameters. With k layers of equal parts the forward ends after the last gather and one layer, or
 * after the first gather and all layers. The delay against a forward without gathers is exposed.
 * The hidden part takes its share of the forward. */
struct pp_cost pp_analytic_spread_ahead(struct pp_cost gather, int64_t forward_ps, int layers,
                                        double share_frac)
{
    const int64_t first_ps = gather.ps / layers,
                  late_ps = gather.ps - (forward_ps - forward_ps / layers);

    const int64_t exposed_ps = late_ps > first_ps ? late_ps : first_ps;

    gather.ps = exposed_ps + (int64_t)(share_frac * (double)(gather.ps - exposed_ps));
    gather.latency_ps = gather.latency_ps < gather.ps ? gather.latency_ps : gather.ps;
    return gather;
}
