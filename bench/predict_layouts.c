/* bench/predict_layouts.c — the error of predicted steps in other layouts than the measured one:
 * schedules, replicas, ZeRO stages, recomputation, tensor and expert parallelism. The clock is
 * virtual: CPU time, which other processes disturb only through shared caches. A row has two
 * machines, the calibrating one and the predicted one, that step in turn. So both meet the same
 * disturbances, and a difference is that of their layouts.
 *
 *   error    of the step predicted from the other layout
 *   in situ  of the step predicted from durations of the same steps: noise
 *   itself   of the calibrating layout, predicted from its own parts: noise, and sums of parts
 *   F ...    time of all ops of a kind, predicted / measured - 1
 *
 * Usage: bench_predict_layouts [ROUNDS [OPTION...]]: options for both machines of every row. */
#include "bench/bench.h"
#include "core/quantile.h"
#include "exec/cli.h"
#include "exec/resolve/config.h"

#include <math.h>
#include <string.h>

enum { WARMUP = 2, MOST_ROUNDS = 200, MOST_WORDS = 64, MOST_ROWS = 64 };

static int rounds = 16;
static char **more_options;
static int more_count;

/* ---- rows ------------------------------------------------------------------------------------ */

#define SMALL "--layers 8 --micro-batches 8 --seq 32 --mbs 2 --np 2 --no-check "
#define FULL  SMALL "--schedule 1f1b --recompute full "
static const struct {
    const char *measured, *predicted; /* predicted: without SMALL */
} rows[] = {
    {FULL, "--schedule 1f1b --dp 2"},
    {FULL, "--schedule 1f1b --dp 2 --zero 1"},
    {FULL, "--schedule 1f1b --dp 2 --zero 2"},
    {FULL, "--schedule 1f1b --dp 2 --zero 3"},
    {FULL, "--schedule 1f1b --dp 4 --zero 1"},
    {FULL, "--schedule gpipe --recompute full"},
    {FULL, "--schedule gpipe --recompute full --dp 2 --zero 3"},
    {FULL, "--schedule interleaved"},
    {FULL, "--schedule interleaved --recompute full --dp 2 --zero 2"},
    {FULL, "--schedule interleaved --dp 2 --zero 3"},
    {FULL, "--schedule zb-h1 --dp 2 --zero 3"},
    {FULL, "--schedule bfs --dp 2 --zero 3"},
    {FULL, "--schedule 1f1b --recompute stage-aware=0.5"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --dp 2"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --dp 2 --zero 1"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --dp 2 --zero 2"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --dp 2 --zero 3"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --dp 4 --zero 1"},
    {FULL "--tp 2 ", "--schedule gpipe --tp 2 --recompute full"},
    {FULL "--tp 2 ", "--schedule gpipe --tp 2 --recompute full --dp 2 --zero 3"},
    {FULL "--tp 2 ", "--schedule interleaved --tp 2"},
    {FULL "--tp 2 ", "--schedule interleaved --tp 2 --recompute full --dp 2 --zero 2"},
    {FULL "--tp 2 ", "--schedule interleaved --tp 2 --dp 2 --zero 3"},
    {FULL "--tp 2 ", "--schedule 1f1b --tp 2 --recompute stage-aware=0.5"},
    {FULL "--experts 4 --moe-ffn 128 ", "--schedule 1f1b --experts 4 --moe-ffn 128 --dp 2"},
    {FULL "--experts 4 --moe-ffn 128 ", "--schedule 1f1b --experts 4 --moe-ffn 128 --dp 2 --ep 2"},
    {FULL "--experts 4 --moe-ffn 128 ",
     "--schedule gpipe --experts 4 --moe-ffn 128 --dp 2 --ep 2 --recompute full"},
    {FULL "--experts 4 --moe-ffn 128 ",
     "--schedule interleaved --experts 4 --moe-ffn 128 --dp 2 --ep 2"},
};

/* ---- machines -------------------------------------------------------------------------------- */

struct side {
    const struct pp_exec_plan *plan;
    struct pp_training training;
    struct pp_machine *machine;
    struct pp_calibration *calibration;
    double step_s[MOST_ROUNDS], kind_s[PP_OP_KINDS][MOST_ROUNDS];
};

static void add_words(struct pp_arena *arena, const char *text, char **words, int *count)
{
    char *rest = pp_arena_strdup(arena, text);

    for (char *word; (word = strsep(&rest, " ")) != NULL && *count < MOST_WORDS - 1;)
        if (*word)
            words[(*count)++] = word;
}

/* Resolves a command line of pipeexec. */
static void open_side(struct pp_arena *arena, const char *first, const char *then,
                      struct side *side)
{
    char *words[MOST_WORDS] = {pp_arena_strdup(arena, "pipeexec")};
    int count = 1;
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    struct pp_exec_config *config = PP_NEW(arena, struct pp_exec_config);
    struct pp_exec_plan *plan = PP_NEW(arena, struct pp_exec_plan);
    struct pp_error err = {0};

    add_words(arena, first, words, &count);
    add_words(arena, then, words, &count);
    for (int k = 0; k < more_count && count < MOST_WORDS - 1; k++)
        words[count++] = more_options[k];
    must(pp_options_parse(arena, &pp_exec_cli, count, words, parsed, &err), &err);
    wish->request = (struct pp_request){.flags = parsed};
    pp_wish_bind(arena, &wish->request);
    must(pp_exec_resolve(arena, wish, NULL, config, &err), &err);
    must(pp_exec_plan_make(arena, wish, config, (struct pp_subject){.name = NULL}, plan, &err),
         &err);
    side->plan = plan;
    side->training = pp_exec_training(wish, config, plan);
    side->training.machine.kept_steps = 1;
    side->calibration = pp_calibration_create(arena, &plan->batch);
    must(pp_machine_create(arena, &side->training.machine, &side->machine, &err), &err);
}

static void note_kinds(struct side *side, int round)
{
    const struct pp_program *p = side->plan->program;
    const struct pp_step_times times =
        pp_machine_step_times(side->machine, pp_machine_kept(side->machine) - 1);

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; pp_op_is_compute(p->kind[i]) && r < times.replicas; r++)
            side->kind_s[p->kind[i]][round] +=
                1e-12 * (double)times.duration_ps[i * times.replicas + r];
}

/* Runs one step. Those of the warm-up are not noted. */
static void step(struct side *side, int k, bool has_probes)
{
    const int round = k - WARMUP;
    struct pp_step_result result;
    struct pp_error err = {0};

    pp_machine_probes(side->machine, has_probes);
    must(pp_machine_step(side->machine, &side->training.text, k, &result, &err), &err);
    if (round < 0)
        return;
    side->step_s[round] = result.step_s;
    note_kinds(side, round);
    pp_calibration_take(side->calibration, side->machine, &side->training.machine);
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* Predicts a step of `side` from durations of `from`: by part, or of whole ops (in situ). */
static struct pp_prediction predict(struct pp_arena *arena, const struct side *side,
                                    const struct side *from, bool by_part)
{
    struct pp_costs costs = *side->plan->costs;
    struct pp_prediction prediction;
    struct pp_error err = {0};

    must(pp_calibration_costs(from->calibration, side->plan->program,
                              by_part ? side->plan->stages : NULL, &costs, &err),
         &err);
    must(pp_predict(arena, side->plan->program, &costs,
                    (struct pp_replicas){.count = side->plan->batch.replicas}, &prediction, &err),
         &err);
    return prediction;
}

/* The largest difference between the last step and its evaluation with its own durations. */
static double structural_s(struct pp_arena *arena, const struct side *side)
{
    struct pp_replay replay;
    struct pp_error err = {0};

    must(pp_replay(arena, side->plan->program, side->plan->costs, pp_machine_times(side->machine),
                   0, pp_machine_step_times(side->machine, 0).duration_ps, &replay, &err),
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

struct errors {
    double error[MOST_ROWS], in_situ[MOST_ROWS], itself[MOST_ROWS], largest, structural_s;
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
    e->largest = fmax(e->largest, fabs(error));
    e->structural_s =
        fmax(e->structural_s, fmax(structural_s(arena, from), structural_s(arena, to)));
    pp_machine_destroy(from->machine);
    pp_machine_destroy(to->machine);
}

int main(int argc, char **argv)
{
    static struct errors e;

    if (argc > 1)
        rounds = atoi(argv[1]);
    if (rounds < 2 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "bench: error: '%s' rounds: expected 2 to %d\n", argv[1], MOST_ROUNDS);
        return PP_EINVAL;
    }
    more_options = argv + 2;
    more_count = argc > 2 ? argc - 2 : 0;
    printf("%s\npredicted from 1f1b, one replica that recomputes all, of the same tp and experts; "
           "%d rounds\n   ms/step     error   in situ    itself  layout; errors of kinds in %%\n",
           SMALL, rounds);
    for (size_t i = 0; i < PP_COUNT(rows); i++)
        measure(rows[i].measured, rows[i].predicted, &e);
    printf("errors without sign of %d rows: median %.2f %%, largest %.2f %%; in situ, median "
           "%.2f %%; itself, median %.2f %%\nlargest structural error: %g s\n",
           e.count, 100 * pp_median(e.error, e.count), 100 * e.largest,
           100 * pp_median(e.in_situ, e.count), 100 * pp_median(e.itself, e.count), e.structural_s);
    return 0;
}
