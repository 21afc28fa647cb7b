/* Updates on the host: of a share, and early, while other stages go backward. */
#include "core/units.h"
#include "sim/config/copies.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/sim_run.h"

#include <math.h>

/* ---- runs --------------------------------------------------------------------------------------
 */

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, pp_arena_printf(arena, "%s --engine dag", line), &result, &err),
                 PP_OK, "%s: %s", line, err.message);
    return result;
}

static const char *const schedules[] = {"gpipe",      "1f1b",         "interleaved --vp 2",
                                        "bfs --vp 2", "bfs --vp 3",   "interleaved-zb --vp 2",
                                        "zbv",        "chimera",      "hanayo --vp 2",
                                        "seq1f1b",    "dualpipe",     "v-half",
                                        "pipedream",  "pipedream-2bw"};
static const char *const sizes[] = {
    "--gpus 4 --dp 1 --micro-batches 8 --seq 2048", "--gpus 4 --dp 1 --micro-batches 16 --seq 256",
    "--gpus 8 --dp 2 --micro-batches 8 --seq 512 --zero 1",
    "--gpus 8 --dp 2 --micro-batches 8 --seq 2048 --zero 0 --grad-sync eager"};
static const char *const homes[] = {"os=host",
                                    "os=nvme",
                                    "os=host,a=host",
                                    "os=host:40%,a=host:50%",
                                    "os=host,p=host:30%",
                                    "g,os=host",
                                    "g=host:30%,os=host:70%",
                                    "p,os=host",
                                    "p,g,os,a=host"};
/* One link fast, one slow: copies, the host or the device take most time. */
static const char *const clusters[] = {"a100", "a100\th2d:1GBps", "a100\tcpu:2e8",
                                       "a100\tcpu:1e12"};

/* What goes up may not stand in front of what the backward needs. */
Test(host_update, early_is_never_slower)
{
    double gain = 0;
    int runs = 0;

    for (size_t i = 0; i < PP_COUNT(schedules) * PP_COUNT(homes) * PP_COUNT(sizes); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[i % PP_COUNT(schedules)],
                   *home = homes[i / PP_COUNT(schedules) % PP_COUNT(homes)],
                   *size = sizes[i / PP_COUNT(schedules) / PP_COUNT(homes)],
                   *cluster = clusters[i % 7 % PP_COUNT(clusters)];
        const bool is_async = strncmp(schedule, "pipedream", 9) == 0;
        if (is_async && (home[0] != 'o' || strstr(home, "p=host") || strstr(size, "zero 1")))
            continue; /* refused */
        const char *line = pp_arena_printf(
            arena,
            "--schedule %s --model gpt-7.5b --tp 1 --pp 4 --cp 1 --mbs 1 --recompute none "
            "--no-alternatives --cpu-optimizer %s --offload %s --cluster %s%s",
            schedule, size, home, cluster, is_async ? " --steps 3" : "");
        const struct pp_result end = run(arena, line),
                               jit = run(arena, pp_arena_printf(arena, "%s --update jit", line));
        cr_assert_leq(jit.metrics.iteration_s, end.metrics.iteration_s * (1 + 1e-12), "%s", line);
        for (int rank = 0; rank < 4; rank++) {
            cr_assert_eq(jit.memory[rank].peak_bytes, end.memory[rank].peak_bytes, "%s", line);
            for (int stream = PP_COPY_DOWN; stream <= PP_COPY_UP; stream++)
                cr_assert_eq(pp_tiers_copied_bytes(&jit, rank, stream),
                             pp_tiers_copied_bytes(&end, rank, stream), "%s", line);
        }
        gain = fmax(gain, end.metrics.iteration_s / jit.metrics.iteration_s);
        runs++;
    }
    cr_assert_geq(runs, 200);
    cr_assert_gt(gain, 1.3);
}

/* ---- closed forms ------------------------------------------------------------------------------
 */

#define ONE_RANK                                                                                   \
    "--schedule bfs --vp 4 --gpus 1 --pp 1 --tp 1 --dp 1 --cp 1 --mbs 1 --micro-batches 2 "        \
    "--model gpt-7.5b --recompute none --no-alternatives --cpu-optimizer "

/* Gradients arrive at once. The host updates one stage after the other, from the first gradients
 * on. If that takes longer than the backward, the step ends with it. */
Test(host_update, runs_next_to_the_backward)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *links = "\tram:1000TB@1000000000GBps\th2d:1000000000GBps\tuplink:1000000000GBps";

    for (int is_slow = 0; is_slow < 2; is_slow++) {
        const char *line = pp_arena_printf(arena, "%s--cluster a100\tcpu:%s%s --offload os=host",
                                           ONE_RANK, is_slow ? "1e8" : "1e11", links);
        const struct pp_result end = run(arena, line),
                               jit = run(arena, pp_arena_printf(arena, "%s --update jit", line));
        const struct pp_cost *host = jit.costs->purpose[PP_FOR_UPDATE], *f = jit.costs->op[PP_F],
                             *b = jit.costs->op[PP_B];
        double passes = 0, updates = 0;
        for (int s = 0; s < 4; s++) {
            passes += 2 * pp_units_s(f[s].ps + b[s].ps);
            updates += pp_units_s(host[s].ps);
        }
        const double rest = 2 * pp_units_s(b[0].ps + b[1].ps + b[2].ps), eps = 1e-6;
        cr_assert_float_eq(end.metrics.iteration_s, passes + updates, eps);
        cr_assert_float_eq(jit.metrics.iteration_s,
                           is_slow ? passes - rest + updates : passes + pp_units_s(host[0].ps), eps,
                           "%g", jit.metrics.iteration_s);
        cr_assert_float_eq(pp_host_updates(&end).s, updates, eps);
        cr_assert_float_eq(pp_host_updates(&end).exposed_s, updates, eps);
        cr_assert_float_eq(pp_host_updates(&jit).s, updates, eps);
        cr_assert_float_eq(pp_host_updates(&jit).exposed_s, jit.metrics.iteration_s - passes, eps);
    }
}

/* The host updates f, the device 1 - f; copies and bytes are f of those of all. */
Test(host_update, a_share_is_updated_by_each)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result all = run(arena, ONE_RANK "--cluster a100 --offload os=host");

    for (int k = 1; k < 10; k += 2) {
        const double f = k / 10.0;
        const struct pp_result r =
            run(arena, pp_arena_printf(arena, "%s--cluster a100 --offload os=host:%d%%", ONE_RANK,
                                       10 * k));
        for (int s = 0; s < 4; s++) {
            const double params = pp_cost_stage_params(&r.cost_inputs, s);
            const struct pp_stage_memory *m = &r.costs->memory[s];
            cr_assert_float_eq(m->params_bytes + m->grads_bytes + m->optimizer_bytes,
                               (16 - 12 * f) * params, 1);
            cr_assert_float_eq(m->away_bytes[PP_TIER_HOST], 14 * f * params, 1);
            cr_assert_float_eq((double)r.costs->purpose[PP_FOR_UPDATE][s].ps,
                               f * (double)all.costs->purpose[PP_FOR_UPDATE][s].ps, 1);
        }
        for (int stream = PP_COPY_DOWN; stream <= PP_COPY_UP; stream++)
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, 0, stream),
                               f * pp_tiers_copied_bytes(&all, 0, stream), 1);
        cr_assert_lt(r.metrics.iteration_s, all.metrics.iteration_s);
    }
}
