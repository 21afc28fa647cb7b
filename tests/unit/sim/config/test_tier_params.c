/* Parameters on another memory tier: bytes, loads and times of whole runs. */
#include "core/units.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

#define ALONE                                                                                      \
    "--schedule 1f1b --model llama2-7b --gpus %d --tp 1 --pp 1 --dp %d --cp 1 --mbs 1 "            \
    "--micro-batches 4 --recompute none --engine dag --no-alternatives --zero %d %s"

enum { N = 4 };

static struct pp_result run_alone(struct pp_arena *arena, int gpus, int zero, const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, ALONE, gpus, gpus, zero, flags);

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

/* Two bytes a parameter leave the device and come to the host, cut like the parameters are; a share
 * of them with a share. */
Test(tier_params, parameters_elsewhere_leave_the_device)
{
    for (int zero = 0; zero <= 3; zero++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result here = run_alone(arena, 8, zero, "--cluster a100"),
                               all = run_alone(arena, 8, zero, "--cluster a100 --offload p=host"),
                               part =
                                   run_alone(arena, 8, zero, "--cluster a100 --offload p=nvme:25%");
        const double bytes = 2 * pp_cost_stage_params(&here.cost_inputs, 0) / (zero == 3 ? 8 : 1);
        cr_assert_float_eq(here.memory[0].params_bytes, bytes, 1);
        cr_assert_float_eq(all.memory[0].params_bytes, 0, 1);
        cr_assert_float_eq(pp_tiers_bytes(&all, PP_TIER_HOST), bytes, 1);
        cr_assert_float_eq(part.memory[0].params_bytes, 0.75 * bytes, 1);
        cr_assert_float_eq(pp_tiers_bytes(&part, PP_TIER_NVME), 0.25 * bytes, 1);
        cr_assert_lt(all.memory[0].buffers_bytes - here.memory[0].buffers_bytes,
                     zero == 3 ? 0.05 * bytes * 8 : 0.2 * bytes);
        cr_assert_lt(all.memory[0].peak_bytes, here.memory[0].peak_bytes);
    }
}

/* Every layer comes up for each forward and each backward, except for the layer between the two,
 * which stays. That makes 2 N L - (2 N - 1) layers where a forward is followed by its backward.
 * Updated parameters go down once, unless the host has updated them. */
Test(tier_params, parameters_come_up_twice_a_micro_batch)
{
    static const struct {
        const char *flags;
        double down, share;
    } rows[] = {{"--offload p=host", 2, 1},
                {"--offload p=host:50%", 1, 0.5},
                {"--offload p=host,os=host --cpu-optimizer", 2, 1}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int zero = 0; zero <= 3; zero += 3) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_result r = run_alone(
                arena, 8, zero, pp_arena_printf(arena, "--cluster a100 %s", rows[k].flags));
            const struct pp_model *m = &r.config.model;
            const double last = pp_model_layer_params(m, PP_LAYER_BLOCK) +
                                pp_model_layer_params(m, PP_LAYER_HEAD),
                         first = pp_model_layer_params(m, PP_LAYER_BLOCK) +
                                 pp_model_layer_params(m, PP_LAYER_EMBEDDING),
                         all = pp_cost_stage_params(&r.cost_inputs, 0), cut = zero == 3 ? 8 : 1;
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, 0, 1),
                               2 * rows[k].share * (2 * N * all - N * last - (N - 1) * first) / cut,
                               1e-9 * all, "%s: %g", rows[k].flags,
                               pp_tiers_copied_bytes(&r, 0, 1));
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, 0, 0), rows[k].down * all / cut,
                               1e-9 * all, "%s: %g", rows[k].flags,
                               pp_tiers_copied_bytes(&r, 0, 0));
            cr_assert_eq(pp_gathers_visits(&r, 0), 2 * N * m->layers - (2 * N - 1));
        }
}

/* With slow links a step lasts as long as its copies, plus at most all of its compute. No layer
 * that stays between two ops is charged. With fast links no copy is exposed. */
Test(tier_params, a_step_is_its_copies_or_its_compute)
{
    for (int zero = 0; zero <= 3; zero += 3)
        for (int buffers = 2; buffers <= 4; buffers++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const char *more =
                pp_arena_printf(arena, "--offload p=host --gather-buffers %d", buffers);
            const char *cluster = "--cluster a100\th2d:%s\tram:1000TB@1000000GBps %s";
            const struct pp_result here = run_alone(arena, 8, zero, "--cluster a100"),
                                   slow =
                                       run_alone(arena, 8, zero,
                                                 pp_arena_printf(arena, cluster, "0.5GBps", more)),
                                   fast = run_alone(
                                       arena, 8, zero,
                                       pp_arena_printf(arena, cluster, "1000000GBps", more));
            const double copies_s = pp_tiers_copied_bytes(&slow, 0, 1) / 0.5e9,
                         home_s = pp_tiers_copied_bytes(&slow, 0, 0) / 0.5e9,
                         most_s = copies_s + home_s + here.metrics.iteration_s;
            cr_assert_geq(slow.metrics.iteration_s, copies_s + home_s, "ZeRO %d, %d: %g, %g", zero,
                          buffers, slow.metrics.iteration_s, copies_s + home_s);
            cr_assert_leq(slow.metrics.iteration_s, most_s, "ZeRO %d, %d: %g, %g", zero, buffers,
                          slow.metrics.iteration_s, most_s);
            cr_assert_leq(fast.metrics.iteration_s, 1.05 * here.metrics.iteration_s,
                          "ZeRO %d, %d: %g, %g", zero, buffers, fast.metrics.iteration_s,
                          here.metrics.iteration_s);
            cr_assert_lt(fast.metrics.time_frac[PP_TIME_MOVES], 1e-3);
        }
}

/* At the rates of a node: hidden where compute is long, so that only the first layer, and updated
 * parameters, show. */
Test(tier_params, long_sequences_hide_loads)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result here = run_alone(arena, 1, 0, "--cluster a100 --seq 16384"),
                           away = run_alone(arena, 1, 0,
                                            "--cluster a100 --seq 16384 --offload p=host");
    const struct pp_costs *costs = away.costs;
    const double shown_s =
        pp_units_s(costs->purpose[PP_FOR_LOAD][0].ps + costs->purpose[PP_FOR_HOME][0].ps);

    cr_assert_float_eq(away.metrics.iteration_s - here.metrics.iteration_s, shown_s, 1e-9, "%g, %g",
                       away.metrics.iteration_s - here.metrics.iteration_s, shown_s);
}
