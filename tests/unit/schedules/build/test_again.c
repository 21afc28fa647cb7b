/* When recomputation runs, and where it is left out: Merak's switches against closed forms, and
 * laws over the schedules of the registry. */
#include "schedules/evaluate/makespan.h"
#include "schedules/order/options.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>
#include <string.h>

static struct pp_arena *arena;

static void open_arena(void)
{
    arena = pp_arena_create();
}

static void close_arena(void)
{
    pp_arena_destroy(arena);
}
TestSuite(again, .init = open_arena, .fini = close_arena);

static const struct pp_again_words EARLY = {0}, LATE = {.is_late = true},
                                   SKIP = {.is_skipped = true},
                                   LATE_SKIP = {.is_late = true, .is_skipped = true};

/* What is built: `ratio` is of the first stage, 1 = all of every stage is recomputed. */
struct run {
    const char *schedule;
    int ranks, micro_batches;
    bool is_shifted;
    enum pp_recompute how;
    double ratio;
    struct pp_again_words words;
};

static struct pp_program *program_of(const struct run *run, struct pp_build *build,
                                     const struct pp_unit_costs *unit)
{
    struct pp_program *program = NULL;
    struct pp_error err = {0};

    *build = of(run->schedule, run->micro_batches);
    build->shape.ranks = run->ranks;
    if (run->is_shifted)
        build->shape.option[pp_schedule_option_at(build->schedule, "shifted")] = 1;
    if (pp_schedule_check(build->schedule, &build->shape, &err) != PP_OK)
        return NULL;
    const struct pp_shape *shape = &build->shape;
    const int stages = pp_shape_stages(shape);
    struct pp_costs *costs =
        pp_costs_unit(arena, unit, shape->ranks, stages, shape->splits, shape->granules);
    build->wishes.again = run->words;
    build->wishes.recv_slots = 0;
    build->has_update = false;
    if (run->how != PP_RECOMPUTE_NONE) {
        build->recompute_frac = pp_recompute_shares(arena, run->how, run->ratio, stages);
        pp_costs_unit_share(build->recompute_frac, costs);
    }
    build->costs = costs;
    cr_assert_eq(pp_build(arena, build, &program, &err), PP_OK, "%s: %s", run->schedule,
                 err.message);
    return program;
}

/* Returns units of time, or -1 for a shape that the schedule refuses. */
static double step_of(const struct run *run, const struct pp_unit_costs *unit)
{
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_build build;
    int64_t ps;

    const struct pp_program *program = program_of(run, &build, unit);
    if (!program)
        return -1;
    cr_assert(pp_makespan(program, build.costs, &options, &ps));
    return (double)ps * 1e-12;
}

static struct pp_unit_costs unit_of(double b, double r, double c)
{
    return (struct pp_unit_costs){
        .f = 1, .b = b, .i = b / 2, .w = b / 2, .c = c, .fb = 1 + b, .r = r, .has_r = true};
}

/* ---- golden steps ---------------------------------------------------------------------------- */

enum { NONE, LATE_ALONE, EARLY_ALONE, SKIPS, BOTH, ALL_FULL, SHIFTED, STAGE_LATE, ALL, COLUMNS };

static double column_of(int column, int ranks, int micro_batches, const struct pp_unit_costs *unit)
{
    static const struct run columns[COLUMNS] = {
        [NONE] = {.how = PP_RECOMPUTE_NONE},
        [LATE_ALONE] = {.how = PP_RECOMPUTE_FULL, .words = {.is_late = true}},
        [EARLY_ALONE] = {.how = PP_RECOMPUTE_FULL},
        [SKIPS] = {.how = PP_RECOMPUTE_FULL, .words = {.is_late = true, .is_skipped = true}},
        [BOTH] = {.how = PP_RECOMPUTE_FULL, .words = {.is_skipped = true}},
        [ALL_FULL] = {.how = PP_RECOMPUTE_FULL, .words = {.is_skipped = true}, .is_shifted = true},
        [SHIFTED] = {.how = PP_RECOMPUTE_FULL, .words = {.is_late = true}, .is_shifted = true},
        [STAGE_LATE] = {.how = PP_RECOMPUTE_STAGE, .ratio = 0.75, .words = {.is_late = true}},
        [ALL] = {.how = PP_RECOMPUTE_STAGE,
                 .ratio = 0.75,
                 .words = {.is_skipped = true},
                 .is_shifted = true},
    };
    struct run run = columns[column];

    run.schedule = "1f1b";
    run.ranks = ranks;
    run.micro_batches = micro_batches;
    return step_of(&run, unit);
}

/* F = 1, B = 2, R = 1; an independent simulation of each rank's list gave the same figures. */
Test(again, steps_are_those_of_merak)
{
    static const struct {
        int ranks, micro_batches;
        double c, step[COLUMNS];
    } rows[] = {
        {4, 4, 0, {21, 28, 25, 26, 23, 22, 28, 23.5, 21.125}},
        {4, 8, 0, {33, 44, 41, 42, 39, 38, 44, 38.5, 35.625}},
        {8, 16, 0, {69, 92, 85, 90, 83, 82, 92, 80.675, 74.85}},
        {8, 32, 0, {117, 156, 149, 154, 147, 146, 156, 140.675, 134.25}},
        {4, 8, .25, {37, 48, 42.5, 46, 40.5, 40, 48, 41.875, 38.25}},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        const struct pp_unit_costs unit = unit_of(2, 1, rows[i].c);
        for (int k = 0; k < COLUMNS; k++)
            cr_expect_float_eq(column_of(k, rows[i].ranks, rows[i].micro_batches, &unit),
                               rows[i].step[k], 1e-9, "row %zu, column %d", i, k);
    }
}

/* T = 4 (N + P - 1) late, and what each switch takes from it. */
Test(again, closed_forms_of_every_size)
{
    const struct pp_unit_costs unit = unit_of(2, 1, 0);

    for (int p = 3; p <= 9; p++)
        for (int n = p; n <= 3 * p; n += 2) {
            const double late = 4 * (n + p - 1);
            const double wanted[] = {
                [NONE] = 3 * (n + p - 1), [LATE_ALONE] = late,     [EARLY_ALONE] = late - (p - 1),
                [SKIPS] = late - 2,       [BOTH] = late - (p + 1), [ALL_FULL] = late - (p + 2),
                [SHIFTED] = late};
            for (size_t k = 0; k < PP_COUNT(wanted); k++)
                cr_expect_float_eq(column_of((int)k, p, n, &unit), wanted[k], 1e-9,
                                   "P %d, N %d, column %zu", p, n, k);
        }
}

/* In 1F1B all ranks but the last wait for their first gradient, and recompute meanwhile. */
Test(again, early_gains_a_recomputation_for_each_rank_but_the_last)
{
    for (int p = 1; p <= 8; p++)
        for (int n = p; n <= 2 * p + 1; n++)
            for (int b = 1; b <= 4; b++)
                for (int r = 1; r <= 5; r++) {
                    const struct pp_unit_costs unit = unit_of(b, r, 0);
                    struct run run = {"1f1b", p, n, false, PP_RECOMPUTE_FULL, 1, LATE};
                    const double late = step_of(&run, &unit);
                    run.words = EARLY;
                    cr_expect_float_eq(late - step_of(&run, &unit), (p - 1) * r, 1e-9,
                                       "P %d, N %d, B %d, R %d", p, n, b, r);
                }
}

/* ---- laws ------------------------------------------------------------------------------------ */

static int kinds_of(const struct pp_program *p, int rank, int kind)
{
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        count += p->kind[i] == kind;
    return count;
}

/* Each switch alone and both together are never slower, and programs are proved by the build. */
Test(again, switches_are_never_slower)
{
    static const struct {
        double b, r, c;
    } prices[] = {{2, 1, 0}, {2, 1, .25}, {3, 2, .5}, {1, 1, 0}};
    int compared = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int p = 1; p <= 5; p++)
            for (int n = 1; n <= 10; n += 1 + n % 2)
                for (size_t i = 0; i < PP_COUNT(prices); i++) {
                    const struct pp_unit_costs unit =
                        unit_of(prices[i].b, prices[i].r, prices[i].c);
                    struct run run = {pp_schedules[k]->name, p, n,   false,
                                      PP_RECOMPUTE_FULL,     1, LATE};
                    const double late = step_of(&run, &unit);
                    if (late < 0)
                        continue;
                    run.words = EARLY;
                    const double early = step_of(&run, &unit);
                    run.words = LATE_SKIP;
                    const double skip = step_of(&run, &unit);
                    run.words = SKIP;
                    const double both = step_of(&run, &unit);
                    cr_expect(early <= late + 1e-9 && skip <= late + 1e-9 && both <= early + 1e-9 &&
                                  both <= skip + 1e-9,
                              "%s P %d N %d: late %g early %g skip %g both %g", run.schedule, p, n,
                              late, early, skip, both);
                    compared++;
                }
    cr_expect_gt(compared, 1000);
}

/* The shifted order gains only where recomputation is early; it never loses if F <= B. */
Test(again, the_shifted_order_is_never_slower)
{
    static const struct pp_again_words words[] = {
        {0}, {.is_late = true}, {.is_skipped = true}, {.is_late = true, .is_skipped = true}};

    for (int p = 2; p <= 8; p++)
        for (int n = 3; n <= 20; n++)
            for (int c = 0; c <= 4; c++)
                for (size_t w = 0; w < PP_COUNT(words); w++) {
                    const struct pp_unit_costs unit = unit_of(2, 1, c / 4.0);
                    struct run run = {"1f1b", p, n, false, PP_RECOMPUTE_FULL, 1, words[w]};
                    const double plain = step_of(&run, &unit);
                    run.is_shifted = true;
                    cr_expect_leq(step_of(&run, &unit), plain + 1e-9, "P %d, N %d, C %d/4, %zu", p,
                                  n, c, w);
                }
}

/* `skip` leaves out R before exactly those backwards that directly follow their own forward. */
Test(again, skip_leaves_out_what_the_order_makes_useless)
{
    const struct pp_unit_costs unit = unit_of(2, 1, 0);
    int left_out = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int n = 1; n <= 9; n++) {
            struct run run = {pp_schedules[k]->name, 4, n, false, PP_RECOMPUTE_FULL, 1, EARLY};
            struct pp_build build;
            const struct pp_program *all = program_of(&run, &build, &unit);
            if (!all)
                continue;
            run.words = SKIP;
            const struct pp_program *some = program_of(&run, &build, &unit);
            for (int r = 0; r < 4; r++) {
                int follows = 0, last = -1;
                for (int i = all->begin[r]; i < all->begin[r + 1]; i++) {
                    const struct pp_op op = pp_program_op(all, i);
                    if (op.kind == PP_R || !pp_op_is_compute(op.kind))
                        continue;
                    const struct pp_op before = pp_program_op(all, last < 0 ? i : last);
                    follows += (op.kind == PP_B || op.kind == PP_I) && before.kind == PP_F &&
                               pp_op_has_same_cells(&before, &op);
                    last = i;
                }
                cr_expect_eq(kinds_of(all, r, PP_R) - kinds_of(some, r, PP_R), follows,
                             "%s N %d rank %d", run.schedule, n, r);
                left_out += follows;
            }
        }
    cr_expect_gt(left_out, 100);
}

/* A late R stands directly before its backward, after all WAITs; an early one before the WAIT for
 * the gradient. */
Test(again, late_waits_for_the_gradient)
{
    const struct pp_unit_costs unit = unit_of(2, 1, 0);
    int waits = 0;

    for (int k = 0; pp_schedules[k]; k++) {
        struct run run = {pp_schedules[k]->name, 4, 8, false, PP_RECOMPUTE_FULL, 1, LATE};
        struct pp_build build;
        const struct pp_program *p = program_of(&run, &build, &unit);
        for (int i = 0; p && i + 1 < pp_program_size(p); i++)
            if (p->kind[i] == PP_R) {
                cr_expect(pp_op_is_compute(p->kind[i + 1]), "%s, instruction %d", run.schedule, i);
                waits += i > 0 && p->kind[i - 1] == PP_WAIT;
            }
    }
    cr_expect_gt(waits, 100);
}

/* ---- shares ---------------------------------------------------------------------------------- */

/* rho_s = 1 - (1 - rho_1) (P - 1) / (P - s): micro-batches that wait fill the same room. */
Test(again, shares_of_stages_are_those_of_merak)
{
    static const double four[] = {.75, .625, .25, 0},
                        eight[] = {.75, .75 - 1. / 24, .65, .5625, 5. / 12, .125, 0, 0};
    const double *shares = pp_recompute_shares(arena, PP_RECOMPUTE_STAGE, .75, 4);

    for (int s = 0; s < 4; s++)
        cr_expect_float_eq(shares[s], four[s], 1e-12, "stage %d", s);
    shares = pp_recompute_shares(arena, PP_RECOMPUTE_STAGE, .75, 8);
    for (int s = 0; s < 8; s++)
        cr_expect_float_eq(shares[s], eight[s], 1e-12, "stage %d", s);
    for (int s = 0; s < 8; s++)
        if (shares[s] > 0)
            cr_expect_float_eq((7 - s) * (1 - shares[s]), 7 * .25, 1e-12, "stage %d", s);
}
