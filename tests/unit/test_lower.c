/* Sends, receives, sums and updates: laws over all schedules and shapes, and PyTorch's placement of
 * receives as published. */
#include "lower_cases.h"

#include "cells.h"
#include "schedules/verify.h"

static struct pp_lower_options train_options(void)
{
    return (struct pp_lower_options){.recv_slots = 2, .has_sync = true, .has_optimizer = true};
}

static void text_is(struct pp_arena *arena, struct pp_program *p, const char *expected)
{
    struct pp_op_style style = pp_program_style(p);
    char got[4096] = "", cell[PP_OP_TEXT_BYTES];

    style.slots = false;
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const struct pp_op op = pp_program_op(p, i);
            pp_op_print(&op, style, cell);
            strcat(strcat(got, cell), i + 1 < p->begin[r + 1] ? " " : "\n");
        }
    cr_assert_str_eq(got, expected, "\ngot\n%s\nwant\n%s", got, expected);
    (void)arena;
}

static struct pp_program *lower_text(struct pp_arena *arena, struct pp_program_head head,
                                     const char *text, const struct pp_lower_options *options)
{
    struct pp_orders *orders = cells_orders(arena, text, head.ranks);
    struct pp_program *compute, *lowered;
    struct pp_error err;

    cr_assert_eq(pp_program_freeze(arena, &head, orders, &compute, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, options, &lowered, &err), PP_OK, "%s", err.message);
    return lowered;
}

static const uint16_t line_of_ranks[] = {0, 1, 2, 3};
static struct pp_program_head line_head(int ranks, int micro_batches)
{
    return (struct pp_program_head){.name = "test",
                                    .ranks = ranks,
                                    .stages = ranks,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = line_of_ranks};
}

Test(lower, early_by_hand)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
    struct pp_lower_options options = train_options();

    options.recv_slots = 1;
    text_is(arena,
            lower_text(arena, line_head(2, 3), "0F0 0F1 0B0 0F2 0B1 0B2\n1F0 1B0 1F1 1B1 1F2 1B2",
                       &options),
            "0RECV_B0 0F0 0SEND_F0 0F1 0SEND_F1 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0RECV_B1 0F2 "
            "0SEND_F2 (0RECV_B1)WAIT (0SEND_F1)WAIT 0B1 0RECV_B2 (0RECV_B2)WAIT (0SEND_F2)WAIT "
            "0B2 0AR (0AR)WAIT 0U\n"
            "1RECV_F0 (1RECV_F0)WAIT 1F0 1RECV_F1 1B0 1SEND_B0 (1RECV_F1)WAIT 1F1 1RECV_F2 1B1 "
            "1SEND_B1 (1RECV_F2)WAIT (1SEND_B0)WAIT 1F2 1B2 1SEND_B2 1AR (1SEND_B1)WAIT "
            "(1SEND_B2)WAIT (1AR)WAIT 1U\n");
}

Test(lower, jit_and_batched_by_hand)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
    struct pp_lower_options options = {.post = PP_POST_JIT, .recv_slots = 2};

    text_is(arena, lower_text(arena, line_head(2, 2), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1", &options),
            "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0RECV_B1 "
            "(0RECV_B1)WAIT (0SEND_F1)WAIT 0B1\n"
            "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1 "
            "(1SEND_B0)WAIT (1SEND_B1)WAIT\n");
    options.post = PP_POST_BATCHED;
    text_is(arena, lower_text(arena, line_head(2, 2), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1", &options),
            "0F0 0SEND_F0 (0SEND_F0)WAIT 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT (0SEND_F1)WAIT 0B0 "
            "0RECV_B1 (0RECV_B1)WAIT 0B1\n"
            "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT (1SEND_B0)WAIT 1F1 "
            "1B1 1SEND_B1 (1SEND_B1)WAIT\n");
}

Test(lower, pairs_recompute_and_zero_by_hand)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
    const double frac[] = {1, 0};
    const struct pp_lower_options options = {.post = PP_POST_JIT,
                                             .has_sync = true,
                                             .has_optimizer = true,
                                             .has_tied = true,
                                             .zero = 1,
                                             .recompute_frac = frac};

    text_is(arena,
            lower_text(arena, line_head(2, 2), "0F0 (0F1;0B0)OVERLAP_F_B 0B1\n1F0 1B0 1F1 1B1",
                       &options),
            "0F0 0SEND_F0 0R0 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0F1 0B0 0SEND_F1 0R1 "
            "0RECV_B1 (0RECV_B1)WAIT (0SEND_F1)WAIT 0B1 (0;1)AR 0RS ((0;1)AR)WAIT (0RS)WAIT 0U "
            "0AG (0AG)WAIT\n"
            "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT (1SEND_B0)WAIT 1F1 "
            "1B1 1SEND_B1 (0;1)AR 1RS (1SEND_B1)WAIT ((0;1)AR)WAIT (1RS)WAIT 1U 1AG (1AG)WAIT\n");
}

/* ---- laws over the registry ------------------------------------------------------------------*/

static int count_kind(const struct pp_program *p, int kind)
{
    int count = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        count += p->kind[i] == kind;
    return count;
}

static bool can_run(struct pp_arena *arena, const struct pp_program *p, int *stalls)
{
    bool can = true;

    *stalls = 0;
    for (int down = 0; down < 2; down++) {
        struct machine m = machine_make(arena, p);
        can &= machine_run(&m, down);
        *stalls += m.stalls;
    }
    return can;
}

/* Nothing lost, nothing twice, compute order unchanged. */
static void check_content(const struct pp_program *compute, const struct pp_program *p)
{
    int sends = 0, posts = 0;

    for (int r = 0; r < p->ranks; r++) {
        int at = compute->begin[r];
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            if (!pp_op_is_compute(p->kind[i]) || p->kind[i] == PP_R || p->kind[i] == PP_U)
                continue;
            cr_assert(p->kind[i] == compute->kind[at] && p->stage[i] == compute->stage[at] &&
                      p->mb[i] == compute->mb[at] && p->split[i] == compute->split[at]);
            at++;
        }
        cr_assert_eq(at, compute->begin[r + 1]);
    }
    for (int i = 0; i < pp_program_size(p); i++) {
        const int next = p->stage[i] + (p->kind[i] == PP_F ? 1 : -1);
        if ((p->kind[i] == PP_F || p->kind[i] == PP_B || p->kind[i] == PP_I) && next >= 0 &&
            next < p->stages)
            sends += pp_program_rank_of(p, p->pipe[i], next) !=
                     pp_program_rank_of(p, p->pipe[i], p->stage[i]);
        posts +=
            pp_op_kinds[p->kind[i]].stream == PP_STREAM_CHANNEL || pp_op_is_collective(p->kind[i]);
    }
    cr_assert_eq(p->message_count, sends);
    cr_assert_eq(count_kind(p, PP_WAIT), posts);
}

static void lower_and_check(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    const double frac[] = {0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1,
                           0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1, 0.5, 0, 1};
    int *runs = context;

    for (int at = 0; at < 4 * 3 * 3 * 2; at++) {
        static const int windows[] = {1, 2, 4};
        struct pp_arena_mark mark = pp_arena_mark(arena);
        const struct pp_lower_options options = {.post = at % 4,
                                                 .recv_slots = windows[at / 4 % 3],
                                                 .grad_sync = at / 12 % 3,
                                                 .has_sync = true,
                                                 .has_optimizer = true,
                                                 .zero = at / 36,
                                                 .has_tied = at % 5 == 0,
                                                 .recompute_frac = at % 7 == 0 ? frac : NULL};
        struct pp_program *p;
        struct pp_error err;
        int stalls;

        cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
        check_content(compute, p);
        const bool can = can_run(arena, p, &stalls);
        cr_assert(options.post == PP_POST_BATCHED || can, "%s D%d N%d post %s R%d sync %s",
                  compute->name, compute->ranks, compute->micro_batches,
                  pp_post_names[options.post], options.recv_slots,
                  pp_grad_sync_names[options.grad_sync]);
        cr_assert(options.post == PP_POST_BATCHED || stalls == 0, "%s D%d N%d post %s",
                  compute->name, compute->ranks, compute->micro_batches,
                  pp_post_names[options.post]);
        cr_assert_eq(pp_verify(p, NULL, &err), can ? PP_OK : PP_EPROGRAM, "%s %d: %s",
                     compute->name, can, err.message);
        runs[options.post]++;
        pp_arena_release(arena, mark);
    }
}

Test(lower, every_schedule_runs_under_every_policy, .timeout = 100)
{
    int runs[4] = {0};
    const int cases = for_each_case(lower_and_check, runs);

    cr_assert_gt(cases, 300);
    cr_log_info("%d cases", cases);
}
