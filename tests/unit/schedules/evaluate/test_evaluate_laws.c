/* Laws of the evaluator that hold for every program, and its errors. */
#include "tests/unit/support/random_program.h"

#include "schedules/evaluate/evaluate.h"
#include "schedules/lower/lower.h"
#include "schedules/order/concat.h"
#include "schedules/registry.h"

#include <math.h>

enum { PROGRAMS = 150, WHOLE_BUCKETS = 60 }; /* 2 to 5 buckets are whole shares of it */

/* NULL on deadlock. */
static struct pp_times *run(struct pp_arena *arena, const struct pp_program *p,
                            const struct pp_costs *costs, const struct pp_eval_options *options,
                            int replicas)
{
    struct pp_eval *plan;
    struct pp_error err;

    if (pp_eval_create(arena, p, costs, options, &plan, &err) != PP_OK)
        return NULL;
    return pp_eval_run(arena, plan, replicas, NULL, PP_TIMES_ALL);
}

static const struct pp_eval_options all_options[] = {
    {0},
    {.is_buffered = true},
    {.is_buffered = true, .buffered = 1},
    {.nic_fifo = true},
    {.ring_flows = true},
    {.is_buffered = true, .buffered = 2, .nic_fifo = true, .ring_flows = true},
};
enum { OPTIONS = sizeof(all_options) / sizeof(all_options[0]) };

static void scale(struct pp_costs *c, int k)
{
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int s = 0; c->op[kind] && s < c->stages * c->splits; s++) {
            c->op[kind][s].ps *= k;
            c->op[kind][s].latency_ps *= k;
        }
    for (int s = 0; c->overlap && s < c->stages * c->stages; s++)
        c->overlap[s].ps *= k;
    if (c->overlap_all)
        c->overlap_all->ps *= k;
    for (int s = 0; s < c->stages; s++)
        c->ring_alpha_ps[s] *= k;
    for (int l = 0; l < c->links; l++) {
        c->alpha_ps[l] *= k;
        c->s_per_byte[l] = 0; /* the share of a message is rounded by itself */
    }
}

Test(evaluate_laws, scaling_all_costs_scales_every_time)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_program *p, *compute;
        struct random_program *g = random_program(arena, seed, &p, &compute);
        const struct pp_eval_options *options = &all_options[seed % OPTIONS];
        struct pp_costs *costs = random_costs(g, 3);
        /* Splits have entries of their own, granules whole shares; those of overlaps are rounded.
         */
        if (g->head.splits * g->head.granules > 1)
            costs->overlap = costs->overlap_all = NULL;
        scale(costs, g->head.granules * WHOLE_BUCKETS);
        const struct pp_times *a = run(arena, p, costs, options, 3);
        scale(costs, 7);
        const struct pp_times *b = run(arena, p, costs, options, 3);
        for (int i = 0; a && i < 3 * pp_program_size(p); i++)
            cr_assert(b->start_ps[i] == 7 * a->start_ps[i] && b->end_ps[i] == 7 * a->end_ps[i],
                      "seed %d", (int)seed);
    }
}

Test(evaluate_laws, a_longer_op_never_shortens_anything)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_program *p, *compute;
        struct random_program *g = random_program(arena, seed, &p, &compute);
        const struct pp_eval_options *options = &all_options[seed % OPTIONS];
        struct pp_costs *costs = random_costs(g, 2);
        const struct pp_times *a = run(arena, p, costs, options, 2);
        const int kinds[] = {PP_F, PP_B, PP_I, PP_W, PP_U, PP_AR};
        const int kind = kinds[rng_int(&g->rng, 0, 5)];
        costs->op[kind][rng_int(&g->rng, 0, costs->stages - 1)].ps += rng_int(&g->rng, 1, 2000);
        costs->alpha_ps[0] += rng_int(&g->rng, 0, 100);
        const struct pp_times *b = run(arena, p, costs, options, 2);
        for (int i = 0; a && i < 2 * pp_program_size(p); i++)
            cr_assert_geq(b->end_ps[i], a->end_ps[i], "seed %d", (int)seed);
    }
}

/* Two ways to the compute times: messages implied by dependencies, and messages written down. */
Test(evaluate_laws, a_compute_only_program_runs_like_its_lowered_form)
{
    int compared = 0;

    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_program *p, *compute;
        struct random_program *g = random_program(arena, seed, &p, &compute);
        const struct pp_eval_options options = {.is_buffered = true, .nic_fifo = seed % 3 == 0};
        struct pp_costs *costs = random_costs(g, 1);
        costs->is_unit = seed % 2;
        if (g->is_odd)
            continue;
        const struct pp_times *a = run(arena, p, costs, &options, 1);
        const struct pp_times *b = run(arena, compute, costs, &options, 1);
        cr_assert(a && b);
        for (int r = 0; r < p->ranks; r++)
            for (int i = p->begin[r], j = compute->begin[r]; i < p->begin[r + 1]; i++) {
                if (!pp_op_is_compute(p->kind[i]) || p->kind[i] == PP_U)
                    continue;
                cr_assert(a->start_ps[i] == b->start_ps[j] && a->end_ps[i] == b->end_ps[j],
                          "seed %d rank %d op %d", (int)seed, r, i);
                j++;
                compared++;
            }
    }
    cr_assert_geq(compared, 1000);
}

/* The same for every schedule as the tool lowers it in unit mode. */
Test(evaluate_laws, schedules_take_the_same_time_before_and_after_lowering)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2.5, .i = 1.5, .w = 1, .c = 0.3, .fb = 3.5};
    const struct pp_eval_options options = {.is_buffered = true};
    int compared = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int d = 1; d <= 6; d++)
            for (int at = 0; at < 12 * PP_CONCAT_AUTO; at++) {
                const int n = 1 + at % 12;
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct pp_shape shape = {.ranks = d, .micro_batches = n, .splits = 1};
                const struct pp_lower_options lower = {0};
                struct pp_program *compute, *lowered;
                struct pp_error err;
                shape.option[PP_CONCAT_AT] = at / 12;
                if (pp_schedule_check(pp_schedules[k], &shape, &err) != PP_OK)
                    continue;
                cr_assert_eq(
                    pp_schedule_program(arena, pp_schedules[k], &shape, NULL, &compute, &err),
                    PP_OK, "%s", err.message);
                cr_assert_eq(pp_lower(arena, compute, &lower, &lowered, &err), PP_OK, "%s",
                             err.message);
                const struct pp_costs *costs = pp_costs_unit(arena, &unit, d, compute->stages,
                                                             compute->splits, compute->granules);
                const struct pp_times *a = run(arena, compute, costs, &options, 1);
                const struct pp_times *b = run(arena, lowered, costs, &options, 1);
                cr_assert_not_null(a);
                cr_assert_not_null(b);
                cr_assert_eq(a->makespan_ps, b->makespan_ps, "%s D=%d N=%d", pp_schedules[k]->name,
                             d, n);
                compared++;
            }
    cr_assert_geq(compared, 100);
}

/* ---- jitter ---------------------------------------------------------------------------------- */

static struct pp_eval *plan_of(struct pp_arena *arena, const char *name, int ranks, int n)
{
    const struct pp_shape shape = {.ranks = ranks, .micro_batches = n, .splits = 1};
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_program *p;
    struct pp_eval *plan;
    struct pp_error err;

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(name), &shape, NULL, &p, &err), PP_OK,
                 "%s", err.message);
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, ranks, p->stages, 1, p->granules);
    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    return plan;
}

Test(evaluate_laws, jitter_is_uniform_seeded_and_independent_of_the_number_of_replicas)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_eval *plan = plan_of(arena, "gpipe", 1, 50);
    const struct pp_perturbation five = {.jitter_frac = 0.05, .seed = 1};
    const struct pp_perturbation other = {.jitter_frac = 0.05, .seed = 2};
    const struct pp_times *t = pp_eval_run(arena, plan, 1000, &five, PP_TIMES_ALL);
    const struct pp_times *few = pp_eval_run(arena, plan, 3, &five, PP_TIMES_ALL);
    const struct pp_times *reseeded = pp_eval_run(arena, plan, 3, &other, PP_TIMES_ALL);
    double sum = 0, squares = 0;
    int same = 0;

    for (int i = 0; i < 50; i++)
        for (int k = 0; k < 1000; k++) { /* forwards of 1 s */
            const double u =
                ((double)(t->end_ps[i * 1000 + k] - t->start_ps[i * 1000 + k]) * 1e-12 - 1) / 0.05;
            cr_assert(u >= -1 - 1e-9 && u <= 1 + 1e-9);
            sum += u;
            squares += u * u;
            if (k < 3) {
                cr_assert_eq(few->end_ps[i * 3 + k], t->end_ps[i * 1000 + k]);
                same += reseeded->end_ps[i * 3 + k] == few->end_ps[i * 3 + k];
            }
        }
    /* mean 0, variance 1/3: 50,000 draws, five standard errors */
    cr_assert_float_eq(sum / 50000, 0, 5 * sqrt(1 / 3. / 50000));
    cr_assert_float_eq(squares / 50000, 1 / 3., 5 * sqrt(4 / 45. / 50000));
    cr_assert_eq(same, 0);
}

Test(evaluate_laws, a_slow_rank_divides_its_speed_and_zero_jitter_changes_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_eval *plan = plan_of(arena, "1f1b", 2, 4);
    const double slow[4] = {1, 1, 1, 0.5}; /* rank 1 of replica 1 */
    const struct pp_perturbation p = {.slow = slow};
    const struct pp_perturbation none = {.jitter_frac = 0, .seed = 9};
    const struct pp_times *t = pp_eval_run(arena, plan, 2, &p, PP_TIMES_ALL);

    cr_assert_eq(pp_eval_run(arena, plan, 2, &none, PP_TIMES_MAKESPAN)->makespan_ps,
                 15 * 1000000000000);
    /* replica 1: rank 1 needs 4 x 6 s, F of rank 0 before and B after it */
    cr_assert_eq(t->makespan_ps, 27 * 1000000000000);
}

/* ---- errors ---------------------------------------------------------------------------------- */

Test(evaluate_laws, a_deadlock_names_who_waits_for_whom)
{
    static const uint16_t linear[] = {0, 1}, pipe0[] = {0};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program_head head = {.name = "stuck",
                                         .level = PP_LEVEL_COMPUTE,
                                         .ranks = 2,
                                         .stages = 2,
                                         .pipelines = 1,
                                         .micro_batches = 1,
                                         .granules = 1,
                                         .splits = 1,
                                         .versions = 1,
                                         .rank_of = linear,
                                         .pipe_of = pipe0};
    struct pp_orders *lists = pp_orders_create(arena, 2);
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_op op = {.kind = PP_B, .granules = 1, .arg = -1, .slot = -1};
    struct pp_program *p;
    struct pp_eval *plan;
    struct pp_error err = {0};

    pp_orders_add(arena, lists, 0, op); /* 0B0,0F0 on rank 0 and 1F0,1B0 on rank 1 */
    op.kind = PP_F;
    pp_orders_add(arena, lists, 0, op);
    op.stage = 1;
    pp_orders_add(arena, lists, 1, op);
    op.kind = PP_B;
    pp_orders_add(arena, lists, 1, op);
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, &err), PP_OK, "%s", err.message);
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_EPROGRAM);
    cr_assert_not_null(strstr(err.message, "rank 0 waits for 1B0 of rank 1 before 0B0"), "%s",
                       err.message);
    cr_assert_not_null(strstr(err.message, "rank 1 waits for 0F0 of rank 0 before 1F0"), "%s",
                       err.message);
}

Test(evaluate_laws, times_that_would_overflow_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = 2, .micro_batches = 4, .splits = 1};
    const struct pp_unit_costs unit = {.f = 1e6, .b = 2e6, .i = 1e6, .w = 1e6, .fb = 3e6};
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_program *p;
    struct pp_eval *plan;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find("1f1b"), &shape, NULL, &p, &err),
                 PP_OK);
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "overflow"), "%s", err.message);
}

Test(evaluate_laws, durations_may_add_up_to_more_than_a_time_can_hold)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = 64, .micro_batches = 16, .splits = 1};
    const struct pp_unit_costs unit = {.f = 1e4, .b = 2e4, .i = 1e4, .w = 1e4, .fb = 3e4};
    const struct pp_eval_options options = {.is_buffered = true};
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 64, 64, 1, 1);
    struct pp_program *p;
    struct pp_eval *plan;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_program(arena, pp_schedule_find("1f1b"), &shape, NULL, &p, &err),
                 PP_OK);
    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps,
                 (64 - 1 + 16) * 30000 * INT64_C(1000000000000));
}
