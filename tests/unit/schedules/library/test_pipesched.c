/* The library as an external program uses it: its one header, and no other file of the project. */
#include "schedules/library/pipesched.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct pipesched_costs one = {.forward_s = 1, .input_grad_s = 1, .weight_grad_s = 1};
static const struct pipesched_durations even = {.stages = &one, .count = 1};

static struct pipesched_program *built(const char *name, struct pipesched_shape shape)
{
    struct pipesched_program *program = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_build(name, &shape, NULL, &program, &error), PIPESCHED_OK, "%s: %s",
                 name, error.message);
    return program;
}

static struct pipesched_program *completed(const struct pipesched_program *compute,
                                           struct pipesched_lowering lowering)
{
    struct pipesched_program *program = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_lower(compute, &lowering, &program, &error), PIPESCHED_OK, "%s",
                 error.message);
    return program;
}

static struct pipesched_times *timed(const struct pipesched_program *program,
                                     const struct pipesched_durations *durations)
{
    struct pipesched_times *times = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_evaluate(program, durations, &times, &error), PIPESCHED_OK, "%s",
                 error.message);
    return times;
}

static void is_whole(struct pipesched_program *program)
{
    struct pipesched_program *again = NULL;
    struct pipesched_error error;
    const char *text = pipesched_text(program);

    cr_assert_eq(pipesched_verify(program, 0, &error), PIPESCHED_OK, "%s", error.message);
    cr_assert_eq(pipesched_parse("again", text, strlen(text), &again, &error), PIPESCHED_OK, "%s",
                 error.message);
    cr_assert_str_eq(pipesched_text(again), text);
    pipesched_free(again);
}

Test(pipesched, every_schedule_is_built_proved_completed_and_timed)
{
    const struct pipesched_shape shape = {.ranks = 4, .micro_batches = 8};
    struct pipesched_schedule schedule;
    int count = 0;

    for (; pipesched_schedule(count, &schedule); count++) {
        struct pipesched_program *compute = built(schedule.name, shape);
        struct pipesched_program *whole =
            completed(compute, (struct pipesched_lowering){.replicas = 2, .recomputes = count % 2});
        is_whole(compute);
        pipesched_free(compute); /* the complete one does not need it */
        is_whole(whole);
        cr_assert(pipesched_size(whole).is_complete);
        struct pipesched_times *times = timed(whole, &even);
        cr_assert(times->step_s > 0 && times->bubble_frac >= 0 && times->bubble_frac < 1);
        for (int r = 0; r < times->ranks; r++) {
            cr_assert_eq(times->rank[r].count, pipesched_count(whole, r));
            cr_assert(times->rank[r].peak_activations > 0);
            cr_assert(times->rank[r].busy_s <= times->step_s * (1 + 1e-12));
            for (int i = 0; i < times->rank[r].count; i++)
                cr_assert(times->rank[r].spans[i].end_s <= times->step_s);
        }
        pipesched_times_free(times);
        pipesched_free(whole);
    }
    cr_assert_geq(count, 20);
    cr_assert_not(pipesched_schedule(-1, &schedule));
}

Test(pipesched, the_bubble_of_a_flush_is_its_closed_form)
{
    static const char *const names[] = {"gpipe", "1f1b"};

    for (int k = 0; k < 2; k++)
        for (int ranks = 1; ranks <= 8; ranks *= 2) {
            struct pipesched_program *p =
                built(names[k], (struct pipesched_shape){.ranks = ranks, .micro_batches = 12});
            struct pipesched_times *times = timed(p, &even);
            cr_assert_float_eq(times->bubble_frac, (ranks - 1) / (12.0 + ranks - 1), 1e-12);
            cr_assert_float_eq(times->step_s, 3.0 * (12 + ranks - 1), 1e-9);
            pipesched_times_free(times);
            pipesched_free(p);
        }
}

/* GPipe: the slowest stage, and the others once. Messages cross three boundaries twice. */
Test(pipesched, stages_may_differ)
{
    const struct pipesched_costs stages[] = {
        one, one, one, {.forward_s = 1.5, .backward_s = 3, .weight_grad_s = 1}};
    const struct pipesched_durations durations = {.stages = stages, .count = 4, .message_s = 0.25};
    struct pipesched_program *p =
        built("gpipe", (struct pipesched_shape){.ranks = 4, .micro_batches = 8});
    struct pipesched_times *times = timed(p, &durations);

    cr_assert_float_eq(times->step_s, 3 * 3 + 8 * 4.5 + 6 * 0.25, 1e-9);
    cr_assert_float_eq(times->rank[3].busy_s, 8 * 4.5, 1e-9);
    cr_assert_float_eq(times->rank[0].spans[1].start_s, 1, 1e-9);
    pipesched_times_free(times);
    pipesched_free(p);
}

Test(pipesched, pairs_sums_and_updates_take_what_they_are_given)
{
    const struct pipesched_costs costs = {
        .forward_s = 1, .backward_s = 2, .sum_s = 7, .update_s = 5};
    const struct pipesched_durations plain = {.stages = &costs, .count = 1},
                                     paired = {.stages = &costs, .count = 1, .pair_s = 2.5};
    struct pipesched_program *p =
        built("dualpipe", (struct pipesched_shape){.ranks = 4, .micro_batches = 16});
    struct pipesched_program *whole = completed(p, (struct pipesched_lowering){0});
    struct pipesched_program *single =
        built("gpipe", (struct pipesched_shape){.ranks = 1, .micro_batches = 2});
    struct pipesched_program *alone = completed(single, (struct pipesched_lowering){0});
    struct pipesched_program *shared =
        completed(single, (struct pipesched_lowering){.replicas = 2});
    struct pipesched_times *a = timed(p, &plain), *b = timed(p, &paired), *c = timed(whole, &plain);
    struct pipesched_times *d = timed(alone, &plain), *e = timed(shared, &plain);

    cr_assert_lt(b->step_s, a->step_s);
    cr_assert_geq(c->step_s, a->step_s + 5 + 7);
    cr_assert_float_eq(d->step_s, 2 * 3 + 5, 1e-9);
    cr_assert_float_eq(e->step_s, 2 * 3 + 7 + 5, 1e-9);
    struct pipesched_times *const all[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++)
        pipesched_times_free(all[i]);
    struct pipesched_program *const programs[] = {p, whole, single, alone, shared};
    for (int i = 0; i < 5; i++)
        pipesched_free(programs[i]);
}

Test(pipesched, instructions_say_what_they_are)
{
    struct pipesched_program *p =
        built("1f1b", (struct pipesched_shape){.ranks = 2, .micro_batches = 2});
    struct pipesched_program *whole = completed(p, (struct pipesched_lowering){0});
    const struct pipesched_op first = pipesched_op(p, 1, 0), none = pipesched_op(p, 1, 4);
    int sends = 0;

    cr_assert_str_eq(first.kind, "F");
    cr_assert(first.stage == 1 && first.micro_batch == 0 && first.peer == -1);
    cr_assert_eq(none.kind, NULL);
    cr_assert_eq(pipesched_count(p, 2) + pipesched_count(p, -1), 0);
    cr_assert_eq(pipesched_op(p, 7, 0).kind, NULL);
    cr_assert_str_eq(pipesched_text(p), "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");
    for (int i = 0; i < pipesched_count(whole, 0); i++)
        if (!strcmp(pipesched_op(whole, 0, i).kind, "SEND_F")) {
            cr_assert_eq(pipesched_op(whole, 0, i).peer, 1);
            sends++;
        }
    cr_assert_eq(sends, 2);
    pipesched_free(whole);
    pipesched_free(p);
}

static void is_refused(const char *name, struct pipesched_shape shape, const char *text)
{
    struct pipesched_program *program = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_build(name, &shape, NULL, &program, &error), PIPESCHED_INVALID);
    cr_assert_eq(program, NULL);
    cr_assert(strstr(error.message, text), "%s", error.message);
    cr_assert_eq(pipesched_build(name, &shape, NULL, &program, NULL), PIPESCHED_INVALID);
}

Test(pipesched, what_is_wrong_with_a_shape_is_said)
{
    is_refused("gpip", (struct pipesched_shape){.ranks = 4, .micro_batches = 8},
               "did you mean gpipe");
    is_refused("1f1b", (struct pipesched_shape){.ranks = 0, .micro_batches = 8}, "--pp");
    is_refused("1f1b", (struct pipesched_shape){.ranks = 4, .micro_batches = -1},
               "--micro-batches");
    is_refused("1f1b", (struct pipesched_shape){.ranks = 4, .micro_batches = 8, .group = -3},
               "--group -3");
    is_refused("chimera", (struct pipesched_shape){.ranks = 3, .micro_batches = 8}, "even");
}

static void costs_are_refused(struct pipesched_durations durations, const char *text)
{
    struct pipesched_program *p =
        built("1f1b", (struct pipesched_shape){.ranks = 4, .micro_batches = 4});
    struct pipesched_times *times = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_evaluate(p, &durations, &times, &error), PIPESCHED_INVALID);
    cr_assert_eq(times, NULL);
    cr_assert(strstr(error.message, text), "%s", error.message);
    pipesched_free(p);
}

Test(pipesched, what_is_wrong_with_durations_is_said)
{
    const struct pipesched_costs below = {.forward_s = -1}, none = {.update_s = NAN},
                                 beyond = {.sum_s = 1e9}, stages[] = {one, one, below, one};

    costs_are_refused((struct pipesched_durations){.stages = stages, .count = 4},
                      "forward_s = -1: expected 0 to 1e+06 (stage 2)");
    costs_are_refused((struct pipesched_durations){.stages = &none, .count = 1}, "update_s");
    costs_are_refused((struct pipesched_durations){.stages = &beyond, .count = 1}, "sum_s");
    costs_are_refused((struct pipesched_durations){.stages = stages, .count = 3},
                      "durations of 3 stages: expected 1 or 4");
    costs_are_refused(
        (struct pipesched_durations){.stages = &one, .count = 1, .message_s = INFINITY},
        "message_s");
}

Test(pipesched, a_program_that_hangs_is_neither_proved_nor_timed)
{
    static const char text[] = "0F0,0B0\n1B0,1F0\n";
    struct pipesched_program *p = NULL, *whole = NULL;
    struct pipesched_times *times = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_parse("mine", text, strlen(text), &p, &error), PIPESCHED_OK);
    cr_assert_eq(pipesched_verify(p, 0, &error), PIPESCHED_ILLEGAL);
    cr_assert(strstr(error.message, "1B0 waits for 1F0"), "%s", error.message);
    cr_assert_eq(pipesched_evaluate(p, &even, &times, &error), PIPESCHED_ILLEGAL);
    pipesched_free(p);
    cr_assert_eq(pipesched_parse("mine", "0F0,huh\n", 8, &whole, &error), PIPESCHED_ILLEGAL);
    cr_assert(strstr(error.message, "mine:1:2"), "%s", error.message);
    cr_assert_eq(pipesched_read("/nowhere/at.all", &whole, &error), PIPESCHED_FAIL);
    cr_assert_eq(whole, NULL);
}

Test(pipesched, limits_of_memory_and_of_completing_are_kept)
{
    struct pipesched_program *p =
        built("gpipe", (struct pipesched_shape){.ranks = 2, .micro_batches = 8});
    struct pipesched_program *whole = completed(p, (struct pipesched_lowering){0}), *twice = NULL;
    struct pipesched_error error;

    cr_assert_eq(pipesched_verify(p, 8, &error), PIPESCHED_OK);
    cr_assert_eq(pipesched_verify(p, 7, &error), PIPESCHED_ILLEGAL);
    cr_assert_eq(pipesched_verify(p, -1, &error), PIPESCHED_INVALID);
    cr_assert_eq(pipesched_lower(whole, &(struct pipesched_lowering){0}, &twice, &error),
                 PIPESCHED_INVALID);
    cr_assert(strstr(error.message, "complete already"));
    cr_assert_eq(pipesched_lower(p, &(struct pipesched_lowering){.replicas = -2}, &twice, &error),
                 PIPESCHED_INVALID);
    cr_assert_eq(twice, NULL);
    pipesched_free(whole);
    pipesched_free(p);
}
