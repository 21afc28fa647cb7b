/* Sends, receives and updates: laws over all schedules and shapes, and PyTorch's placement of
 * receives as published. */
#include "tests/unit/schedules/lower/lower_by_hand.h"

#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/state_specs.h"

static struct pp_lower_options train_options(void)
{
    return (struct pp_lower_options){.recv_slots = 2, .has_sync = true, .has_optimizer = true};
}

Test(lower, early_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_lower_options options = train_options();

    options.recv_slots = 1;
    cells_text_is(
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
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_lower_options options = {.post = PP_POST_JIT, .recv_slots = 2};

    cells_text_is(
        lower_text(arena, line_head(2, 2), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1", &options),
        "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 0RECV_B1 "
        "(0RECV_B1)WAIT (0SEND_F1)WAIT 0B1\n"
        "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1 "
        "(1SEND_B0)WAIT (1SEND_B1)WAIT\n");
    options.post = PP_POST_BATCHED;
    cells_text_is(
        lower_text(arena, line_head(2, 2), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1", &options),
        "0F0 0SEND_F0 (0SEND_F0)WAIT 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT (0SEND_F1)WAIT 0B0 "
        "0RECV_B1 (0RECV_B1)WAIT 0B1\n"
        "1RECV_F0 (1RECV_F0)WAIT 1F0 1RECV_F1 (1RECV_F1)WAIT 1B0 1SEND_B0 (1SEND_B0)WAIT 1F1 "
        "1B1 1SEND_B1 (1SEND_B1)WAIT\n");
}

Test(lower, pairs_recompute_and_zero_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const double frac[] = {1, 0};
    const struct pp_lower_options options = {.post = PP_POST_JIT,
                                             .has_sync = true,
                                             .has_optimizer = true,
                                             .has_tied = true,
                                             .state = specs_zero(1),
                                             .recompute_frac = frac};

    cells_text_is(
        lower_text(arena, line_head(2, 2), "0F0 (0F1;0B0)OVERLAP_F_B 0B1\n1F0 1B0 1F1 1B1",
                   &options),
        "0F0 0SEND_F0 0R0 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0)WAIT 0F1 0B0 0SEND_F1 0R1 "
        "0RECV_B1 (0RECV_B1)WAIT (0SEND_F1)WAIT 0B1 (0;1)AR 0RS ((0;1)AR)WAIT (0RS)WAIT 0U "
        "0AG (0AG)WAIT\n"
        "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT (1SEND_B0)WAIT 1F1 "
        "1B1 1SEND_B1 (0;1)AR 1RS (1SEND_B1)WAIT ((0;1)AR)WAIT (1RS)WAIT 1U 1AG (1AG)WAIT\n");
}

/* ---- laws over the registry ------------------------------------------------------------------*/

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
                                                 .state = specs_zero(at / 36),
                                                 .has_tied = at % 5 == 0,
                                                 .recompute_frac = at % 7 == 0 ? frac : NULL};
        struct pp_program *p;
        struct pp_error err;
        int stalls;

        cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
        check_content(compute, p);
        const bool can = can_run(arena, p, &stalls);
        cr_assert(can, "%s D%d N%d post %s R%d sync %s", compute->name, compute->ranks,
                  compute->micro_batches, pp_post_names[options.post], options.recv_slots,
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

Test(lower, every_schedule_runs_under_every_policy)
{
    int runs[4] = {0};
    const int cases = for_each_case(lower_and_check, runs);

    cr_assert_gt(cases, 300);
    cr_log_info("%d cases", cases);
}

/* ---- PyTorch's placement of receives ---------------------------------------------------------*/

/* The file of `name`, and the same without its communication. */
static char *read_golden(struct pp_arena *arena, const char *name, char **compute)
{
    FILE *in = fopen(pp_arena_printf(arena, "%s/golden/%s", PP_TESTS_DIR, name), "r");
    char *text = pp_arena_alloc(arena, 1 << 16);

    cr_assert_not_null(in);
    cr_assert_gt(fread(text, 1, (1 << 16) - 1, in), 100);
    fclose(in);
    *compute = pp_arena_alloc(arena, 1 << 16);
    char *copy = pp_arena_strdup(arena, text);
    for (char *rows = NULL, *row = strtok_r(copy, "\r\n", &rows); row;
         row = strtok_r(NULL, "\r\n", &rows)) {
        const char *separator = "";
        for (char *rest = NULL, *cell = strtok_r(row, ",", &rest); cell;
             cell = strtok_r(NULL, ",", &rest)) {
            if (strstr(cell, "SEND") || strstr(cell, "RECV"))
                continue;
            strcat(strcat(*compute, separator), cell);
            separator = ",";
        }
        strcat(*compute, "\n");
    }
    return text;
}

static void check_sender(const char *name, int messages)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_lower_options options = {.post = PP_POST_SENDER, .recv_slots = 2};
    char *compute_text, *want = read_golden(arena, name, &compute_text);
    char *got = pp_arena_alloc(arena, 1 << 17), *end = got;
    struct pp_program *compute, *p;
    struct pp_error err;

    cr_assert_eq(pp_program_parse(arena, name, compute_text, strlen(compute_text), PP_DIALECT_2025,
                                  &compute, &err),
                 PP_OK, "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
    cr_assert_eq(p->message_count, messages);
    for (int r = 0; r < p->ranks; r++) {
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const struct pp_op op = pp_program_op(p, i);
            if (op.kind == PP_WAIT)
                continue;
            end += pp_op_print(&op, (struct pp_op_style){0}, end);
            *end++ = ',';
        }
        end[-1] = '\n';
    }
    cr_assert_str_eq(got, want, "got\n%s\nwant\n%s", got, want);
}

Test(lower, sender_reproduces_pytorch)
{
    check_sender("pt_interleaved1f1b_D4_V2_N8.comms.csv", 2 * 7 * 8);
    check_sender("pt_zbv_D4_N8.comms.csv", 2 * 6 * 8);
}

/* ---- receive slots ---------------------------------------------------------------------------*/

/* Most RECVs of one channel that are out (posted, not yet consumed) at once. */
static int most_open(struct pp_arena *arena, const struct pp_program *p)
{
    int *open = PP_ARRAY(arena, int, p->channel_count + 1), most = 0;
    int *channel_of = PP_ARRAY(arena, int, p->message_count + 1);

    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            channel_of[p->channels[c].first + k] = c;
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r], waited = -1; i < p->begin[r + 1]; i++) {
            if (pp_op_is_recv(p->kind[i]) && ++open[channel_of[p->arg[i]]] > most)
                most = open[channel_of[p->arg[i]]];
            if (p->kind[i] == PP_WAIT && pp_op_is_recv(p->aux[i]))
                waited = channel_of[p->arg[p->begin[r] + p->arg[i]]];
            if (pp_op_is_compute(p->kind[i]) && waited >= 0) {
                open[waited]--;
                waited = -1;
            }
        }
    return most;
}

Test(lower, early_keeps_as_many_receives_open_as_there_are_slots)
{
    for (int slots = 1; slots <= 5; slots++)
        for (int n = 1; n <= 9; n++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_shape shape = {.ranks = 4, .micro_batches = n, .chunks = 1};
            const struct pp_lower_options options = {.recv_slots = slots % 5};
            struct pp_program *compute, *p;

            cr_assert_eq(
                pp_schedule_program(arena, pp_schedule_find("1f1b"), &shape, NULL, &compute, NULL),
                PP_OK);
            cr_assert_eq(pp_lower(arena, compute, &options, &p, NULL), PP_OK);
            cr_assert_eq(most_open(arena, p), slots == 5 || n < slots ? n : slots);
        }
}

/* In inference nothing comes back: a window of sends bounds the buffers. */
Test(lower, inference_bounds_open_sends)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_lower_options options = {.recv_slots = 2, .has_sync = true, .has_optimizer = true};
    struct pp_program_head head = line_head(2, 4);

    head.mode = PP_MODE_INFER;
    cells_text_is(
        lower_text(arena, head, "0F0 0F1 0F2 0F3\n1F0 1F1 1F2 1F3", &options),
        "0F0 0SEND_F0 0F1 0SEND_F1 (0SEND_F0)WAIT 0F2 0SEND_F2 (0SEND_F1)WAIT 0F3 0SEND_F3 "
        "(0SEND_F2)WAIT (0SEND_F3)WAIT\n"
        "1RECV_F0 1RECV_F1 (1RECV_F0)WAIT 1F0 1RECV_F2 (1RECV_F1)WAIT 1F1 1RECV_F3 "
        "(1RECV_F2)WAIT 1F2 (1RECV_F3)WAIT 1F3\n");
    for (int at = 0; at < 12; at++) {
        struct pp_program *p;
        int stalls;

        options.post = at % 4;
        options.recv_slots = (int[]){1, 2, 4}[at / 4];
        head.ranks = head.stages = 4;
        p = lower_text(arena, head,
                       "0F0 0F1 0F2 0F3\n1F0 1F2 1F1 1F3\n2F0 2F1 2F2 2F3\n3F3 3F2 3F1 3F0",
                       &options);
        cr_assert(can_run(arena, p, &stalls), "%s R%d", pp_post_names[options.post],
                  options.recv_slots);
    }
}

/* ---- granules --------------------------------------------------------------------------------*/

/* Backward halving: one message forward, one back for each half. */
Test(lower, a_forward_over_two_granules_is_one_message)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_lower_options options = {.post = PP_POST_JIT};
    struct pp_program_head head = line_head(2, 1);

    head.granules = 2;
    cells_text_is(lower_text(arena, head, "0F0-1 0B0 0B1\n1F0-1 1B0 1B1", &options),
                  "0F0-1 0SEND_F0-1 0RECV_B0 (0RECV_B0)WAIT (0SEND_F0-1)WAIT 0B0 0RECV_B1 "
                  "(0RECV_B1)WAIT 0B1\n"
                  "1RECV_F0-1 (1RECV_F0-1)WAIT 1F0-1 1B0 1SEND_B0 1B1 1SEND_B1 (1SEND_B0)WAIT "
                  "(1SEND_B1)WAIT\n");
    cells_text_is(
        lower_text(arena, head, "0F0-1 0B0-1\n1F0 1F1 1B0 1B1", &options),
        "0F0-1 0SEND_F0-1 0RECV_B0 0RECV_B1 (0RECV_B0)WAIT (0RECV_B1)WAIT (0SEND_F0-1)WAIT "
        "0B0-1\n"
        "1RECV_F0-1 (1RECV_F0-1)WAIT 1F0 1F1 1B0 1SEND_B0 1B1 1SEND_B1 (1SEND_B0)WAIT "
        "(1SEND_B1)WAIT\n");
}

/* ---- without a program between ---------------------------------------------------------------*/

/* Lists of a schedule, lowered as they are, give the program that its frozen program gives. */
static void expect_alike(const struct pp_schedule *schedule, const struct pp_shape *shape,
                         const struct pp_lower_options *options, int *count)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *compute, *thawed, *direct;
    struct pp_program_head head;
    struct pp_orders *lists;
    struct pp_error err;

    if (pp_schedule_program(arena, schedule, shape, NULL, &compute, NULL) != PP_OK)
        return;
    cr_assert_eq(pp_lower(arena, compute, options, &thawed, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_schedule_lists(arena, schedule, shape, NULL, &lists, &head, &err), PP_OK);
    cr_assert_eq(pp_lower_lists(arena, &head, options, lists, &direct, &err), PP_OK, "%s",
                 err.message);
    cr_assert_str_eq(pp_program_text(arena, direct), pp_program_text(arena, thawed), "%s",
                     schedule->name);
    ++*count;
}

Test(lower, lists_give_the_program_that_a_program_gives)
{
    const struct pp_lower_options options = train_options();
    int count = 0;

    for (int s = 0; pp_schedules[s]; s++)
        for (int ranks = 1; ranks <= 6; ranks++)
            for (int at = 0; at < 12; at++) {
                const struct pp_shape shape = {.ranks = ranks,
                                               .micro_batches = ranks * (1 + at % 3),
                                               .chunks = at / 3 % 2 * 2,
                                               .splits = at / 6 * 2};
                expect_alike(pp_schedules[s], &shape, &options, &count);
            }
    cr_assert_gt(count, 200, "%d", count);
}
