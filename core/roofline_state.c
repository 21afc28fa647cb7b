/* What sharded state takes and costs: bytes by class, the groups that sum and gather, and gathers
 * of layers inside of an op. Rules: core/state.h; formulas: docs/costs.md, "Sharded state". */
#include "core/roofline_parts.h"
#include "core/units.h"

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
        const struct pp_device_group group = pp_roofline_stage_group(in, s);
        const int in_node = largest_divisor(group.members, group.per_node);
        if (mesh.in_node == 0 || in_node < mesh.in_node)
            mesh = (struct pp_mesh){in_node, group.members / in_node};
    }
    return mesh;
}

static struct pp_device_group mesh_group(struct pp_mesh mesh)
{
    const int members = pp_mesh_size(mesh);

    return members > 1 ? (struct pp_device_group){members, mesh.in_node, mesh.nodes}
                       : (struct pp_device_group){1, 1, 1};
}

/* The devices that hold the parts of one shard of `coarse`, each another one of `fine`. Of all
 * replicas, however unevenly they are spread, the group of the stage. */
static struct pp_device_group group_within(const struct pp_cost_inputs *in, int stage,
                                           struct pp_mesh fine, struct pp_mesh coarse)
{
    if (pp_mesh_size(coarse) == 1 && pp_mesh_size(fine) > 1 &&
        pp_mesh_is_same(fine, in->state.replicas))
        return pp_roofline_stage_group(in, stage);
    return mesh_group(pp_mesh_within(fine, coarse));
}

/* ---- sums ------------------------------------------------------------------------------------ */

struct pp_state_sums pp_roofline_state_sums(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_state_bytes bytes = pp_roofline_state_bytes(in);
    const struct pp_state_spec *state = &in->state;
    const double params =
        (pp_roofline_stage_params(in, stage) - pp_roofline_apart_params(in, stage)) /
        pp_state_cut(state, PP_STATE_PARAMS);
    const struct pp_mesh *shard = state->shard;
    const struct pp_device_group sum =
        pp_state_cut(state, PP_STATE_PARAMS) == 1
            ? pp_roofline_stage_group(in, stage)
            : group_within(in, stage, state->replicas, shard[PP_STATE_PARAMS]);
    struct pp_device_group scatter = sum, rest = {1, 1, 1};

    if (pp_state_cut(state, PP_STATE_OPTIMIZER) > pp_state_cut(state, PP_STATE_PARAMS)) {
        scatter = group_within(in, stage, shard[PP_STATE_OPTIMIZER], shard[PP_STATE_PARAMS]);
        rest = group_within(in, stage, state->replicas, shard[PP_STATE_OPTIMIZER]);
    }
    return (struct pp_state_sums){
        .sum = sum,
        .scatter = scatter,
        .rest = rest,
        .grads_bytes = params * bytes.grads,
        .rest_bytes = params * bytes.grads / scatter.members,
        .params_bytes = params * pp_dtype_bytes(&in->cluster->device),
    };
}

/* ---- gathers of layers, inside of an op ------------------------------------------------------ */

/* The units of a stage: blocks, of which the first has the embedding with it and the last the head.
 */
struct units {
    const struct pp_cost_inputs *in;
    const struct pp_device_links *links;
    int count;
    double params, first_params, last_params; /* of a unit; more in the first and in the last */
};

static struct units units_of(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                             int stage)
{
    struct units u = {.in = in, .links = links, .count = in->blocks_per_stage[stage]};
    const double all = pp_roofline_stage_params(in, stage);

    if (in->state.gather == PP_GATHER_CHUNK || u.count < 1)
        u.count = 1;
    u.first_params = pp_roofline_end_share(in, PP_LAYER_EMBEDDING, stage) *
                     pp_model_layer_params(in->model, PP_LAYER_EMBEDDING) / in->layout.tp;
    u.last_params = pp_roofline_end_share(in, PP_LAYER_HEAD, stage) *
                    pp_model_layer_params(in->model, PP_LAYER_HEAD) / in->layout.tp;
    u.params = (all - u.first_params - u.last_params) / u.count;
    return u;
}

static double params_of(const struct units *u, int unit)
{
    return u->params + (unit == 0 ? u->first_params : 0) +
           (unit == u->count - 1 ? u->last_params : 0);
}

/* Seconds of one pass, unit by unit: the ends take what is theirs, blocks share the rest. */
struct pass {
    double s, first_s, last_s;
};

static double layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int split,
                      enum pp_pass pass)
{
    const struct pp_work work = pp_roofline_work(in, split);

    return pp_roofline_layer(in, kind, work, pass).s + pp_roofline_tp_s(in, kind, work, pass);
}

static struct pass pass_of(const struct units *u, int stage, int split, enum pp_pass pass,
                           int64_t ps)
{
    const struct pp_cost_inputs *in = u->in;
    const double ends = in->head != PP_HEAD_IGNORED,
                 first = ends * pp_roofline_end_share(in, PP_LAYER_EMBEDDING, stage),
                 last = ends * pp_roofline_end_share(in, PP_LAYER_HEAD, stage);
    struct pass p = {0};

    if (first > 0)
        p.first_s = first * layer_s(in, PP_LAYER_EMBEDDING, split, pass);
    if (last > 0)
        p.last_s = last * layer_s(in, PP_LAYER_HEAD, split, pass);
    p.s = fmax(0, pp_units_s(ps) - p.first_s - p.last_s) / u->count;
    return p;
}

static double pass_s(const struct units *u, const struct pass *p, int unit)
{
    return p->s + (unit == 0 ? p->first_s : 0) + (unit == u->count - 1 ? p->last_s : 0);
}

/* A layer at once; or qkv, projection and the two or three matrices of the MLP one by one. Gathers
 * of single tensors are too small for NCCL to open a ring through each network card. */
static struct pp_collective_time unit_time(const struct units *u, enum pp_op_kind kind,
                                           struct pp_mesh mesh, double bytes)
{
    const struct pp_framework *f = pp_roofline_framework(u->in);
    const struct pp_device_group group = mesh_group(mesh);
    const int calls = !f->has_gather_per_matrix ? 1 : u->in->model->is_gated ? 5 : 4;
    struct pp_device_links links = *u->links;

    if (f->is_gathered_by_tensor)
        links.inter.bytes_per_s /= group.per_node;
    const struct pp_collective_time one =
        pp_collective_time(kind, u->in->algorithm, group, &links, bytes / calls);
    return (struct pp_collective_time){
        .node_s = calls * one.node_s,
        .network_s = calls * one.network_s,
        .latency_s = calls * one.latency_s,
    };
}

static double gather_s(const struct units *u, struct pp_mesh mesh, int unit)
{
    const double bytes = params_of(u, unit) * pp_dtype_bytes(&u->in->cluster->device);

    return pp_collective_s(unit_time(u, PP_AG, mesh, bytes));
}

static double scatter_s(const struct units *u, int unit)
{
    const double bytes = params_of(u, unit) * pp_roofline_state_bytes(u->in).grads;

    return pp_collective_s(unit_time(u, PP_RS, u->in->state.shard[PP_STATE_PARAMS], bytes));
}

/* Beside each unit the next one is gathered and the gradients of the last one are scattered; both
 * use the same links, and take their share of the device. With one buffer nothing runs beside
 * anything. The gather before the first
 * unit and the scatter behind the last one belong to the program. */
static double exposed_s(const struct units *u, const struct pass *p, bool is_backward,
                        bool has_gather, bool has_scatter)
{
    const struct pp_state_spec *state = &u->in->state;
    const struct pp_mesh mesh =
        is_backward && state->secondary.in_node ? state->secondary : state->shard[PP_STATE_PARAMS];
    const double share = pp_roofline_framework(u->in)->gather_share_frac;
    double sum_s = 0;

    for (int i = 0; i < u->count; i++) {
        const int unit = is_backward ? u->count - 1 - i : i, step = is_backward ? -1 : 1;
        double beside_s = 0;
        if (has_gather && i + 1 < u->count)
            beside_s += gather_s(u, mesh, unit + step);
        if (has_scatter && i > 0)
            beside_s += scatter_s(u, unit - step);
        const double hidden_s = state->buffers > 1 ? fmin(beside_s, pass_s(u, p, unit)) : 0;
        sum_s += beside_s - hidden_s + share * hidden_s;
    }
    return sum_s;
}

static void expose(struct pp_cost *cost, double s)
{
    const int64_t ps = pp_units_ps(s);

    cost->ps += ps;
    cost->gather_ps += ps;
}

static struct pass both(struct pass a, struct pass b)
{
    return (struct pass){a.s + b.s, a.first_s + b.first_s, a.last_s + b.last_s};
}

static void add_exposed(const struct units *units, int stage, struct pp_costs *costs)
{
    const struct units u = *units;
    const struct pp_cost_inputs *in = u.in;

    for (int q = 0; q < in->splits; q++) {
        const int at = stage * in->splits + q;
        struct pp_cost *f = &costs->op[PP_F][at], *b = &costs->op[PP_B][at],
                       *i = &costs->op[PP_I][at], *w = &costs->op[PP_W][at];
        const struct pass forward = pass_of(&u, stage, q, PP_PASS_F, f->ps),
                          input = pass_of(&u, stage, q, PP_PASS_I, i->ps),
                          weight = pass_of(&u, stage, q, PP_PASS_W, w->ps),
                          again = {.s = pp_units_s(costs->op[PP_R][at].ps) / u.count};
        /* Blocks that are computed again use what is gathered for their backward. */
        const struct pass backward = both(input, again), whole = both(backward, weight);
        expose(f, exposed_s(&u, &forward, false, true, false));
        expose(i, exposed_s(&u, &backward, true, true, false));
        expose(w, exposed_s(&u, &weight, true, false, true));
        expose(b, exposed_s(&u, &whole, true, true, true));
    }
}

/* ---- gathers, scatters and sums of the program ------------------------------------------------
 */

static struct pp_cost collective(struct pp_collective_time time, double bytes)
{
    return (struct pp_cost){.ps = pp_units_ps(pp_collective_s(time)),
                            .latency_ps = pp_units_ps(time.latency_s),
                            .bytes = bytes};
}

static struct pp_stage_gathers gathers_of(const struct units *u)
{
    const double value_bytes = pp_dtype_bytes(&u->in->cluster->device),
                 grad_bytes = pp_roofline_state_bytes(u->in).grads,
                 all = u->params * u->count + u->first_params + u->last_params,
                 first = params_of(u, 0), last = params_of(u, u->count - 1);

    return (struct pp_stage_gathers){
        .units = u->count,
        .unit_bytes = value_bytes * u->params,
        .unit_grads_bytes = grad_bytes * u->params,
        .forward_bytes = value_bytes * (all - first),
        .backward_bytes = value_bytes * (all - last),
        .scatter_bytes = grad_bytes * (all - first),
    };
}

/* Of one stage; where the parameters are cut, its gathers too. */
static void fill_stage(const struct pp_cost_inputs *in, const struct pp_device_links *links,
                       int stage, struct pp_costs *costs)
{
    const struct pp_state_spec *state = &in->state;
    const struct pp_state_sums sums = pp_roofline_state_sums(in, stage);
    const struct pp_mesh params = state->shard[PP_STATE_PARAMS],
                         second = state->secondary.in_node ? state->secondary : params;
    const struct units u = units_of(in, links, stage);
    const double value_bytes = pp_dtype_bytes(&in->cluster->device);
    const double gather_first = params_of(&u, 0) * value_bytes,
                 gather_last = params_of(&u, u.count - 1) * value_bytes,
                 scatter = params_of(&u, 0) * pp_roofline_state_bytes(in).grads;
    const struct pp_device_group part =
        group_within(in, stage, state->shard[PP_STATE_GRADS], params);
    const struct pp_cost rows[PP_PURPOSES] = {
        [PP_FOR_FORWARD] = collective(unit_time(&u, PP_AG, params, gather_first), gather_first),
        [PP_FOR_BACKWARD] = collective(unit_time(&u, PP_AG, second, gather_last), gather_last),
        [PP_FOR_VISIT] = collective(unit_time(&u, PP_RS, params, scatter), scatter),
        [PP_FOR_PART] =
            collective(pp_collective_time(PP_RS, in->algorithm, part, links, sums.grads_bytes),
                       sums.grads_bytes),
        [PP_FOR_REST] =
            collective(pp_collective_time(PP_AR, in->algorithm, sums.rest, links, sums.rest_bytes),
                       sums.rest_bytes),
    };

    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        costs->purpose[purpose][stage] = rows[purpose];
    if (!costs->gathers)
        return;
    costs->gathers[stage] = gathers_of(&u);
    if (pp_mesh_size(params) == 1)
        costs->gathers[stage].units = 0;
    else if (u.count > 1)
        add_exposed(&u, stage, costs);
}

void pp_roofline_fill_gathers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                              const struct pp_sum_links *sums, struct pp_costs *costs)
{
    if (pp_state_cut(&in->state, PP_STATE_OPTIMIZER) == 1) /* then nothing is cut */
        return;
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        costs->purpose[purpose] = PP_ARRAY(arena, struct pp_cost, in->stages);
    if (pp_state_cut(&in->state, PP_STATE_GRADS) > 1)
        costs->gathers = PP_ARRAY(arena, struct pp_stage_gathers, in->stages);
    costs->gather_buffers = in->state.buffers;
    for (int s = 0; s < in->stages; s++)
        fill_stage(in, &sums[s].links, s, costs);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void pp_roofline_state_memory(const struct pp_cost_inputs *in, int stage,
                              struct pp_stage_memory *memory)
{
    const struct pp_state_bytes bytes = pp_roofline_state_bytes(in);
    const struct pp_state_spec *state = &in->state;
    double params[PP_STATE_SHARDED];

    for (int c = 0; c < PP_STATE_SHARDED; c++)
        params[c] = pp_roofline_cut_params(in, stage, pp_state_cut(state, (enum pp_state_class)c));
    memory->params_bytes = bytes.params * params[PP_STATE_PARAMS];
    if (state->secondary.in_node)
        memory->params_bytes +=
            bytes.params * pp_roofline_cut_params(in, stage, pp_mesh_size(state->secondary));
    memory->grads_bytes = bytes.grads * params[PP_STATE_GRADS];
    memory->optimizer_bytes = bytes.optimizer * params[PP_STATE_OPTIMIZER];
}

/* Adam reads gradient and state and writes state and parameters. Before, the gradient is read for
 * its norm, read and written to be clipped; afterwards it is cleared. */
double pp_roofline_update_bytes(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_state_bytes state = pp_roofline_state_bytes(in);

    return pp_roofline_cut_params(in, stage, pp_state_cut(&in->state, PP_STATE_OPTIMIZER)) *
           (5 * state.grads + 2 * state.optimizer + state.params +
            (pp_dtype_bytes(&in->cluster->device) > 2 ? state.params : 0));
}

struct pp_value_bytes pp_cost_value_bytes(const struct pp_cost_inputs *in)
{
    return (struct pp_value_bytes){.params = pp_dtype_bytes(&in->cluster->device),
                                   .grads = pp_roofline_state_bytes(in).grads};
}

double pp_cost_stage_params(const struct pp_cost_inputs *in, int stage)
{
    return pp_roofline_stage_params(in, stage);
}
