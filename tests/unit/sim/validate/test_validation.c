/* Figures of a validation, against values by hand. */
#include "sim/validate/validate.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

enum { ROWS = 8 };
struct sample {
    struct pp_measurement measurements[ROWS];
    struct pp_validation_row rows[ROWS];
    struct pp_validation validation;
};

/* Three rows of family a, two of b, one of c without a measurement, a mixture, a skipped one. */
static void make_sample(struct sample *s)
{
    static const struct {
        const char *family, *skipped;
        double error, mfu;
        bool is_complete, is_mixture, is_oom, fits;
        int pp;
    } ROW[ROWS] = {
        {"a", NULL, 0.1, 0.4, true, false, false, true, 1},
        {"a", NULL, -0.2, 0.5, true, false, false, true, 2},
        {"a", NULL, 0.3, 0.6, true, false, false, false, 4},
        {"b", NULL, -0.05, 0.3, true, false, false, true, 1},
        {"b", NULL, 0.15, 0.2, false, false, false, true, 1},
        {"c", NULL, (double)NAN, (double)NAN, true, false, true, false, 2},
        {"c", NULL, 0.5, 0.1, true, true, false, true, 1},
        {"d", "missing: tp", (double)NAN, (double)NAN, true, false, false, false, 0},
    };

    for (int i = 0; i < ROWS; i++) {
        const double step_s = isnan(ROW[i].error) ? (double)NAN : 1;
        s->measurements[i] = (struct pp_measurement){.id = "x",
                                                     .family = ROW[i].family,
                                                     .step_s = step_s,
                                                     .mem_bytes = (double)NAN,
                                                     .is_out_of_memory = ROW[i].is_oom,
                                                     .is_complete = ROW[i].is_complete};
        s->rows[i] = (struct pp_validation_row){.row = &s->measurements[i],
                                                .skipped = ROW[i].skipped,
                                                .device = ROW[i].pp > 1 ? "two" : "one",
                                                .schedule = "1f1b",
                                                .precision = "bf16",
                                                .framework = "plain",
                                                .pp = ROW[i].pp,
                                                .is_mixture = ROW[i].is_mixture,
                                                .step_s = step_s,
                                                .prediction = {.fits = ROW[i].fits},
                                                .error_frac = ROW[i].error,
                                                .mem_error_frac = (double)NAN,
                                                .mfu = ROW[i].mfu,
                                                .baseline_error_frac = (double)NAN};
    }
    s->validation = (struct pp_validation){.rows = s->rows, .count = ROWS};
}

#define CLOSE(a, b) cr_assert(epsilon_eq(dbl, (a), (b), 1e-12))

Test(validation, errors_of_a_family)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct sample s;
    int count;

    make_sample(&s);
    const struct pp_validation_group *groups =
        pp_validation_by(arena, &s.validation, pp_validation_is_complete, PP_BY_FAMILY, &count);
    cr_assert(eq(int, count, 3)); /* c has a prediction, though no measurement */
    cr_assert(eq(int, groups[0].time.n, 3));
    CLOSE(groups[0].time.median_abs, 0.2);
    CLOSE(groups[0].time.p90_abs, 0.2 + 0.8 * 0.1);
    CLOSE(groups[0].time.mean_abs, 0.2);
    CLOSE(groups[0].time.bias, 0.1);
    CLOSE(groups[1].time.median_abs, 0.05);
    cr_assert(eq(int, groups[2].time.n, 0));
    CLOSE(pp_validation_median_of_families(arena, &s.validation, false, &count), (0.2 + 0.05) / 2);
    cr_assert(eq(int, count, 2));
}

Test(validation, filters)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct sample s;

    make_sample(&s);
    cr_assert(eq(int, pp_validation_all(arena, &s.validation, pp_validation_is_any, "").time.n, 6));
    cr_assert(
        eq(int, pp_validation_all(arena, &s.validation, pp_validation_is_complete, "").time.n, 4));
    cr_assert(
        eq(int, pp_validation_all(arena, &s.validation, pp_validation_is_pipelined, "").time.n, 2));
    const struct pp_validation_count count = pp_validation_count(&s.validation);
    cr_assert(eq(int, count.rows, ROWS));
    cr_assert(eq(int, count.predicted, ROWS - 1));
    cr_assert(eq(int, count.complete, ROWS - 1));
    cr_assert(eq(int, count.complete_predicted, ROWS - 2));
}

/* A row with an inferred setting is predicted, and counts in its own group alone. */
Test(validation, inferred_rows_count_apart)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct sample s;

    make_sample(&s);
    s.rows[1].inferred = "mbs 1";
    const struct pp_validation *v = &s.validation;
    cr_assert(eq(int, pp_validation_all(arena, v, pp_validation_is_any, "").time.n, 5));
    cr_assert(eq(int, pp_validation_all(arena, v, pp_validation_is_complete, "").time.n, 3));
    cr_assert(eq(int, pp_validation_all(arena, v, pp_validation_is_pipelined, "").time.n, 1));
    cr_assert(eq(int, pp_validation_all(arena, v, pp_validation_is_incomplete, "").time.n, 2));
    const struct pp_validation_group own =
        pp_validation_all(arena, v, pp_validation_is_inferred, "");
    cr_assert(eq(int, own.time.n, 1));
    CLOSE(own.time.bias, -0.2);
    const struct pp_validation_count count = pp_validation_count(v);
    cr_assert(eq(int, count.predicted, ROWS - 2));
    cr_assert(eq(int, count.inferred, 1));
    cr_assert(eq(int, count.complete_predicted, ROWS - 3));
}

/* The baseline of family a knows the medians 0.3 of b, none of c whose row has experts. */
Test(validation, one_mfu)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct sample s;

    make_sample(&s);
    pp_validation_baseline(arena, &s.validation);
    CLOSE(s.rows[0].baseline_error_frac, 0.4 / 0.3 - 1);
    CLOSE(s.rows[3].baseline_error_frac, 0.3 / 0.5 - 1);
    CLOSE(s.rows[6].baseline_error_frac, 0.1 / 0.4 - 1);
    cr_assert(isnan(s.rows[5].baseline_error_frac));
}

Test(validation, out_of_memory_and_skipped)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct sample s;
    int count;

    make_sample(&s);
    const struct pp_validation_count runs = pp_validation_count(&s.validation);
    cr_assert(eq(int, runs.oom, 1));
    cr_assert(eq(int, runs.oom_refused, 1));
    cr_assert(eq(int, runs.ran, 6));
    cr_assert(eq(int, runs.ran_fits, 5));
    const struct pp_validation_reason *reasons =
        pp_validation_reasons(arena, &s.validation, false, &count);
    cr_assert(eq(int, count, 1));
    cr_assert(strcmp(reasons[0].text, "missing: tp") == 0);
    cr_assert(eq(int, reasons[0].n, 1));
}

/* Whatever was measured, the same is predicted. */
Test(validation, measurements_change_no_prediction)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char text[] =
        "id,layers,hidden,heads,vocab,seq_len,gpu,gpus,tp,pp,dp,microbatch,global_batch,schedule,"
        "zero_stage_or_fsdp,recompute,note,metric_step_time_s,metric_tokens_per_s_per_gpu,"
        "metric_model_tflops_per_gpu,metric_hfu_tflops,metric_mfu_pct,metric_mem_gib\n"
        "a,8,1024,8,51200,1024,A100,4,2,2,1,1,8,1f1b,0,none,nvidia-smi,1,2,3,4,5,6\n"
        "b,8,1024,8,51200,1024,A100,4,2,2,1,1,8,1f1b,0,none,nvidia-smi,,,,,,\n";
    struct pp_measurements list = {0};
    struct pp_validation validation;
    struct pp_error err = {0};

    cr_assert(pp_measurements_parse(arena, "f", text, strlen(text), &list, &err) == PP_OK);
    pp_validation_run(arena, &list, &validation);
    const struct pp_row_prediction *a = &validation.rows[0].prediction,
                                   *b = &validation.rows[1].prediction;
    cr_assert(a->step_s > 0 && a->mem_bytes > 0);
    cr_assert(a->step_s == b->step_s && a->mem_bytes == b->mem_bytes && a->fits == b->fits);
    CLOSE(validation.rows[0].error_frac, a->step_s - 1);
    cr_assert(isnan(validation.rows[1].error_frac));
}
