/* A program with a tied sum of its own specifies no sums of the other weights. With copies of its
 * stages it gets their sums, and the tied one takes its place among them. */
#include "tests/unit/support/lower_cases.h"

#include "schedules/verify/verify.h"

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *from,
                                struct pp_lower_options options)
{
    const struct pp_verify_options strict = {0};
    struct pp_program *lowered;
    struct pp_error err = {0};

    cr_assert_eq(pp_lower(arena, from, &options, &lowered, &err), PP_OK, "%s", err.message);
    struct machine m = machine_make(arena, lowered);
    cr_assert(machine_run(&m, false), "%s", from->name);
    cr_assert_eq(pp_verify(lowered, &strict, &err), PP_OK, "%s: %s", from->name, err.message);
    return lowered;
}

static struct pp_program *read(struct pp_arena *arena, const char *lists)
{
    const char *text = pp_arena_printf(
        arena, "# format: pipesim-program/1\n# level: lowered\n# mode: train\n%s", lists);
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(
        pp_program_parse(arena, "own", text, strlen(text), PP_DIALECT_2025, &program, &err), PP_OK,
        "%s", err.message);
    return program;
}

static void list_is(const struct pp_program *p, int rank, const char *expected)
{
    char got[2048] = "", cell[PP_OP_TEXT_BYTES];

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const struct pp_op op = pp_program_op(p, i);
        if (op.kind == PP_U || op.kind == PP_AR || (op.kind == PP_WAIT && op.aux == PP_AR)) {
            pp_op_print(&op, (struct pp_op_style){0}, cell);
            strcat(strcat(got, *got ? " " : ""), cell);
        }
    }
    cr_assert_str_eq(got, expected, "rank %d\ngot\n%s\nwant\n%s", rank, got, expected);
}

static const char TIED[] =
    "0RECV_B0[0],0F0[0],0SEND_F0[0],(0RECV_B0)WAIT,(0SEND_F0)WAIT,0B0,(0;1)AR,((0;1)AR)WAIT,0U\n"
    "1RECV_F0[0],(1RECV_F0)WAIT,1F0[0],1B0,1SEND_B0[0],(0;1)AR,(1SEND_B0)WAIT,((0;1)AR)WAIT,1U\n";

Test(own_sums, tied_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_program *file = read(arena, TIED);
    struct pp_lower_options options = {.recv_slots = 1, .has_optimizer = true, .has_tied = true};
    const struct pp_program *p = lower(arena, file, options);

    list_is(p, 0, "(0;1)AR ((0;1)AR)WAIT 0U");
    list_is(p, 1, "(0;1)AR ((0;1)AR)WAIT 1U");
    for (int has_tied = 0; has_tied < 2; has_tied++) { /* whatever the model, the file has it */
        options.has_sync = true;
        options.has_tied = has_tied;
        p = lower(arena, file, options);
        list_is(p, 0, "(0;1)AR 0AR ((0;1)AR)WAIT (0AR)WAIT 0U");
        list_is(p, 1, "(0;1)AR 1AR ((0;1)AR)WAIT (1AR)WAIT 1U");
    }
}

/* As a list of REDUCE_GRAD, which has no WAIT. */
Test(own_sums, a_tied_sum_without_waits_gets_them)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_lower_options options = {.has_optimizer = true, .has_tied = true};
    const struct pp_program *p =
        lower(arena, read(arena, "0F0,0B0,(0;1)AR\n1F0,1B0,(0;1)AR\n"), options);

    list_is(p, 0, "(0;1)AR ((0;1)AR)WAIT 0U");
    list_is(p, 1, "(0;1)AR ((0;1)AR)WAIT 1U");
}

/* Lowering again adds what copies of the stages need, as lowering at once would have. */
static void lower_twice(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    int *tied = context;

    if (compute->stages == 1)
        return;
    for (int at = 0; at < 6; at++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        struct pp_lower_options options = {
            .recv_slots = 2, .grad_sync = at % 3, .has_tied = true, .has_optimizer = true};
        const struct pp_program *bare = lower(arena, compute, options);

        options.has_sync = true;
        const struct pp_program *once = lower(arena, compute, options);
        options.has_tied = at < 3;
        const struct pp_program *twice = lower(arena, bare, options);
        cr_assert_eq(pp_program_size(twice), pp_program_size(once), "%s %d", compute->name, at);
        if (at % 3 == PP_SYNC_END)
            cr_assert_str_eq(pp_program_text(arena, twice), pp_program_text(arena, once));
        for (int c = 0; c < twice->collective_count; c++)
            *tied += twice->collectives[c].tied;
        pp_arena_release(arena, mark);
    }
}

Test(own_sums, a_tied_sum_is_not_all_sums)
{
    int tied = 0;

    for_each_case(lower_twice, &tied);
    cr_assert_gt(tied, 1000);
}
