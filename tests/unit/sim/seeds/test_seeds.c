/* Steps with many seeds: each is the step of its own run, and memory in flight buys tolerance of
 * noise. */
#include "sim/seeds/seeds.h"
#include "sim/run/simulate.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

static const struct pp_seeds *seeds_of(struct pp_arena *arena, const char *line, int count)
{
    struct pp_result result;
    const struct pp_seeds *seeds = NULL;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_METRICS, &result, &err), PP_OK, "%s: %s", line,
                 err.message);
    cr_assert_eq(pp_seeds_run(arena, &result.config, count, &seeds, &err), PP_OK, "%s",
                 err.message);
    return seeds;
}

static double step_s(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_METRICS, &result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return result.metrics.iteration_s;
}

/* The line without its --order, which is followed by --seed. */
static const char *strict_line(struct pp_arena *arena, const char *line)
{
    const char *order = strstr(line, "--order");

    return pp_arena_printf(arena, "%.*s%s", (int)(order - line), line, strstr(line, "--seed"));
}

Test(seeds, are_runs_of_their_own)
{
    static const char *const lines[] = {
        "--schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2,C=0.1 --jitter 30% --order "
        "dynamic:2x",
        "--schedule zbv --pp 4 --micro-batches 8 --unit F=1,B=2 --jitter 10% --order arrival:2x",
        "--schedule interleaved --model gpt2-64 --pp 2 --tp 1 --dp 2 --micro-batches 4 --mbs 2 "
        "--zero 1 --recompute none --engine dag --jitter 20% --slow 1.1=0.8 --order dynamic:3x",
        "--schedule gpipe --model gpt2-64 --pp 2 --tp 1 --dp 2 --micro-batches 4 --mbs 2 "
        "--zero 1 --recompute none --engine dag --jitter 20%"};

    for (int i = 0; i < 4; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(arena, "run %s --seed 7", lines[i]);
        const struct pp_seeds *s = seeds_of(arena, line, 5);
        double sum = 0;
        cr_assert_eq(s->first, 7);
        for (int k = 0; k < 5; k++) {
            line = pp_arena_printf(arena, "run %s --seed %d", lines[i], 7 + k);
            cr_assert_eq(s->step_s[k], step_s(arena, line), "%s", line);
            cr_assert(s->step.least <= s->step_s[k] && s->step_s[k] <= s->step.greatest);
            sum += s->step_s[k];
            if (s->strict_s)
                cr_assert_eq(s->strict_s[k], step_s(arena, strict_line(arena, line)), "%s", line);
        }
        cr_assert_float_eq(s->step.mean, sum / 5, 1e-9 * sum);
        cr_assert_eq(s->strict_s == NULL, i == 3);
    }
}

/* The steps of 1F1B over those of the order, a mean over seeds; and the least for 20 %. */
Test(seeds, messages_in_flight_buy_tolerance_of_noise)
{
    static const struct {
        int pp, micro_batches;
        const char *c, *order, *jitter;
        double mean;
    } rows[] = {
        {8, 32, "0", "dynamic:2x", "10%", 1.034},   {8, 32, "0", "dynamic:2x", "20%", 1.062},
        {8, 32, "0", "dynamic:2x", "40%", 1.087},   {8, 32, "0.1", "dynamic:2x", "10%", 1.065},
        {8, 32, "0.1", "dynamic:2x", "20%", 1.088}, {8, 32, "0.1", "dynamic:2x", "40%", 1.105},
        {16, 64, "0", "dynamic:2x", "20%", 1.063},  {16, 64, "0.1", "dynamic:2x", "20%", 1.091},
        {8, 32, "0", "dynamic:1x", "10%", 1.000},   {8, 32, "0", "dynamic:1x", "20%", 0.994},
        {8, 32, "0", "dynamic:1x", "40%", 0.958}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(
            arena,
            "run --schedule 1f1b --pp %d --micro-batches %d --unit F=1,B=2,C=%s --order %s "
            "--jitter %s",
            rows[i].pp, rows[i].micro_batches, rows[i].c, rows[i].order, rows[i].jitter);
        const struct pp_seeds *s = seeds_of(arena, line, 100);
        cr_assert_float_eq(s->gain.mean, rows[i].mean, 0.01, "%s: %g", line, s->gain.mean);
        if (strcmp(rows[i].order, "dynamic:2x") != 0)
            continue;
        cr_assert_eq(s->slower, 0, "%s", line);
        cr_assert(strcmp(rows[i].jitter, "20%") != 0 || s->gain.least >= 1.03, "%s: %g", line,
                  s->gain.least);
    }
}

/* AxoNN's rule is slower than the strict order under noise, too. */
Test(seeds, arrival_is_slower_under_noise)
{
    static const char *const jitters[] = {"10%", "20%", "40%"};

    for (int i = 0; i < 3; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(arena,
                                           "run --schedule 1f1b --pp 8 --micro-batches 32 --unit "
                                           "F=1,B=2 --order arrival --jitter %s",
                                           jitters[i]);
        const struct pp_seeds *s = seeds_of(arena, line, 100);
        cr_assert(s->gain.mean > 0.90 && s->gain.mean < 0.96, "%s: %g", line, s->gain.mean);
    }
}
