#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct setting gpt3 = {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048};

/* Products of [n, t] by [t, k] for the four matrices of a block, at the speed that their shapes
 * have.
 */
static double weight_gradients_s(const struct pp_device *device, double t, const double (*kn)[2])
{
    double s = 0;

    for (int i = 0; i < 4; i++) {
        const struct pp_gemm_shape gemm = {kn[i][1], kn[i][0], t, 1};
        s += 2 * t * kn[i][0] * kn[i][1] /
             (device->peak_flops_per_s * pp_gemm_plan(device, gemm).eta);
    }
    return s;
}

/* With free memory, links and launches a weight gradient is flops / (peak * eta) and nothing else;
 * all flops of a step are three forwards. */
Test(roofline, weight_gradients_take_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    cluster.device.launch_s = 0;
    cluster.device.memory_bytes_per_s = 1e30;
    cluster.intra = cluster.inter = (struct pp_link){0, 1e30};
    const struct pp_costs *costs = costs_of(arena, &in);
    const double kn[4][2] = {
        {12288, 36864. / 8}, {12288. / 8, 12288}, {12288, 49152. / 8}, {49152. / 8, 12288}};
    const double w_s = 6 * weight_gradients_s(&cluster.device, 2048, kn);
    cr_assert_float_eq(pp_units_s(costs->op[PP_W][3].ps) / w_s, 1, 1e-9);
    cr_assert_eq(costs->op[PP_W][3].tp_ps, 0);

    double flops = 0;
    for (int s = 0; s < in.stages; s++)
        flops += costs->op[PP_F][s].flops + costs->op[PP_B][s].flops;
    cr_assert_float_eq(flops / pp_model_flops_per_sample(&model, 2048, PP_FLOPS_MEGATRON), 1,
                       1e-12);
}

/* Four gathers or scatters of s b h in every direction (Korthikanti et al. 2022, section 4.2.2). */
Test(roofline, tensor_parallel_time_is_four_rings)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const struct pp_costs *costs = costs_of(arena, &in);
    const double bytes = 2048.0 * 12288 * 2,
                 bandwidth = 450e9 * cluster.eta_link * cluster.intra_ring.frac;
    const double ring_s =
        cluster.intra_ring.start_s + 7 * (cluster.intra.alpha_s + bytes / 8 / bandwidth);

    cr_assert_float_eq(pp_units_s(costs->op[PP_F][3].tp_ps), 6 * 4 * ring_s, 2e-12);
    cr_assert_eq(costs->op[PP_F][3].tp_ps, costs->op[PP_I][3].tp_ps);
    cr_assert(costs->op[PP_F][3].tp_ps < costs->op[PP_F][3].ps);
}

/* Without sequence parallelism two sums each way; a share may be hidden. */
Test(roofline, tensor_parallel_sums_without_sequence_parallelism)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double bytes = 2048.0 * 12288 * 2,
                 bandwidth = 450e9 * cluster.eta_link * cluster.intra_ring.frac;
    const double sum_s =
        cluster.intra_ring.start_s + 14 * (cluster.intra.alpha_s + bytes / 8 / bandwidth);

    in.is_tp_only = true;
    const struct pp_costs *costs = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(costs->op[PP_F][3].tp_ps), 6 * 2 * sum_s, 2e-12);
    cr_assert_eq(costs->op[PP_F][3].tp_ps, costs->op[PP_I][3].tp_ps);
    in.tp_overlap_frac = 0.25;
    cr_assert_float_eq(pp_units_s(costs_of(arena, &in)->op[PP_F][3].tp_ps), 6 * 2 * 0.75 * sum_s,
                       2e-12);
    /* 16 devices of a group on two nodes: the slower of NVLinks and NICs */
    in.layout.tp = 16;
    in.tp_overlap_frac = 0;
    const double wide_s = cluster.intra_ring.start_s + cluster.inter_ring.start_s +
                          2 * (14 * cluster.intra.alpha_s + cluster.inter.alpha_s) +
                          2 * 15 / 16.0 * bytes / fmin(bandwidth, 8 * 50e9 * cluster.eta_link);
    cr_assert_float_eq(pp_analytic_tp_s(&in, PP_LAYER_BLOCK, pp_analytic_work(&in, 0), PP_PASS_F),
                       2 * wide_s, 1e-12);
}

Test(roofline, gradient_sums_are_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const struct pp_costs *costs = costs_of(arena, &in);
    const double bytes = 2 * 6 * pp_model_layer_params(&model, PP_LAYER_BLOCK) / 8;
    const double start_s = cluster.inter_ring.start_s, rate = 50e9 * cluster.eta_link;

    /* tp fills the node: 16 replicas on 16 nodes, and rings, as 2.7 GB are much */
    cr_assert_float_eq(pp_units_s(costs->op[PP_AR][3].ps),
                       start_s + 2 * 15 * cluster.inter.alpha_s + 2 * 15 / 16.0 * bytes / rate,
                       2e-12);
    cr_assert_float_eq(pp_units_s(costs->op[PP_RS][3].ps),
                       start_s + 15 * cluster.inter.alpha_s + 15 / 16.0 * bytes / rate, 2e-12);
    cr_assert_eq(costs->op[PP_AG][3].ps, costs->op[PP_RS][3].ps);
    cr_assert_float_eq(pp_units_s(costs->ring_alpha_ps[3]),
                       cluster.inter.alpha_s + bytes / 16 / 46e9, 2e-12);
    cr_assert_eq(costs->sync_ranks, 16);
    /* norm, clipping and clearing move 2 + 4 + 2 bytes a parameter, the optimizer 2 + 12 + 12 + 2,
     * a sixteenth of them with ZeRO-1 */
    const double update_s = 36 * bytes / 2 / (3350e9 * cluster.device.memory_eta);
    cr_assert_float_eq(pp_units_s(costs->op[PP_U][3].ps), update_s + 7 * cluster.device.launch_s,
                       2e-12);
    in.state = pp_state_spec_zero(1, pp_cost_replicas(&in));
    cr_assert_float_eq(pp_units_s(costs_of(arena, &in)->op[PP_U][3].ps),
                       update_s / 16 + 7 * cluster.device.launch_s, 2e-12);
}

/* cp - 1 rounds pass keys and values on. The attention that hides them costs nothing here. */
Test(roofline, context_parallel_time_is_what_attention_does_not_hide)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama3-8b", "h100", 2, 2, 1, 16, 1, 4096};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    cluster.device.launch_s = 0;
    cluster.device.memory_bytes_per_s = cluster.device.peak_flops_per_s = 1e30;
    const double bytes = 2 * 4096 / 16 * 8 * 128 / 2 * 2;
    const double round_s = cluster.inter.alpha_s + bytes / 46e9;
    const struct pp_costs *costs = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(costs->op[PP_F][0].cp_ps), 16 * 15 * round_s, 2e-12);
    cr_assert_eq(costs->op[PP_W][0].cp_ps, 0);
    in.recompute = PP_RECOMPUTE_SELECTIVE;
    cr_assert_eq(costs_of(arena, &in)->op[PP_R][0].cp_ps, costs->op[PP_F][0].cp_ps);
    in.layout.seq = 1 << 17; /* long sequences hide it */
    cluster.device.peak_flops_per_s = 989e12;
    cr_assert_eq(costs_of(arena, &in)->op[PP_F][0].cp_ps, 0);
}

/* R of selective recomputation is the forward of the attention alone. With free memory, links and
 * launches it has 4 t c d / tp flops a block. A fused causal kernel has half the keys and half a
 * block of queries. Its flops are those that HFU counts. */
Test(roofline, selective_recomputation_is_the_attention_forward)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    in.recompute = PP_RECOMPUTE_SELECTIVE;
    cluster.device.launch_s = 0;
    cluster.device.memory_bytes_per_s = 1e30;
    for (int unfused = 0; unfused <= 1; unfused++) {
        cluster.device.is_attention_unfused = unfused;
        const struct pp_costs *costs = costs_of(arena, &in);
        const struct pp_gemm_shape scores = {2048, 2048, 128, 12}, values = {2048, 128, 2048, 12};
        const double product = 2.0 * 12 * 2048 * 2048 * 128 / cluster.device.peak_flops_per_s;
        const double r_s = unfused
                               ? product * (1 / pp_gemm_plan(&cluster.device, scores).eta +
                                            1 / pp_gemm_plan(&cluster.device, values).eta)
                               : 2 * product * (1024 + 64) / 2048 / cluster.device.attention_eta;
        cr_assert_float_eq(pp_units_s(costs->op[PP_R][3].ps) / (6 * r_s), 1, 1e-7);
        cr_assert_eq(costs->op[PP_R][3].tp_ps, 0);
        double flops = 0;
        for (int s = 0; s < in.stages; s++)
            flops += costs->op[PP_R][s].flops;
        cr_assert_float_eq(flops / pp_recompute_flops_per_sample(&in, PP_FLOPS_MEGATRON), 1, 1e-12);
    }
    const double *fracs = pp_recompute_fracs(arena, &in);
    for (int s = 0; s < in.stages; s++)
        cr_assert_eq(fracs[s], 1);
}

/* Recomputed modules of a block repeat half of its exchanges. Of four rings these are a gather and
 * a scatter of the MLP, or PyTorch's two gathers. Of two sums it is that of the MLP, or PyTorch's
 * of the attention. */
Test(roofline, recomputed_modules_repeat_half_of_the_exchanges)
{
    static const struct {
        const char *framework;
        unsigned again;
        double frac;
    } rows[] = {{"megatron", PP_AGAIN_MLP, 0.5},
                {"megatron", PP_AGAIN_ACT, 0},
                {"fsdp", 0, 0.5},
                {"torchtitan", 0, 0.5}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    in.recompute = PP_RECOMPUTE_SELECTIVE;
    for (int is_tp_only = 0; is_tp_only <= 1; is_tp_only++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            in.is_tp_only = is_tp_only;
            in.again = rows[i].again;
            cr_assert_eq(pp_framework_find(rows[i].framework, &in.framework, &err), PP_OK);
            const struct pp_costs *costs = costs_of(arena, &in);
            cr_assert_float_eq((double)costs->op[PP_R][3].tp_ps,
                               rows[i].frac * (double)costs->op[PP_F][3].tp_ps, 1, "%s %d",
                               rows[i].framework, is_tp_only);
        }
}

/* Both pipelines of a bidirectional schedule hold every stage: twice the replicas. */
Test(roofline, pipelines_are_replicas_too)
{
    static const uint16_t ranks[] = {0, 1, 2, 3, 3, 2, 1, 0};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt2-64", "p100-daint", 1, 4, 1, 1, 1, 632};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    in.pipelines = 2;
    in.rank_of = ranks;
    in.state = pp_state_spec_zero(1, pp_cost_replicas(&in));
    const struct pp_costs *costs = costs_of(arena, &in);
    cr_assert_eq(costs->sync_ranks, 2);
    for (int s = 0; s < 4; s++) {
        const double params = pp_cost_stage_params(&in, s);
        const double bandwidth = cluster.inter.bytes_per_s * cluster.eta_link;
        cr_assert_float_eq(pp_units_s(costs->op[PP_AR][s].ps),
                           2 * cluster.inter.alpha_s + 4 * params / bandwidth, 2e-12);
        cr_assert_float_eq(costs->memory[s].optimizer_bytes, 8 * params / 2, 1);
    }
}

/* Devices one by one against the formulas, for every shape of node. */
static int device(const struct pp_layout *l, int rank, int replica, int c)
{
    return ((rank * l->dp + replica) * l->cp + c) * l->tp;
}

static void check_placement(const struct pp_cost_inputs *in)
{
    const struct pp_layout *l = &in->layout;

    for (int a = 0; a < l->pp; a++)
        for (int b = 0; b < l->pp; b++) {
            bool crosses = false;
            for (int d = 0; d < l->dp; d++)
                for (int c = 0; c < l->cp; c++)
                    for (int t = 0; t < l->tp; t++)
                        crosses |= !pp_cluster_same_node(in->cluster, device(l, a, d, c) + t,
                                                         device(l, b, d, c) + t);
            cr_assert_eq(pp_analytic_crosses(in, a, b), crosses);
        }
    for (int s = 0; s < in->stages; s++) {
        int nodes = 0, last = -1;
        for (int d = 0; d < l->dp; d++)
            for (int c = 0; c < l->cp; c++) {
                const int node = device(l, in->rank_of[s], d, c) / in->cluster->gpus_per_node;
                nodes += node != last;
                last = node;
            }
        const struct pp_device_group group = pp_analytic_stage_group(in, s);
        cr_assert_eq(group.members, l->dp * l->cp);
        const int per_node = group.members / nodes;
        cr_assert_eq(group.per_node, per_node, "%d members, %d nodes: %d per node", group.members,
                     nodes, group.per_node);
    }
}

Test(roofline, links_and_groups_agree_with_device_numbers)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    int crossing = 0;

    for (int gpn = 1; gpn <= 12; gpn++)
        for (int tp = 1; tp <= 8; tp *= 2)
            for (int dp = 1; dp <= 6; dp++)
                for (int cp = 1; cp <= 2; cp++) {
                    const struct setting setting = {"gpt2-64", "h100", tp, 4, dp, cp, 1, 512};
                    const struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
                    cluster.gpus_per_node = gpn;
                    check_placement(&in);
                    crossing += pp_analytic_crosses(&in, 0, 1);
                }
    cr_assert(crossing > 100);
}

/* Sums of everything that takes time, for comparisons. */
static double total_s(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    static const enum pp_op_kind kinds[] = {PP_F, PP_B, PP_R, PP_U, PP_AR, PP_AG};
    const struct pp_costs *costs = costs_of(arena, in);
    double s = 0;

    for (int stage = 0; stage < in->stages; stage++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            s += pp_units_s(costs->op[kinds[k]][stage].ps);
    for (int i = 0; i < costs->links; i++)
        s += pp_units_s(costs->alpha_ps[i]) + 1e6 * costs->s_per_byte[i];
    return s;
}

Test(roofline, a_slower_machine_is_never_faster)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const clusters[] = {"h100", "a100", "v100-dgx1", "p100-daint", "b200"};
    static const char *const models[] = {"gpt2-64", "llama2-7b", "bert-48", "gpt-22b"};

    int compute_bound = 0;

    srand(1);
    for (int i = 0; i < 200; i++) {
        const struct setting setting = {models[rand() % 4], clusters[rand() % 5], 1 << rand() % 3,
                                        1 << rand() % 4,    1 << rand() % 5,      1 << rand() % 2,
                                        1 + rand() % 8,     128 << rand() % 4};
        struct pp_model model;
        struct pp_cluster cluster;
        const struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
        const struct pp_cluster original = cluster;
        const double reference = total_s(arena, &in);
        cluster.device.peak_flops_per_s /= 2;
        cr_assert(total_s(arena, &in) >= reference); /* tiny layers are bound by memory */
        compute_bound += total_s(arena, &in) > 1.3 * reference;
        cluster = original;
        cluster.device.memory_bytes_per_s /= 2;
        cr_assert(total_s(arena, &in) > reference);
        cluster = original;
        cluster.intra.bytes_per_s /= 2;
        cr_assert(total_s(arena, &in) > reference);
        cluster = original;
        cluster.inter.alpha_s *= 2;
        cr_assert(total_s(arena, &in) > reference);
        cluster = original;
        cluster.device.launch_s *= 2;
        cr_assert(total_s(arena, &in) > reference);
        cluster = original;
        struct pp_cost_inputs slow = in;
        slow.inter_factor = 0.5;
        cr_assert(total_s(arena, &slow) > reference);
        slow = in;
        slow.recompute = PP_RECOMPUTE_FULL;
        cr_assert(total_s(arena, &slow) > reference);
    }
    cr_assert(compute_bound > 50 && compute_bound < 200, "%d", compute_bound);
}

Test(roofline, more_work_takes_longer_and_more_room)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    double last_s = 0, last_bytes = 0;

    for (int mbs = 1; mbs <= 64; mbs *= 2) {
        in.layout.mbs = mbs;
        const struct pp_costs *costs = costs_of(arena, &in);
        const double s = pp_units_s(costs->op[PP_F][3].ps), bytes = costs->memory[3].saved_bytes;
        /* at most proportional: launches and weights are shared by the samples */
        cr_assert(s > last_s && (mbs == 1 || s <= 2 * last_s * (1 + 1e-9)));
        cr_assert(mbs == 1 || fabs(bytes / last_bytes - 2) < 1e-9);
        last_s = s;
        last_bytes = bytes;
    }
}

/* Splitting the sequence moves the same flops; a causal model's later splits see more keys. */
Test(roofline, splits_share_the_work)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const struct pp_costs *whole = costs_of(arena, &in);

    in.splits = 4;
    const struct pp_costs *parts = costs_of(arena, &in);
    for (int s = 0; s < in.stages; s++) {
        double flops = 0;
        int64_t ps = 0;
        for (int q = 0; q < 4; q++) {
            flops += parts->op[PP_F][s * 4 + q].flops;
            ps += parts->op[PP_F][s * 4 + q].ps;
            cr_assert(q == 0 || parts->op[PP_F][s * 4 + q].ps > parts->op[PP_F][s * 4 + q - 1].ps);
        }
        cr_assert_float_eq(flops / whole->op[PP_F][s].flops, 1, 1e-12);
        cr_assert(ps >= whole->op[PP_F][s].ps);
        cr_assert_eq(parts->op[PP_B][s * 4].ps,
                     parts->op[PP_I][s * 4].ps + parts->op[PP_W][s * 4].ps);
    }
}

Test(roofline, absurd_sizes_are_refused_and_nothing_overflows)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_costs *costs;
    const struct pp_cost_inputs good = inputs_of(arena, gpt3, &model, &cluster);
    const struct {
        struct pp_layout layout;
        const char *message;
    } bad[] = {
        {{.tp = 7, .pp = 16, .dp = 1, .cp = 1, .ep = 1, .mbs = 1, .seq = 2048}, "6 and 8"},
        {{.tp = 128, .pp = 16, .dp = 1, .cp = 1, .ep = 1, .mbs = 1, .seq = 2048}, "96"},
        {{.tp = 8, .pp = 16, .dp = 1, .cp = 3, .ep = 1, .mbs = 1, .seq = 2048}, "--cp 3"},
        {{.tp = 8, .pp = 16, .dp = 1, .cp = 1, .ep = 2, .mbs = 1, .seq = 2048}, "--ep"},
        {{.tp = 8, .pp = 16, .dp = 0, .cp = 1, .ep = 1, .mbs = 1, .seq = 2048}, "--dp"},
        {{.tp = 8, .pp = 16, .dp = 1 << 24, .cp = 1, .ep = 1, .mbs = 1, .seq = 2048}, "devices"},
        {{.tp = 1, .pp = 16, .dp = 1, .cp = 1, .ep = 1, .mbs = 1 << 24, .seq = 1 << 26}, "--mbs"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pp_cost_inputs in = good;
        in.layout = bad[i].layout;
        cr_assert_eq(pp_costs_analytic(arena, &in, &costs, &err), PP_EINVAL, "%s", bad[i].message);
        cr_assert_not_null(strstr(err.message, bad[i].message), "%s", err.message);
    }
    int blocks[16] = {97};
    struct pp_cost_inputs in = good;
    in.blocks_per_stage = blocks;
    cr_assert_eq(pp_costs_analytic(arena, &in, &costs, &err), PP_EINVAL);
}
