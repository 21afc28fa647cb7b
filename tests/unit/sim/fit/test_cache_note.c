/* The note on a cache that could be larger, against the run that it promises. */
#include "sim/fit/fit.h"

#include "sim/config/gathers.h"
#include "sim/fit/change.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(struct pp_arena *arena, const char *line, struct pp_result *result)
{
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_METRICS, result, &err), PP_OK, "%s: %s", line,
                 err.message);
}

/* Runs with the cache of the note load and need what it says. */
static void check(const char *line, int cached)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *given = pp_arena_printf(arena, "%s --cache %d", line, cached), *at;
    struct pp_result now, other;
    long long units, loads;
    double gib;

    run(arena, given, &now);
    const char *note = pp_cache_note(arena, &now);
    cr_assert_not_null(note, "%s", given);
    cr_assert_not_null((at = strstr(note, " = ")), "%s", note);
    cr_expect_eq(strtoll(at + 3, NULL, 10), pp_gathers_visits(&now, 0), "%s: %s", given, note);
    cr_assert_not_null((at = strstr(note, "--cache~")), "%s", note);
    cr_assert_eq(sscanf(at, "--cache~%lld would %*s %lld (%lf~GiB)", &units, &loads, &gib), 3, "%s",
                 note);
    cr_assert_gt(units, cached, "%s", note);
    run(arena, pp_arena_printf(arena, "%s --cache %lld", line, units), &other);
    cr_expect(other.fits, "%s: %s", given, note);
    cr_expect_eq(pp_gathers_visits(&other, 0), loads, "%s: %s", given, note);
    cr_expect_float_eq((pp_outcome_of(&other).peak_bytes - pp_outcome_of(&now).peak_bytes) /
                           1073741824.0,
                       gib, 0.051, "%s: %s", given, note);
    cr_expect_null(pp_cache_note(arena, &other), "%s: --cache %lld is not all", line, units);
}

Test(cache_note, a_larger_cache_loads_what_it_says)
{
    static const char *const lines[] = {
        "--schedule 1f1b --pp 1 --gpus 1 --model llama3-8b --layers 8 --micro-batches 4 --mbs 1 "
        "--cluster a100 --engine dag --offload p=host --gather 64MiB",
        "--schedule 1f1b --pp 1 --gpus 8 --model llama3-8b --zero 3 --mbs 1 --gbs 64 --cluster "
        "a100 "
        "--engine dag",
        "--schedule bfs --vp 6 --pp 1 --model bert-96 --gpus 1 --micro-batches 4 --mbs 8 --seq 512 "
        "--gather chunk --offload p=host,g=host,os=host --cpu-optimizer --engine dag",
        "--schedule 1f1b --pp 1 --gpus 1 --model llama2-13b --micro-batches 2 --mbs 1 --seq 2048 "
        "--cluster a100-40 --engine dag --offload p=host,g=host,os=host --cpu-optimizer",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int cached = 1; cached <= 5; cached += 2)
            check(lines[i], cached);
}

Test(cache_note, none_without_a_smaller_cache)
{
    static const char *const lines[] = {
        "--schedule 1f1b --pp 1 --gpus 8 --model llama3-8b --zero 3 --mbs 1 --gbs 64 --engine dag",
        "--schedule 1f1b --pp 1 --gpus 8 --model llama3-8b --zero 3 --mbs 1 --gbs 64 --engine dag "
        "--cache auto",
        "--schedule 1f1b --pp 1 --gpus 8 --model llama3-8b --zero 0 --mbs 1 --gbs 64 --engine dag",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result result;
        run(arena, lines[i], &result);
        cr_expect_null(pp_cache_note(arena, &result), "%s", lines[i]);
    }
}
