/* The evaluator against closed forms and published figures. */
#include "core/text/csv.h"
#include "core/text/file.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/order/concat.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct pp_program *program_of(struct pp_arena *arena, const char *name,
                                     const struct pp_shape *shape)
{
    struct pp_program *program;
    struct pp_error err;

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(name), shape, NULL, &program, &err),
                 PP_OK, "%s: %s", name, err.message);
    return program;
}

/* Seconds of a compute-only program in unit mode. */
static double unit_makespan(const char *name, struct pp_shape shape, struct pp_unit_costs unit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *p = program_of(arena, name, &shape);
    const struct pp_costs *costs =
        pp_costs_unit(arena, &unit, p->ranks, p->stages, p->splits, p->granules);
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_eval *plan;
    struct pp_error err;

    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    return (double)pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps * 1e-12;
}

static struct pp_shape shape_of(int ranks, int chunks, int micro_batches)
{
    return (struct pp_shape){.ranks = ranks,
                             .chunks = chunks,
                             .micro_batches = micro_batches,
                             .splits = 1,
                             .granules = 1,
                             .pipelines = 1};
}

static const struct pp_unit_costs unit_1_2 = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};

/* (N + D - 1)(F + B): GPipe, and 1F1B with equal stages. */
Test(evaluate, gpipe_and_1f1b_take_n_plus_d_minus_1_slots)
{
    for (int d = 1; d <= 9; d++)
        for (int n = 1; n <= 20; n += 3) {
            cr_assert_float_eq(unit_makespan("gpipe", shape_of(d, 1, n), unit_1_2),
                               3. * (n + d - 1), 1e-9, "gpipe D=%d N=%d", d, n);
            cr_assert_float_eq(unit_makespan("1f1b", shape_of(d, 1, n), unit_1_2), 3. * (n + d - 1),
                               1e-9, "1f1b D=%d N=%d", d, n);
        }
}

/* Megatron-LM (SC'21) section 2.2.2: the bubble is 1/V of 1F1B's when D divides N. */
Test(evaluate, interleaved_divides_the_bubble_by_the_chunks)
{
    for (int d = 2; d <= 6; d++)
        for (int v = 2; v <= 4; v++)
            for (int groups = 1; groups <= 3; groups++)
                cr_assert_float_eq(
                    unit_makespan("interleaved", shape_of(d, v, d * groups), unit_1_2),
                    3. * (v * d * groups + d - 1), 1e-9, "D=%d V=%d N=%d", d, v, d * groups);
}

/* Waves: W of them are 2W chunks. The shares that schedules of this policy are known to reach. */
Test(evaluate, hanayo_waves)
{
    cr_expect_float_eq(unit_makespan("hanayo", shape_of(4, 2, 4), unit_1_2), 36, 1e-9);
    cr_expect_float_eq(unit_makespan("hanayo", shape_of(4, 4, 4), unit_1_2), 61, 1e-9);
    cr_expect_float_eq(unit_makespan("hanayo", shape_of(8, 2, 8), unit_1_2), 76, 1e-9);
    cr_expect_float_eq(unit_makespan("hanayo", shape_of(8, 4, 8), unit_1_2), 126, 1e-9);
}

/* Each micro-batch crosses D - 1 wires down and up again: GPipe pays both once. */
Test(evaluate, wires_delay_the_first_forward_and_the_last_backward)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3, .c = 0.25};

    for (int d = 1; d <= 6; d++)
        cr_assert_float_eq(unit_makespan("gpipe", shape_of(d, 1, 7), unit),
                           3. * (7 + d - 1) + 0.25 * 2 * (d - 1), 1e-9, "D=%d", d);
}

/* Zero Bubble Pipeline Parallelism (ICLR 2024) Table 5, to the four digits printed: how many rows
 * of a schedule were compared. */
static int check_table_5(const char *path, const char *schedule)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_csv csv;
    struct pp_error err;
    char *text;
    size_t length;
    int rows = 0;

    cr_assert_eq(pp_file_read(arena, path, &text, &length, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_csv_parse(arena, "table 5", text, length, &csv, NULL, &err), PP_OK);
    for (int k = 0; k < csv.count; k++) {
        const char **field = csv.rows[k].fields;
        if (csv.rows[k].count < 8 || strcmp(field[0], "model") == 0)
            continue;
        const int d = atoi(field[1]), n = atoi(field[2]);
        const double f = atof(field[3]), i = atof(field[4]), w = atof(field[5]);
        const struct pp_unit_costs unit = {.f = f * 1e-3,
                                           .b = (i + w) * 1e-3,
                                           .i = i * 1e-3,
                                           .w = w * 1e-3,
                                           .c = atof(field[6]) * 1e-3,
                                           .fb = (f + i + w) * 1e-3};
        const double cost = unit_makespan(schedule, shape_of(d, 1, n), unit) * 1e3;
        const double rate = (cost - n * (f + i + w)) / cost;
        cr_expect_float_eq(round(rate * 1e4) / 1e4, atof(field[7]), 1e-9, "%s %s pp %d m %d: %.6f",
                           schedule, field[0], d, n, rate);
        rows++;
    }
    return rows;
}

Test(evaluate, zero_bubble_table_5)
{
    cr_assert_eq(check_table_5(PP_TESTS_DIR "/data/zero_bubble_table5_1f1b.csv", "1f1b"), 12);
    cr_assert_eq(check_table_5(PP_TESTS_DIR "/data/zero_bubble_table5_zb-h1.csv", "zb-h1"), 12);
}

/* Every schedule's own exact formula for the idle share of the makespan. */
Test(evaluate, exact_bubble_formulas_of_the_registry)
{
    int checked = 0;

    for (int k = 0; pp_schedules[k]; k++) {
        const struct pp_schedule *s = pp_schedules[k];
        for (int d = 2; s->bubble_frac.value && s->bubble_frac.is_exact && d <= 8; d += 2)
            for (int at = 0; at < 12 * PP_CONCAT_AUTO; at++) {
                const int n = 2 + 2 * (at % 12);
                struct pp_shape shape = shape_of(d, 0, n);
                shape.pipelines = shape.granules = 0;
                shape.option[PP_CONCAT_AT] = at / 12;
                if (pp_schedule_check(s, &shape, NULL) != PP_OK)
                    continue;
                const double want = s->bubble_frac.value(&shape, &unit_1_2, 0);
                if (isnan(want))
                    continue;
                const double span = unit_makespan(s->name, shape, unit_1_2);
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_program *p = program_of(arena, s->name, &shape);
                const double busy =
                    3. * p->stages * p->micro_batches / p->ranks; /* the average rank */
                cr_assert_float_eq(1 - busy / span, want, 1e-9, "%s D=%d N=%d", s->name, d, n);
                checked++;
            }
    }
    cr_assert_geq(checked, 20);
}
