/* The price of a sum as a ring equals the time of its ring hop by hop. All members start together,
 * and nothing else is on the network. The price includes how many hops share a link. */
#include "core/units.h"
#include "schedules/lower/lower.h"
#include "schedules/registry.h"
#include "sim/engine/network.h"
#include "sim/simgrid/engines.h"
#include "tests/unit/support/cost_inputs.h"

#include <criterion/criterion.h>

/* Of the sum's time: hops that are faster inside a node get out of step. */
static const double TOLERANCE = 1e-4;

struct scene {
    const char *cluster;
    int tp, dp;
};

static const struct pp_engine *contention(void)
{
    const struct pp_engine *engine = NULL;

    if (pp_engine_find("simgrid", &engine, NULL) != PP_OK)
        cr_skip_test("this build has no SimGrid");
    return engine;
}

static double step_s(struct pp_arena *arena, const struct pp_cost_inputs *in,
                     const struct pp_costs *costs, bool is_ring)
{
    const struct pp_shape shape = {
        .ranks = 1, .chunks = 1, .pipelines = 1, .micro_batches = 1, .splits = 1, .granules = 1};
    const struct pp_lower_options lower = {.recv_slots = 2, .has_sync = true};
    const struct pp_network *network =
        pp_network_make(arena, in->fabric, in->cluster, &in->layout, pp_map_default);
    const struct pp_engine_options options = {
        .eval.ring_flows = is_ring, .replicas = in->layout.dp, .network = network};
    struct pp_program *compute, *program;
    struct pp_times *times;
    struct pp_error err = {0};
    double latest_s = 0;

    cr_assert_eq(
        pp_schedule_program(arena, pp_schedule_find("gpipe"), &shape, costs, &compute, &err), PP_OK,
        "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, &lower, &program, &err), PP_OK, "%s", err.message);
    cr_assert_eq(contention()->run(arena, program, costs, &options, PP_TIMES_POSTS, &times, &err),
                 PP_OK, "%s", err.message);
    const struct pp_engine_run run = {.program = program, .costs = costs, .times = times};
    const struct pp_trace *trace = pp_engine_trace(arena, &run);
    for (int i = 0; i < trace->count; i++)
        latest_s = trace->events[i].end_s > latest_s ? trace->events[i].end_s : latest_s;
    return latest_s;
}

static void check(const struct scene *s)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {.model = "llama3-8b",
                                    .cluster = s->cluster,
                                    .tp = s->tp,
                                    .pp = 1,
                                    .dp = s->dp,
                                    .cp = 1,
                                    .mbs = 1,
                                    .seq = 1024};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_fabric *fabric;
    struct pp_error err = {0};
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    cr_assert_eq(pp_fabric_make(arena, &cluster, in.layout.gpus, &fabric, &err), PP_OK, "%s",
                 err.message);
    in.fabric = fabric;
    in.algorithm = PP_ALGORITHM_RING;
    struct pp_costs *costs = costs_of(arena, &in);
    pp_costs_rings(arena, &in, costs);
    const double sum_s = pp_units_s(costs->op[PP_AR][0].ps);
    const double price_s = step_s(arena, &in, costs, false),
                 hops_s = step_s(arena, &in, costs, true);
    const double off = (price_s - hops_s) / (sum_s - (price_s - hops_s));
    cr_assert(off > -TOLERANCE && off < TOLERANCE,
              "%s, tp %d, dp %d: priced %.9f s, hop by hop %.9f s less than %.9f s", s->cluster,
              s->tp, s->dp, sum_s, price_s - hops_s, sum_s);
}

static const struct scene scenes[] = {
    {"h100 leaf:2 oversub:16", 8, 8},
    {"h100 leaf:4 oversub:2", 8, 16},
    {"h100 leaf:2 oversub:2 routing:static", 4, 16},
    {"h100 torus:4x4x1", 8, 16},
    {"h100 torus:8x1x1", 2, 32},
    {"gpu:4 nic:1x100Gbps", 4, 4},
    {"gpu:4 nic:2x100Gbps", 2, 8},
    {"gpu:4 nic:1x100Gbps pcie:16GBps", 2, 8},
    {"piz-daint", 1, 64},
    {"gpu:1 nic:1x100Gbps dragonfly:4x2x2x2 routing:static", 1, 32},
};

Test(laws_sums, priced_as_they_run)
{
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        check(&scenes[i]);
}
