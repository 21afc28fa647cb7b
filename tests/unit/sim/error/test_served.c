/* Bands of runs that generate: published rows like them, and what is said without. */
#include "sim/error/band.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct pp_error_served bands_of(struct pp_arena *arena, const char *options)
{
    struct pp_result r;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, "--mode infer %s", options);

    cr_assert_eq(sim_run_at(arena, line, PP_MEMORY, &r, &err), PP_OK, "%s: %s", line, err.message);
    return pp_error_served_of(arena, &r.config);
}

Test(served, rows_like_a_run)
{
    static const struct {
        const char *options;
        enum pp_error_figure figure;
        int rows;
        const char *brief, *lacks;
    } CASES[] = {
        {"--model llama2-7b --cluster a100 --tp 1", PP_ERROR_FIRST_TOKEN, 9, "a100, TP 1", NULL},
        {"--model llama2-7b --cluster a100 --tp 1", PP_ERROR_LATENCY, 98, "a100", NULL},
        {"--model llama2-7b --cluster a100 --tp 2", PP_ERROR_LATENCY, 58, "a100, TP > 1", NULL},
        {"--model llama2-7b --cluster a100 --pp 2", PP_ERROR_TOKENS, 20, "a100", NULL},
        {"--model llama2-7b --cluster a100-40 --tp 2", PP_ERROR_LATENCY, 98, "ampere", NULL},
        {"--model gpt2 --cluster a100 --tp 1", PP_ERROR_LATENCY, 14, "a100, TP 1, below 2 B", NULL},
        {"--model llama2-7b --cluster h100 --tp 1", PP_ERROR_LATENCY, 98, "", "hopper"},
    };

    for (size_t i = 0; i < PP_COUNT(CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_error_served served = bands_of(arena, CASES[i].options);
        const struct pp_error_band *band = &served.band[CASES[i].figure];
        cr_assert_null(served.missing, "%s: %s", CASES[i].options, served.missing);
        cr_expect_eq(band->rows, CASES[i].rows, "%s: %d", CASES[i].options, band->rows);
        cr_expect_str_eq(band->brief, CASES[i].brief);
        cr_expect_eq(!band->lacks, !CASES[i].lacks, "%s", CASES[i].options);
        cr_expect(!CASES[i].lacks || !strcmp(band->lacks, CASES[i].lacks));
        cr_expect(band->median_frac > 0 && band->median_frac < band->p90_frac);
    }
}

/* No published run is like these. */
Test(served, runs_without_a_band)
{
    static const struct {
        const char *options, *missing;
    } CASES[] = {{"--model mixtral-8x7b --cluster a100 --tp 2", "experts"},
                 {"--model llama2-7b --cluster a100 --tp 1 --weight-bits 4", "fewer bits"},
                 {"--model llama2-7b --cluster a100 --tp 1 --kv-bits 8", "fewer bits"},
                 {"--model llama2-7b --cluster a100 --tp 1 --offload kv=host", "other tiers"},
                 {"--model llama2-7b --cluster node:1,gpu:8,peak:1307TF,memory:192GB --tp 1",
                  "of this device"},
                 {"--model bert-large --cluster a100 --tp 1", "encoder"}};

    for (size_t i = 0; i < PP_COUNT(CASES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_error_served served = bands_of(arena, CASES[i].options);
        cr_assert_not_null(served.missing, "%s", CASES[i].options);
        cr_expect(strstr(served.missing, CASES[i].missing), "%s", served.missing);
        for (int figure = 0; figure < PP_ERROR_FIGURES; figure++) {
            cr_expect_eq(served.band[figure].rows, 0);
            cr_expect(isnan(served.band[figure].median_frac));
        }
    }
}
