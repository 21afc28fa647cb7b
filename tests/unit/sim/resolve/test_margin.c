/* --memory-margin: automatic choices against all explicit ones. */
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

static const char *const MARGINS[] = {"0", "2%", "0.06", "15%", "40%", "70%"};
enum { MARGIN_COUNT = sizeof(MARGINS) / sizeof(*MARGINS), LINE_BYTES = 256 };

/* Runs a line of options; a refused one neither fits nor has a time. */
static struct pp_outcome outcome_of(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result *result = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0};

    if (sim_run_at(arena, line, PP_QUICK, result, &err) != PP_OK)
        return pp_outcome_refused(&err);
    const double peak_bytes = result->memory[result->peak_rank].peak_bytes,
                 room_bytes = pp_config_room_bytes(&result->config);
    cr_expect_eq(result->is_tight, result->fits && peak_bytes > room_bytes, "%s", line);
    return pp_outcome_of(result);
}

static bool has_room(const struct pp_outcome *outcome)
{
    return !outcome->is_refused && outcome->fits && !outcome->is_tight;
}

/* The choice of ZeRO stage and recomputation has room if any does, and plain if that has room. */
static int check_state(const char base[LINE_BYTES])
{
    static const char *const ALL[] = {"--zero 0 --recompute none", "--zero 1 --recompute none",
                                      "--zero 0 --recompute full", "--zero 1 --recompute full"};
    char line[2 * LINE_BYTES];
    bool is_any = false;
    const struct pp_outcome chosen = outcome_of(base);

    for (size_t i = 0; i < PP_COUNT(ALL); i++) {
        snprintf(line, sizeof(line), "%s %s", base, ALL[i]);
        const struct pp_outcome given = outcome_of(line);
        is_any |= has_room(&given);
        cr_expect(i > 0 || !has_room(&given) || chosen.peak_bytes == given.peak_bytes, "%s", line);
        cr_expect(chosen.fits || !given.fits, "%s", line);
    }
    cr_expect(!is_any || has_room(&chosen), "%s", base);
    return has_room(&chosen) ? 1 : chosen.fits ? 2 : 4;
}

Test(margin, the_state_leaves_it_free_if_any_can)
{
    static const char *const RUNS[] = {"llama3-8b --gpus 8 --tp 1 --pp 4",
                                       "llama3-8b --gpus 8 --tp 2 --pp 2",
                                       "llama2-13b --gpus 16 --tp 2 --pp 4"};
    char line[LINE_BYTES];
    int kinds = 0;

    for (size_t r = 0; r < PP_COUNT(RUNS); r++)
        for (int m = 0; m < MARGIN_COUNT; m++) {
            snprintf(line, sizeof(line),
                     "run --engine dag --schedule 1f1b --memory-margin %s "
                     "--model %s",
                     MARGINS[m], RUNS[r]);
            kinds |= check_state(line);
        }
    cr_expect_eq(kinds, 1 | 2, "%d", kinds); /* with room, and tight */
}

/* The quick planner's layout is the fastest that has room, else the fastest that fits. */
Test(margin, the_layout_leaves_it_free_if_any_can)
{
    enum { GPUS = 16 };
    char line[LINE_BYTES];

    for (int m = 0; m < MARGIN_COUNT; m++) {
        const int length = snprintf(line, sizeof(line),
                                    "run --engine dag --schedule 1f1b --model llama2-13b --gbs 64 "
                                    "--gpus %d --memory-margin %s",
                                    GPUS, MARGINS[m]);
        const struct pp_outcome chosen = outcome_of(line);
        for (int tp = 1; tp <= 8; tp *= 2)
            for (int pp = 2; tp * pp <= GPUS; pp *= 2) {
                snprintf(line + length, sizeof(line) - (size_t)length, " --tp %d --pp %d", tp, pp);
                const struct pp_outcome given = outcome_of(line);
                cr_expect(given.is_refused || !pp_outcome_is_better(&given, &chosen), "%s", line);
            }
    }
}
