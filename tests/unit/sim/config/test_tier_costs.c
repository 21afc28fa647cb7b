/* Offloading: bytes and times of a stage by closed forms. */
#include "core/units.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"

#include <criterion/criterion.h>
#include <math.h>

static struct pp_cost_inputs gpt(struct pp_arena *arena, struct pp_model *model,
                                 struct pp_cluster *cluster)
{
    const struct setting setting = {"gpt-7.5b", "a100", 2, 4, 2, 1, 1, 2048};
    struct pp_cost_inputs in = inputs_of(arena, setting, model, cluster);

    in.state = pp_state_spec_zero(0, pp_cost_replicas(&in));
    return in;
}

static double state_bytes(const struct pp_stage_memory *m)
{
    return m->params_bytes + m->grads_bytes + m->optimizer_bytes;
}

/* 16 bytes a parameter, of which 12 go. Three buckets of 16 M parameters are in transit at a time
 * (Singh and Bhatele 2022, AxoNN, section IV-B: 20 to 4, with one bucket). */
Test(tier_costs, state_on_the_host_leaves_four_bytes_a_parameter)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const double bucket_bytes = 16e6 * 12;

    const struct pp_costs *here = costs_of(arena, &in);
    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    const struct pp_costs *away = costs_of(arena, &in);
    for (int s = 0; s < in.stages; s++) {
        const double params = pp_cost_stage_params(&in, s);
        const double rate = fmin(25e9, fmin(130e9, 409.6e9) / 8);
        cr_assert_float_eq(state_bytes(&here->memory[s]), 16 * params, 1);
        cr_assert_float_eq(state_bytes(&away->memory[s]), 4 * params, 1);
        cr_assert_float_eq(away->memory[s].away_bytes[PP_TIER_HOST], 12 * params, 1);
        cr_assert_float_eq(away->memory[s].fetched_bytes, 3 * bucket_bytes, 1);
        cr_assert_float_eq(away->purpose[PP_FOR_FETCH][s].bytes, bucket_bytes, 1);
        cr_assert_float_eq(away->purpose[PP_FOR_STORE][s].bytes, bucket_bytes, 1);
        cr_assert_float_eq(pp_units_s(away->op[PP_U][s].ps), (12 * params - bucket_bytes) / rate,
                           1e-9);
        cr_assert_eq(away->op[PP_U][s].ps - away->op[PP_U][s].copy_ps, here->op[PP_U][s].ps);
    }
}

/* AxoNN has 20 bytes a parameter on the device, or 4 and a bucket of 16 M parameters: a quarter. */
Test(tier_costs, one_bucket_of_the_optimizer_is_a_quarter_of_the_state)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);

    in.framework = framework_of("axonn");
    const struct pp_costs *here = costs_of(arena, &in);
    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    const struct pp_costs *away = costs_of(arena, &in);
    for (int s = 0; s < in.stages; s++) {
        const struct pp_stage_memory *m = &away->memory[s];
        const double params = pp_cost_stage_params(&in, s);
        cr_assert_float_eq(state_bytes(&here->memory[s]), 20 * params, 1);
        cr_assert_float_eq(state_bytes(m) + m->fetched_bytes, 4 * params + 16 * 16e6, 1);
        cr_assert_float_eq(m->away_bytes[PP_TIER_HOST], 16 * params, 1);
    }
}

/* Three buckets: one comes, one is updated, one goes. Two: one comes after another has gone. One:
 * nothing overlaps. */
Test(tier_costs, fewer_buckets_overlap_less)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const int64_t update_ps = costs_of(arena, &in)->op[PP_U][0].ps;
    const double params = pp_cost_stage_params(&in, 0);

    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    for (int rate = 0; rate < 8; rate++) /* copies, or the update, last longest */
        for (int buckets = 1; buckets <= 4; buckets++) {
            in.state.update_bucket_params = 1e6 * (1 + rate);
            in.state.update_buckets = buckets;
            cluster.tiers[PP_TIER_HOST].link_bytes_per_s = pow(10, 8 + rate);
            cluster.tiers[PP_TIER_HOST].bytes_per_s = pow(10, 11 + rate);
            cluster.tiers[PP_TIER_HOST].uplink_bytes_per_s = 0;
            const struct pp_costs *costs = costs_of(arena, &in);
            const double bucket = in.state.update_bucket_params * 12,
                         fetch_ps = 1e12 * (12 * params - bucket) / pow(10, 8 + rate),
                         ps = buckets == 1
                                  ? (double)update_ps + 2 * fetch_ps
                                  : fmax((double)update_ps, (buckets == 2 ? 2 : 1) * fetch_ps);
            cr_assert_float_eq((double)costs->op[PP_U][0].ps, ps, 2 + 1e-9 * ps);
            cr_assert_float_eq(costs->memory[0].fetched_bytes, fmin(12 * params, buckets * bucket),
                               1);
            cr_assert_float_eq(costs->purpose[PP_FOR_STORE][0].bytes, bucket, 1);
        }
}

/* Gradients down, parameters up, each 2 bytes; all devices of a node share its processors and its
 * drives. */
Test(tier_costs, the_host_updates_at_the_rate_of_its_processors_or_drives)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const double params = pp_cost_stage_params(&in, 1) / 2; /* of one of two replicas */

    in.state = pp_state_spec_zero(1, in.state.replicas);
    in.state.is_cpu_update = true;
    for (int tier = PP_TIER_HOST; pp_tier_rows[tier].is_of_host; tier++) {
        in.state.home[PP_STATE_OPTIMIZER] = (enum pp_tier)tier;
        const struct pp_costs *costs = costs_of(arena, &in);
        const double by_drives_s = tier == PP_TIER_NVME ? 8 * 12 * params / (8 * 3.2e9) : 0,
                     by_processors_s = 8 * params / (409.6e9 / 72);
        cr_assert_float_eq(costs->purpose[PP_FOR_GRADS][1].bytes, 2 * params, 1);
        cr_assert_float_eq(costs->purpose[PP_FOR_PARAMS][1].bytes, 2 * params, 1);
        cr_assert_float_eq(pp_units_s(costs->purpose[PP_FOR_GRADS][1].ps), 2 * params / (130e9 / 8),
                           1e-9);
        cr_assert_float_eq(pp_units_s(costs->op[PP_U][1].ps), fmax(by_drives_s, by_processors_s),
                           1e-9);
        cr_assert_float_eq(costs->memory[1].away_bytes[tier],
                           (tier == PP_TIER_HOST ? 14 : 12) * params, 1);
        cr_assert_eq(costs->memory[1].fetched_bytes, 0);
    }
}

/* Half of the bytes and 4 for each 128 values of 2 (Pan et al. 2021, Mesa). */
Test(tier_costs, bits_and_scales)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);

    for (int bits = 2; bits <= 8; bits *= 2) {
        in.state.activation_bits = bits;
        in.has_bits_apart = true; /* a program with Q and DQ of its own */
        const struct pp_costs *costs = costs_of(arena, &in);
        const struct pp_stage_memory *m = &costs->memory[1];
        const double frac = (32 * (bits / 16.0 + 4.0 / (128 * 2)) + 2) / 34, /* two masks */
            rate = cluster.device.memory_bytes_per_s * cluster.device.memory_eta;
        cr_assert_float_eq(m->resting_frac, frac, 1e-12);
        cr_assert_float_eq(pp_units_s(costs->op[PP_Q][1].ps),
                           (in.blocks_per_stage[1] + 1) * cluster.device.launch_s +
                               (1 + frac) * m->saved_bytes / rate,
                           1e-11);
        cr_assert_eq(costs->op[PP_Q][1].ps, costs->op[PP_DQ][1].ps);
    }
}
