/* Laws that hold for every schedule of the registry at every size it accepts. */
#include "schedules/order/bound.h"
#include "schedules/order/closed_form.h"
#include "schedules/order/concat.h"
#include "schedules/program/program.h"
#include "schedules/registry.h"
#include "tests/unit/support/order_oracle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const struct pp_unit_costs costs[] = {
    {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3},     {.f = 1, .b = 1, .i = .5, .w = .5, .fb = 2},
    {.f = 3, .b = 2, .i = 1, .w = 1, .fb = 5},     {.f = 2, .b = 7, .i = 3.5, .w = 3.5, .fb = 9},
    {.f = 1, .b = 2, .i = 1.5, .w = .5, .fb = 2},  {.f = 5, .b = 11, .i = 4, .w = 7, .fb = 13},
    {.f = 2, .b = 8, .i = 6.5, .w = 1.5, .fb = 12}};
enum { COSTS = sizeof(costs) / sizeof(costs[0]) };

struct visit {
    struct pp_arena *arena;
    const struct pp_schedule *schedule;
    struct pp_shape shape; /* as checked */
    struct pp_orders *orders;
    struct pp_order_maps maps;
    const char *where;
};
typedef void (*visit_function)(struct visit *visit);

static bool visit_shape(const struct pp_schedule *schedule, struct pp_shape shape,
                        visit_function visit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct visit v = {.arena = arena, .schedule = schedule};
    struct pp_error err;
    const enum pp_status status = pp_schedule_check(schedule, &shape, &err);

    if (status != PP_OK) {
        cr_assert_eq(status, PP_EINVAL);
        return false;
    }
    if (pp_schedule_variants(schedule, &shape))
        return false;
    v.shape = shape;
    v.where = pp_arena_printf(arena, "%s D=%d V=%d N=%d q=%d P=%d options %d %d %d", schedule->name,
                              shape.ranks, shape.chunks, shape.micro_batches, shape.splits,
                              shape.pipelines, shape.option[0], shape.option[1], shape.option[2]);
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &v.orders, &v.maps, &err), PP_OK,
                 "%s", v.where);
    visit(&v);
    return true;
}

/* The values of an option from its neutral one to the number of micro-batches and one more. */
static int last_value(const struct pp_schedule_option *option, int micro_batches)
{
    return !option || option == &pp_limit_option ? 0 : PP_MIN(option->max, micro_batches + 1);
}

/* Every option of the schedule takes a few values in addition to its default. */
static int visit_options(const struct pp_schedule *schedule, struct pp_shape shape,
                         visit_function visit)
{
    const int n = shape.micro_batches;
    struct pp_shape other = shape;
    int visited = 0;

    for (int a = 0; a <= last_value(schedule->options[0], n); a++)
        for (int b = 0; b <= last_value(schedule->options[1], n); b++)
            for (int c = 0; c <= last_value(schedule->options[2], n); c++) {
                other.option[0] = a, other.option[1] = b, other.option[2] = c;
                visited += visit_shape(schedule, other, visit);
            }
    other.option[2] = 0;
    for (int i = 1; i <= 8; i++) {
        other.splits = schedule->sizes & PP_SIZE_SPLITS ? 1 + i % 3 : 0;
        other.pipelines = schedule->sizes & PP_SIZE_PIPELINES ? i : 0;
        other.option[0] = schedule->sizes & PP_SIZE_SPLITS && schedule->options[0] ? 1 + i / 3 : 0;
        other.option[1] = other.option[0] ? i % 2 : 0;
        if (schedule->sizes & (PP_SIZE_SPLITS | PP_SIZE_PIPELINES))
            visited += visit_shape(schedule, other, visit);
    }
    return visited;
}

static void visit_all(visit_function visit)
{
    for (int i = 0; pp_schedules[i] != NULL; i++) {
        const struct pp_schedule *schedule = pp_schedules[i];
        const int chunks = schedule->chunks ? schedule->chunks : 4;
        int visited = 0;
        for (int ranks = 1; ranks <= 8; ranks++)
            for (int v = schedule->chunks ? chunks : 1; v <= chunks; v++)
                for (int n = 1; n <= 17; n++)
                    visited += visit_options(
                        schedule,
                        (struct pp_shape){.ranks = ranks, .chunks = v, .micro_batches = n}, visit);
        cr_assert_gt(visited, 10, "%s accepts hardly anything", schedule->name);
    }
}

static struct oracle judge(const struct visit *v, const struct pp_unit_costs *unit)
{
    struct oracle o = {.shape = &v->shape, .orders = v->orders, .maps = &v->maps};

    o.cost[PP_F] = (int64_t)(2 * unit->f), o.cost[PP_B] = (int64_t)(2 * unit->b);
    o.cost[PP_I] = (int64_t)(2 * unit->i), o.cost[PP_W] = (int64_t)(2 * unit->w);
    o.overlap = (int64_t)(2 * unit->fb);
    oracle_run(v->arena, &o);
    return o;
}

static void check_order(struct visit *v)
{
    struct oracle o = judge(v, &costs[0]);

    cr_assert_null(o.fault, "%s: %s", v->where, o.fault);
    cr_assert_geq(o.makespan, 0, "%s: deadlock", v->where);
    cr_assert_geq(o.makespan, o.busiest, "%s", v->where);
}

Test(schedules, every_op_once_where_it_belongs_and_no_deadlock)
{
    visit_all(check_order);
}

/* What a row says of its backwards and pairs, held against the lists. */
static bool splits[64], pairs[64];

static int row_of(const struct pp_schedule *schedule)
{
    int row = 0;

    while (pp_schedules[row] != schedule)
        row++;
    return row;
}

static void find_kinds(struct visit *v)
{
    for (int r = 0; r < v->orders->ranks; r++)
        for (int i = 0; i < v->orders->count[r]; i++) {
            const struct pp_op *op = &v->orders->ops[r][i];
            splits[row_of(v->schedule)] |= op->kind == PP_I || op->kind == PP_W;
            pairs[row_of(v->schedule)] |= op->aux == PP_FUSED_FIRST;
        }
}

Test(schedules, rows_say_whether_backwards_are_split_and_ops_overlap)
{
    visit_all(find_kinds);
    for (int i = 0; pp_schedules[i] != NULL; i++) {
        cr_expect_eq(splits[i], pp_schedules[i]->splits_backward, "%s", pp_schedules[i]->name);
        cr_expect_eq(pairs[i], pp_schedules[i]->has_pairs, "%s", pp_schedules[i]->name);
    }
}

static int compared;

static void check_bubble(struct visit *v)
{
    const struct pp_closed_form *form = &v->schedule->bubble_frac;

    for (int i = 0; form->value && i < COSTS; i++) {
        const struct oracle o = judge(v, &costs[i]);
        const double simulated = 1 - (double)o.busy / ((double)o.makespan * v->shape.ranks);
        const double formula = form->value(&v->shape, &costs[i], 0);
        compared += !isnan(formula);
        if (form->is_exact && !isnan(formula))
            cr_expect_float_eq(formula, simulated, 1e-12, "%s F=%g B=%g: %.6f is %.6f", v->where,
                               costs[i].f, costs[i].b, formula, simulated);
    }
}

Test(schedules, bubble_formulas_equal_the_simulation)
{
    visit_all(check_bubble);
    cr_assert_gt(compared, 1000);
}

static void check_peak(struct visit *v)
{
    const struct pp_closed_form *form = &v->schedule->peak;
    const struct oracle o = judge(v, &costs[0]);

    for (int rank = 0; form->value && rank < v->shape.ranks; rank++) {
        const double formula = form->value(&v->shape, &costs[0], rank);
        compared += !isnan(formula);
        if (form->is_exact && !isnan(formula))
            cr_expect_float_eq(formula, o.peak[rank], 1e-9, "%s rank %d: %g is %g", v->where, rank,
                               formula, o.peak[rank]);
    }
}

Test(schedules, peak_formulas_equal_the_simulation)
{
    visit_all(check_peak);
    cr_assert_gt(compared, 1000);
}

/* Bounds of a step and of what a rank holds, from stages that are all alike. */
static int tight;

static const double *alike(struct pp_arena *arena, int stages, double value)
{
    double *list = PP_ARRAY(arena, double, stages);

    for (int s = 0; s < stages; s++)
        list[s] = value;
    return list;
}

static void check_bounds(struct visit *v)
{
    const int stages = pp_shape_stages(&v->shape), q = v->shape.splits;
    const struct pp_bound_rule rule =
        pp_bound_rule_make(v->arena, v->schedule, &v->shape, 1, false);
    const double *none = alike(v->arena, stages, 0), *one = alike(v->arena, stages, 1);
    double most_held = 0;

    for (int i = 0; i < COSTS; i++) {
        const struct pp_unit_costs *unit = &costs[i];
        const struct oracle o = judge(v, unit);
        const struct pp_bound_times times = {alike(v->arena, stages, q * unit->f),
                                             alike(v->arena, stages, q * unit->i),
                                             alike(v->arena, stages, q * unit->w)};
        const struct pp_bound_stages in = {.stages = stages,
                                           .times = times,
                                           .hidden = times,
                                           .again_s = none,
                                           .state_bytes = none,
                                           .kept_bytes = one,
                                           .weights_bytes = one};
        const double bound = 2 * pp_bound_step_s(&rule, &in),
                     formula = v->schedule->bubble_frac.value
                                   ? v->schedule->bubble_frac.value(&v->shape, unit, 0)
                                   : (double)NAN;
        if (v->schedule->has_pairs && unit->fb != unit->f + unit->b)
            continue;
        cr_expect_leq(bound, (double)o.makespan, "%s F=%g B=%g", v->where, unit->f, unit->b);
        if (!v->schedule->bubble_frac.is_exact || isnan(formula) || q > 1 || v->shape.granules > 1)
            continue;
        tight++;
        cr_expect_geq(bound * (1 + 1e-6), (double)o.makespan, "%s F=%g B=%g", v->where, unit->f,
                      unit->b);
    }
    const struct oracle o = judge(v, &costs[0]);
    const struct pp_bound_stages in = {.stages = stages,
                                       .again_s = none,
                                       .state_bytes = none,
                                       .kept_bytes = one,
                                       .weights_bytes = one};
    bool is_exact = v->schedule->peak.is_exact;
    for (int rank = 0; rank < v->shape.ranks; rank++) {
        most_held = fmax(most_held, o.peak[rank]);
        is_exact = is_exact && !isnan(v->schedule->peak.value(&v->shape, &costs[0], rank));
    }
    cr_expect_leq(pp_bound_peak_bytes(&rule, &in), most_held, "%s", v->where);
    if (is_exact)
        cr_expect_geq(pp_bound_peak_bytes(&rule, &in), most_held * (1 - 1e-6), "%s", v->where);
}

Test(schedules, bounds_hold_and_are_the_simulation_where_formulas_are_exact)
{
    visit_all(check_bounds);
    cr_assert_gt(tight, 1000);
}

static bool is_split(const struct visit *v)
{
    bool any = false;

    for (int i = 0; i < v->orders->count[0]; i++)
        any = any || v->orders->ops[0][i].kind == PP_W;
    return any;
}

/* Some schedules have a formula for a part of the shapes only. Two-way placements need whole units.
 * V-shaped orders must reach their steady state. Split backwards over several chunks need a
 * pipeline that fills, and groups must fill it. Every other schedule has a formula everywhere. */
static void check_formula_is_there(struct visit *v)
{
    const int ranks = v->shape.ranks, n = v->shape.micro_batches;
    const bool partial = (v->schedule->placement == PP_PLACE_TWO_WAY && n % ranks != 0) ||
                         (v->schedule->placement == PP_PLACE_VEE && n < 2 * ranks - 1);
    const bool starved =
        (v->shape.chunks > 1 && n < ranks && is_split(v)) ||
        (v->schedule->options[PP_GROUP_AT] == &pp_group_option && pp_group_is_small(&v->shape));

    if (v->schedule->bubble_frac.is_exact && !partial && !starved)
        cr_assert(!isnan(v->schedule->bubble_frac.value(&v->shape, &costs[3], 0)), "%s", v->where);
}

Test(schedules, exact_formulas_cover_what_they_promise)
{
    visit_all(check_formula_is_there);
}

/* F = 1, B = 2, K = N/D. Direct has K(4D-2) + D-2, doubling 3N + 3(D-2)/2, halving 3N + D-2. */
Test(schedules, steps_of_chimera_by_concatenation)
{
    static const struct {
        int concat, ranks, micro_batches, makespan;
    } rows[] = {
        {PP_CONCAT_DIRECT, 4, 4, 16},      {PP_CONCAT_DIRECT, 4, 8, 30},
        {PP_CONCAT_DIRECT, 4, 64, 226},    {PP_CONCAT_DIRECT, 8, 32, 126},
        {PP_CONCAT_DIRECT, 32, 64, 282},   {PP_CONCAT_DOUBLING, 4, 8, 27},
        {PP_CONCAT_DOUBLING, 4, 16, 51},   {PP_CONCAT_DOUBLING, 6, 12, 42},
        {PP_CONCAT_DOUBLING, 8, 16, 57},   {PP_CONCAT_DOUBLING, 8, 32, 105},
        {PP_CONCAT_DOUBLING, 32, 64, 237}, {PP_CONCAT_HALVING, 4, 8, 26},
        {PP_CONCAT_HALVING, 8, 32, 102},   {PP_CONCAT_HALVING, 32, 64, 222},
        {PP_CONCAT_HALVING, 2, 2, 6},      {PP_CONCAT_DOUBLING, 2, 4, 12},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct visit v = {.arena = arena, .schedule = pp_schedule_find("chimera")};
        v.shape = (struct pp_shape){.ranks = rows[i].ranks, .micro_batches = rows[i].micro_batches};
        v.shape.option[PP_CONCAT_AT] = rows[i].concat;
        cr_assert_eq(pp_schedule_check(v.schedule, &v.shape, NULL), PP_OK, "row %zu", i);
        pp_schedule_orders(arena, v.schedule, &v.shape, NULL, &v.orders, &v.maps, NULL);
        cr_expect_eq(judge(&v, &costs[0]).makespan, 2 * rows[i].makespan, "row %zu", i);
    }
}

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* Slots of one rank, over two units; the forwards of doubling share theirs. */
static bool slots_collide(const struct pp_shape *shape, const uint16_t *rank_of, int rank)
{
    const struct pp_schedule *chimera = pp_schedule_find("chimera");
    const int q = shape->option[PP_CONCAT_AT] == PP_CONCAT_DIRECT ? 1 : 2;
    const int each = 2 * q * shape->ranks / shape->pipelines;
    int64_t slots[1024];
    int count = 0;

    for (int pipe = 0; pipe < shape->pipelines; pipe++)
        for (int stage = 0; stage < shape->ranks; stage++)
            for (int j = 0; j < 2 * each && rank_of[pipe * shape->ranks + stage] == rank; j++) {
                const struct pp_key_op op = {j % 2 ? PP_B : PP_F, stage, pipe, j / 2, 0};
                if (op.kind == PP_B || op.index % q == 0)
                    slots[count++] = chimera->key(shape, &op);
            }
    qsort(slots, (size_t)count, sizeof(*slots), by_value);
    for (int i = 1; i < count; i++)
        if (slots[i] == slots[i - 1])
            return true;
    return false;
}

/* No rank has two slots at once; where it would, with several pairs, the order is refused. */
Test(schedules, slots_of_chimera_do_not_collide)
{
    for (int ranks = 2; ranks <= 32; ranks += 2)
        for (int pipelines = 2; pipelines <= ranks; pipelines += 2)
            for (int concat = PP_CONCAT_DIRECT; concat < PP_CONCAT_AUTO; concat++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct pp_shape shape = {
                    .ranks = ranks, .micro_batches = 2 * ranks, .pipelines = pipelines};
                bool collide = false;
                if (ranks % pipelines)
                    continue;
                shape.option[PP_CONCAT_AT] = concat;
                const uint16_t *rank_of =
                    pp_placement_make(arena, PP_PLACE_TWO_WAY, ranks, 1, pipelines);
                for (int rank = 0; rank < ranks; rank++)
                    collide = collide || slots_collide(&shape, rank_of, rank);
                cr_expect_eq(collide, pipelines > 2 && concat != PP_CONCAT_DIRECT,
                             "D=%d 2f=%d concat=%d", ranks, pipelines, concat);
                cr_expect_eq(pp_schedule_check(pp_schedule_find("chimera"), &shape, NULL),
                             collide ? PP_EINVAL : PP_OK);
            }
}

/* Printed forms of the papers, against the general ones of the schedules. */
Test(schedules, formulas_agree_with_the_papers)
{
    const struct pp_schedule *chimera = pp_schedule_find("chimera");
    for (int ranks = 4; ranks <= 32; ranks *= 2) {
        for (int units = 1; units <= 4; units++) {
            const double d = ranks, k = units, n = ranks * units;
            const struct pp_shape shape = {
                .ranks = ranks, .chunks = 1, .micro_batches = ranks * units, .pipelines = 2};
            cr_expect_float_eq(chimera->bubble_frac.value(&shape, &costs[1], 0),
                               (d - 2) / (2 * n + d - 2), 1e-12);
            cr_expect_float_eq(chimera->bubble_frac.value(&shape, &costs[0], 0),
                               1 - 3 * n / (k * (4 * d - 2) + d - 2), 1e-12);
            struct pp_shape other = shape;
            other.option[PP_CONCAT_AT] = PP_CONCAT_HALVING;
            cr_expect_float_eq(chimera->bubble_frac.value(&other, &costs[0], 0),
                               (d - 2) / (3 * n + d - 2), 1e-12);
            other.option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING;
            other.micro_batches *= 2;
            cr_expect_float_eq(chimera->bubble_frac.value(&other, &costs[0], 0),
                               (d - 2) / (4 * n + d - 2), 1e-12);
        }
    }
}

/* Checking what was checked changes nothing: callers may do both. */
static void check_again(struct visit *v)
{
    struct pp_shape again = v->shape;

    cr_assert_eq(pp_schedule_check(v->schedule, &again, NULL), PP_OK, "%s", v->where);
    cr_assert_eq(memcmp(&again, &v->shape, sizeof(again)), 0, "%s", v->where);
}

Test(schedules, checking_twice_changes_nothing)
{
    visit_all(check_again);
}

static void check_program(struct visit *v)
{
    struct pp_program *program;
    struct pp_error err;

    cr_assert_eq(pp_schedule_program(v->arena, v->schedule, &v->shape, NULL, &program, &err), PP_OK,
                 "%s: %s", v->where, err.message);
    cr_assert_eq(program->ranks, v->shape.ranks);
    for (int rank = 0; rank < program->ranks; rank++) {
        const int begin = program->begin[rank], count = program->begin[rank + 1] - begin;
        cr_assert_eq(count, v->orders->count[rank], "%s", v->where);
        for (int i = 0; i < count; i++) {
            const struct pp_op a = pp_program_op(program, begin + i), b = v->orders->ops[rank][i];
            cr_assert(a.kind == b.kind && a.stage == b.stage && a.mb == b.mb &&
                          a.split == b.split && a.granules == b.granules && a.aux == b.aux &&
                          a.pipe == b.pipe,
                      "%s", v->where);
        }
    }
}

Test(schedules, a_program_keeps_the_order)
{
    visit_all(check_program);
}
