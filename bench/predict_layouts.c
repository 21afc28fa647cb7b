/* bench/predict_layouts.c — the error of predicted steps in other layouts than the measured one:
 * schedules, replicas, ZeRO stages, recomputation. Durations are those of 1f1b with as many devices
 * of a tensor-parallel group, and one replica that recomputes all. The clock is virtual: CPU time,
 * which other processes disturb through shared caches and cores. Each error is the median of
 * trials. `in situ` is the error with durations of the same run: what remains without a change of
 * layout. A structural error is that of a replay with each op's own duration. */
#include "bench/bench.h"
#include "core/quantile.h"
#include "tests/exec/run.h"

#include <math.h>

enum { TRIALS = 3, STEPS = 8, WARMUP = 3, RANKS = 2, MOST_ROWS = 64 };

static const struct exec_case layouts[] = {
    {.schedule = "1f1b", .replicas = 2},
    {.schedule = "1f1b", .replicas = 2, .zero = 1},
    {.schedule = "1f1b", .replicas = 2, .zero = 2},
    {.schedule = "1f1b", .replicas = 2, .zero = 3},
    {.schedule = "1f1b", .replicas = 4, .zero = 1},
    {.schedule = "1f1b", .replicas = 1, .is_recomputed = true},
    {.schedule = "gpipe", .replicas = 1, .is_recomputed = true},
    {.schedule = "gpipe", .replicas = 2, .zero = 3, .is_recomputed = true},
    {.schedule = "interleaved", .replicas = 1},
    {.schedule = "interleaved", .replicas = 2, .zero = 2, .is_recomputed = true},
};

static struct exec_case complete(struct exec_case c, int tp)
{
    c.shape = (struct pp_shape){.ranks = RANKS, .micro_batches = 4 * RANKS};
    c.mbs = 2;
    c.steps = STEPS;
    c.hidden = 128;
    c.heads = 4;
    c.seq = 32;
    c.vocab = 256;
    c.tp = tp;
    return c;
}

struct row {
    double step_s, error_frac, in_situ_frac, structural_s;
};

static struct row measure(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case measured = complete(
        (struct exec_case){.schedule = "1f1b", .replicas = 1, .is_recomputed = true}, c->tp);
    struct exec_run run, calibrating;
    struct pp_calibration *calibration;
    struct pp_prediction prediction;
    struct pp_error err = {0};

    must(exec_run_make(arena, &measured, &calibrating, &err), &err);
    must(pp_train_calibrate(arena, &calibrating.training, WARMUP, &calibration, &err), &err);
    must(exec_run_make(arena, c, &run, &err), &err);
    run.training.check = PP_CHECK_NONE;
    run.training.warmup = WARMUP;
    must(pp_train(arena, &run.training, &run.result, &err), &err);
    struct pp_costs costs = *run.training.machine.costs;
    must(pp_calibration_costs(calibration, run.program, run.training.machine.stages, &costs, &err),
         &err);
    must(pp_predict(arena, run.program, &costs, (struct pp_replicas){.count = c->replicas},
                    &prediction, &err),
         &err);
    return (struct row){.step_s = run.result.step_median_s,
                        .error_frac = prediction.step_s / run.result.step_median_s - 1,
                        .in_situ_frac = run.result.model_error_frac,
                        .structural_s = run.result.structural_error_s};
}

int main(void)
{
    double rows[MOST_ROWS], structural_s = 0, largest = 0;
    int count = 0;

    printf(
        "8 layers, hidden 128, %d ranks, %d micro-batches of 2; predicted from 1f1b, one replica "
        "that recomputes; medians of %d trials\n"
        "  tp  dp  zero  recompute  schedule      ms/step    error  in situ\n",
        RANKS, 4 * RANKS, TRIALS);
    for (int tp = 1; tp <= 2; tp++)
        for (size_t i = 0; i < PP_COUNT(layouts); i++) {
            const struct exec_case c = complete(layouts[i], tp);
            double error_frac[TRIALS], in_situ_frac[TRIALS], step_s[TRIALS];

            for (int trial = 0; trial < TRIALS; trial++) {
                const struct row row = measure(&c);
                error_frac[trial] = row.error_frac;
                in_situ_frac[trial] = row.in_situ_frac;
                step_s[trial] = row.step_s;
                structural_s = fmax(structural_s, row.structural_s);
            }
            const double error = pp_median(error_frac, TRIALS);
            printf("  %2d  %2d  %4d  %9s  %-12s %8.2f  %+6.2f %%  %+6.2f %%\n", tp, c.replicas,
                   c.zero, c.is_recomputed ? "full" : "none", c.schedule,
                   1e3 * pp_median(step_s, TRIALS), 100 * error,
                   100 * pp_median(in_situ_frac, TRIALS));
            fflush(stdout);
            rows[count++] = fabs(error);
            largest = fmax(largest, fabs(error));
        }
    printf("errors without sign: median %.2f %%, largest %.2f %% of %d rows\n"
           "largest structural error: %g s\n",
           100 * pp_median(rows, count), 100 * largest, count, structural_s);
    return 0;
}
