/* What moves between memory tiers by class, and how long ranks wait for it. */
#define _GNU_SOURCE /* mkstemps */
#include "sim/config/copies.h"
#include "sim/config/tiers.h"
#include "sim/config/intensity.h"
#include "tests/unit/support/sim_run.h"
#include "traces/formats/formats.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const schedules[] = {"gpipe", "1f1b",    "interleaved --vp 2", "zb-h1",
                                        "zbv",   "chimera", "dualpipe",           "seq1f1b"};
static const char *const homes[] = {"a=host", "os=host", "os=host --cpu-optimizer", "p=host",
                                    "p=host,a=host,os=nvme"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules, HOMES = sizeof homes / sizeof *homes };

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

static struct pp_result run_at(struct pp_arena *arena, int k)
{
    return run(arena,
               pp_arena_printf(
                   arena,
                   "--schedule %s --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --engine dag "
                   "--recompute none --offload %s --cluster a100\th2d:1GBps",
                   schedules[k / HOMES], homes[k % HOMES]));
}

/* The parts of the wait are the wait, in the step and on each rank. */
Test(copies, waits_by_class_add_up)
{
    for (int k = 0; k < SCHEDULES * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run_at(arena, k);
        double frac = 0;
        for (int c = 0; c < PP_MOVE_CAUSES; c++)
            frac += r.metrics.moves_frac[c];
        cr_assert_float_eq(frac, r.metrics.time_frac[PP_TIME_MOVES], 1e-12);
        cr_assert_gt(frac, 0, "%s %s", schedules[k / HOMES], homes[k % HOMES]);
        for (int rank = 0; rank < r.program->ranks; rank++) {
            const struct pp_rank_times *t = &r.metrics.ranks[rank];
            double moves_s = 0;
            for (int c = 0; c < PP_MOVE_CAUSES; c++)
                moves_s += t->moves_s[c];
            cr_assert_float_eq(moves_s, t->part_s[PP_TIME_MOVES], 1e-12 * t->busy_s);
        }
    }
}

/* Also in a trace that is read from a file: cells say what is copied. Inner copies of an op, which
 * no cell names, do not move here. */
Test(copies, waits_by_class_survive_a_file)
{
    static const char *const offloads[] = {"a=host", "os=host --cpu-optimizer --update jit",
                                           "p,os=host --cpu-optimizer --gather chunk"};
    char path[] = "/tmp/pipesim-copies-XXXXXX.csv";
    const int fd = mkstemps(path, 4);

    cr_assert_geq(fd, 0);
    close(fd);
    for (size_t k = 0; k < PP_COUNT(offloads); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r =
            run(arena, pp_arena_printf(arena,
                                       "--schedule 1f1b --pp 4 --micro-batches 8 --model gpt-7.5b "
                                       "--engine dag --offload %s --cluster a100\th2d:1GBps",
                                       offloads[k]));
        struct pp_metrics again;
        struct pp_trace *read;
        struct pp_error err = {0};
        double frac = 0;
        cr_assert_eq(pp_trace_write(r.trace, path, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_trace_read(arena, path, &read, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_metrics_compute(arena, read, &again, &err), PP_OK, "%s", err.message);
        for (int c = 0; c < PP_MOVE_CAUSES; c++) {
            cr_expect_float_eq(again.moves_frac[c], r.metrics.moves_frac[c], 1e-9, "%s: %d: %g, %g",
                               offloads[k], c, again.moves_frac[c], r.metrics.moves_frac[c]);
            frac += again.moves_frac[c];
        }
        cr_expect_gt(frac, 0, "%s", offloads[k]);
    }
    unlink(path);
}

/* Only what moves is waited for, and the sum of all classes is what the streams carry. */
Test(copies, only_classes_that_move_have_bytes_and_waits)
{
    for (int k = 0; k < SCHEDULES * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run_at(arena, k);
        for (int rank = 0; rank < r.program->ranks; rank++) {
            struct pp_copied by_class[PP_STATE_CLASSES];
            double down_bytes = 0, up_bytes = 0;
            pp_copied_of_rank(r.program, r.costs, rank, by_class);
            for (int c = 0; c < PP_STATE_CLASSES; c++) {
                down_bytes += by_class[c].down_bytes;
                up_bytes += by_class[c].up_bytes;
                if (by_class[c].down_bytes + by_class[c].up_bytes == 0)
                    cr_assert_eq(r.metrics.ranks[rank].moves_s[c], 0);
            }
            cr_assert_eq(down_bytes, pp_tiers_copied_bytes(&r, rank, PP_COPY_DOWN));
            cr_assert_eq(up_bytes, pp_tiers_copied_bytes(&r, rank, PP_COPY_UP));
        }
    }
}

/* A run of many micro-batches is cut: all periods count. */
Test(copies, each_micro_batch_loads_as_much)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double up_bytes[3];

    for (int k = 0; k < 3; k++) {
        struct pp_copied by_class[PP_STATE_CLASSES];
        const struct pp_result r =
            run(arena,
                pp_arena_printf(arena,
                                "--schedule 1f1b --pp 4 --micro-batches %d --model gpt2 --engine "
                                "dag --no-alternatives --offload p=host --cluster a100",
                                100 * (k + 1)));
        pp_copied_of_rank(r.program, r.costs, pp_copied_most(r.program, r.costs), by_class);
        up_bytes[k] = by_class[PP_STATE_PARAMS].up_bytes;
    }
    cr_assert_gt(up_bytes[1], up_bytes[0]);
    cr_assert_float_eq(up_bytes[2] - up_bytes[1], up_bytes[1] - up_bytes[0], 1);
}

/* ---- work a byte ---------------------------------------------------------------------------- */

/* Rajbhandari et al. 2021, ZeRO-Infinity, section 4.2 and figure 3: a V100 reaches 70 TFLOP/s. */
Test(copies, efficiency_by_bandwidth)
{
    static const double flops_per_s = 70e12;
    const struct {
        enum pp_state_class class;
        double tokens, hidden, bytes_per_s, frac;
    } rows[] = {{PP_STATE_OPTIMIZER, 2048, 0, 1.5e12, .916},
                {PP_STATE_PARAMS, 1024, 0, 70e9, .506},
                {PP_STATE_GRADS, 1024, 0, 70e9, .506},
                {PP_STATE_ACTIVATIONS, 0, 2048, 2e9, .584}};

    for (size_t i = 0; i < PP_COUNT(rows); i++)
        cr_assert_float_eq(pp_intensity_efficiency(
                               pp_intensity_form(rows[i].class, rows[i].tokens, rows[i].hidden, 1),
                               rows[i].bytes_per_s, flops_per_s),
                           rows[i].frac, 5e-4);
}

/* A run loads parameters twice a micro-batch: 8 flops a parameter and token for 4 bytes, so twice
 * the form's flops a byte. Attention and the head add some. */
Test(copies, counted_work_follows_the_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int mbs = 1; mbs <= 8; mbs *= 2) {
        struct pp_copied by_class[PP_STATE_CLASSES];
        const struct pp_result r = run(
            arena, pp_arena_printf(
                       arena,
                       "--schedule 1f1b --gpus 1 --pp 1 --tp 1 --layers 40 --hidden 8192 --heads "
                       "64 --vocab 1024 --seq 512 --mbs %d --micro-batches 4 --recompute full "
                       "--engine dag --offload p=host,os=host --cpu-optimizer --cluster a100",
                       mbs));
        pp_copied_of_rank(r.program, r.costs, 0, by_class);
        const double counted = r.hardware_flops_per_step / (by_class[PP_STATE_PARAMS].up_bytes +
                                                            by_class[PP_STATE_PARAMS].down_bytes),
                     form = pp_intensity_form(PP_STATE_PARAMS, 512.0 * mbs, 8192, 1);
        cr_assert(counted / form > 2 && counted / form < 2.1, "%d: %g", mbs, counted / form);
    }
}
