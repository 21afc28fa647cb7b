/* v-half, v-min, v-1f1b: laws beyond the published figures, which tests/golden/bounds.csv holds. */
#include "schedules/registry.h"
#include "schedules/search/vmem.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/order_oracle.h"

#include <criterion/criterion.h>

#include <stdlib.h>

static const char *const names[] = {"v-half", "v-min", "v-1f1b"};
enum { NAMES = sizeof(names) / sizeof(names[0]) };
static const struct pp_unit_costs uneven[] = {
    {.f = 10, .i = 12, .w = 8, .b = 20, .c = 1},
    {.f = 2, .i = 1, .w = 1, .b = 2},
    {.f = 3, .i = 1, .w = 7, .b = 8, .c = 2},
    {.f = 1, .i = 4, .w = 1, .b = 5},
};
enum { UNEVEN = sizeof(uneven) / sizeof(uneven[0]) };

struct judged {
    int64_t makespan;
    double peak;
};

/* The order within `limit` activations (0: the default), made with or without costs, judged at
 * `unit`. */
static struct judged judge_within(const char *name, int ranks, int n, int limit,
                                  const struct pp_unit_costs *unit, bool is_told)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_schedule *schedule = pp_schedule_find(name);
    struct pp_shape shape = {.ranks = ranks, .micro_batches = n, .option[PP_LIMIT_AT] = limit};
    struct pp_orders *orders;
    struct pp_order_maps maps;
    struct pp_error err;

    cr_assert_eq(pp_schedule_check(schedule, &shape, &err), PP_OK, "%s", err.message);
    const struct pp_costs *costs =
        is_told ? pp_costs_unit(arena, unit, ranks, pp_shape_stages(&shape), 1, 1) : NULL;
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, costs, &orders, &maps, &err), PP_OK);
    struct oracle o = {.shape = &shape, .orders = orders, .maps = &maps};
    o.cost[PP_F] = (int64_t)unit->f, o.cost[PP_B] = (int64_t)unit->b;
    o.cost[PP_I] = (int64_t)unit->i, o.cost[PP_W] = (int64_t)unit->w;
    o.wire = (int64_t)unit->c;
    oracle_run(arena, &o);
    cr_assert_null(o.fault, "%s D=%d N=%d: %s", name, ranks, n, o.fault);
    cr_assert_geq(o.makespan, o.busiest, "%s D=%d N=%d: deadlock", name, ranks, n);
    struct judged judged = {.makespan = o.makespan};
    for (int rank = 0; rank < ranks; rank++)
        judged.peak = fmax(judged.peak, o.peak[rank]);
    return judged;
}

static struct judged judge(const char *name, int ranks, int n, const struct pp_unit_costs *unit,
                           bool is_told)
{
    return judge_within(name, ranks, n, 0, unit, is_told);
}

Test(vmem, knowing_the_costs_never_hurts)
{
    int better = 0;

    for (int s = 0; s < NAMES; s++) {
        for (int ranks = 1; ranks <= 13; ranks += 1 + ranks / 4) {
            for (int n = 1; n <= 3 * ranks + 1; n += ranks) {
                for (int u = 0; u < UNEVEN; u++) {
                    const struct judged told = judge(names[s], ranks, n, &uneven[u], true);
                    const struct judged blind = judge(names[s], ranks, n, &uneven[u], false);
                    cr_expect_leq(told.makespan, blind.makespan, "%s D=%d N=%d costs %d", names[s],
                                  ranks, n, u);
                    cr_expect_leq(told.peak, blind.peak, "%s D=%d N=%d costs %d", names[s], ranks,
                                  n, u);
                    better += told.makespan < blind.makespan;
                }
            }
        }
    }
    cr_expect_gt(better, 100);
}

/* The memory that the schedules are there for; with that of 1F1B they may not be slower than it. */
Test(vmem, memory_stays_below_1f1b)
{
    for (int s = 0; s < NAMES; s++) {
        for (int ranks = 4; ranks <= 16; ranks++) {
            for (int n = 2 * ranks; n <= 4 * ranks; n += ranks) {
                for (int u = 0; u < 2; u++) {
                    struct pp_unit_costs whole = uneven[u];
                    const struct judged ours = judge(names[s], ranks, n, &uneven[u], true);
                    whole.f *= 2, whole.b *= 2;
                    const struct judged theirs = judge("1f1b", ranks, n, &whole, true);
                    cr_expect(ours.peak / 2 < theirs.peak || ours.makespan <= theirs.makespan,
                              "%s D=%d N=%d: %g, %ld and %ld", names[s], ranks, n, ours.peak,
                              (long)ours.makespan, (long)theirs.makespan);
                    cr_expect_lt(ours.peak / 2, theirs.peak, "%s D=%d N=%d", names[s], ranks, n);
                }
            }
        }
    }
}

/* Figures printed by the public implementation for F = B = W = 1000 and 20 for a message. */
Test(vmem, bubbles_are_no_larger_than_published)
{
    const struct {
        const char *name;
        int ranks, n;
        double bubble_frac;
    } rows[] = {{"v-half", 8, 32, 0.0855}, {"v-half", 16, 64, 0.1008}, {"v-half", 32, 128, 0.1083},
                {"v-min", 8, 32, 0.1381},  {"v-min", 16, 64, 0.1490},  {"v-min", 32, 128, 0.1544}};
    const struct pp_unit_costs unit = {.f = 1000, .i = 1000, .w = 1000, .b = 2000, .c = 20};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct judged judged = judge(rows[i].name, rows[i].ranks, rows[i].n, &unit, true);
        cr_expect_leq(1 - 6000.0 * rows[i].n / (double)judged.makespan,
                      rows[i].bubble_frac + 0.00005, "%s D=%d: makespan %ld", rows[i].name,
                      rows[i].ranks, (long)judged.makespan);
    }
}

/* With F = I = W, each activation more makes the step shorter or equal, down to that of zbv. */
Test(vmem, memory_buys_time)
{
    const struct pp_unit_costs unit = {.f = 1, .i = 1, .w = 1, .b = 2};

    for (int ranks = 2; ranks <= 9; ranks++) {
        for (int n = ranks; n <= 2 * ranks; n += ranks) {
            struct judged before = judge("v-half", ranks, n, &unit, true);
            for (int limit = (int)before.peak; limit <= 2 * ranks; limit++) {
                const struct judged now = judge_within("v-half", ranks, n, limit, &unit, true);
                cr_expect_leq(now.peak, limit, "D=%d N=%d limit %d", ranks, n, limit);
                cr_expect_leq(now.makespan, before.makespan, "D=%d N=%d limit %d", ranks, n, limit);
                before = now;
            }
            cr_expect_leq(before.makespan, judge("zbv", ranks, n, &unit, true).makespan,
                          "D=%d N=%d", ranks, n);
            before = judge_within("v-half", ranks, n, 2 * ranks, &uneven[0], true);
            cr_expect_leq(before.makespan, judge("zbv", ranks, n, &uneven[0], true).makespan,
                          "D=%d N=%d", ranks, n);
        }
    }
}

/* ---- few micro-batches decide ---------------------------------------------------------------- */

/* Down and up the V without a stop, or down at half speed; with split or whole backwards. */
static void fast(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN])
{
    const int turn = ranks % 3 == 0 ? 2 : 0;

    tick[PP_VMEM_F0] = rank;
    tick[PP_VMEM_F1] = 2 * ranks - rank - 1;
    tick[PP_VMEM_I1] = 2 * ranks + turn + rank;
    tick[PP_VMEM_I0] = 4 * ranks + turn - rank - 1;
}

static void slow(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN])
{
    const int turn = ranks % 2 == 0 ? 3 : 0;

    tick[PP_VMEM_F0] = 2 * rank;
    tick[PP_VMEM_F1] = 3 * ranks - rank - 2;
    tick[PP_VMEM_I1] = 3 * ranks + turn + 2 * rank - 1;
    tick[PP_VMEM_I0] = 6 * ranks + turn - rank - 2;
}

/* Costs of a case: stages that differ by up to a share, or only the first and the last one. */
static struct pp_costs *stage_costs(struct pp_arena *arena, const struct pp_unit_costs *unit,
                                    int ranks, double share, bool is_ends)
{
    static const enum pp_op_kind kinds[] = {PP_F, PP_B, PP_I, PP_W};
    struct pp_costs *costs = pp_costs_unit(arena, unit, ranks, 2 * ranks, 1, 1);

    for (int s = 0; s < 2 * ranks; s++) {
        const bool is_end = s == 0 || s == 2 * ranks - 1;
        const double more = is_ends ? (is_end ? share : 0) : share * (s * 7 % 11) / 10;
        for (size_t k = 0; k < PP_COUNT(kinds); k++) {
            struct pp_cost *cost = &costs->op[kinds[k]][s];
            cost->ps += (int64_t)((double)cost->ps * more);
        }
    }
    return costs;
}

static void expect_same_orders(const struct pp_shape *shape, const struct pp_costs *costs,
                               const struct pp_vmem_rule *rule, int few)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_orders *whole = pp_orders_create(arena, shape->ranks),
                     *ours = pp_orders_create(arena, shape->ranks);

    pp_vmem_decide(arena, shape, costs, rule, shape->micro_batches, whole);
    pp_vmem_decide(arena, shape, costs, rule, few, ours);
    for (int r = 0; r < shape->ranks; r++) {
        cr_assert_eq(ours->count[r], whole->count[r]);
        for (int i = 0; i < ours->count[r]; i++) {
            const struct pp_op *a = &ours->ops[r][i], *b = &whole->ops[r][i];
            cr_assert(a->kind == b->kind && a->stage == b->stage && a->mb == b->mb,
                      "D=%d N=%d cap %d rank %d op %d", shape->ranks, shape->micro_batches,
                      rule->cap, r, i);
        }
    }
}

/* The search on few micro-batches gives the order of the search on all. */
Test(vmem, few_micro_batches_decide_as_all)
{
    const bool is_long = getenv("PIPESIM_LONG") != NULL;

    for (int ranks = 1; ranks <= (is_long ? 16 : 5); ranks += 1 + ranks / 4)
        for (int u = 0; u < UNEVEN; u++)
            for (int k = 0; k < (is_long ? 12 : 3); k++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const int few = 8 * ranks + 24, cap = k % 3 == 2 ? 2 * ranks + 2 : 0;
                const struct pp_shape shape = {.ranks = ranks, .micro_batches = 2 * few + 7 * k};
                const struct pp_vmem_rule rule = {
                    .block = k % 3 == 0 ? fast : slow, .is_split = k % 3 != 1 || k & 1, .cap = cap};
                const struct pp_costs *costs =
                    stage_costs(arena, &uneven[u], ranks, 0.05 * (u + k / 3), k & 1);
                expect_same_orders(&shape, costs, &rule, few);
            }
}

/* Times may repeat only after more micro-batches than ops do. Then all of these are repeated. */
Test(vmem, times_decide_what_repeats)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = 6, .micro_batches = 140};
    const struct pp_vmem_rule rule = {.block = slow, .is_split = true};
    struct pp_costs *costs = stage_costs(arena, &uneven[2], 6, 0.342, true);

    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (costs->op[kind])
            costs->op[kind][0] = costs->op[kind][1]; /* the last one alone is longer */
    expect_same_orders(&shape, costs, &rule, 72);
}

/* A list whose ranks idle more with few micro-batches may be the best of all with many. */
Test(vmem, many_micro_batches_decide_as_all)
{
    if (!getenv("PIPESIM_LONG"))
        return;
    for (int u = 0; u < UNEVEN; u++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_shape shape = {.ranks = 11, .micro_batches = 1000};
        const struct pp_vmem_rule rule = {.block = fast, .is_split = true};
        for (int share = 0; share <= 6; share += 3)
            expect_same_orders(&shape, stage_costs(arena, &uneven[u], 11, 0.01 * share, true),
                               &rule, 112);
    }
}

/* Lists that do not yet repeat become longer until they do, or are those of all micro-batches. */
Test(vmem, too_few_micro_batches_become_more)
{
    for (int few = 1; few <= 40; few += 3) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_shape shape = {.ranks = 4, .micro_batches = 90};
        const struct pp_vmem_rule rule = {.block = slow, .is_split = true};
        expect_same_orders(&shape, stage_costs(arena, &uneven[0], 4, 0.1, true), &rule, few);
    }
}

/* Beyond the published construction: fewer micro-batches than ranks, sizes without ticks. */
Test(vmem, every_size_has_a_legal_program)
{
    const int sizes[][2] = {{1, 1}, {1, 7}, {2, 1}, {3, 2}, {7, 3}, {64, 5}, {1300, 2}};

    for (int s = 0; s < NAMES; s++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_shape shape = {.ranks = sizes[i][0], .micro_batches = sizes[i][1]};
            struct pp_program *program;
            struct pp_error err;
            cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(names[s]), &shape, NULL,
                                             &program, &err),
                         PP_OK, "%s", err.message);
            cr_expect_eq(pp_verify(program, NULL, &err), PP_OK, "%s D=%d N=%d: %s", names[s],
                         sizes[i][0], sizes[i][1], err.message);
        }
    }
}
