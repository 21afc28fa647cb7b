/* Embedding and head in equal parts in all stages: nothing is lost, and no stage is special. */
#include "tests/unit/support/cost_inputs.h"

#include "core/units.h"

#include <math.h>

static double total(const struct pp_costs *costs, enum pp_op_kind kind)
{
    double ps = 0;

    for (int s = 0; s < costs->stages; s++)
        ps += (double)costs->op[kind][s].ps;
    return ps;
}

static double params(const struct pp_costs *costs)
{
    double bytes = 0;

    for (int s = 0; s < costs->stages; s++)
        bytes += costs->memory[s].params_bytes;
    return bytes / 2;
}

static const struct setting settings[] = {
    {"gpt2-64", "a100", 1, 4, 1, 1, 2, 512},
    {"llama3-8b", "h100", 2, 4, 2, 1, 1, 4096},
    {"bert-large", "a100", 1, 8, 1, 1, 4, 512}, /* tied */
};

Test(vocabulary, parts_add_up_and_stages_are_alike)
{
    for (size_t k = 0; k < sizeof(settings) / sizeof(*settings); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, settings[k], &model, &cluster);
        static const enum pp_op_kind kinds[] = {PP_F, PP_I, PP_W};

        const struct pp_costs *last = costs_of(arena, &in);
        in.head = PP_HEAD_PARALLEL;
        const struct pp_costs *parallel = costs_of(arena, &in);
        for (size_t i = 0; i < 3; i++) {
            const struct pp_cost *cost = parallel->op[kinds[i]];
            /* Each part has all kernels, and passes over all hidden vectors. Its rows may be
             * aligned where those of the whole are not (BERT). */
            const double ratio = total(parallel, kinds[i]) / total(last, kinds[i]);
            cr_assert(ratio > 0.9 && ratio < 1.5, "%s, kind %zu: %g", model.name, i, ratio);
            double flops = 0, all = 0;
            for (int s = 0; s < in.stages; s++) {
                flops += cost[s].flops;
                all += last->op[kinds[i]][s].flops;
            }
            cr_assert_float_eq(flops / all, 1, 1e-3, "%s, kind %zu", model.name, i);
            for (int s = 1; s < in.stages; s++)
                cr_assert_eq(cost[s].ps, cost[0].ps, "%s, stage %d", model.name, s);
        }
        /* A tied matrix is cut once and needs neither a copy nor a sum. */
        cr_assert_float_eq(params(parallel) * in.layout.tp / pp_model_params(&model), 1, 1e-9, "%s",
                           model.name);
        cr_assert_null(parallel->tied);
    }
}

/* On a slow network what the ranks tell each other outlasts a forward. */
Test(vocabulary, messages_show_where_they_outlast_the_blocks)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt2-64", "gpu:1 nic:1x1Gbps", 1, 4, 1, 1, 2, 512};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    const struct pp_costs *last = costs_of(arena, &in);
    in.head = PP_HEAD_PARALLEL;
    const struct pp_costs *parallel = costs_of(arena, &in);
    const double bytes = 2.0 * 512 * model.hidden * 2;
    const double wire_s = bytes / (cluster.inter.bytes_per_s * cluster.eta_link);
    for (int s = 0; s < in.stages; s++) {
        const double shown_s = pp_units_s(parallel->op[PP_I][s].tp_ps),
                     concurrent_s = pp_units_s(last->op[PP_I][1].ps);
        cr_assert_gt(shown_s, wire_s - concurrent_s);
        cr_assert_eq(parallel->op[PP_W][s].tp_ps, 0);
    }
}

/* What a rank holds beyond `parallel` is whole checkpoints of further micro-batches. */
Test(vocabulary, shared_heads_hold_further_micro_batches)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, settings[0], &model, &cluster);

    in.head = PP_HEAD_PARALLEL;
    const struct pp_costs *once = costs_of(arena, &in);
    for (int head = PP_HEAD_PARALLEL; head <= PP_HEAD_INTERLACED; head++) {
        in.head = (enum pp_head)head;
        const struct pp_costs *costs = costs_of(arena, &in);
        const int more[] = {[PP_HEAD_PARALLEL] = 0,
                            [PP_HEAD_PARALLEL_TWICE] = 1,
                            [PP_HEAD_INTERLACED] = in.layout.pp / 2 - 1};
        cr_assert(pp_head_is_shared(in.head));
        for (int s = 0; s < in.stages; s++) {
            const double held = more[head] * once->memory[s].checkpoint_bytes;
            cr_assert_float_eq(costs->memory[s].forward_bytes - once->memory[s].forward_bytes, held,
                               1, "%s, stage %d", pp_head_names[head], s);
            cr_assert_float_eq(costs->memory[s].backward_bytes - once->memory[s].backward_bytes,
                               held, 1, "%s, stage %d", pp_head_names[head], s);
        }
    }
}

Test(vocabulary, flights_of_heads)
{
    cr_assert_eq(pp_head_flights(PP_HEAD_PARALLEL, 8), 1);
    cr_assert_eq(pp_head_flights(PP_HEAD_PARALLEL_TWICE, 8), 2);
    cr_assert_eq(pp_head_flights(PP_HEAD_INTERLACED, 8), 4); /* 12 instead of 8: 1.5 times */
    cr_assert_eq(pp_head_flights(PP_HEAD_INTERLACED, 5), 3);
    cr_assert_eq(pp_head_flights(PP_HEAD_INTERLACED, 1), 0);
}
