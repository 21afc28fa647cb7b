/* Ways to cut state: their list, and the communication of each. */
#include "core/cost/analytic/shards.h"

#include "core/cost/analytic/parts.h"

/* Returns the meshes of `replicas`, the coarsest first. */
static struct pp_mesh *meshes_of(struct pp_arena *arena, struct pp_mesh replicas, int *count)
{
    struct pp_mesh *list = NULL;
    int capacity = 0;

    *count = 0;
    for (int d = 1; d <= replicas.in_node; d++)
        if (replicas.in_node % d == 0)
            *PP_PUSH(arena, list, *count, capacity) = (struct pp_mesh){d, 1};
    for (int n = 2; n <= replicas.nodes; n++)
        if (replicas.nodes % n == 0)
            *PP_PUSH(arena, list, *count, capacity) = (struct pp_mesh){replicas.in_node, n};
    return list;
}

struct pp_shard_space pp_shard_space(struct pp_arena *arena, struct pp_mesh replicas)
{
    struct pp_shard_space space = {0};
    int meshes, capacity = 0;
    const struct pp_mesh *mesh = meshes_of(arena, replicas, &meshes);

    for (int p = 0; p < meshes; p++)
        for (int g = p; g < meshes; g++)
            for (int o = g; o < meshes; o++)
                if ((g == p || g == o) && pp_mesh_fits(mesh[p], mesh[o]))
                    *PP_PUSH(arena, space.list, space.count, capacity) =
                        (struct pp_shard_point){{mesh[p], mesh[g], mesh[o]}};
    return space;
}

/* Returns the devices that hold parts of one shard of `coarse` if it is cut as `fine`. */
static struct pp_device_group group_between(struct pp_mesh coarse, struct pp_mesh fine)
{
    const struct pp_mesh mesh = pp_mesh_within(fine, coarse);

    return (struct pp_device_group){
        .members = pp_mesh_size(mesh), .per_node = mesh.in_node, .nodes = mesh.nodes};
}

/* Adds `count` equal layers of a stage; `params` are those of one layer on one device. */
static void add_layers(struct pp_shard_times *t, const struct pp_cost_inputs *in,
                       struct pp_mesh replicas, double count, double params)
{
    const struct pp_mesh whole = {1, 1}, *shard = in->state.shard;
    const struct pp_mesh p = shard[PP_STATE_PARAMS], g = shard[PP_STATE_GRADS];
    const struct pp_class_bytes bytes = pp_cost_state_bytes(in);
    const double micro_batches = (double)in->layout.micro_batches / in->pipelines,
                 part_bytes = params * bytes.grads / pp_mesh_size(p);
    const struct pp_device_group holders = group_between(whole, p);

    t->gathers_s += micro_batches * count *
                    (2 * pp_analytic_collective_s(in, PP_AG, holders, params * bytes.params) +
                     pp_analytic_collective_s(in, PP_RS, holders, params * bytes.grads));
    t->grads_s += (micro_batches - 1) * count *
                  pp_analytic_collective_s(in, PP_AR, group_between(p, g), part_bytes);
    t->sums_s +=
        count * pp_analytic_collective_s(in, PP_AR, group_between(p, replicas), part_bytes);
}

static struct pp_shard_times stage_times(const struct pp_cost_inputs *in, int stage)
{
    const struct pp_mesh p = in->state.shard[PP_STATE_PARAMS],
                         os = in->state.shard[PP_STATE_OPTIMIZER];
    const struct pp_mesh replicas = in->state.replicas;
    const double owners = (double)pp_mesh_size(os) / pp_mesh_size(p), tp = in->layout.tp,
                 block = pp_model_layer_params(in->model, PP_LAYER_BLOCK) / tp,
                 rest = pp_cost_stage_params(in, stage) - in->blocks_per_stage[stage] * block,
                 params_bytes = pp_cost_stage_params(in, stage) * pp_cost_state_bytes(in).params;
    struct pp_shard_times t = {0};

    add_layers(&t, in, replicas, in->blocks_per_stage[stage], block);
    add_layers(&t, in, replicas, rest > 0, rest); /* embedding, head */
    t.spread_s = owners * pp_analytic_collective_s(in, PP_BC, group_between(p, os),
                                                   params_bytes / pp_mesh_size(os));
    return t;
}

struct pp_shard_times pp_shard_times(const struct pp_cost_inputs *in)
{
    struct pp_shard_times most = stage_times(in, 0);

    for (int s = 1; s < in->stages; s++) {
        const struct pp_shard_times t = stage_times(in, s);
        if (pp_shard_times_s(t) > pp_shard_times_s(most))
            most = t;
    }
    return most;
}
