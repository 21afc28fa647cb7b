/* Distribution of updated parameters: one gather, broadcasts one after another, or concurrently
 * with the next forward. */
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
