/* Effects of framework habits on times: recomputation that stops early, exchanges of gradients
 * concurrent with products. */
#include "core/cost/analytic/parts.h"
#include "core/cost/framework.h"
#include "core/cost/kernel.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <stdlib.h>

static const struct setting gpt3 = {"gpt3-175b", "a100", 8, 4, 2, 1, 2, 2048};

/* Costs without hosts and exchanges between stages, so that what is left is the device's. */
static const struct pp_costs *costs_with(struct pp_arena *arena, struct pp_cost_inputs in,
                                         const char *name)
{
    struct pp_framework *bare = PP_NEW(arena, struct pp_framework);

    *bare = *framework_of(name);
    bare->kernel_gap_s = 0;
    bare->op_gap_s = 0;
    bare->exchange = PP_EXCHANGE_HIDDEN;
    in.framework = bare;
    return costs_of(arena, &in);
}

/* Two versions of PyTorch differ by the last matrix of every block, the sum after it, and the last
 * exchange of a forward. A forward has four exchanges with sequence parallelism, two without. */
Test(framework_times, recomputation_stops_at_the_last_tensor_that_is_needed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double t = 2 * 2048, h = model.hidden, f = model.ffn / 8.0, blocks = model.layers / 4.0;

    in.recompute = PP_RECOMPUTE_FULL;
    cluster.device.launch_s = 0;
    cluster.device.memory_bytes_per_s = 1e30;
    for (int is_tp_only = 0; is_tp_only <= 1; is_tp_only++) {
        in.is_tp_only = is_tp_only;
        const struct pp_costs *whole = costs_with(arena, in, "fsdp-pt1"),
                              *early = costs_with(arena, in, "fsdp");
        const struct pp_gemm_shape down = {t, h, f, 1};
        const double down_s = 2 * t * h * f /
                              (cluster.device.peak_flops_per_s *
                               pp_gemm_plan(&cluster.device, down).eta),
                     exchange_s = pp_units_s(whole->op[PP_R][1].tp_ps) / (is_tp_only ? 2 : 4);
        const double spared_s = pp_units_s(whole->op[PP_R][1].ps - early->op[PP_R][1].ps);
        cr_assert_gt(exchange_s, 0);
        cr_assert_float_eq(spared_s / (blocks * down_s + exchange_s), 1, 1e-6, "%d", is_tp_only);
        cr_assert_eq(whole->op[PP_F][1].ps, early->op[PP_F][1].ps);
        cr_assert_eq(whole->op[PP_B][1].ps, early->op[PP_B][1].ps);
        cr_assert_float_eq((whole->op[PP_R][1].flops - early->op[PP_R][1].flops) /
                               (blocks * 8 * 2 * t * h * f),
                           1, 1e-9, "of all devices of the rank");
    }
}

/* What HFU counts is what the ops compute. */
Test(framework_times, spared_products_are_not_counted)
{
    static const char *const names[] = {"fsdp", "fsdp-pt1"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    in.recompute = PP_RECOMPUTE_FULL;
    for (int i = 0; i < 2; i++) {
        double flops = 0;
        in.framework = framework_of(names[i]);
        const struct pp_costs *costs = costs_of(arena, &in);
        for (int s = 0; s < in.stages; s++)
            flops += costs->op[PP_R][s].flops;
        cr_assert_float_eq(flops / in.layout.mbs /
                               pp_recompute_flops_per_sample(&in, PP_FLOPS_MEGATRON),
                           1, 1e-9, "%s", names[i]);
    }
}

/* Norms in fp32 read and write 8 bytes a value more in a forward. In a backward these are 12: three
 * passes of 2 bytes and four of 4, in place of five of 2. */
Test(framework_times, norms_in_fp32_are_cast)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework wide = *framework_of("internevo"), narrow = wide;
    const double values = 2 * 2048.0 / 8 * model.hidden, /* of a norm: 1/tp of the tokens */
        rate = cluster.device.memory_bytes_per_s * cluster.device.memory_eta,
                 norms = 2 * model.layers / 4.0;

    cluster.device.launch_s = 0;
    wide.kernel_gap_s = narrow.kernel_gap_s = 0;
    narrow.has_fp32_norms = false;
    in.framework = &wide;
    const struct pp_costs *cast = costs_of(arena, &in);
    in.framework = &narrow;
    const struct pp_costs *plain = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(cast->op[PP_F][1].ps - plain->op[PP_F][1].ps) /
                           (norms * values * 8 / rate),
                       1, 1e-6);
    cr_assert_float_eq(pp_units_s(cast->op[PP_I][1].ps - plain->op[PP_I][1].ps) /
                           (norms * values * 12 / rate),
                       1, 1e-6);
}

/* Graphs of layers leave the gaps between ops, and nothing of the launches. */
Test(framework_times, a_graph_launches_all_kernels)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework bare = *framework_of("nemo");

    in.framework = &bare;
    const struct pp_costs *launched = costs_of(arena, &in);
    in.is_graph = true;
    const struct pp_costs *graph = costs_of(arena, &in);
    bare.kernel_gap_s = 0;
    in.is_graph = false;
    const struct pp_costs *free = costs_of(arena, &in);
    cr_assert_lt(graph->op[PP_F][1].ps, launched->op[PP_F][1].ps);
    cr_assert_eq(graph->op[PP_F][1].ps, free->op[PP_F][1].ps);
    cr_assert_eq(graph->op[PP_B][1].ps, free->op[PP_B][1].ps);
}

/* Dropout keeps its mask: what comes before it must be there again. */
Test(framework_times, dropout_is_computed_again)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework dropping = *framework_of("fsdp");

    in.recompute = PP_RECOMPUTE_FULL;
    dropping.has_dropout = true;
    dropping.kernel_gap_s = 0;
    dropping.op_gap_s = 0;
    in.framework = &dropping;
    const struct pp_costs *costs = costs_of(arena, &in);
    cr_assert_eq(costs->op[PP_R][1].ps, costs->op[PP_F][1].ps);
}

/* An exchange of input gradients that overlaps a weight gradient adds the share of the weight
 * gradient that it takes. The exchanges of two versions of Megatron-LM tell how many overlap. */
Test(framework_times, gradients_are_exchanged_concurrently_with_weight_gradients)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    for (int is_tp_only = 0; is_tp_only <= 1; is_tp_only++) {
        in.is_tp_only = is_tp_only;
        const struct pp_costs *all = costs_with(arena, in, "megatron-v2"),
                              *async = costs_with(arena, in, "megatron");
        const double shown = is_tp_only ? 0.25 : 0.5 + 0.5 * 0.25;
        cr_assert_float_eq((double)async->op[PP_I][1].tp_ps / (double)all->op[PP_I][1].tp_ps, shown,
                           1e-6, "%d", is_tp_only);
        cr_assert_eq(async->op[PP_F][1].tp_ps, all->op[PP_F][1].tp_ps);
        const int64_t rest = async->op[PP_I][1].ps - async->op[PP_I][1].tp_ps;
        cr_assert_leq(llabs(rest - all->op[PP_I][1].ps + all->op[PP_I][1].tp_ps), 2, "rounded");
    }
}

/* Products of zero time hide no exchange, and no product hides two. */
Test(framework_times, hidden_time_is_at_most_the_time_that_hides_it)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    in.tp_overlap_frac = 0.9;
    const int64_t asked = costs_with(arena, in, "megatron-v2")->op[PP_I][1].tp_ps;
    cr_assert_eq(costs_with(arena, in, "megatron")->op[PP_I][1].tp_ps, asked);
    in.tp_overlap_frac = 0;
    cluster.device.peak_flops_per_s = 1e30;
    cluster.device.memory_bytes_per_s = 1e30;
    cluster.device.launch_s = 0;
    const int64_t all = costs_with(arena, in, "megatron-v2")->op[PP_I][1].tp_ps;
    cr_assert_eq(costs_with(arena, in, "megatron")->op[PP_I][1].tp_ps, all);
}

/* A host that takes `gap_s` to launch a kernel. Where it is slower than the device for I and W
 * together, I and W last as long as their launches. Otherwise they last as on the device, with a
 * share of launches where the host is slower. No part gets longer on a faster device. */
Test(framework_times, launches_share_the_time_of_the_host)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework framework = *pp_framework_plain;
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    double launches[PP_PASSES];

    framework.host_frac = 0.25;
    in.framework = &framework;
    struct pp_costs *plain = costs_of(arena, &in);
    for (int pass = 0; pass < PP_PASSES; pass++)
        launches[pass] =
            24 * pp_analytic_layer_sum(&in, PP_LAYER_BLOCK, work, (enum pp_pass)pass).launches;
    framework.kernel_gap_s = 1;
    struct pp_costs *slow = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(slow->op[PP_I][1].ps), launches[PP_PASS_I], 1e-9);
    cr_assert_float_eq(pp_units_s(slow->op[PP_W][1].ps), launches[PP_PASS_W], 1e-9);
    framework.kernel_gap_s = 1e-7;
    struct pp_costs *fast = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(fast->op[PP_I][1].ps - plain->op[PP_I][1].ps),
                       0.25e-7 * launches[PP_PASS_I], 2e-12);
    cr_assert_float_eq(pp_units_s(fast->op[PP_W][1].ps - plain->op[PP_W][1].ps),
                       0.25e-7 * launches[PP_PASS_W], 2e-12);

    framework.kernel_gap_s =
        pp_units_s(plain->op[PP_B][1].ps) / (launches[PP_PASS_I] + launches[PP_PASS_W]);
    struct pp_costs *before = NULL;
    for (double rate = 1; rate < 8; rate *= 1.1) {
        struct pp_costs *costs = costs_of(arena, &in);
        for (int kind = 0; before && kind < PP_OP_KINDS; kind++)
            cr_assert(!costs->op[kind] || costs->op[kind][1].ps <= before->op[kind][1].ps + 1,
                      "%s at %g", pp_op_kinds[kind].text, rate);
        before = costs;
        cluster.device.peak_flops_per_s *= 1.1;
    }
    cr_assert_float_eq(pp_units_s(before->op[PP_B][1].ps), pp_units_s(plain->op[PP_B][1].ps), 1e-9);
}

/* PyTorch puts gathered parts together: each of a block's exchanges reads and writes its tensor. */
Test(framework_times, parts_of_the_second_dimension_are_copied)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework plain = *framework_of("torchtitan");

    const struct pp_costs *copied = costs_with(arena, in, "torchtitan");
    plain.is_cut_by_sequence = false;
    plain.kernel_gap_s = plain.op_gap_s = 0;
    in.framework = &plain;
    const struct pp_costs *whole = costs_of(arena, &in);
    const double bytes = 2.0 * 2048 * model.hidden * 2, blocks = model.layers / 4.0;
    const double copy_s =
        cluster.device.launch_s +
        2 * bytes / (cluster.device.memory_bytes_per_s * cluster.device.memory_eta);
    cr_assert_float_eq(pp_units_s(copied->op[PP_F][1].ps - whole->op[PP_F][1].ps) /
                           (4 * blocks * copy_s),
                       1, 1e-6);
}

/* cuDNN's kernel is the faster one on Hopper, though its blocks start one by one, and on no device
 * before. */
Test(framework_times, cudnn_attention_is_faster_on_hopper)
{
    static const char *const devices[] = {"a100", "h100"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int i = 0; i < 2; i++) {
        struct setting setting = gpt3;
        struct pp_model model;
        struct pp_cluster cluster;
        setting.cluster = devices[i];
        struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        const struct pp_layer_work work = pp_analytic_work(&in, 0);
        struct pp_framework other = *framework_of("nemo");
        cluster.device.launch_s = 0;
        in.framework = framework_of("nemo");
        const double s = pp_analytic_attention(&in, work).s;
        other.has_cudnn_attention = false;
        in.framework = &other;
        const double ratio = pp_analytic_attention(&in, work).s / s;
        cr_assert(i ? ratio > 1.35 && ratio < cluster.device.cudnn_speed : ratio == 1, "%s: %g",
                  devices[i], ratio);
    }
}

/* Bytes of a parameter's gradients: 2, or in BF16_Optimizer 2 and the sum of 4. */
Test(framework_state, gradients_of_deepspeed)
{
    static const struct {
        const char *framework;
        enum pp_precision precision;
        double grads;
    } cases[] = {{"deepspeed", PP_PRECISION_BF16, 2},
                 {"deepspeed", PP_PRECISION_FP16, 2},
                 {"deepspeed-bf16", PP_PRECISION_BF16, 6},
                 {"deepspeed-bf16", PP_PRECISION_FP16, 2}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err = {0};
        struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
        in.framework = framework_of(cases[i].framework);
        cr_assert_eq(pp_device_set_precision(&cluster.device, cases[i].precision, &err), PP_OK);
        const struct pp_costs *costs = costs_of(arena, &in);
        for (int s = 0; s < in.stages; s++)
            cr_assert_float_eq(costs->memory[s].grads_bytes,
                               cases[i].grads * pp_cost_stage_params(&in, s), 1, "case %zu", i);
    }
}
