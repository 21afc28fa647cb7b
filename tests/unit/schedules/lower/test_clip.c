/* Clipping: a 0BAR on every rank, after all sums and before the first update. */
#include "tests/unit/support/lower_cases.h"

#include "schedules/evaluate/evaluate.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/cells.h"
#include "tests/unit/support/state_specs.h"

static const uint16_t two_chunks[] = {0, 1, 0, 1};
static const struct pp_program_head head = {.name = "test",
                                            .ranks = 2,
                                            .stages = 4,
                                            .pipelines = 1,
                                            .micro_batches = 1,
                                            .granules = 1,
                                            .splits = 1,
                                            .versions = 1,
                                            .rank_of = two_chunks};
static const char *const text = "0F0 2F0 2B0 0B0\n1F0 3F0 3B0 1B0";

static struct pp_program *lower(struct pp_arena *arena, const struct pp_lower_options *options)
{
    struct pp_program *compute, *lowered;
    struct pp_error err;

    cr_assert_eq(
        pp_program_freeze(arena, &head, cells_orders(arena, text, head.ranks), &compute, &err),
        PP_OK, "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, options, &lowered, &err), PP_OK, "%s", err.message);
    return lowered;
}

/* What comes after the last compute op of a rank but U. */
static void tail_is(const struct pp_program *p, int rank, const char *expected)
{
    char got[1024] = "", cell[PP_OP_TEXT_BYTES];
    int first = p->begin[rank + 1];

    while (!pp_op_is_compute(p->kind[first - 1]) || p->kind[first - 1] == PP_U)
        first--;
    for (int i = first; i < p->begin[rank + 1]; i++) {
        const struct pp_op op = pp_program_op(p, i);
        pp_op_print(&op, (struct pp_op_style){0}, cell);
        strcat(strcat(got, i > first ? " " : ""), cell);
    }
    cr_assert_str_eq(got, expected, "\ngot\n%s\nwant\n%s", got, expected);
}

Test(clip, by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_lower_options options = {
        .recv_slots = 1, .has_sync = true, .has_optimizer = true, .has_clip = true};
    const struct pp_program *p = lower(arena, &options);

    tail_is(p, 0, "2AR 0AR (2AR)WAIT (0AR)WAIT 0BAR 2U 0U");
    tail_is(p, 1, "1SEND_B0 3AR 1AR (1SEND_B0)WAIT (3AR)WAIT (1AR)WAIT 0BAR 3U 1U");
    options.state = specs_zero(1);
    p = lower(arena, &options);
    tail_is(p, 0, "2RS 0RS (2RS)WAIT (0RS)WAIT 0BAR 2U 2AG 0U 0AG (2AG)WAIT (0AG)WAIT");
    options.has_sync = false;
    tail_is(lower(arena, &options), 0, "0BAR 2U 0U");
    options.has_optimizer = false; /* nothing is updated: nothing to wait for */
    tail_is(lower(arena, &options), 1, "1SEND_B0 (1SEND_B0)WAIT");
}

static int count_bars(const struct pp_program *p, int rank)
{
    int count = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        count += p->kind[i] == PP_BAR;
    return count;
}

/* Everything a norm needs is over, on every rank, when the first update of any starts. */
static void check_times(struct pp_arena *arena, const struct pp_program *p)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0.1, .fb = 3};
    struct pp_costs *costs =
        pp_costs_unit(arena, &unit, p->ranks, p->stages, p->splits, p->granules);
    struct pp_eval *plan;
    struct pp_error err;
    int64_t sums_ps = 0, updates_ps = INT64_MAX;

    costs->op[PP_U] = costs->op[PP_F];
    costs->op[PP_AR] = costs->op[PP_RS] = costs->op[PP_AG] = costs->op[PP_B];
    cr_assert_eq(pp_eval_create(arena, p, costs, &(struct pp_eval_options){0}, &plan, &err), PP_OK,
                 "%s: %s", p->name, err.message);
    const struct pp_times *times = pp_eval_run(arena, plan, 1, NULL, PP_TIMES_ALL);
    for (int i = 0; i < pp_program_size(p); i++) {
        const bool is_sum = p->kind[i] == PP_AR || p->kind[i] == PP_RS;
        const bool is_backward = p->kind[i] == PP_B || p->kind[i] == PP_W;
        if ((is_sum || is_backward) && times->end_ps[i] > sums_ps)
            sums_ps = times->end_ps[i];
        if (p->kind[i] == PP_U && times->start_ps[i] < updates_ps)
            updates_ps = times->start_ps[i];
    }
    cr_assert_geq(updates_ps, sums_ps, "%s", p->name);
}

static void lower_and_check(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    const int at = (*(int *)context)++;
    const struct pp_lower_options options = {.post = at % 4,
                                             .recv_slots = 1 + at % 3,
                                             .grad_sync = at / 4 % 3,
                                             .has_sync = at % 5 != 0,
                                             .has_optimizer = true,
                                             .state = specs_zero(at % 2),
                                             .has_tied = compute->stages > 1 && at % 3 == 0,
                                             .has_clip = true};
    struct pp_program *p, *again;
    struct pp_error err;

    cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s: %s", compute->name, err.message);
    for (int rank = 0; rank < p->ranks; rank++)
        cr_assert_eq(count_bars(p, rank), 1);
    check_times(arena, p);
    cr_assert_eq(pp_lower(arena, p, &options, &again, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(pp_program_text(arena, again), pp_program_text(arena, p));
}

Test(clip, every_schedule_has_its_norm_before_its_first_update)
{
    int count = 0;

    for_each_case(lower_and_check, &count);
    cr_assert_gt(count, 300);
}

/* Without a common step there is no norm of all gradients. */
Test(clip, asynchronous_updates_are_left_alone)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_lower_options options = {.recv_slots = 1,
                                       .has_sync = true,
                                       .has_optimizer = true,
                                       .update_every = 1,
                                       .has_clip = true};
    const struct pp_program *p = lower(arena, &options);

    for (int rank = 0; rank < p->ranks; rank++)
        cr_assert_eq(count_bars(p, rank), 0);
}
