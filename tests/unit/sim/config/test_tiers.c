/* Offloading: what no offloading may do to a run. */
#include "core/units.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/sim_run.h"

#include <math.h>
#include <string.h>

#define BASE                                                                                       \
    "--model gpt-7.5b --gpus 16 --tp 2 --pp 4 --dp 2 --cp 1 --mbs 1 --micro-batches 8 "            \
    "--engine dag "

static struct pp_result run_recomputed(struct pp_arena *arena, const char *schedule,
                                       const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, BASE "--schedule %s %s", schedule, flags);

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

static struct pp_result run(struct pp_arena *arena, const char *schedule, const char *flags)
{
    return run_recomputed(arena, schedule, pp_arena_printf(arena, "--recompute none %s", flags));
}

static double peak(const struct pp_result *r, int rank)
{
    return r->memory[rank].peak_bytes;
}

/* Is false where an order was searched by costs, and differs. */
static bool is_same_order(const struct pp_result *a, const struct pp_result *b)
{
    const struct pp_program *p = a->program, *q = b->program;
    const size_t size = (size_t)pp_program_size(p);

    return pp_program_size(q) == pp_program_size(p) && !memcmp(p->kind, q->kind, size) &&
           !memcmp(p->stage, q->stage, size * sizeof *p->stage) &&
           !memcmp(p->mb, q->mb, size * sizeof *p->mb);
}

static const char *const schedules[] = {
    "gpipe", "1f1b",    "interleaved --vp 2", "bfs --vp 2", "zb-h1",         "zb-h2",
    "zbv",   "chimera", "dualpipe",           "v-half",     "hanayo --vp 2", "seq1f1b"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

Test(tiers, offloading_never_takes_more_of_the_device)
{
    static const char *const more[] = {"", "--offload a=host", "--offload a=host,os=host",
                                       "--offload a=nvme,os=nvme",
                                       "--offload p=nvme,a=nvme,os=nvme"};

    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result last = run(arena, schedules[s], more[0]);
        for (int k = 1; k < 5; k++) {
            const struct pp_result r = run(arena, schedules[s], more[k]);
            for (int rank = 0; rank < r.program->ranks; rank++)
                cr_assert_leq(peak(&r, rank), peak(&last, rank), "%s %s rank %d", schedules[s],
                              more[k], rank);
            last = r;
        }
    }
}

#define BY_LAYER " --offload-unit layer"

/* Blocks that leave while the next one computes never take more than a forward that leaves whole.
 */
Test(tiers, layers_never_take_more_of_the_device_than_ops)
{
    static const char *const recomputed[] = {"none", "selective", "full", "stage-aware=0.6"},
                             *const homes[] = {"a=host", "a=nvme:40%", "p=host,a=host",
                                               "a=host --act-bits 4"};
    enum { LEVELS = PP_COUNT(recomputed), HOMES = PP_COUNT(homes) };

    for (size_t k = 0; k < SCHEDULES * LEVELS * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES / LEVELS],
                   *flags = pp_arena_printf(arena, "--zero 1 --recompute %s --offload %s",
                                            recomputed[k / HOMES % LEVELS], homes[k % HOMES]);
        const struct pp_result op = run_recomputed(arena, schedule, flags),
                               layer = run_recomputed(arena, schedule,
                                                      pp_arena_printf(arena, "%s" BY_LAYER, flags));
        for (int rank = 0; rank < op.program->ranks; rank++)
            if (is_same_order(&op, &layer))
                cr_assert_leq(peak(&layer, rank), peak(&op, rank), "%s %s rank %d", schedule, flags,
                              rank);
    }
}

/* With one micro-batch a stage of n blocks holds two of them. A pass lasts as long as one block and
 * the copies of the others, if its compute is shorter. */
Test(tiers, layers_of_one_micro_batch_by_hand)
{
    enum { BLOCKS = 12 };
    static const double rates[] = {1e9, 25e9, 1e15};
    static const int kinds[] = {PP_F, PP_B};
    const char *line = "--schedule 1f1b --gpus 1 --pp 1 --model gpt-7.5b --layers 12 --mbs 1 "
                       "--micro-batches 1 --engine dag --recompute none --zero 0 --head ignored "
                       "--cluster a100\th2d:%gGBps\tram:1000TB@1e9GBps\tuplink:%gGBps%s";

    for (size_t i = 0; i < PP_COUNT(rates); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result here, away;
        struct pp_error err = {0};
        const double rate = rates[i] / 1e9;
        cr_assert_eq(sim_run(arena, pp_arena_printf(arena, line, rate, rate, ""), &here, &err),
                     PP_OK, "%s", err.message);
        cr_assert_eq(sim_run(arena,
                             pp_arena_printf(arena, line, rate, rate, " --offload a=host" BY_LAYER),
                             &away, &err),
                     PP_OK, "%s", err.message);
        const double bytes = here.costs->memory[0].saved_bytes,
                     inner = bytes * (BLOCKS - 1) / BLOCKS, step_s = here.metrics.iteration_s;
        double expected_s = step_s;
        for (size_t k = 0; k < PP_COUNT(kinds); k++) {
            const double s = pp_units_s(here.costs->op[kinds[k]][0].ps);
            expected_s += fmax(0, s / BLOCKS + inner / rates[i] - s);
        }
        cr_expect_float_eq(away.metrics.iteration_s, expected_s, 1e-10 * step_s);
        cr_expect_float_eq(away.metrics.moves_frac[PP_STATE_ACTIVATIONS] * away.metrics.iteration_s,
                           expected_s - step_s, 1e-9 * step_s);
        cr_expect_float_eq(peak(&here, 0) - peak(&away, 0), bytes * (BLOCKS - 2) / BLOCKS, 2);
        cr_expect_float_eq(away.memory[0].away_bytes[PP_TIER_HOST], inner, 1);
        for (int stream = 0; stream <= PP_COPY_UP; stream++)
            cr_expect_float_eq(pp_tiers_copied_bytes(&away, 0, stream), inner, 1);
    }
}

/* Fewer bits never raise the peak of a rank. Schedules have whole and split backwards. Precision,
 * framework, recomputation and the home of activations vary. */
Test(tiers, bits_never_take_more_of_the_device)
{
    static const char *const machines[] = {"--cluster a100 --precision bf16",
                                           "--cluster v100-dgx1 --precision fp32",
                                           "--cluster v100-dgx1 --framework autocast",
                                           "--cluster h100 --precision fp8 --framework megatron",
                                           "--cluster gb200 --precision nvfp4 --framework nemo",
                                           "--cluster a100 --framework deepspeed",
                                           "--cluster h100 --framework fsdp --head parallel"},
                             *const recomputed[] = {"none", "selective", "full", "stage-aware=0.6"},
                             *const homes[] = {"", "--offload a=host", "--offload a=nvme:40%",
                                               "--offload a=host" BY_LAYER},
                             *const bits[] = {"", "--act-bits 8", "--act-bits 4", "--act-bits 2"};
    enum { MACHINES = PP_COUNT(machines), LEVELS = PP_COUNT(recomputed), BITS = PP_COUNT(bits) };

    for (size_t k = 0; k < SCHEDULES * MACHINES * LEVELS; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / LEVELS / MACHINES];
        struct pp_result last = {0};
        for (size_t b = 0; b < BITS; b++) {
            const char *flags = pp_arena_printf(
                arena, "%s --zero 1 --recompute %s %s %s", machines[k / LEVELS % MACHINES],
                recomputed[k % LEVELS], homes[k % 7 % PP_COUNT(homes)], bits[b]);
            const struct pp_result r = run_recomputed(arena, schedule, flags);
            for (int rank = 0; b > 0 && rank < r.program->ranks; rank++)
                if (is_same_order(&r, &last))
                    cr_assert_leq(peak(&r, rank), peak(&last, rank), "%s %s rank %d", schedule,
                                  flags, rank);
            cr_assert_not(pp_program_has_kind(r.program, PP_Q));
            last = r;
        }
    }
}

/* A wide head is all in full while it runs. Where blocks leave one by one, little else is here. */
Test(tiers, bits_never_take_more_of_the_device_where_blocks_leave_one_by_one)
{
    static const char *const recomputed[] = {"none", "full", "stage-aware=0.6", "full,skip"},
                             *const homes[] = {"a=host", "a=nvme:40%"},
                             *const bits[] = {"--act-bits 8", "--act-bits 4", "--act-bits 2"};
    enum { LEVELS = PP_COUNT(recomputed), HOMES = PP_COUNT(homes) };

    for (size_t k = 0; k < SCHEDULES * LEVELS * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES / LEVELS],
                   *flags =
                       pp_arena_printf(arena, "--vocab 200000 --recompute %s --offload %s" BY_LAYER,
                                       recomputed[k / HOMES % LEVELS], homes[k % HOMES]);
        const struct pp_result whole = run_recomputed(arena, schedule, flags);
        for (size_t b = 0; b < PP_COUNT(bits); b++) {
            const struct pp_result r =
                run_recomputed(arena, schedule, pp_arena_printf(arena, "%s %s", flags, bits[b]));
            for (int rank = 0; rank < r.program->ranks; rank++)
                if (is_same_order(&r, &whole))
                    cr_assert_leq(peak(&r, rank), peak(&whole, rank), "%s %s %s rank %d", schedule,
                                  flags, bits[b], rank);
        }
    }
}

/* Mesa's authors measured 1,858 of 4,171, 3,840 of 8,459 and 8,616 of 17,691 MB (their README). */
Test(tiers, bits_on_images_as_mesa_measured_them)
{
    static const struct {
        const char *model;
        double frac;
    } rows[] = {{"deit-ti", 0.445}, {"deit-s", 0.454}, {"deit-b", 0.487}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        double bytes[2];
        for (int k = 0; k < 2; k++) {
            struct pp_result r;
            struct pp_error err = {0};
            const char *line = pp_arena_printf(
                arena,
                "--schedule 1f1b --gpus 1 --pp 1 --cluster v100-dgx1 --mbs 128 --micro-batches 1 "
                "--recompute none --engine dag --framework autocast --model %s%s",
                rows[i].model, k ? " --act-bits 8" : "");
            cr_assert_eq(sim_run(arena, line, &r, &err), PP_OK, "%s", err.message);
            bytes[k] = peak(&r, 0);
        }
        cr_expect_float_eq(bytes[1] / bytes[0], rows[i].frac, 0.03, "%s: %.4f", rows[i].model,
                           bytes[1] / bytes[0]);
    }
}

/* Half of what is saved moves half of the bytes, and leaves the other half. */
Test(tiers, a_share_moves_that_share)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result none = run(arena, "1f1b", ""),
                           half = run(arena, "1f1b", "--offload a=host:50%"),
                           all = run(arena, "1f1b", "--offload a=host");

    for (int rank = 0; rank < 4; rank++) {
        const double here = peak(&none, rank), away = peak(&all, rank);
        cr_assert_float_eq(2 * pp_tiers_copied_bytes(&half, rank, 0),
                           pp_tiers_copied_bytes(&all, rank, 0), 1e3);
        cr_assert_float_eq(2 * half.memory[rank].away_bytes[PP_TIER_HOST],
                           all.memory[rank].away_bytes[PP_TIER_HOST], 1e3);
        cr_assert_float_eq(peak(&half, rank), (here + away) / 2, 1e3, "rank %d", rank);
    }
}

/* The same compute, with and without instructions that take no time. */
Test(tiers, copies_that_take_no_time_change_no_step)
{
    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result here = run(arena, schedules[s], "--cluster a100"),
                               away = run(arena, schedules[s],
                                          "--offload p=host,a=host,os=host --cluster "
                                          "a100\tram:1000000TB@1000000000GBps\th2d:1000000000GBps");
        const struct pp_result layers =
            run(arena, schedules[s],
                "--offload a=host,os=host" BY_LAYER
                " --cluster a100\tram:1000000TB@1000000000GBps\th2d:1000000000GBps");
        cr_assert_float_eq(away.metrics.iteration_s, here.metrics.iteration_s,
                           1e-6 * here.metrics.iteration_s, "%s: %.12g %.12g", schedules[s],
                           away.metrics.iteration_s, here.metrics.iteration_s);
        cr_assert_float_eq(layers.metrics.iteration_s, here.metrics.iteration_s,
                           1e-6 * here.metrics.iteration_s, "%s: %.12g %.12g", schedules[s],
                           layers.metrics.iteration_s, here.metrics.iteration_s);
    }
}

/* A step lasts at least as long as what each device copies one way. */
Test(tiers, no_step_is_shorter_than_its_copies)
{
    static const char *const homes[] = {"a=host,os=host",        "p=host,os=host",
                                        "p=host,a=host",         "p=host,a=host,os=host",
                                        "p=host,a=host:10%",     "a=host,os=host" BY_LAYER,
                                        "p=host,a=host" BY_LAYER};
    enum { HOMES = sizeof homes / sizeof *homes };

    for (int k = 0; k < HOMES * SCHEDULES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES];
        const struct pp_result slow = run(
            arena, schedule,
            pp_arena_printf(arena, "--offload %s --cluster a100\th2d:0.5GBps", homes[k % HOMES]));
        double most = 0;
        for (int rank = 0; rank < slow.program->ranks; rank++)
            for (int stream = 0; stream <= PP_COPY_UP; stream++)
                most = fmax(most, pp_tiers_copied_bytes(&slow, rank, stream));
        cr_assert_gt(most, 0);
        cr_assert_geq(slow.metrics.iteration_s, most / 0.5e9, "%s %s: %g, %g", schedule,
                      homes[k % HOMES], slow.metrics.iteration_s, most / 0.5e9);
        cr_assert_leq(slow.metrics.time_frac[PP_TIME_MOVES], 1);
        cr_assert_gt(slow.metrics.time_frac[PP_TIME_MOVES], 0.3, "%s", schedule);
    }
}

/* What is on another tier over time begins and ends with the state, and peaks as reported. */
Test(tiers, memory_over_time_has_the_peak_of_each_tier)
{
    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r =
            run(arena, schedules[s],
                s % 2 ? "--offload a=host,os=nvme" : "--offload a=host,os=nvme" BY_LAYER);
        const struct pp_memory_changes c = pp_memory_changes(arena, r.program, r.costs);
        for (int rank = 0; rank < r.program->ranks; rank++) {
            double held = c.away_base_bytes[rank][PP_TIER_HOST], most = held;
            for (int i = r.program->begin[rank]; i < r.program->begin[rank + 1]; i++) {
                most = fmax(most, held += c.away_taken_bytes[i]);
                held -= c.away_given_bytes[i];
            }
            cr_assert_geq(most, held);
            cr_assert_eq(most, r.memory[rank].away_bytes[PP_TIER_HOST]);
            cr_assert_eq(held, c.away_base_bytes[rank][PP_TIER_HOST]);
            cr_assert_gt(r.memory[rank].away_bytes[PP_TIER_NVME], 0);
            cr_assert_eq(c.away_base_bytes[rank][PP_TIER_NVME],
                         r.memory[rank].away_bytes[PP_TIER_NVME]);
        }
    }
}

/* All of the state passes each way once a step. */
Test(tiers, state_moves_once_each_way)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, "1f1b", "--offload os=host"),
                           host = run(arena, "1f1b", "--offload os=host --cpu-optimizer");

    for (int rank = 0; rank < 4; rank++) {
        const double params = pp_cost_stage_params(&r.cost_inputs, rank);
        for (int stream = 0; stream <= PP_COPY_UP; stream++) {
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, rank, stream), 12 * params, 1);
            cr_assert_float_eq(pp_tiers_copied_bytes(&host, rank, stream), 2 * params, 1);
        }
    }
}

/* Both engines read the same costs. */
Test(tiers, both_engines_agree)
{
    static const char *const flags[] = {
        "--offload a=host,os=host",
        "--offload a=nvme,os=nvme --cpu-optimizer",
        "--act-bits 4 --offload a=host" BY_LAYER,
        "--offload p=host,os=host --cpu-optimizer",
        "--offload p=host,a=host,os=host --seq 512",
        "--offload p=host:50%,os=host:30% --cpu-optimizer",
        "--offload os=host --cpu-optimizer --update jit --schedule bfs --vp 2"};

    for (size_t k = 0; k < PP_COUNT(flags); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result dag, simgrid;
        struct pp_error err = {0};
        const char *line =
            pp_arena_printf(arena,
                            "%s--model gpt-7.5b --gpus 4 --tp 1 --pp 4 --dp 1 --cp 1 --mbs 1 "
                            "--micro-batches 8 --recompute none --cluster a100 %s --engine ",
                            strstr(flags[k], "--schedule") ? "" : "--schedule 1f1b ", flags[k]);
        cr_assert_eq(sim_run_at(arena, pp_arena_printf(arena, "%sdag", line), PP_QUICK, &dag, &err),
                     PP_OK, "%s", err.message);
        if (sim_run_at(arena, pp_arena_printf(arena, "%ssimgrid", line), PP_QUICK, &simgrid,
                       &err) != PP_OK)
            return; /* not built in */
        cr_assert_float_eq(dag.metrics.iteration_s, simgrid.metrics.iteration_s,
                           1e-4 * dag.metrics.iteration_s, "%s: %.12g %.12g", flags[k],
                           dag.metrics.iteration_s, simgrid.metrics.iteration_s);
    }
}

/* From two on, more buffers never make a step longer, whichever of compute, gathers and loads takes
 * longest. */
Test(tiers, more_buffers_never_make_a_step_longer)
{
    static const char *const rates[] = {"0.5GBps", "4GBps", "12GBps", "1000GBps"};
    static const char *const schedules_cut[] = {"gpipe", "1f1b", "interleaved --vp 2",
                                                "bfs --vp 2"};

    for (int k = 0; k < 4 * 4; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        double last_s = INFINITY;
        for (int buffers = 2; buffers <= 6; buffers++) {
            const struct pp_result r =
                run(arena, schedules_cut[k / 4],
                    pp_arena_printf(arena,
                                    "--zero 3 --offload p=host --gather-buffers %d --cluster "
                                    "a100\tram:1000TB@1000000GBps\th2d:%s",
                                    buffers, rates[k % 4]));
            cr_assert_leq(r.metrics.iteration_s, last_s * (1 + 1e-9), "%s %s, %d: %.9g, %.9g",
                          schedules_cut[k / 4], rates[k % 4], buffers, r.metrics.iteration_s,
                          last_s);
            last_s = r.metrics.iteration_s;
        }
    }
}
