/* Gradients in the place of their parameters: 14 bytes a parameter, never more memory, and refused
 * where parameters are needed again. */
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/sim_run.h"

#include <math.h>

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, pp_arena_printf(arena, "%s --engine dag", line), &result, &err),
                 PP_OK, "%s: %s", line, err.message);
    return result;
}

/* Bytes of state of one device, on all tiers. */
static double state_bytes(const struct pp_result *r, int stage)
{
    const struct pp_stage_memory *m = &r->costs->memory[stage];

    return m->params_bytes + m->grads_bytes + m->optimizer_bytes + m->away_bytes[PP_TIER_HOST];
}

#define ONE                                                                                        \
    "--schedule gpipe --micro-batches 1 --model gpt-7.5b --tp 1 --cp 1 --mbs 1 --recompute none "  \
    "--no-alternatives --cluster a100 "

/* 2 + 12 bytes of what is cut how; 2 less than without. */
Test(in_place, state_has_fourteen_bytes)
{
    static const struct {
        const char *options;
        double params, optimizer, cut[2]; /* bytes a parameter; devices of these and of the state */
    } rows[] = {
        {"--gpus 4 --pp 4 --dp 1", 2, 12, {1, 1}},
        {"--gpus 8 --pp 4 --dp 2 --zero 1", 2, 12, {1, 2}},
        {"--gpus 8 --pp 4 --dp 2 --zero 2", 2, 12, {1, 2}},
        {"--gpus 8 --pp 4 --dp 2 --zero 3", 2, 12, {2, 2}},
        {"--gpus 4 --pp 4 --dp 1 --offload os=host", 2, 12, {1, 1}},
        {"--gpus 4 --pp 4 --dp 1 --offload os=host:50%", 2, 12, {1, 1}},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r =
            run(arena, pp_arena_printf(arena, ONE "%s --grads-in-params", rows[i].options));
        for (int s = 0; s < 4; s++) {
            const double params = pp_cost_stage_params(&r.cost_inputs, s);
            cr_assert_float_eq(
                state_bytes(&r, s),
                params * (rows[i].params / rows[i].cut[0] + rows[i].optimizer / rows[i].cut[1]), 2,
                "%s", rows[i].options);
            cr_assert_float_eq(r.costs->memory[s].grads_bytes, 0, 1, "%s", rows[i].options);
        }
    }
}

/* On each tier a gradient needs parameters whose place it takes. The host that updates gets a copy
 * of the gradients: it has room where parameters live. */
Test(in_place, only_parameters_of_the_same_tier_make_room)
{
    for (int k = 0; k <= 10; k += 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const double f = k / 10.0;
        const char *homes =
            k > 0 ? pp_arena_printf(arena, "p=host:%d%%,os=host", 10 * k) : "os=host";
        const struct pp_result r =
            run(arena, pp_arena_printf(arena,
                                       ONE "--gpus 4 --pp 4 --dp 1 --cpu-optimizer --offload %s "
                                           "--grads-in-params",
                                       homes));
        for (int s = 0; s < 4; s++) {
            const struct pp_stage_memory *m = &r.costs->memory[s];
            const double params = pp_cost_stage_params(&r.cost_inputs, s);
            cr_assert_float_eq(m->params_bytes + m->grads_bytes, 2 * params, 2);
            cr_assert_float_eq(m->grads_bytes, 2 * f * params, 2);
            cr_assert_float_eq(m->away_bytes[PP_TIER_HOST], 14 * params, 2);
        }
    }
}

Test(in_place, takes_no_more_memory)
{
    static const char *const schedules[] = {"gpipe", "1f1b",          "interleaved --vp 2",
                                            "zb-h1", "hanayo --vp 2", "bfs --vp 3",
                                            "zbv",   "chimera"};
    static const char *const states[] = {"--gpus 4 --dp 1", "--gpus 8 --dp 2 --zero 1",
                                         "--gpus 8 --dp 2 --zero 2", "--gpus 8 --dp 2 --zero 3",
                                         "--gpus 4 --dp 1 --offload p=host,os=host"};
    int runs = 0;

    for (size_t i = 0; i < PP_COUNT(schedules) * PP_COUNT(states) * 2; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result without, with;
        struct pp_error err = {0};
        const char *line = pp_arena_printf(
            arena,
            "--schedule %s --micro-batches %d %s --model gpt-7.5b --tp 1 --pp 4 --cp 1 --mbs 1 "
            "--recompute none --no-alternatives --cluster a100 --engine dag",
            schedules[i % PP_COUNT(schedules)], i % 2 ? 1 : 4, states[i / PP_COUNT(schedules) / 2]);
        if (sim_run(arena, pp_arena_printf(arena, "%s --grads-in-params", line), &with, &err) !=
            PP_OK)
            continue; /* not a number of micro-batches for the schedule, or several visits */
        cr_assert_eq(sim_run(arena, line, &without, &err), PP_OK, "%s", err.message);
        for (int rank = 0; rank < 4; rank++)
            cr_assert_leq(with.memory[rank].peak_bytes, without.memory[rank].peak_bytes, "%s",
                          line);
        cr_assert_eq(with.metrics.iteration_s, without.metrics.iteration_s, "%s", line);
        runs++;
    }
    cr_assert_geq(runs, 20);
}

/* Backwards of a chunk that a forward or another chunk parts. */
Test(in_place, visits_are_counted)
{
    static const struct {
        const char *line;
        int visits; /* 0: legal */
    } rows[] = {
        {"--schedule 1f1b --pp 4 --micro-batches 8", 8}, /* on the last rank */
        {"--schedule 1f1b --pp 4 --micro-batches 1", 0},
        {"--schedule gpipe --pp 4 --micro-batches 8", 0},
        {"--schedule bfs --vp 2 --pp 4 --micro-batches 8", 0},
        {"--schedule bfs --vp 2 --pp 4 --micro-batches 8 --offload p,os=host --gather chunk", 0},
        {"--schedule bfs --vp 2 --pp 4 --micro-batches 8 --offload p,os=host", 8}, /* of a layer */
        {"--schedule gpipe --pp 4 --micro-batches 3 --offload p,os=host", 3},
        {"--schedule interleaved --vp 2 --pp 4 --micro-batches 4", 4},
        {"--schedule interleaved --vp 2 --pp 4 --micro-batches 8", 8},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result r;
        struct pp_error err = {0};
        const char *line = pp_arena_printf(
            arena,
            "%s --model gpt-7.5b --gpus 4 --tp 1 --dp 1 --cp 1 --mbs 1 --recompute none "
            "--no-alternatives --cluster a100 --engine dag --grads-in-params",
            rows[i].line);
        const enum pp_status status = sim_run(arena, line, &r, &err);
        cr_assert_eq(status, rows[i].visits ? PP_EINVAL : PP_OK, "%s: %s", line, err.message);
        if (rows[i].visits)
            cr_assert(strstr(err.message, pp_arena_printf(arena, "in %d visits", rows[i].visits)),
                      "%s: %s", line, err.message);
    }
}
