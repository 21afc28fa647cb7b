/* Schedules whose orders are our own are no worse than public ones: makespan, span and peak
 * activations of tests/golden/bounds.csv are upper bounds. tests/golden/README.md has the columns.
 */
#include "tests/unit/support/golden.h"
#include "tests/unit/support/order_oracle.h"
#include "schedules/registry.h"

enum { SCHEDULE, PP, VP, N, OPTIONS, UNIT, MAKESPAN, SPAN, PEAK, ORIGIN, COLUMNS };
enum { SCALE = 1000 }; /* the oracle counts in integers */

static void check_orders(struct pp_arena *arena, char **c, const struct pp_shape *shape,
                         const struct pp_unit_costs *unit, const struct pp_costs *costs)
{
    const char *where = pp_arena_printf(arena, "%s D=%s N=%s %s%s", c[SCHEDULE], c[PP], c[N],
                                        c[UNIT], costs ? "" : " (costs not given)");
    struct pp_orders *orders;
    struct pp_order_maps maps;
    struct pp_error err;
    double peak = 0;

    cr_assert_eq(pp_schedule_orders(arena, pp_schedule_find(c[SCHEDULE]), shape, costs, &orders,
                                    &maps, &err),
                 PP_OK, "%s: %s", where, err.message);
    struct oracle o = {.shape = shape, .orders = orders, .maps = &maps};
    o.cost[PP_F] = llround(unit->f * SCALE), o.cost[PP_B] = llround(unit->b * SCALE);
    o.cost[PP_I] = llround(unit->i * SCALE), o.cost[PP_W] = llround(unit->w * SCALE);
    o.wire = llround(unit->c * SCALE);
    oracle_run(arena, &o);
    for (int rank = 0; rank < shape->ranks; rank++)
        peak = fmax(peak, o.peak[rank]);
    cr_assert_null(o.fault, "%s: %s", where, o.fault);
    cr_assert_geq(o.makespan, o.busiest, "%s: deadlock", where);
    cr_expect_leq(o.makespan, llround(atof(c[MAKESPAN]) * SCALE), "%s: makespan %g", where,
                  (double)o.makespan / SCALE);
    cr_expect_leq(o.span, llround(atof(c[SPAN]) * SCALE), "%s: span %g", where,
                  (double)o.span / SCALE);
    cr_expect_leq(peak, atof(c[PEAK]), "%s: peak %g", where, peak);
}

static void check_row(struct pp_arena *arena, char **c)
{
    const struct pp_schedule *schedule = pp_schedule_find(c[SCHEDULE]);
    struct pp_shape shape = {
        .ranks = atoi(c[PP]), .chunks = atoi(c[VP]), .micro_batches = atoi(c[N])};
    struct pp_unit_costs unit;
    struct pp_error err;

    for (int i = 0; i < COLUMNS; i++)
        cr_assert(c[i] && (i == OPTIONS || *c[i]), "a row has %d columns", i);
    cr_assert_not_null(schedule, "%s", c[SCHEDULE]);
    for (char *mark = c[UNIT]; (mark = strchr(mark, ';')) != NULL;)
        *mark = ',';
    cr_assert_eq(pp_unit_costs_parse(c[UNIT], &unit, &err), PP_OK, "%s", err.message);
    golden_options(schedule, &shape, c[OPTIONS]);
    cr_assert_eq(pp_schedule_check(schedule, &shape, &err), PP_OK, "%s", err.message);

    struct pp_costs *costs = pp_costs_unit(arena, &unit, shape.ranks, pp_shape_stages(&shape),
                                           shape.splits, shape.granules);
    check_orders(arena, c, &shape, &unit, costs);
    if (strcmp(c[UNIT], "F=1,I=1,W=1") == 0)
        check_orders(arena, c, &shape, &unit, NULL);
}

Test(bounds, no_order_is_worse_than_the_public_one)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *lines = NULL;
    int rows = 0;

    strtok_r(golden_slurp(arena, "bounds.csv"), "\n", &lines);
    for (char *line; (line = strtok_r(NULL, "\n", &lines)) != NULL; rows++) {
        char *column[COLUMNS];
        for (int i = 0; i < COLUMNS; i++)
            column[i] = strsep(&line, ",");
        check_row(arena, column);
    }
    cr_assert_geq(rows, 160);
}

/* The judge itself: figures worked out by hand. Two ranks, one micro-batch: F (wire) F B (wire) B.
 */
Test(bounds, the_judge_counts_wires_and_spans)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_shape shape = {.ranks = 2, .micro_batches = 1};
    const struct pp_schedule *schedule = pp_schedule_find("1f1b");
    struct pp_orders *orders;
    struct pp_order_maps maps;

    cr_assert_eq(pp_schedule_check(schedule, &shape, NULL), PP_OK);
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, NULL), PP_OK);
    struct oracle o = {.shape = &shape, .orders = orders, .maps = &maps, .wire = 5};
    o.cost[PP_F] = 1, o.cost[PP_B] = 2;
    oracle_run(arena, &o);
    cr_expect_eq(o.makespan, 1 + 5 + 1 + 2 + 5 + 2);
    cr_expect_eq(o.span, 16);
    shape.micro_batches = 2;
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, NULL), PP_OK);
    o.orders = orders, o.maps = &maps, o.wire = 0;
    oracle_run(arena, &o);
    cr_expect_eq(o.makespan, 9);
    cr_expect_eq(o.span, 9);
}
