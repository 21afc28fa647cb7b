/* A gradient sum priced as a ring is the same sum passed around hop by hop. */
#include "core/units.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/lower/lower.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/state_specs.h"

#include <math.h>
#include <stdlib.h>

static int64_t step_ps(struct pp_arena *arena, const struct pp_costs *costs, int replicas, int zero,
                       bool has_flows)
{
    const struct pp_shape shape = {
        .ranks = 1, .chunks = 1, .pipelines = 1, .micro_batches = 1, .splits = 1, .granules = 1};
    const struct pp_lower_options lower = {
        .recv_slots = 2, .has_sync = true, .has_optimizer = true, .state = specs_zero(zero)};
    const struct pp_eval_options options = {.ring_flows = has_flows};
    struct pp_program *compute, *program;
    struct pp_eval *plan;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_schedule_program(arena, pp_schedule_find("gpipe"), &shape, costs, &compute, &err), PP_OK,
        "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, &lower, &program, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_eval_create(arena, program, costs, &options, &plan, &err), PP_OK, "%s",
                 err.message);
    return pp_eval_run(arena, plan, replicas, NULL, PP_TIMES_MAKESPAN)->makespan_ps;
}

/* 1 GiB a device over 128 and over 1,024 devices of rails. In the first case hops inside and
 * between nodes differ. In the second every member is in a node of its own. */
Test(ring, one_gibibyte_priced_and_run)
{
    static const struct {
        int dp, gpus_per_node;
    } layouts[] = {{128, 8}, {1024, 8}, {128, 1}, {1024, 1}, {8, 8}};

    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const int dp = layouts[i].dp, gpn = layouts[i].gpus_per_node;
        const double gib = 1 << 30;
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err = {0};
        struct pp_fabric *fabric;
        struct pp_cost_inputs in = inputs_of(
            arena, (struct setting){"gpt2", "h100", 1, 1, dp, 1, 1, 1024}, &model, &cluster);
        int *blocks = NULL;

        cr_assert_eq(pp_model_from_params(arena, gib / 2, &model, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_partition_blocks(arena, model.layers, 1, 0, 0, &blocks, &err), PP_OK);
        in.blocks_per_stage = blocks;
        cluster.gpus_per_node = gpn;
        cr_assert_eq(pp_fabric_make(arena, &cluster, dp, &fabric, &err), PP_OK);
        in.fabric = fabric;
        in.algorithm = PP_ALGORITHM_RING;
        struct pp_costs *costs = costs_of(arena, &in);
        cr_assert_float_eq(costs->op[PP_AR][0].bytes / gib, 1, 1e-6);
        const struct pp_link link = dp > gpn ? cluster.inter : cluster.intra;
        const double hop_s = link.alpha_s + gib / dp / (cluster.eta_link * link.bytes_per_s);
        cr_assert_float_eq(pp_units_s(costs->op[PP_AR][0].ps) / (2 * (dp - 1) * hop_s), 1, 1e-6);
        pp_costs_rings(arena, &in, costs);
        for (int zero = 0; zero <= 1; zero++) { /* one sum; a scatter and a gather */
            const int64_t priced_ps = step_ps(arena, costs, 1, zero, false);
            const int64_t run_ps = step_ps(arena, costs, 1, zero, true);
            cr_assert_gt(run_ps, 2 * (dp - 1) * pp_units_ps(hop_s) * 0.99);
            cr_assert_eq(step_ps(arena, costs, dp, zero, true), run_ps);
            /* hops are rounded before they are added up */
            cr_assert(llabs(priced_ps - run_ps) <= dp, "ZeRO %d: %lld ps apart", zero,
                      (long long)(priced_ps - run_ps));
        }
    }
}
