/* bench/predict.c — the error of predicted steps, with durations measured on another schedule. It
 * runs every executable schedule. The baseline predictor knows only the mean work of a rank and the
 * closed form of the bubble. The clock is virtual: CPU time, which other processes disturb only
 * through shared caches. */
#include "bench/bench.h"
#include "core/quantile.h"
#include "schedules/order/formula.h"
#include "schedules/registry.h"
#include "tests/exec/run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { TRIALS = 3, STEPS = 6, MOST_ROWS = 128 };

static struct exec_case case_of(const struct pp_schedule *schedule, int ranks)
{
    struct exec_case c = {.schedule = schedule->name,
                          .shape = {.ranks = ranks, .micro_batches = 2 * ranks},
                          .replicas = 1,
                          .mbs = 4,
                          .steps = STEPS,
                          .hidden = 128,
                          .heads = 4,
                          .seq = 64,
                          .vocab = 256,
                          .layers = 2 * ranks};

    return c;
}

struct row {
    const char *other; /* that the durations were measured on */
    double step_s, in_situ_frac, model_frac, null_frac, structural_s;
};

/* Another schedule with as many sequence splits. */
static struct exec_case other_of(const struct exec_case *c, int splits)
{
    const char *name = splits > 1 ? "bfs" : strcmp(c->schedule, "1f1b") ? "1f1b" : "gpipe";
    struct exec_case other = case_of(pp_schedule_find(name), c->shape.ranks);

    other.shape.splits = splits > 1 ? splits : 0;
    return other;
}

/* One training run of `c`, predicted from its own warm-up steps, then from another schedule. */
static bool measure(const struct exec_case *c, struct row *row)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run, calibrating;
    struct pp_calibration *calibration;
    struct pp_error err = {0};

    if (exec_run_make(arena, c, &run, &err) != PP_OK)
        return false;
    const struct exec_case other = other_of(c, run.program->splits);
    must(exec_run_make(arena, &other, &calibrating, &err), &err);
    row->other = other.schedule;
    must(pp_train_calibrate(arena, &calibrating.training, 2, &calibration, &err), &err);
    run.training.check = PP_CHECK_NONE;
    run.training.warmup = 2;
    must(pp_train(arena, &run.training, &run.result, &err), &err);
    row->step_s = run.result.step_median_s;
    row->in_situ_frac = run.result.model_error_frac;
    row->structural_s = run.result.structural_error_s;

    struct pp_costs costs = *run.training.machine.costs;
    struct pp_prediction prediction;
    must(pp_calibration_costs(calibration, run.program, run.training.machine.stages, &costs, &err),
         &err);
    must(
        pp_predict(arena, run.program, &costs, (struct pp_replicas){.count = 1}, &prediction, &err),
        &err);
    row->model_frac = prediction.step_s / row->step_s - 1;
    row->null_frac =
        pp_formula_step_s(run.program, run.training.schedule, &costs) / row->step_s - 1;
    return true;
}

/* Errors without sign, of every run. */
struct errors {
    double frac[MOST_ROWS * TRIALS];
    double largest_frac; /* of the medians of rows */
};
struct totals {
    struct errors model, in_situ, null;
    double structural_s;
    int runs, rows;
};

/* The median of a row, with its sign. */
static double take_row(struct errors *errors, int first, double frac[TRIALS])
{
    for (int trial = 0; trial < TRIALS; trial++)
        errors->frac[first + trial] = fabs(frac[trial]);
    const double median = pp_median(frac, TRIALS);
    errors->largest_frac = fmax(errors->largest_frac, fabs(median));
    return median;
}

static void print_row(const struct exec_case *c, struct totals *t)
{
    const char *other = NULL;
    double step_s[TRIALS], model[TRIALS], in_situ[TRIALS], null[TRIALS];

    assert(t->rows < MOST_ROWS);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct row row;

        if (!measure(c, &row))
            return;
        other = row.other;
        step_s[trial] = row.step_s;
        model[trial] = row.model_frac;
        in_situ[trial] = row.in_situ_frac;
        null[trial] = row.null_frac;
        t->structural_s = fmax(t->structural_s, row.structural_s);
    }
    printf("  %5d  %-14s %-8s %9.2f   %+7.2f %%", c->shape.ranks, c->schedule, other,
           1e3 * pp_median(step_s, TRIALS), 100 * take_row(&t->model, t->runs, model));
    printf("  %+7.2f %%", 100 * take_row(&t->in_situ, t->runs, in_situ));
    printf("  %+7.2f %%\n", 100 * take_row(&t->null, t->runs, null));
    fflush(stdout);
    t->runs += TRIALS;
    t->rows++;
}

static void print_total(const char *name, struct errors *errors, int runs)
{
    printf("  %-9s  %7.2f %%  %7.2f %%\n", name, 100 * pp_median(errors->frac, runs),
           100 * errors->largest_frac);
}

int main(void)
{
    static struct totals t;

    printf(
        "prediction of a step: 2 P layers, hidden 128, seq 64, 2 P micro-batches of 4; medians of "
        "%d runs\n"
        "  ranks  schedule       measured   ms/step   predicted   in situ    null\n"
        "                        on\n",
        TRIALS);
    for (int ranks = 4; ranks <= 8; ranks *= 2)
        for (int i = 0; pp_schedules[i]; i++) {
            const struct exec_case c = case_of(pp_schedules[i], ranks);

            if (!pp_schedules[i]->is_simulated_only)
                print_row(&c, &t);
        }
    printf("errors without sign: median of %d runs, and the largest of %d rows\n", t.runs, t.rows);
    print_total("predicted", &t.model, t.runs);
    print_total("in situ", &t.in_situ, t.runs);
    print_total("null", &t.null, t.runs);
    printf("largest structural error: %g s\n", t.structural_s);
    return 0;
}
