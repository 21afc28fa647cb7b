/* The order of a list that remains when W runs concurrently, and the resulting times. */
#include "schedules/evaluate/evaluate.h"
#include "schedules/evaluate/weight_stream.h"
#include "schedules/lower/lower.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <string.h>

static struct pp_program *parse(struct pp_arena *arena, const char *text)
{
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_program_parse(arena, "lane.csv", text, strlen(text), PP_DIALECT_2025, &program, &err),
        PP_OK, "%s", err.message);
    return program;
}

/* The instruction of a rank that is printed so. */
static int find(const struct pp_program *p, const char *cell)
{
    struct pp_op_style style = pp_program_style(p);

    style.slots = false;
    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op op = pp_program_op(p, i);
        char text[PP_OP_TEXT_BYTES];
        pp_op_print(&op, style, text);
        if (strcmp(text, cell) == 0)
            return i;
    }
    cr_assert_fail("no %s", cell);
    return -1;
}

static const char *after(const struct pp_program *p, const char *cell, char text[PP_OP_TEXT_BYTES])
{
    struct pp_op_style style = pp_program_style(p);
    const int i = pp_weight_stream_after(p, find(p, cell));

    style.slots = false;
    if (i < 0)
        return "";
    const struct pp_op op = pp_program_op(p, i);
    pp_op_print(&op, style, text);
    return text;
}

#define AFTER(cell, expected)                                                                      \
    do {                                                                                           \
        char text[PP_OP_TEXT_BYTES];                                                               \
        cr_expect_str_eq(after(p, cell, text), expected, "%s waits for '%s'", cell,                \
                         after(p, cell, text));                                                    \
    } while (0)

/* F2 fills the slot that W0 reads. B2 adds to the gradient to which W1 adds. The end of the list
 * waits for the last W, and no wait is repeated. */
Test(weight_stream, what_the_data_asks_for_remains)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p = parse(arena, "# level: lowered\n"
                                        "0F0[0],0I0,0F1[1],0W0,0F2[0],0I1,0W1,0B2,0F3[1],0I3,0W3,"
                                        "0BAR,0U\n");

    cr_assert_null(p->weight_stream);
    cr_assert_eq(pp_weight_stream_after(p, 4), -1);
    cr_assert(!pp_weight_stream_has(p, 3));
    p->weight_stream = pp_weight_stream_create(arena, p);
    cr_assert_not_null(p->weight_stream);
    AFTER("0F0", "");
    AFTER("0F1", "");
    AFTER("0W0", "0I0");
    AFTER("0F2", "0W0");
    AFTER("0I1", "");
    AFTER("0W1", "0I1");
    AFTER("0B2", "0W1");
    AFTER("0F3", ""); /* B2 has waited for W1 */
    AFTER("0W3", "0I3");
    AFTER("0BAR", "0W3");
    AFTER("0U", "");
    for (int i = 0; i < pp_program_size(p); i++)
        cr_expect_eq(pp_weight_stream_has(p, i), p->kind[i] == PP_W);
}

/* Seconds, F = I = W = 1, B = 2: two Ws run concurrently, so the step is shorter by their time. */
Test(weight_stream, the_evaluator_runs_them_concurrently)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *p =
        parse(arena, "# level: lowered\n0F0[0],0I0,0F1[1],0W0,0F2[0],0I1,0W1,0I2,0W2,0BAR\n");
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 1, 1, 1, 1);
    static const double starts_s[2][10] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                                           {0, 1, 2, 2, 3, 4, 5, 5, 6, 7}};

    for (int lane = 0; lane < 2; lane++) {
        struct pp_eval *plan;
        struct pp_error err = {0};

        p->weight_stream = lane ? pp_weight_stream_create(arena, p) : NULL;
        cr_assert_eq(pp_eval_create(arena, p, costs, &(struct pp_eval_options){0}, &plan, &err),
                     PP_OK, "%s", err.message);
        for (int wanted = PP_TIMES_SPANS; wanted <= PP_TIMES_ALL; wanted++) {
            const struct pp_times *t =
                pp_eval_run(arena, plan, 1, NULL, (enum pp_times_wanted)wanted);
            cr_expect_eq(t->makespan_ps, (int64_t)(lane ? 7e12 : 9e12));
            for (int i = 0; i < 10; i++)
                cr_expect_eq(t->start_ps[i], (int64_t)(1e12 * starts_s[lane][i]), "%d: op %d at %g",
                             lane, i, 1e-12 * (double)t->start_ps[i]);
        }
    }
}

static struct pp_program *lowered(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  bool has_sync)
{
    struct pp_shape shape = {.ranks = 4, .micro_batches = 8};
    struct pp_program *compute, *program;
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_check(schedule, &shape, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_schedule_program(arena, schedule, &shape, NULL, &compute, &err), PP_OK);
    int *buckets = PP_ARRAY(arena, int, compute->stages);
    for (int s = 0; s < compute->stages; s++)
        buckets[s] = 2;
    const struct pp_lower_options options = {.recv_slots = 2,
                                             .buckets = buckets,
                                             .grad_sync = PP_SYNC_EAGER,
                                             .has_sync = has_sync,
                                             .has_optimizer = true,
                                             .has_clip = true,
                                             .has_tied = true};
    cr_assert_eq(pp_lower(arena, compute, &options, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static int64_t makespan_ps(struct pp_arena *arena, const struct pp_program *p,
                           const struct pp_costs *costs)
{
    struct pp_eval *plan;
    struct pp_error err = {0};

    cr_assert_eq(pp_eval_create(arena, p, costs, &(struct pp_eval_options){0}, &plan, &err), PP_OK,
                 "%s", err.message);
    return pp_eval_run(arena, plan, 2, NULL, PP_TIMES_ALL)->makespan_ps;
}

/* All that a lane asks for, the list asks for, too. So no step gets longer, and where there is no
 * split backward there is no lane. */
Test(weight_stream, no_schedule_takes_longer)
{
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    int shorter = 0, without = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int has_sync = 0; has_sync < 2; has_sync++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            if (pp_schedules[k]->is_simulated_only)
                continue;
            struct pp_program *p = lowered(arena, pp_schedules[k], has_sync);
            const struct pp_costs *costs =
                pp_costs_unit(arena, &unit, p->ranks, p->stages, p->splits, p->granules);
            const int64_t list_ps = makespan_ps(arena, p, costs);

            p->weight_stream = pp_weight_stream_create(arena, p);
            without += p->weight_stream == NULL;
            const int64_t lane_ps = makespan_ps(arena, p, costs);
            cr_expect_leq(lane_ps, list_ps, "%s", pp_schedules[k]->name);
            cr_expect(p->weight_stream || lane_ps == list_ps);
            shorter += lane_ps < list_ps;
        }
    cr_expect_geq(shorter, 8);
    cr_expect_geq(without, 8);
}
