/* Communication of a way to cut state, against the sums of the paper written out. */
#include "tests/unit/support/cost_inputs.h"

#include "core/cost/analytic/parts.h"
#include "core/cost/analytic/shards.h"

static double time_of(const struct pp_cost_inputs *in, enum pp_op_kind kind, int per_node,
                      int nodes, double bytes)
{
    const struct pp_device_group group = {per_node * nodes, per_node, nodes};

    return group.members > 1 ? pp_analytic_collective_s(in, kind, group, bytes) : 0;
}

/* Parameters of the layers of the only stage: blocks, then embedding and head together. */
static double layer_params(const struct pp_model *m, int layer)
{
    return layer < m->layers ? pp_model_layer_params(m, PP_LAYER_BLOCK)
                             : pp_model_layer_params(m, PP_LAYER_EMBEDDING) +
                                   pp_model_layer_params(m, PP_LAYER_HEAD);
}

Test(shard_times, are_the_sums_of_the_paper)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama-7b", "a800", 1, 1, 1024, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    for (int micro_batches = 1; micro_batches <= 3; micro_batches++) {
        double gathers_s = 0, grads_s = 0, sums_s = 0;
        in.layout.micro_batches = micro_batches;
        in.state = (struct pp_state_spec){
            .replicas = {8, 128}, .shard = {{4, 1}, {8, 2}, {8, 2}}, .buffers = 2};
        for (int l = 0; l <= model.layers; l++) {
            const double bytes = 2 * layer_params(&model, l);
            gathers_s += micro_batches *
                         (2 * time_of(&in, PP_AG, 4, 1, bytes) + time_of(&in, PP_RS, 4, 1, bytes));
            grads_s += (micro_batches - 1) * time_of(&in, PP_AR, 2, 2, bytes / 4);
            sums_s += time_of(&in, PP_AR, 2, 128, bytes / 4);
        }
        const double spread_s = 4 * time_of(&in, PP_BC, 2, 2, 2 * pp_model_params(&model) / 16);
        const struct pp_shard_times t = pp_shard_times(&in);
        cr_assert_float_eq(t.gathers_s / gathers_s, 1, 1e-9);
        cr_assert_float_eq(t.grads_s, grads_s, 1e-9);
        cr_assert_float_eq(t.sums_s / sums_s, 1, 1e-9);
        cr_assert_float_eq(t.spread_s / spread_s, 1, 1e-9);
    }
    in.state = pp_state_spec_zero(0, (struct pp_mesh){8, 128});
    const struct pp_shard_times whole = pp_shard_times(&in);
    cr_assert(whole.gathers_s == 0 && whole.grads_s == 0 && whole.spread_s == 0);
    cr_assert_gt(whole.sums_s, 0);
}
