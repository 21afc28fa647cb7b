/* Mixtures of experts on devices: what is exchanged, computed and held, against closed forms. */
#include "core/cost/analytic/parts.h"

#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <string.h>

static const struct setting mixtral = {"mixtral-8x7b", "h100", 1, 4, 8, 1, 1, 4096};

/* Every device sends top_k copies of its tokens and keeps 1/ep of them; twice in a forward, twice
 * in a backward. Within a node alone, so that the time is bytes over the rate. */
Test(expert_costs, an_exchange_moves_all_but_its_own_share)
{
    for (int ep = 1; ep <= 8; ep *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, mixtral, &model, &cluster);
        const double t = 4096, h = 4096, top_k = 2, value_bytes = 2;

        in.layout.ep = ep;
        in.algorithm = PP_ALGORITHM_HIERARCHICAL;
        const struct pp_layer_work work = pp_analytic_work(&in, 0);
        cr_assert_eq(pp_analytic_expert_bytes(&in, work), t * top_k * h * value_bytes);
        const struct pp_device_links links = pp_analytic_links(&in);
        const double moved = t * top_k * h * value_bytes * (ep - 1) / ep,
                     expected = moved / links.intra.bytes_per_s + (ep - 1) * links.intra.alpha_s;
        cr_assert_float_eq(pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F), 2 * expected,
                           1e-12);
        cr_assert_float_eq(pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_I), 2 * expected,
                           1e-12);
        cr_assert_eq(pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_W), 0);
        cr_assert_eq(pp_analytic_ep_s(&in, PP_LAYER_BLOCK, work, PP_PASS_F), 0);
        /* 32 blocks on 4 stages */
        const struct pp_costs *costs = costs_of(arena, &in);
        cr_assert_leq(llabs(costs->op[PP_F][1].ep_ps - llround(8 * 2 * expected * 1e12)), 8);
        cr_assert_leq(llabs(costs->op[PP_B][1].ep_ps - llround(8 * 2 * expected * 1e12)), 16);
    }
}

/* Without sequence parallelism each device has the rows of its own experts from its whole group. It
 * exchanges them with replicas. Two sums of t h values in each direction, and the gradients of
 * gates.
 */
Test(expert_costs, devices_with_the_same_tokens_exchange_with_replicas_alone)
{
    static const struct {
        int tp, dp, ep, etp, peers;
    } layouts[] = {{2, 4, 2, 0, 2}, {2, 4, 8, 1, 4}, {4, 2, 4, 1, 1}, {4, 2, 8, 1, 2},
                   {4, 2, 4, 2, 2}, {8, 1, 8, 1, 1}, {8, 1, 2, 4, 1}, {4, 2, 2, 1, 1}};

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting s = {
            "mixtral-8x7b", "h100", layouts[i].tp, 1, layouts[i].dp, 1, 1, 4096};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
        const double t = 4096, h = 4096, top_k = 2, peers = layouts[i].peers;

        in.layout.ep = layouts[i].ep;
        in.layout.etp = layouts[i].etp;
        in.is_tp_only = true;
        in.algorithm = PP_ALGORITHM_HIERARCHICAL;
        const struct pp_layer_work work = pp_analytic_work(&in, 0);
        const double rows = t * top_k * pp_layout_etp(&in.layout) / in.layout.tp;
        const struct pp_link link = pp_analytic_links(&in).intra;
        cr_assert_eq(pp_layer_expert_peers(&in), peers);
        cr_assert_eq(pp_analytic_expert_group(&in).members, peers);
        cr_assert_eq(pp_analytic_expert_bytes(&in, work), 2 * rows * h);
        const double expected = peers > 1
                                    ? 2 * (2 * rows * h * (peers - 1) / peers / link.bytes_per_s +
                                           (peers - 1) * link.alpha_s)
                                    : 0;
        cr_assert_float_eq(pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F), expected, 1e-12);
        cr_assert_float_eq(pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_I), expected, 1e-12);
        const struct pp_device_group group = pp_analytic_group(&in, PP_AXIS_TP);
        const double sums = 2 * pp_analytic_collective_s(&in, PP_AR, group, 2 * t * h),
                     gates = pp_analytic_collective_s(&in, PP_AR, group, 4 * t * top_k);
        cr_assert_float_eq(pp_analytic_tp_s(&in, PP_LAYER_MOE, work, PP_PASS_F), sums, 1e-12);
        cr_assert_float_eq(pp_analytic_tp_s(&in, PP_LAYER_MOE, work, PP_PASS_I), sums + gates,
                           1e-12);
        cr_assert_eq(pp_analytic_tp_s(&in, PP_LAYER_MOE, work, PP_PASS_W), 0);
        /* work and memory of experts are those with shared tokens; the router has all tokens */
        const struct pp_expert_work w = pp_layer_expert_work(&in, work);
        cr_assert_float_eq(w.tokens * w.experts, rows, 1e-9);
    }
}

/* However experts are spread, a device does its share of the same products. */
Test(expert_costs, spreading_experts_neither_adds_nor_drops_work)
{
    static const struct {
        int tp, cp, dp, ep, etp;
    } layouts[] = {{1, 1, 8, 1, 0}, {1, 1, 8, 8, 0}, {2, 1, 8, 4, 0}, {4, 2, 8, 8, 1},
                   {2, 1, 8, 8, 1}, {8, 1, 4, 8, 2}, {4, 1, 2, 4, 2}};

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting s = {"mixtral-8x7b", "h100", layouts[i].tp, 1, layouts[i].dp,
                                  layouts[i].cp,  1,      4096};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
        struct pp_layer_kernels list;
        double flops = 0, routed = 0;

        in.layout.ep = layouts[i].ep;
        in.layout.etp = layouts[i].etp;
        const struct pp_layer_work work = pp_analytic_work(&in, 0);
        const struct pp_expert_work w = pp_layer_expert_work(&in, work);
        const double all = 4096.0 / layouts[i].cp / layouts[i].tp * 2; /* copies a device owns */
        cr_assert_float_eq(w.tokens * w.experts * w.ffn, all * 14336, 1e-6);
        pp_layer_kernels(&in, PP_LAYER_MOE, work, PP_PASS_F, &list);
        for (int k = 0; k < list.count; k++)
            routed += strncmp(list.kernel[k].name, "experts", 7) == 0 ? list.kernel[k].flops : 0;
        cr_assert_float_eq(routed / (all * 6 * 4096 * 14336), 1, 1e-12);
        for (int k = 0; k < list.count; k++)
            flops += list.kernel[k].kind == PP_KERNEL_GEMM ? list.kernel[k].flops : 0;
        /* the model's own count, attention left out, of one device of the replica */
        const double matrices =
            pp_model_layer_flops(&model, PP_LAYER_MOE, 1, 4096, PP_FLOPS_MEGATRON) -
            4.0 * 4096 * 4096 * 4096;
        cr_assert_float_eq(flops * layouts[i].tp * layouts[i].cp / matrices, 1, 1e-12);
        /* all parameters are held as often as there are replicas of them */
        const int devices = layouts[i].tp * layouts[i].cp * layouts[i].dp;
        const double total = pp_model_layer_params(&model, PP_LAYER_MOE) * 32,
                     experts = pp_model_routed_params(&model, PP_LAYER_MOE) * 32,
                     ends = pp_model_params(&model) - total;
        const struct pp_device_group replicas = pp_analytic_expert_replicas(&in);
        cr_assert_float_eq(pp_cost_stage_params(&in, 0) * devices /
                               ((total - experts + ends) * layouts[i].cp * layouts[i].dp +
                                experts * replicas.members),
                           1, 1e-12);
        /* cut over all replicas, each parameter lies on one device */
        cr_assert_float_eq(pp_analytic_cut_params(&in, 0, layouts[i].cp * layouts[i].dp) * devices /
                               pp_model_params(&model),
                           1, 1e-12);
    }
}

/* Gradients of experts are summed over fewer devices, those of the rest over all replicas. */
Test(expert_costs, gradients_are_summed_where_they_are_copies)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, mixtral, &model, &cluster);
    const double experts = 8 * pp_model_routed_params(&model, PP_LAYER_MOE),
                 others = 8 * pp_model_layer_params(&model, PP_LAYER_MOE) - experts;

    for (int ep = 1; ep <= 8; ep *= 2) {
        in.layout.ep = ep;
        const struct pp_costs *costs = costs_of(arena, &in);
        const struct pp_device_group replicas = pp_analytic_expert_replicas(&in);
        cr_assert_eq(replicas.members, 8 / ep);
        cr_assert_float_eq(costs->op[PP_AR][1].bytes, 2 * (others + experts / ep), 1);
        const double s =
            pp_analytic_collective_s(&in, PP_AR, pp_analytic_stage_group(&in, 1), 2 * others) +
            pp_analytic_collective_s(&in, PP_AR, replicas, 2 * experts / ep);
        cr_assert_leq(llabs(costs->op[PP_AR][1].ps - llround(s * 1e12)), 2);
    }
}

/* Groups by hand: 8 GPUs a node. */
Test(expert_costs, groups_follow_the_order_of_devices)
{
    static const struct {
        int tp, dp, ep, etp, per_node, nodes, replicas;
    } groups[] = {
        {1, 16, 8, 0, 8, 1, 2}, {1, 16, 16, 0, 8, 2, 1}, {4, 8, 8, 0, 2, 4, 1},
        {4, 8, 8, 1, 8, 1, 4},  {2, 16, 8, 0, 4, 2, 2},  {1, 64, 8, 0, 8, 1, 8},
    };

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting s = {
            "qwen3-30b-a3b", "h100", groups[i].tp, 1, groups[i].dp, 1, 1, 4096};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);

        in.layout.ep = groups[i].ep;
        in.layout.etp = groups[i].etp;
        const struct pp_device_group group = pp_analytic_expert_group(&in);
        cr_assert_eq(group.members, groups[i].ep);
        cr_assert_eq(group.per_node, groups[i].per_node, "%zu: %d", i, group.per_node);
        cr_assert_eq(group.nodes, groups[i].nodes);
        cr_assert_eq(pp_analytic_expert_replicas(&in).members, groups[i].replicas);
    }
}

/* A mixture of one expert for all is a dense block after a router. */
Test(expert_costs, one_expert_of_all_tokens_saves_what_a_dense_block_does)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"llama2-7b", "h100", 1, 1, 1, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const double dense = pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK);

    model.experts = (struct pp_experts){.count = 2, .top_k = 1, .ffn = model.ffn};
    /* and the copy that the expert works on */
    cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_MOE), dense + 2048.0 * 4096 * 2, 1);
    in.capacity_factor = 2;
    cr_assert_gt(pp_analytic_saved_bytes(&in, PP_LAYER_MOE), 1.5 * dense);
}

Test(expert_costs, overlap_hides_its_share)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, mixtral, &model, &cluster);

    in.layout.ep = 8;
    const struct pp_cost all = costs_of(arena, &in)->op[PP_F][1];
    in.ep_overlap_frac = 0.75;
    const struct pp_cost quarter = costs_of(arena, &in)->op[PP_F][1];
    cr_assert_leq(llabs(4 * quarter.ep_ps - all.ep_ps), 4);
    cr_assert_leq(llabs(all.ps - quarter.ps - (all.ep_ps - quarter.ep_ps)), 2);
}

/* Products take 1 / (1 - share) of their time, everything else takes the same. */
Test(expert_costs, exchanges_keep_their_share_of_the_device)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, mixtral, &model, &cluster);

    in.layout.ep = 8;
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    for (int pass = 0; pass <= PP_PASS_W; pass++) {
        in.ep_share_frac = 0;
        const double matrix_s =
            pp_analytic_layer(&in, PP_LAYER_MOE, work, (enum pp_pass)pass).matrix_s;
        const double whole_s = pp_analytic_layer_sum(&in, PP_LAYER_MOE, work, (enum pp_pass)pass).s;
        in.ep_share_frac = 0.2;
        const double shared_s =
            pp_analytic_layer_sum(&in, PP_LAYER_MOE, work, (enum pp_pass)pass).s;
        cr_assert_gt(matrix_s, 0);
        cr_assert_float_eq(shared_s - whole_s, 0.25 * matrix_s, 1e-12);
    }
    const double dense_s = pp_analytic_layer_sum(&in, PP_LAYER_BLOCK, work, PP_PASS_F).s;
    in.ep_share_frac = 0;
    cr_assert_eq(pp_analytic_layer_sum(&in, PP_LAYER_BLOCK, work, PP_PASS_F).s, dense_s);
}

/* Places that a token's experts lie in, by trying all choices of experts. */
static double places_by_trial(int experts, int chosen, int places, int groups, int limit)
{
    int64_t met = 0, choices = 0;

    for (unsigned set = 0; set < 1u << experts; set++) {
        unsigned in_groups = 0, in_places = 0;
        if (__builtin_popcount(set) != chosen)
            continue;
        for (int e = 0; e < experts; e++)
            if (set >> e & 1) {
                in_groups |= 1u << e * groups / experts;
                in_places |= 1u << e * places / experts;
            }
        if (__builtin_popcount(in_groups) > limit)
            continue;
        met += __builtin_popcount(in_places);
        choices++;
    }
    return (double)met / (double)choices;
}

Test(expert_costs, a_token_meets_as_many_places_as_its_experts_lie_in)
{
    for (int places = 1; places <= 16; places *= 2)
        for (int k = 1; k <= 6; k++) {
            const struct pp_experts e = {.count = 16, .top_k = k, .ffn = 1};
            cr_assert_float_eq(pp_analytic_places_met(&e, places),
                               places_by_trial(16, k, places, 1, 1), 1e-12, "%d of %d", k, places);
        }
    /* In at most 2 of 4 groups: choices of groups are alike, not of experts, so about. */
    const struct pp_experts limited = {
        .count = 16, .top_k = 4, .ffn = 1, .groups = 4, .group_limit = 2};
    for (int places = 2; places <= 16; places *= 2)
        cr_assert_float_eq(pp_analytic_places_met(&limited, places) /
                               places_by_trial(16, 4, places, 4, 2),
                           1, 0.06, "%g", pp_analytic_places_met(&limited, places));
}

/* One copy to each node: fewer bytes leave the node, and never more than with a copy each. */
Test(expert_costs, what_is_sent_once_leaves_a_node_once)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"deepseek-v3", "h100", 1, 1, 64, 1, 1, 4096};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);

    in.layout.ep = 64;
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    const double each_s = pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F);
    in.is_sent_once = true;
    const double limited_s = pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F);
    model.experts.groups = 0;
    const double once_s = pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F);
    /* at most 4 of 8 nodes; 5.3 of 8 without the limit; 8 copies */
    cr_assert_float_eq(once_s / each_s, 8 * (1 - pow(7.0 / 8, 8)) / 8, 0.02);
    cr_assert_float_eq(limited_s / each_s, 4 * (1 - pow(3.0 / 4, 8)) / 8, 0.02);
}

static double traffic_of(const struct pp_cost_inputs *in, enum pp_pass pass, const char *name,
                         int *launches)
{
    struct pp_layer_kernels list;
    double bytes = 0;

    pp_layer_kernels(in, PP_LAYER_MOE, pp_analytic_work(in, 0), pass, &list);
    *launches = 0;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.kernel[i].name, name) == 0) {
            bytes += list.kernel[i].bytes;
            *launches += list.kernel[i].launches;
        }
    return bytes;
}

/* Megatron's own kernels pass 28 and 40 bytes over each value that experts put out; who has no such
 * kernels adds biases in the products. */
Test(expert_costs, biases_after_experts_are_weighed_apart)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"gpt-oss-120b", "b200", 1, 1, 64, 1, 4, 4096};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const double values = 4.0 * 4096 * 4 * 2880; /* samples, tokens, copies, width */
    int launches;

    in.layout.ep = 8; /* 16 experts a device */
    cr_assert_eq(traffic_of(&in, PP_PASS_F, "experts' bias", &launches), 0);
    cr_assert_eq(pp_framework_find("nemo", &in.framework, &err), PP_OK);
    cr_assert_float_eq(traffic_of(&in, PP_PASS_F, "experts' bias", &launches), 28 * values, 1);
    cr_assert_eq(launches, 2 * 16 + 2);
    cr_assert_float_eq(traffic_of(&in, PP_PASS_I, "experts' bias", &launches), 40 * values, 1);
    cr_assert_eq(launches, 5 * 16 + 2);
    cr_assert_eq(traffic_of(&in, PP_PASS_W, "experts' bias", &launches), 0);
}

/* In fp8 on Blackwell alone: no activation, no bias, one cast of the two, and no time of the host.
 */
Test(expert_costs, fused_experts_leave_their_products)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"gpt-oss-120b", "b200", 1, 4, 16, 1, 4, 4096};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const double copies = 4.0 * 4096 * 4, f = 2880;
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    int launches;

    in.layout.ep = 8;
    cr_assert_eq(pp_framework_find("bridge", &in.framework, &err), PP_OK);
    cr_assert_not(pp_cost_has_fused_experts(&in));
    cr_assert_eq(pp_device_set_precision(&cluster.device, PP_PRECISION_FP8, &err), PP_OK);
    cr_assert(pp_cost_has_fused_experts(&in));
    const double cast = traffic_of(&in, PP_PASS_F, "cast to fp8", &launches);
    cr_assert_eq(traffic_of(&in, PP_PASS_F, "silu, product", &launches), 0);
    cr_assert_eq(traffic_of(&in, PP_PASS_F, "experts' bias", &launches), 0);
    const struct pp_compute f_s = pp_analytic_layer(&in, PP_LAYER_MOE, work, PP_PASS_F);
    const struct pp_costs *fused = costs_of(arena, &in);
    /* nine blocks a stage, no embedding, no head: half of them have windows */
    const struct pp_compute near =
        pp_analytic_layer(&in, PP_LAYER_MOE, pp_analytic_near_work(&in, 0), PP_PASS_F);
    const double ep_s = pp_analytic_ep_s(&in, PP_LAYER_MOE, work, PP_PASS_F);
    cr_assert_float_eq(fused->op[PP_F][1].ps / 1e12, 5 * f_s.s + 4 * near.s + 9 * ep_s, 1e-9);
    cr_assert_eq(pp_framework_find("nemo", &in.framework, &err), PP_OK);
    cr_assert_not(pp_cost_has_fused_experts(&in));
    cr_assert_float_eq(traffic_of(&in, PP_PASS_F, "cast to fp8", &launches) - cast, 4 * copies * f,
                       1);
    cr_assert_float_eq(traffic_of(&in, PP_PASS_F, "silu, product", &launches), 6 * copies * f, 1);
    cr_assert_gt(costs_of(arena, &in)->op[PP_F][1].ps, fused->op[PP_F][1].ps);
}
