#include "sim/import/step_log.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static enum pp_status parse(struct pp_arena *arena, const char *text, int skip,
                            struct pp_step_log *log, struct pp_error *err)
{
    return pp_step_log_parse(arena, "t", text, strlen(text), skip, log, err);
}

#define MS(n) "iteration 1/9 | elapsed time per iteration (ms): " n " | lr: 1 |\n"

Test(step_log, forms)
{
    static const struct {
        const char *text;
        int count;
        double median_s, flops, batch;
    } cases[] = {
        {MS("1500.0"), 1, 1.5, (double)NAN, (double)NAN},
        {"x\n[2025] iteration 1/ 9 | elapsed time per iteration (ms): 250.5 | throughput per GPU "
         "(TFLOP/s/GPU): 80.2 | global batch size:   128 |\nStep Time : 9.00s GPU utilization: 3\n",
         1, 0.2505, 80.2e12, 128},
        {"elapsed time per iteration (s): 5.87 | TFLOPs: 140.5 |", 1, 5.87, 140.5e12, (double)NAN},
        {"Training epoch 0, iteration 0/9 | global_batch_size: 8 | train_step_timing in s: 2.5 |\n",
         1, 2.5, (double)NAN, 8},
        {"Epoch 0: 1/9, train_step_timing in s=3.5]\rEpoch 0: 2/9, train_step_timing in s=3.0]\r",
         2, 3, (double)NAN, (double)NAN},
        {"Step Time : 1.25s GPU utilization: 412.3MODEL_TFLOP/s/GPU\n", 1, 1.25, 412.3e12,
         (double)NAN},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_step_log log;
        cr_assert_eq(parse(arena, cases[k].text, -1, &log, &err), PP_OK, "%zu: %s", k, err.message);
        cr_assert_eq(log.count, cases[k].count, "%zu: %d", k, log.count);
        cr_assert_float_eq(log.median_s, cases[k].median_s, 1e-12, "%zu: %g", k, log.median_s);
        cr_assert(isnan(cases[k].flops)
                      ? isnan(log.flops_per_s_per_gpu)
                      : fabs(log.flops_per_s_per_gpu / cases[k].flops - 1) < 1e-12,
                  "%zu: %g", k, log.flops_per_s_per_gpu);
        cr_assert(isnan(cases[k].batch) ? isnan(log.global_batch)
                                        : log.global_batch == cases[k].batch,
                  "%zu", k);
    }
}

/* The first line is warm-up, and those after it that are longer than what follows, unless said. */
Test(step_log, warm_up)
{
    static const struct {
        const char *text;
        int skip, skipped;
        double median_s, longest_s;
    } cases[] = {
        {MS("9000") MS("2000") MS("1100") MS("1010") MS("1000") MS("1000") MS("1020") MS("1000"),
         -1, 2, 1.005, 9},
        {MS("9000") MS("2000") MS("1100") MS("1010") MS("1000") MS("1000") MS("1020") MS("1000"), 0,
         0, 1.015, 0},
        {MS("1000") MS("1000") MS("5000") MS("1000"), -1, 1, 1, 1},
        {MS("4000") MS("3000") MS("2000") MS("1000"), -1, 2, 1.5, 4},
        {MS("4000") MS("3000") MS("2000") MS("1000"), 3, 3, 1, 4},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_step_log log;
        cr_assert_eq(parse(arena, cases[k].text, cases[k].skip, &log, &err), PP_OK, "%s",
                     err.message);
        cr_assert_eq(log.skipped, cases[k].skipped, "%zu: %d", k, log.skipped);
        cr_assert_float_eq(log.median_s, cases[k].median_s, 1e-12, "%zu: %g", k, log.median_s);
        cr_assert_float_eq(log.longest_skipped_s, cases[k].longest_s, 1e-12, "%zu", k);
    }
}

Test(step_log, what_is_no_log_is_refused)
{
    static const struct {
        const char *text, *why;
        int skip;
    } cases[] = {
        {"", "t: no line says", -1},
        {"iteration 1 took long\n", "t: no line says", -1},
        {"elapsed time per iteration (ms) 5\n", "t: no line says", -1},
        {MS("5") MS("nan"), "t:2: 'nan | lr: 1 |' after", -1},
        {MS("-5"), "t:1: '-5 | lr: 1 |' after", -1},
        {MS("1e300"), "is not the time of a step", -1},
        {MS("5"), "t has 1 line with the time of a step: --skip-steps 1 leaves none", 1},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        struct pp_step_log log;
        cr_assert_eq(parse(arena, cases[k].text, cases[k].skip, &log, &err), PP_EINVAL, "%zu", k);
        cr_assert_not_null(strstr(err.message, cases[k].why), "%zu: %s", k, err.message);
    }
}
