/* Distribution of updated parameters: one gather, broadcasts one after another, or concurrently
 * with the next forward. Sums that slow the backward, that are many, and whose gradients are
 * copied. */
#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

static const struct pp_device_group nodes4 = {32, 8, 4};

Test(spread, broadcasts_are_as_many_as_devices_or_tensors)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama-7b", "a100", 1, 1, 32, 1, 1, 2048};
    struct pp_framework broadcasting = *pp_framework_plain;
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    const struct pp_device_links links = {.intra = {2e-6, 200e9},
                                          .inter = {8e-6, 20e9},
                                          .intra_ring = {40e-6, 1},
                                          .inter_ring = {20e-6, 1}};
    const double bytes = 32e6, rate = 8 * 20e9;
    const double one_s = 60e-6 + 28 * 2e-6 + 3 * 8e-6; /* start, 32 devices in 4 nodes */

    in.framework = pp_framework_plain;
    cr_assert_float_eq(pp_collective_s(pp_analytic_spread(&in, &links, nodes4, 0, bytes)),
                       one_s + 31. / 32 * bytes / rate, 1e-12);
    broadcasting.has_param_broadcasts = true;
    in.framework = &broadcasting;
    cr_assert_float_eq(pp_collective_s(pp_analytic_spread(&in, &links, nodes4, 0, bytes)),
                       32 * one_s + bytes / rate, 1e-12);
    /* one layer has 9 tensors */
    const int one_block[] = {1};
    in.blocks_per_stage = one_block;
    cr_assert_float_eq(pp_collective_s(pp_analytic_spread(&in, &links, nodes4, 0, bytes)),
                       9 * one_s + bytes / rate, 1e-12);
}

/* Layer after layer: each begins when the one before is done and its own parameters are there. */
static int64_t play_ps(int64_t gather_ps, int64_t forward_ps, int layers)
{
    int64_t end_ps = 0;

    for (int layer = 1; layer <= layers; layer++) {
        const int64_t there_ps = gather_ps * layer / layers;
        end_ps = (end_ps > there_ps ? end_ps : there_ps) + forward_ps / layers;
    }
    return end_ps - forward_ps;
}

Test(spread, what_the_next_forward_does_not_hide)
{
    for (int layers = 1; layers <= 32; layers *= 2)
        for (int64_t gather_ps = 32; gather_ps < 1 << 20; gather_ps *= 4)
            for (int64_t forward_ps = 32; forward_ps < 1 << 20; forward_ps *= 2) {
                const struct pp_cost all = {.ps = gather_ps, .latency_ps = gather_ps / 2};
                const struct pp_cost left = pp_analytic_spread_ahead(all, forward_ps, layers, 0);
                cr_assert_eq(left.ps, play_ps(gather_ps, forward_ps, layers), "%d layers", layers);
                cr_assert(left.ps <= gather_ps && left.latency_ps <= left.ps);
            }
}

/* In the table: only with --dp-overlap, and only where the framework does it. */
Test(spread, overlap_asks_for_the_habit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama-7b", "a100", 1, 1, 32, 1, 1, 2048};
    struct pp_framework late = *pp_framework_plain;
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    late.has_params_ahead = false;
    in.framework = pp_framework_plain;
    const struct pp_cost whole = costs_of(arena, &in)->op[PP_AG][0];
    in.is_dp_overlapped = true;
    const struct pp_costs *ahead = costs_of(arena, &in);
    cr_assert_eq(ahead->op[PP_AG][0].ps,
                 pp_analytic_spread_ahead(whole, ahead->op[PP_F][0].ps, model.layers,
                                          in.framework->gather_share_frac)
                     .ps);
    cr_assert(ahead->op[PP_AG][0].ps < whole.ps);
    in.framework = &late;
    cr_assert_eq(costs_of(arena, &in)->op[PP_AG][0].ps, whole.ps);
}

/* Sums take a quarter of the device from a backward that they overlap with, while it is the longer
 * one. Once they outlast the slowed backward, its length does not matter. */
Test(spread, overlapping_sums_slow_the_last_backward)
{
    static const struct {
        const char *cluster;
        bool is_shown;
    } rows[] = {{"a100 nic:8x200Gbps", true}, {"a100 nic:1x10Gbps", false}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_framework sharing = *pp_framework_plain;

    sharing.gather_share_frac = 0.25;
    for (size_t i = 0; i < PP_COUNT(rows); i++)
        for (int os = 1; os <= 8; os *= 8) {
            const struct setting setting = {"llama-7b", rows[i].cluster, 1, 1, 32, 1, 1, 2048};
            struct pp_model model;
            struct pp_cluster cluster;
            struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
            in.framework = &sharing;
            in.state = (struct pp_state_spec){
                .replicas = {8, 4}, .shard = {{1, 1}, {1, 1}, {os, 1}}, .buffers = 2};
            const int64_t apart_ps = costs_of(arena, &in)->op[PP_U][0].ps;
            in.is_dp_overlapped = true;
            const struct pp_costs *costs = costs_of(arena, &in);
            const int64_t sum_ps = os == 1
                                       ? costs->op[PP_AR][0].ps
                                       : costs->op[PP_RS][0].ps + costs->purpose[PP_FOR_REST][0].ps;
            const struct pp_cost update = costs->op[PP_U][0];
            in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST; /* the backward is slowed as well */
            in.state.is_cpu_update = true;
            cr_assert_eq(costs_of(arena, &in)->op[PP_U][0].gather_ps, update.gather_ps);
            cr_assert_eq(sum_ps < costs->op[PP_B][0].ps, rows[i].is_shown);
            cr_assert_eq(update.gather_ps, rows[i].is_shown ? sum_ps / 4 : 0);
            cr_assert_eq(update.ps, apart_ps + update.gather_ps);
        }
}

/* DeepSpeed passes six times over gradients that it sums. It sums shards matrix by matrix. */
Test(spread, sums_of_deepspeed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"llama-7b", "a800", 1, 1, 1024, 1, 1, 2048};
    const struct pp_device_group all = {1024, 8, 128}, rails = {128, 1, 128};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_error err = {0};
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
    const double bytes = 2 * pp_model_params(&model), matrices = 5 * model.layers,
                 passes_s =
                     6 * bytes / cluster.device.memory_bytes_per_s / cluster.device.memory_eta;

    cr_assert_eq(pp_framework_find("deepspeed", &in.framework, &err), PP_OK);
    cr_assert_float_eq(costs_of(arena, &in)->op[PP_AR][0].ps * 1e-12,
                       pp_analytic_collective_s(&in, PP_AR, all, bytes) + passes_s, 1e-9);
    in.state = (struct pp_state_spec){
        .replicas = {8, 128}, .shard = {{8, 1}, {8, 1}, {8, 1}}, .gather = PP_GATHER_CHUNK};
    in.state.buffers = 1;
    const struct pp_costs *costs = costs_of(arena, &in);
    cr_assert_float_eq(costs->op[PP_AR][0].ps * 1e-12,
                       matrices * pp_analytic_collective_s(&in, PP_AR, rails, bytes / 8 / matrices),
                       1e-9);
    cr_assert_eq(costs->op[PP_AR][0].latency_ps, 0, "buckets cut no further");
    const int64_t gather_ps = costs->purpose[PP_FOR_FORWARD][0].ps,
                  scatter_ps = costs->purpose[PP_FOR_VISIT][0].ps;
    cr_assert_float_eq((scatter_ps - gather_ps) * 1e-12, passes_s, 1e-9);
    in.state = pp_state_spec_zero(2, in.state.replicas); /* parts after each micro-batch */
    cr_assert_float_eq(costs_of(arena, &in)->purpose[PP_FOR_PART][0].ps * 1e-12,
                       pp_analytic_collective_s(&in, PP_RS, all, bytes) + passes_s, 1e-9);
}
