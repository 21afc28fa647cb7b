/* bench/predict_layouts.c — the error of predicted steps in other layouts than the measured one:
 * schedules, replicas, ZeRO stages, recomputation, tensor and expert parallelism. The clock is
 * virtual: CPU time, which other processes disturb only through shared caches. A row has two
 * machines, the calibrating one and the predicted one, that step in turn. So both meet the same
 * disturbances, and a difference is that of their layouts. After each step, both layouts are
 * profiled with the weights of the calibrating machine.
 *
 *   error    of the step predicted from the other layout
 *   in situ  of the step predicted from durations of the same steps: noise
 *   itself   of the calibrating layout, predicted from its own parts: noise, and sums of parts
 *   F ...    time of all ops of a kind, predicted / measured - 1
 *
 * Usage: bench_predict_layouts [ROUNDS [OPTION...]]: options for both machines of every row. */
#include "bench/bench.h"
#include "core/quantile.h"
#include "exec/predict/profile.h"
#include "tests/exec/typed.h"

#include <math.h>
#include <string.h>

enum { WARMUP = 2, MOST_ROUNDS = 200, MOST_ROWS = 64, PROFILED = 4 };

static int rounds = 16;
static char **more_options;
static int more_count;

/* ---- rows ------------------------------------------------------------------------------------ */

#define SMALL "--layers 8 --micro-batches 8 --seq 32 --mbs 2 --np 2 --no-check "
#define FULL  SMALL "--schedule 1f1b --recompute full "
#define MIXED " --experts 4 --moe-ffn 128 "

/* Layouts that are predicted from 1f1b with one replica that recomputes all, and from a layout of
 * groups. */
static const char *const of_tp_1[] = {"--schedule 1f1b --dp 2",
                                      "--schedule 1f1b --dp 2 --zero 1",
                                      "--schedule 1f1b --dp 2 --zero 2",
                                      "--schedule 1f1b --dp 2 --zero 3",
                                      "--schedule 1f1b --dp 4 --zero 1",
                                      "--schedule gpipe --recompute full",
                                      "--schedule gpipe --recompute full --dp 2 --zero 3",
                                      "--schedule interleaved",
                                      "--schedule interleaved --recompute full --dp 2 --zero 2",
                                      "--schedule interleaved --dp 2 --zero 3",
                                      "--schedule zb-h1 --dp 2 --zero 3",
                                      "--schedule bfs --dp 2 --zero 3",
                                      "--schedule 1f1b --recompute stage-aware=0.5",
                                      NULL};
static const char *const of_tp_2[] = {
    "--schedule 1f1b --tp 2 --dp 2",
    "--schedule 1f1b --tp 2 --dp 2 --zero 1",
    "--schedule 1f1b --tp 2 --dp 2 --zero 2",
    "--schedule 1f1b --tp 2 --dp 2 --zero 3",
    "--schedule 1f1b --tp 2 --dp 4 --zero 1",
    "--schedule gpipe --tp 2 --recompute full",
    "--schedule gpipe --tp 2 --recompute full --dp 2 --zero 3",
    "--schedule interleaved --tp 2",
    "--schedule interleaved --tp 2 --recompute full --dp 2 --zero 2",
    "--schedule interleaved --tp 2 --dp 2 --zero 3",
    "--schedule zb-h1 --tp 2 --dp 2 --zero 3",
    "--schedule bfs --tp 2 --dp 2 --zero 3",
    "--schedule 1f1b --tp 2 --recompute stage-aware=0.5",
    NULL};
static const char *const of_experts[] = {"--schedule 1f1b" MIXED "--dp 2",
                                         "--schedule 1f1b" MIXED "--dp 2 --ep 2",
                                         "--schedule 1f1b" MIXED "--dp 2 --ep 2 --zero 2",
                                         "--schedule 1f1b" MIXED "--dp 2 --ep 2 --zero 3",
                                         "--schedule gpipe" MIXED "--dp 2 --ep 2 --recompute full",
                                         "--schedule interleaved" MIXED "--dp 2 --ep 2",
                                         "--schedule zb-h1" MIXED "--dp 2 --ep 2",
                                         "--schedule 1f1b" MIXED "--dp 4 --ep 4",
                                         NULL};
static const struct {
    const char *name, *measured;
    const char *const *predicted; /* without SMALL; NULL ends */
} tables[] = {
    {"--tp 1 from --tp 1", FULL, of_tp_1},
    {"--tp 2 from --tp 2", FULL "--tp 2", of_tp_2},
    {"--tp 2 from --tp 1", FULL, of_tp_2},
    {"--tp 1 from --tp 2", FULL "--tp 2", of_tp_1},
    {"--ep 2 and 4 from --ep 1", FULL MIXED, of_experts},
};

/* ---- machines -------------------------------------------------------------------------------- */

struct side {
    struct typed typed;
    struct pp_machine *machine;
    struct pp_calibration *calibration;
    struct pp_profile *profile;
    double step_s[MOST_ROUNDS], kind_s[PP_OP_KINDS][MOST_ROUNDS];
};

/* Resolves a command line of pipeexec. */
static void open_side(struct pp_arena *arena, const char *first, const char *then,
                      struct side *side)
{
    const char *line = pp_arena_printf(arena, "%s %s", first, then);
    struct pp_error err = {0};

    for (int k = 0; k < more_count; k++)
        line = pp_arena_printf(arena, "%s %s", line, more_options[k]);
    must(typed_resolve(arena, line, &side->typed, &err), &err);
    side->typed.training.machine.kept_steps = 1;
    side->calibration = pp_calibration_create(arena, &side->typed.plan->batch);
    must(pp_machine_create(arena, &side->typed.training.machine, &side->machine, &err), &err);
    must(pp_profile_create(arena, &side->typed.training.machine, &side->profile, &err), &err);
}

static void note_kinds(struct side *side, int round)
{
    const struct pp_program *p = side->typed.plan->program;
    const struct pp_step_times times =
        pp_machine_step_times(side->machine, pp_machine_kept(side->machine) - 1);

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; pp_op_is_compute(p->kind[i]) && r < times.replicas; r++)
            side->kind_s[p->kind[i]][round] +=
                1e-12 * (double)times.duration_ps[i * times.replicas + r];
}

/* Runs micro-batches of one layout after the other, with the weights of the measured one. */
static void profile(struct side *from, struct side *to, int k)
{
    const struct pp_profiled weights = {from->machine, &from->typed.training.machine};
    struct pp_error err = {0};

    for (int number = 0; number < PROFILED; number++) {
        must(pp_profile_run(from->profile, weights, &from->typed.training.text, k, number, &err),
             &err);
        must(pp_profile_run(to->profile, weights, &to->typed.training.text, k, number, &err), &err);
    }
}

/* Runs one step. Those of the warm-up are not noted. */
static void step(struct side *side, int k, bool has_probes)
{
    const int round = k - WARMUP;
    struct pp_step_result result;
    struct pp_error err = {0};

    pp_machine_probes(side->machine, has_probes);
    must(pp_machine_step(side->machine, &side->typed.training.text, k, &result, &err), &err);
    if (round < 0)
        return;
    side->step_s[round] = result.step_s;
    note_kinds(side, round);
    pp_calibration_take(side->calibration, side->machine, &side->typed.training.machine);
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* Predicts a step of `side` from durations of `from`: by part, or of whole ops (in situ). */
static struct pp_prediction predict(struct pp_arena *arena, const struct side *side,
                                    const struct side *from, bool by_part)
{
    const struct pp_calibration *calibration =
        by_part && from != side
            ? pp_calibration_of_layout(arena, from->calibration, from->profile, side->profile)
            : from->calibration;
    struct pp_costs costs = *side->typed.plan->costs;
    struct pp_prediction prediction;
    struct pp_error err = {0};

    must(pp_calibration_costs(calibration, side->typed.plan->program,
                              by_part ? side->typed.plan->stages : NULL, &costs, &err),
         &err);
    must(pp_predict(arena, side->typed.plan->program, &costs,
                    (struct pp_replicas){.count = side->typed.plan->batch.replicas}, &prediction,
                    &err),
         &err);
    return prediction;
}

/* The largest difference between the last step and its evaluation with its own durations. */
static double structural_s(struct pp_arena *arena, const struct side *side)
{
    struct pp_replay replay;
    struct pp_error err = {0};

    must(pp_replay(arena, side->typed.plan->program, side->typed.plan->costs,
                   pp_machine_times(side->machine), 0,
                   pp_machine_step_times(side->machine, 0).duration_ps, &replay, &err),
         &err);
    return fmax(fabs(replay.step_error_s), replay.event_error_s);
}

static double median_of(const double *values)
{
    double sorted[MOST_ROUNDS];

    memcpy(sorted, values, sizeof(double) * (size_t)rounds);
    return pp_median(sorted, rounds);
}

static void print_kinds(const struct side *side, const struct pp_prediction *prediction)
{
    static const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_R, PP_U};

    for (size_t k = 0; k < PP_COUNT(kinds); k++) {
        const struct pp_trace *trace = prediction->trace;
        const double measured_s = median_of(side->kind_s[kinds[k]]);
        double predicted_s = 0;

        for (int i = 0; i < trace->count; i++)
            if (trace->events[i].kind == kinds[k])
                predicted_s += trace->events[i].end_s - trace->events[i].start_s;
        if (measured_s > 0)
            printf("  %s %+.1f", pp_op_kinds[kinds[k]].text, 100 * (predicted_s / measured_s - 1));
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Without sign. */
struct errors {
    double error[MOST_ROWS], in_situ[MOST_ROWS], itself[MOST_ROWS], structural_s;
    int count;
};

static void measure(const char *measured, const char *predicted, struct errors *e)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct side *from = PP_NEW(arena, struct side), *to = PP_NEW(arena, struct side);

    open_side(arena, measured, "", from);
    open_side(arena, SMALL, predicted, to);
    for (int k = 0; k < WARMUP + rounds; k++) {
        step(from, k, k % 2 == 1);
        step(to, k, false);
        if (k >= WARMUP)
            profile(from, to, k);
    }
    const struct pp_prediction other = predict(arena, to, from, true);
    const double step_s = median_of(to->step_s), error = other.step_s / step_s - 1,
                 in_situ = predict(arena, to, to, false).step_s / step_s - 1,
                 itself = predict(arena, from, from, true).step_s / median_of(from->step_s) - 1;
    printf("  %8.2f  %+6.2f %%  %+6.2f %%  %+6.2f %%  %s\n%48s", 1e3 * step_s, 100 * error,
           100 * in_situ, 100 * itself, predicted, "");
    print_kinds(to, &other);
    putchar('\n');
    fflush(stdout);
    e->error[e->count] = fabs(error);
    e->in_situ[e->count] = fabs(in_situ);
    e->itself[e->count++] = fabs(itself);
    e->structural_s =
        fmax(e->structural_s, fmax(structural_s(arena, from), structural_s(arena, to)));
    pp_machine_destroy(from->machine);
    pp_machine_destroy(to->machine);
}

static double largest_of(const double *values, int count)
{
    double largest = 0;

    for (int k = 0; k < count; k++)
        largest = fmax(largest, values[k]);
    return largest;
}

/* Prints those of the rows from `first` on. */
static void print_errors(const char *name, struct errors e, int first)
{
    const int count = e.count - first;
    const double largest = largest_of(e.error + first, count);

    printf("%-24s %2d rows: median %.2f %%, largest %.2f %%; in situ, median %.2f %%; itself, "
           "median %.2f %%\n",
           name, count, 100 * pp_median(e.error + first, count), 100 * largest,
           100 * pp_median(e.in_situ + first, count), 100 * pp_median(e.itself + first, count));
}

int main(int argc, char **argv)
{
    static struct errors e;
    int first[PP_COUNT(tables)];

    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 2 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "bench: error: '%s' rounds: expected 2 to %d\n", argv[1], MOST_ROUNDS);
        return PP_EINVAL;
    }
    more_options = argv + 2;
    more_count = argc > 2 ? argc - 2 : 0;
    printf("%s\nfrom 1f1b, one replica that recomputes all; %d rounds\n   ms/step     error   in "
           "situ    itself  layout; errors of kinds in %%\n",
           SMALL, rounds);
    for (size_t t = 0; t < PP_COUNT(tables); t++) {
        first[t] = e.count;
        printf("%s\n", tables[t].name);
        for (const char *const *predicted = tables[t].predicted; *predicted; predicted++)
            measure(tables[t].measured, *predicted, &e);
    }
    printf("errors without sign\n");
    for (size_t t = 0; t < PP_COUNT(tables); t++) {
        struct errors part = e;
        part.count = t + 1 < PP_COUNT(tables) ? first[t + 1] : e.count;
        print_errors(tables[t].name, part, first[t]);
    }
    print_errors("all", e, 0);
    printf("largest structural error: %g s\n", e.structural_s);
    return 0;
}
