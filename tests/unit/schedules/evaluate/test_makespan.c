/* A program played once, where much waits on reduce streams: against closed forms and the plan. The
 * schedules of the registry and random programs are in test_laws_makespan. */
#include "tests/unit/support/cells.h"
#include "schedules/evaluate/makespan.h"

#define SECOND_PS INT64_C(1000000000000)

/* Chimera of two ranks: both stages are on both. The sum of stage 1 stands before the buckets of
 * stage 0. */
static struct pp_program *two_ranks(struct pp_arena *arena, int buckets)
{
    static const uint16_t rank_of[] = {0, 1, 1, 0}, pipe_of[] = {0, 1};
    const struct pp_program_head head = {.name = "test",
                                         .level = PP_LEVEL_LOWERED,
                                         .ranks = 2,
                                         .stages = 2,
                                         .pipelines = 2,
                                         .micro_batches = 2,
                                         .granules = 1,
                                         .splits = 1,
                                         .versions = 1,
                                         .rank_of = rank_of,
                                         .pipe_of = pipe_of};
    static const char *const first[] = {"0F0 1F1 1B1 0B0", "1F0 0F1 0B1 1B0"};
    static const int pipe_of_stage_1[] = {1, 0};
    struct pp_program *p = NULL;
    struct pp_error err = {0};
    char *text = pp_arena_strdup(arena, "");

    for (int r = 0; r < 2; r++) {
        text = pp_arena_printf(arena, "%s%s 1AR@%d", text, first[r], pipe_of_stage_1[r]);
        for (int k = 0; k < buckets; k++)
            text =
                pp_arena_printf(arena, "%s 0AR@%d#%d/%d", text, 1 - pipe_of_stage_1[r], k, buckets);
        text = pp_arena_printf(arena, "%s\n", text);
    }
    cr_assert_eq(pp_program_freeze(arena, &head, cells_orders(arena, text, 2), &p, &err), PP_OK,
                 "%s", err.message);
    return p;
}

static int64_t planned_ps(struct pp_arena *arena, const struct pp_program *p,
                          const struct pp_costs *costs)
{
    const struct pp_eval_options options = {0};
    struct pp_error err = {0};
    struct pp_eval *plan;

    cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, &err), PP_OK, "%s", err.message);
    return pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps;
}

/* Rank 0 has posted all of its buckets before rank 1 posts any: each that ends lets both go on. */
Test(makespan, buckets_queue_after_a_sum_by_the_hundred)
{
    static const int counts[] = {2, 3, 64, PP_MAX_BUCKETS};
    struct pp_unit_costs unit;

    cr_assert_eq(pp_unit_costs_parse("F=1,B=2", &unit, NULL), PP_OK);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_program *p = two_ranks(arena, counts[i]);
        struct pp_costs *costs = pp_costs_unit(arena, &unit, 2, 2, 1, 1);
        const struct pp_eval_options options = {0};
        int64_t played_ps = 0;
        costs->op[PP_AR] = PP_ARRAY(arena, struct pp_cost, 2);
        costs->op[PP_AR][0].ps = counts[i] * SECOND_PS;
        costs->op[PP_AR][1].ps = 3 * SECOND_PS;
        cr_assert(pp_makespan(p, costs, &options, &played_ps));
        cr_assert_eq(played_ps, (6 + 3 + counts[i]) * SECOND_PS, "%d buckets: %lld ps", counts[i],
                     (long long)played_ps);
        cr_assert_eq(planned_ps(arena, p, costs), played_ps);
    }
}
