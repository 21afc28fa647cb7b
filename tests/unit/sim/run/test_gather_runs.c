/* Whole runs with sharded state: what ZeRO publishes, and the same step from both engines. */
#include "sim/config/gathers.h"
#include "sim/run/links.h"
#include "tests/unit/support/sim_run.h"

#include "core/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_error err = {0};
    struct pp_result result;

    cr_assert_eq(sim_run_at(arena, line, PP_FULL, &result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return result;
}

/* Rajbhandari et al. 2020: figure 1 (7.5 B parameters, 64 devices), and section 7. There are 2 Psi
 * elements without sharding and with stages 1 and 2, 3 Psi with stage 3. Of the latter the unit
 * between forward and backward stays. */
Test(gather_runs, zero_holds_and_moves_what_its_paper_says)
{
    static const double expected_gb[] = {120, 31.4, 16.6, 1.9}, elements[] = {2, 2, 2, 3};

    for (int zero = 0; zero <= 3; zero++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run(
            arena, pp_arena_printf(arena,
                                   "--schedule 1f1b --params 7.5e9 --dp 64 --gpus 64 --pp 1 --tp 1 "
                                   "--mbs 1 --gbs 64 --recompute none --engine dag --zero %d",
                                   zero));
        const struct pp_rank_memory *m = &r.memory[0];
        const double gb = (m->params_bytes + m->grads_bytes + m->optimizer_bytes) / 1e9;
        double stays = 0;

        cr_assert_float_eq(gb, expected_gb[zero], 0.05, "ZeRO %d: %g GB", zero, gb);
        if (zero == 3) {
            const double last = pp_model_layer_params(&r.config.model, PP_LAYER_BLOCK) +
                                pp_model_layer_params(&r.config.model, PP_LAYER_HEAD);
            stays = last / pp_model_params(&r.config.model);
            cr_assert_eq(pp_gathers_visits(&r, 0), 2 * r.config.model.layers - 1);
        }
        cr_assert_float_eq(pp_gathers_elements(&r) + stays, elements[zero], 1e-9, "ZeRO %d: %g",
                           zero, pp_gathers_elements(&r));
    }
}

/* Of one class; in a plain step all of them are as busy as state makes them. */
static double nic_bytes(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_link_loads loads = pp_links_of(arena, r);

    for (int k = 0; k < loads.count; k++)
        if (!strcmp(loads.classes[k].name, "node*.nic*.up"))
            return loads.classes[k].bytes;
    return 0;
}

/* One stage, so that nothing else crosses nodes. A link carries all elements, in total and over
 * time, including those that ops gather and scatter inside. */
Test(gather_runs, links_carry_all_elements)
{
    double each_bytes = 0;

    for (int zero = 1; zero <= 3; zero++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r =
            run(arena,
                pp_arena_printf(arena,
                                "--schedule 1f1b --model gpt2-xl --dp 32 --gpus 32 --pp 1 --tp 1 "
                                "--mbs 1 --gbs 128 --recompute none --engine dag --zero %d",
                                zero));
        const double bytes = nic_bytes(arena, &r);
        const struct pp_link_inputs in = pp_link_inputs_of(&r);
        const struct pp_link_times times = pp_link_times(
            arena, &in, r.trace, (struct pp_link_choice){.bins = 7, .max_rows = 8, .max_alike = 8});

        each_bytes = zero == 1 ? bytes / pp_gathers_elements(&r) : each_bytes;
        cr_assert_float_eq(bytes / each_bytes, pp_gathers_elements(&r), 1e-6, "ZeRO %d: %g, %g",
                           zero, bytes / each_bytes, pp_gathers_elements(&r));
        for (int k = 0; k < times.count; k++) {
            double sum = 0;
            for (int bin = 0; bin < times.bins; bin++)
                sum += times.rows[k].bytes[bin];
            const double whole =
                times.rows[k].mean_frac * times.rows[k].bytes_per_s * r.metrics.iteration_s;
            cr_assert_float_eq(sum / whole, 1, 1e-6, "ZeRO %d, %s: %g of %g", zero,
                               times.rows[k].name, sum, whole);
        }
        cr_assert_gt(times.count, 0);
    }
}

/* Nothing is left of gathered copies, and a chunk at once needs more room than a layer. */
Test(gather_runs, both_engines_agree_and_memory_is_given_back)
{
    static const char *const states[] = {"--zero 3",
                                         "--zero 3 --gather chunk",
                                         "--zero 3 --gather-buffers 1",
                                         "--zero 2",
                                         "--shard p=4,os=8x2 --recompute full",
                                         "--shard p=2,g=4,os=4",
                                         "--shard os=8x2 --grad-sync eager",
                                         "--zero 3 --secondary 8",
                                         "--zero 3 --gather-buffers 3 --offload p=host",
                                         "--zero 1 --offload p=host:30%",
                                         "--zero 3 --gather chunk --offload p=nvme"},
                             *const schedules[] = {"1f1b", "bfs", "interleaved", "zb-h1",
                                                   "dualpipev"};
    double buffers[2] = {0};

    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            char *line = pp_arena_printf(arena,
                                         "--schedule %s --model gpt2-xl --gpus 128 --pp 4 --tp 1 "
                                         "--cluster a100 --mbs 1 --gbs 256 --no-alternatives %s "
                                         "--engine ",
                                         schedules[s], states[k]);
            const struct pp_result dag = run(arena, pp_arena_printf(arena, "%sdag", line)),
                                   sim = run(arena, pp_arena_printf(arena, "%ssimgrid", line));
            cr_assert(sim.metrics.iteration_s >= dag.metrics.iteration_s * (1 - 1e-12));
            cr_assert_float_eq(sim.metrics.iteration_s, dag.metrics.iteration_s,
                               0.02 * dag.metrics.iteration_s, "%s: %g, %g", line,
                               sim.metrics.iteration_s, dag.metrics.iteration_s);
            const struct pp_memory_changes c = pp_memory_changes(arena, dag.program, dag.costs);
            for (int rank = 0; rank < 4; rank++) {
                double left = 0;
                for (int i = dag.program->begin[rank]; i < dag.program->begin[rank + 1]; i++)
                    left += c.taken_bytes[i] - c.given_bytes[i];
                cr_assert_eq(left, 0, "%s rank %d: %g bytes", line, rank, left);
            }
            if (s == 0 && k < 2)
                buffers[k] = dag.memory[0].buffers_bytes;
        }
    cr_assert_lt(buffers[0], buffers[1]);
}

/* With more buffers a step takes no longer and a device holds no less, for an equal number of
 * gathers. From 2 to 3 it holds one more unit, where it has gathered two. */
Test(gather_runs, more_buffers_take_room_and_give_time)
{
    static const char *const schedules[] = {"1f1b", "bfs --vp 4", "interleaved --vp 4", "zb-h1",
                                            "dualpipev"},
                             *const units[] = {"layer", "chunk"};

    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (size_t u = 0; u < 2; u++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_result last;
            for (int k = 1; k <= 6; k++) {
                const struct pp_result r = run(
                    arena, pp_arena_printf(arena,
                                           "--schedule %s --model gpt2-xl --gpus 64 --pp 4 --tp 1 "
                                           "--cluster a100 --mbs 1 --gbs 128 --zero 3 --engine dag "
                                           "--no-alternatives --gather %s --gather-buffers %d",
                                           schedules[s], units[u], k));
                for (int rank = 0; k > 1 && rank < 4; rank++) {
                    cr_assert_eq(pp_gathers_visits(&r, rank), pp_gathers_visits(&last, rank));
                    cr_assert_geq(r.memory[rank].buffers_bytes, last.memory[rank].buffers_bytes,
                                  "%s %s, %d buffers", schedules[s], units[u], k);
                }
                if (k > 1)
                    cr_assert_leq(r.metrics.iteration_s, last.metrics.iteration_s * (1 + 1e-12),
                                  "%s %s, %d buffers", schedules[s], units[u], k);
                last = r;
            }
        }
}

/* Asynchronous schedules update a chunk several times a step. Each update has its own sums and
 * moves. Tensors that are moved back for a backward are no use of parameters. */
Test(gather_runs, asynchronous_updates_sum_and_move_anew)
{
    static const char *const states[] = {"--shard os=4", "--offload os=nvme,a=host --cpu-optimizer "
                                                         "--recompute selective --act-bits 4"},
                             *const schedules[] = {"pipedream", "pipedream-2bw"};

    for (size_t s = 0; s < sizeof schedules / sizeof *schedules; s++)
        for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_result r =
                run(arena, pp_arena_printf(arena,
                                           "--schedule %s --model gpt2-xl --gpus 32 --pp 4 --tp 1 "
                                           "--cluster a100 --mbs 1 --micro-batches 8 --engine dag "
                                           "--no-alternatives %s",
                                           schedules[s], states[k]));
            int updates = 0;
            for (int i = 0; i < pp_program_size(r.program); i++)
                updates += r.program->kind[i] == PP_U;
            cr_assert_gt(updates, 2 * 4, "%s %s: %d updates", schedules[s], states[k], updates);
        }
}

Test(gather_runs, what_cannot_be_is_refused)
{
    static const char *const rows[][2] = {
        {"--schedule chimera --pp 4 --shard p=8x4", "replicas of one pipeline, which has 16"},
        {"--schedule pipedream --pp 4 --zero 3", "nearest: --zero 1"},
        {"--schedule 1f1b --pp 4 --zero 1 --shard os=8", "exclude each other"},
        {"--schedule 1f1b --pp 4 --gather chunk", "--zero 3 or --shard p=AxB"},
        {"--schedule 1f1b --pp 4 --zero 2 --collectives flows", "--zero 0, --zero 1"},
        {"--schedule 1f1b --pp 4 --shard p=8x2 --secondary 8x2", "more coarsely"},
        {"--schedule 1f1b --pp 4 --shard p=5", "nearest: 4, 8"},
        {"--schedule 1f1b --pp 4 --shard p=8x2 --secondary 8 --offload p=host", "leave out one"},
        {"--schedule pipedream --pp 4 --offload p=nvme", "nearest: --offload os=nvme"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct pp_result result;
        const char *line =
            pp_arena_printf(arena, "%s --gpus 64 --tp 1 --model gpt2-xl --engine dag", rows[i][0]);

        cr_assert_eq(sim_run_at(arena, line, PP_QUICK, &result, &err), PP_EINVAL, "%s", line);
        cr_assert_not_null(strstr(err.message, rows[i][1]), "%s: %s", line, err.message);
    }
}
