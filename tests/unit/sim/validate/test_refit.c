/* Fits of made-up rows: the algebra of sim/validate/refit_steps.c against differences and known
 * answers. */
#include "sim/validate/refit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { VALUES = 3, ROWS = 40 };

struct rig {
    struct pp_refit refit;
    struct pp_refit_value values[VALUES];
    struct pp_refit_row rows[ROWS];
    int index[ROWS][VALUES];
    double slope[ROWS][VALUES];
};

/* Two owners of the first constant, one of the second; rows of four families. A row of family f
 * sees owner f % 2 and is log(truth) away from it. */
static void set_up(struct rig *rig, const double truth[VALUES])
{
    for (int v = 0; v < VALUES; v++) {
        rig->values[v] = (struct pp_refit_value){.constant = &pp_constants[v == 2],
                                                 .owner = v == 1 ? "b" : "a",
                                                 .log_value = log(pp_constants[v == 2].typical)};
        pp_refit_typical(&rig->values[v]);
    }
    for (int i = 0; i < ROWS; i++) {
        const int owner = i % 2;
        const double share = (i % 5) / 4.0;
        rig->index[i][0] = owner;
        rig->index[i][1] = 2;
        rig->slope[i][0] = -share;
        rig->slope[i][1] = -(1 - share);
        rig->rows[i] = (struct pp_refit_row){
            .family = i % 4,
            .weight = 16.0 / ROWS,
            .count = 2,
            .index = rig->index[i],
            .slope = rig->slope[i],
            .residual = share * truth[owner] + (1 - share) * truth[2],
        };
    }
    rig->refit = (struct pp_refit){.values = rig->values,
                                   .value_count = VALUES,
                                   .rows = rig->rows,
                                   .row_count = ROWS,
                                   .family_count = 4};
}

/* Loss of the linear model after a change. */
static double loss_after(struct rig rig, const double *change, int without)
{
    rig.refit.values = rig.values;
    rig.refit.rows = rig.rows;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < rig.rows[i].count; k++)
            rig.rows[i].residual += rig.slope[i][k] * change[rig.index[i][k]];
    for (int v = 0; v < VALUES; v++)
        rig.values[v].log_value += change[v];
    return pp_refit_loss(&rig.refit, without);
}

Test(refit, a_step_is_the_minimum_of_the_loss)
{
    static const double truth[VALUES] = {0.1, -0.2, 0.05};
    struct rig rig;
    double change[VALUES];

    set_up(&rig, truth);
    rig.rows[7].residual += 3; /* an outlier */
    for (int without = -1; without < 2; without++) {
        pp_refit_step(&rig.refit, without, change);
        const double least = loss_after(rig, change, without);
        for (int v = 0; v < VALUES; v++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double other[VALUES] = {change[0], change[1], change[2]};
                other[v] += sign * 0.002;
                cr_assert_gt(loss_after(rig, other, without), least, "%d %d %d", without, v, sign);
            }
    }
}

Test(refit, rows_say_what_is_true_and_an_outlier_hardly_moves_it)
{
    static const double truth[VALUES] = {0.1, -0.1, 0.05};
    struct rig rig;
    double change[VALUES], with_outlier[VALUES];

    set_up(&rig, truth);
    pp_refit_step(&rig.refit, -1, change);
    rig.rows[6].residual += 2;
    pp_refit_step(&rig.refit, -1, with_outlier);
    for (int v = 0; v < VALUES; v++) {
        cr_assert_float_eq(change[v], truth[v], 0.02, "%d: %g", v, change[v]);
        cr_assert_float_eq(with_outlier[v], change[v], 0.05, "%d: %g", v, with_outlier[v]);
    }
}

/* Families 1 and 3 alone know owner b. Without rows of theirs it is what its sibling is. */
Test(refit, what_no_row_tells_is_like_its_sibling)
{
    static const double truth[VALUES] = {-0.3, -0.3, 0};
    struct rig rig;
    double change[VALUES];

    set_up(&rig, truth);
    for (int i = 0; i < ROWS; i++)
        if (rig.rows[i].family == 3)
            rig.rows[i].weight = 0;
    pp_refit_step(&rig.refit, 1, change);
    cr_assert_lt(change[1], -0.2);
    cr_assert_gt(change[1], change[0], "but nearer to what is typical");
}

Test(refit, a_step_keeps_to_the_bounds)
{
    static const double truth[VALUES] = {9, -9, 9};
    struct rig rig;
    double change[VALUES];

    set_up(&rig, truth);
    pp_refit_step(&rig.refit, -1, change);
    for (int v = 0; v < VALUES; v++) {
        const double value = exp(rig.values[v].log_value + change[v]);
        cr_assert_geq(value, rig.values[v].constant->least * (1 - 1e-9));
        cr_assert_leq(value, rig.values[v].constant->most * (1 + 1e-9));
    }
}

Test(refit, constants_are_set_where_they_are_read)
{
    struct pp_cluster cluster = pp_cluster_presets[0];
    struct pp_framework framework = pp_frameworks[0];

    for (const struct pp_constant *c = pp_constants; c->name != NULL; c++) {
        cr_assert_lt(c->least, c->typical, "%s", c->name);
        cr_assert_gt(c->most, c->typical, "%s", c->name);
        pp_constant_set(c, &cluster, &framework, c->typical * 1.01);
        cr_assert_eq(pp_constant_get(c, &cluster, &framework), c->typical * 1.01, "%s", c->name);
    }
}

/* Fitted values of the presets are physical, and those of a generation are one value. */
Test(refit, presets_agree_with_the_table)
{
    for (const struct pp_cluster *a = pp_cluster_presets; a->name != NULL; a++)
        for (const struct pp_constant *c = pp_constants; c->name != NULL; c++) {
            if (c->home == PP_HOME_FRAMEWORK)
                continue;
            const double value = pp_constant_get(c, a, pp_frameworks);
            cr_assert(value >= c->least && value <= c->most, "%s of %s: %g", c->name, a->name,
                      value);
            for (const struct pp_cluster *b = pp_cluster_presets; b->name != NULL; b++)
                if (!strcmp(pp_constant_owner(c, a, pp_frameworks),
                            pp_constant_owner(c, b, pp_frameworks)))
                    cr_assert_eq(pp_constant_get(c, b, pp_frameworks), value, "%s of %s, %s",
                                 c->name, a->name, b->name);
        }
}

/* Rows whose step times are predictions under other constants: the loop must come back to them. */
Test(refit, the_loop_comes_back_to_the_constants_that_made_the_rows)
{
    static const char TABLE[] =
        "id,family,year,model_name,layers,hidden,heads,vocab,seq_len,gpu,gpus,gpus_per_node,"
        "precision,tp,pp,dp,cp,schedule,vpp_or_chunks,microbatch,global_batch,"
        "zero_stage_or_fsdp,recompute,metric_step_time_s\n"
        "a,x,2024,GPT,12,1024,16,51200,2048,A100,8,8,bf16,1,1,8,1,none,1,2,64,1,none,1\n"
        "b,x,2024,GPT,12,2048,16,51200,2048,A100,8,8,bf16,1,4,2,1,1f1b,1,1,32,1,full,1\n"
        "c,y,2024,GPT,8,4096,32,51200,2048,A100,8,8,bf16,4,2,1,1,1f1b,1,1,16,0,none,1\n"
        "d,y,2024,GPT,8,4096,32,51200,2048,A100,8,8,bf16,8,1,1,1,none,1,1,8,0,none,1\n";
    enum { TABLE_ROWS = 4 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_measurements list = {0};
    struct pp_measure_case cases[TABLE_ROWS];
    struct pp_refit refit;
    struct pp_error err = {0};

    cr_assert_eq(pp_measurements_parse(arena, "t", TABLE, strlen(TABLE), &list, &err), PP_OK);
    cr_assert_eq(list.count, TABLE_ROWS);
    for (int i = 0; i < TABLE_ROWS; i++) {
        pp_measure_case_open(arena, &list.rows[i], &cases[i]);
        cr_assert_null(cases[i].skipped, "%s", cases[i].skipped);
        cases[i].step_s = 1; /* whatever was published */
    }
    pp_refit_open(arena, cases, TABLE_ROWS, PP_REFIT_PUBLISHED, &refit);
    cr_assert_eq(refit.row_count, TABLE_ROWS);
    for (int v = 0; v < refit.value_count; v++)
        refit.values[v].log_value += v % 2 ? 0.1 : -0.1;
    cr_assert_eq(pp_refit_residuals(&refit, -1, &err), PP_OK, "%s", err.message);
    for (int i = 0; i < TABLE_ROWS; i++) /* log(predicted / 1) */
        cases[i].step_s = exp(refit.rows[i].residual);
    cr_assert_eq(pp_refit_residuals(&refit, -1, &err), PP_OK);
    for (int i = 0; i < TABLE_ROWS; i++)
        cr_assert_float_eq(refit.rows[i].residual, 0, 1e-6);
    for (int v = 0; v < refit.value_count; v++)
        refit.values[v].log_value -= v % 2 ? 0.1 : -0.1;

    cr_assert_eq(pp_refit_residuals(&refit, -1, &err), PP_OK);
    const double before = pp_refit_loss(&refit, -1);
    cr_assert_eq(pp_refit_solve(&refit, 20, &err), PP_OK, "%s", err.message);
    cr_assert_gt(refit.steps, 0);
    cr_assert_lt(refit.steps, 20, "converges by itself");
    const double after = pp_refit_loss(&refit, -1);
    cr_assert_lt(after, before / 10);
    /* where it has come to, there is nothing left to gain */
    cr_assert_eq(pp_refit_solve(&refit, 20, &err), PP_OK);
    cr_assert_leq(refit.steps, 2);
    cr_assert_leq(pp_refit_loss(&refit, -1), after);
}
