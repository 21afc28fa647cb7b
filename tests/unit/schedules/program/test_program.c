/* Freezing lists into programs and thawing them: messages, collectives, waits, errors. */
#include "tests/unit/support/cells.h"

#include <criterion/criterion.h>

static struct pp_arena *arena;
static struct pp_error err;

static void setup(void)
{
    arena = pp_arena_create();
}
static void teardown(void)
{
    pp_arena_destroy(arena);
}
TestSuite(program, .init = setup, .fini = teardown);

static const uint16_t straight[] = {0, 1, 2, 3}, two_way[] = {0, 1, 1, 0};
static const uint16_t pipe_of_two[] = {0, 1};

static struct pp_program_head line_of(int ranks, int micro_batches)
{
    return (struct pp_program_head){.name = "line",
                                    .level = PP_LEVEL_LOWERED,
                                    .ranks = ranks,
                                    .stages = ranks,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = straight};
}

static struct pp_program *frozen(const struct pp_program_head *head, const char *cells)
{
    struct pp_program *program = NULL;
    const struct pp_orders *lists = cells_orders(arena, cells, head->ranks);

    cr_assert_eq(pp_program_freeze(arena, head, lists, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static void refused(const struct pp_program_head *head, const char *cells, const char *message)
{
    struct pp_program *program = NULL;
    const struct pp_orders *lists = cells_orders(arena, cells, head->ranks);

    cr_assert_eq(pp_program_freeze(arena, head, lists, &program, &err), PP_EPROGRAM, "%s", cells);
    cr_assert_str_eq(err.message, message);
}

Test(program, messages_are_numbered_in_the_order_of_sending)
{
    const struct pp_program_head head = line_of(2, 2);
    const struct pp_program *p =
        frozen(&head, "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B1 0RECV_B0\n"
                      "1RECV_F0 1RECV_F1 1F0 1F1 1B1 1SEND_B1 1B0 1SEND_B0");

    cr_assert_eq(p->message_count, 4);
    cr_assert_eq(p->channel_count, 2);
    cr_assert_eq(p->channels[0].source, 0);
    cr_assert_eq(p->channels[0].dest, 1);
    cr_assert_eq(p->channels[0].kind, PP_SEND_F);
    cr_assert_eq(p->channels[1].kind, PP_SEND_B);
    cr_assert_eq(p->channels[1].first, 2);
    cr_assert_eq(p->channels[1].count, 2);
    /* 0SEND_F0 0SEND_F1 0RECV_B1 0RECV_B0 | 1RECV_F0 1RECV_F1 1SEND_B1 1SEND_B0 */
    const int at[] = {1, 3, 4, 5, 6, 7, 11, 13}, id[] = {0, 1, 2, 3, 0, 1, 2, 3};
    for (int k = 0; k < 8; k++) {
        cr_assert_eq(p->arg[at[k]], id[k], "message %d", k);
        cr_assert_eq(p->peer[at[k]], at[k] < 6 ? 1 : 0);
    }
}

Test(program, stages_that_share_two_ranks_share_a_channel)
{
    static const uint16_t loop[] = {0, 1, 0, 1};
    struct pp_program_head head = line_of(2, 1);
    head.stages = 4;
    head.rank_of = loop;
    const struct pp_program *p = frozen(&head, "0F0 0SEND_F0 2RECV_F0 2F0 2SEND_F0\n"
                                               "1RECV_F0 1F0 1SEND_F0 3RECV_F0 3F0");

    cr_assert_eq(p->channel_count, 2); /* 0 to 1 carries 0SEND_F0 and 2SEND_F0 */
    cr_assert_eq(p->channels[0].count, 2);
    cr_assert_eq(p->channels[1].count, 1);
}

Test(program, pipelines_have_their_own_channels)
{
    struct pp_program_head head = line_of(2, 2);
    head.pipelines = 2;
    head.rank_of = two_way;
    head.pipe_of = pipe_of_two;
    const struct pp_program *p = frozen(&head, "0F0 0SEND_F0 0RECV_B0 1B1 1SEND_B1\n"
                                               "1B0 1SEND_B0 0RECV_B1 1RECV_F0");

    cr_assert_eq(p->channel_count, 3); /* F 0>1 pipe 0; B 0>1 pipe 1; B 1>0 pipe 0 */
    cr_assert_eq(p->channels[0].pipe, 0);
    cr_assert_eq(p->channels[1].pipe, 1);
    cr_assert_eq(p->channels[1].source, 0);
    cr_assert_eq(p->pipe[3], 1);
}

Test(program, waits_find_the_latest_instruction_of_their_name)
{
    const struct pp_program_head head = line_of(2, 1);
    const struct pp_program *p =
        frozen(&head, "0F0 0SEND_F0 (0SEND_F0)WAIT 0SEND_F0 (0SEND_F0)WAIT 0AR 0U (0AR)WAIT\n"
                      "1RECV_F0 (1RECV_F0)WAIT 1RECV_F0");

    cr_assert_eq(p->arg[2], 1);
    cr_assert_eq(p->arg[4], 3);
    cr_assert_eq(p->arg[7], 5);
    cr_assert_eq(p->arg[9], 0); /* an index of its own list */
}

Test(program, collectives_join_the_ranks_of_a_stage)
{
    struct pp_program_head head = line_of(2, 2);
    head.pipelines = 2;
    head.rank_of = two_way;
    head.pipe_of = pipe_of_two;
    const struct pp_program *p = frozen(&head, "0RS@0 1AR@1 0RS@0 (0RS@0)WAIT\n"
                                               "1AR@0 0RS@1 0RS@1");

    cr_assert_eq(p->collective_count, 3);
    cr_assert_eq(p->group_count, 2);
    const int32_t first = p->arg[0], second = p->arg[2], sum = p->arg[1];
    cr_assert_neq(first, second);
    cr_assert_eq(p->arg[4], sum);
    cr_assert_eq(p->arg[5], first);
    cr_assert_eq(p->arg[6], second);
    cr_assert_eq(p->arg[3], 2); /* WAIT: the latest */
    cr_assert_eq(p->collectives[first].kind, PP_RS);
    cr_assert_eq(p->collectives[sum].stage, 1);
    const struct pp_group *group = &p->groups[p->collectives[sum].group];
    cr_assert_eq(group->kind, PP_GROUP_STAGE);
    cr_assert_eq(group->count, 2);
    cr_assert_eq(p->members[group->first], 0);
    cr_assert_eq(p->members[group->first + 1], 1);
}

Test(program, a_tied_sum_joins_first_and_last_stage)
{
    const struct pp_program_head head = line_of(4, 1);
    const struct pp_program *p =
        frozen(&head, "0AR (0;3)AR ((0;3)AR)WAIT (0AR)WAIT\n1U\n2U\n(0;3)AR ((0;3)AR)WAIT");

    cr_assert_eq(p->collective_count, 2);
    cr_assert_eq(p->arg[1], p->arg[6]);
    cr_assert_neq(p->arg[0], p->arg[1]);
    const struct pp_collective *tied = &p->collectives[p->arg[1]];
    cr_assert(tied->tied && tied->kind == PP_AR && tied->stage == 0);
    const struct pp_group *group = &p->groups[tied->group];
    cr_assert_eq(group->kind, PP_GROUP_TIED);
    cr_assert_eq(group->count, 2);
    cr_assert_eq(p->members[group->first + 1], 3);
    cr_assert_eq(p->arg[2], 1); /* not the stage's own sum */
    cr_assert_eq(p->arg[3], 0);
}

Test(program, thaw_and_freeze_give_the_same_program)
{
    const struct pp_program_head head = line_of(2, 2);
    const struct pp_program *p =
        frozen(&head, "0F0 0SEND_F0[1] (0F1;0B0)OVERLAP_F_B 0AR 0U (0AR)WAIT\n"
                      "1RECV_F0 (1RECV_F0)WAIT 1F0[0] 1F1 1I0 1W0");
    const struct pp_program_head again = pp_program_head_of(p);
    struct pp_program *q = NULL;

    cr_assert_eq(pp_program_freeze(arena, &again, pp_program_thaw(arena, p), &q, &err), PP_OK);
    cr_assert_eq(pp_program_hash(p), pp_program_hash(q));
    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op a = pp_program_op(p, i), b = pp_program_op(q, i);
        cr_assert(memcmp(&a, &b, sizeof(a)) == 0, "%d", i);
    }
}

Test(program, the_hash_names_the_order)
{
    const struct pp_program_head head = line_of(2, 2);

    cr_assert_eq(pp_program_hash(frozen(&head, "0F0 0F1\n1F0 1F1")),
                 pp_program_hash(frozen(&head, "0F0 0F1\n1F0 1F1")));
    cr_assert_neq(pp_program_hash(frozen(&head, "0F0 0F1\n1F0 1F1")),
                  pp_program_hash(frozen(&head, "0F1 0F0\n1F0 1F1")));
}

Test(program, shape_describes_the_sizes)
{
    static const uint16_t loop[] = {0, 1, 0, 1};
    struct pp_program_head head = line_of(2, 3);
    head.stages = 4;
    head.rank_of = loop;
    const struct pp_shape shape = pp_program_shape(frozen(&head, "0F0\n1F0"));

    cr_assert(shape.ranks == 2 && shape.chunks == 2 && shape.micro_batches == 3);
    cr_assert(shape.splits == 1 && shape.granules == 1 && shape.pipelines == 1);
}

Test(program, structural_errors_name_rank_and_instruction)
{
    struct pp_program_head head = line_of(2, 2);

    refused(&head, "0F0\n1F0 1SEND_F0",
            "rank 1, instruction 1 (1SEND_F0): stage 1 has no next stage");
    refused(&head, "0F0 0SEND_B0\n1F0",
            "rank 0, instruction 1 (0SEND_B0): stage 0 has no previous stage");
    refused(&head, "0RECV_F0\n1F0",
            "rank 0, instruction 0 (0RECV_F0): stage 0 has no previous stage");
    refused(&head, "0F0\n0SEND_F0",
            "rank 1, instruction 0 (0SEND_F0): stage 0 of this micro-batch is on rank 0, not here");
    refused(&head, "0SEND_F0 0SEND_F1\n1RECV_F0",
            "rank 0, instruction 1 (0SEND_F1): rank 0 sends 2 F messages to rank 1, which receives "
            "1: no RECV for this one");
    refused(&head, "0SEND_F0\n1RECV_F0 1F0 1RECV_F1",
            "rank 1, instruction 2 (1RECV_F1): rank 0 sends 1 F messages to rank 1, which receives "
            "2: no SEND for this one");
    refused(&head, "0F0 (0SEND_F0)WAIT\n1F0",
            "rank 0, instruction 1 ((0SEND_F0)WAIT): nothing of this name is posted before");
    refused(&head, "0AR 0U (0AR)WAIT\n0AR",
            "rank 1, instruction 0 (0AR): this rank does not hold stage 0");
    refused(&head, "0F2\n1F0", "rank 0, instruction 0 (0F2): micro-batch ids are 0 to 1");
    refused(&head, "2F0\n1F0", "rank 0, instruction 0 (2F0): stages are 0 to 1");
    refused(&head, "0F0s1\n1F0", "rank 0, instruction 0 (0F0): sequence splits are 0 to 0");
    refused(&head, "0U@1\n1F0", "rank 0, instruction 0 (0U): pipelines are 0 to 0");
    refused(&head, "0F0-1\n1F0",
            "rank 0, instruction 0 (0F0-1): granules of different micro-batches (1 each)");
    cells_places(arena, cells_orders(arena, "0F0\n1F0 1SEND_F0", 2), &head);
    head.file = "a.csv";
    refused(&head, "0F0\n1F0 1SEND_F0", "a.csv:2:2: 1SEND_F0: stage 1 has no next stage");
}

Test(program, collectives_need_all_members)
{
    struct pp_program_head head = line_of(2, 2);
    head.pipelines = 2;
    head.rank_of = two_way;
    head.pipe_of = pipe_of_two;

    refused(&head, "0AR@0\n1F0",
            "rank 0, instruction 0 (0AR@0): rank 1 belongs to this collective but never posts it");
    refused(&head, "0AR@0 0AR@0\n0AR@1",
            "rank 1, instruction 0 (0AR@1): rank 1 posts 1 of these, rank 0 posts 2");
}

Test(program, message_between_stages_of_one_rank_is_refused)
{
    static const uint16_t vee[] = {0, 1, 1, 0};
    struct pp_program_head head = line_of(2, 1);
    head.stages = 4;
    head.rank_of = vee;

    refused(&head, "0F0\n1SEND_F0",
            "rank 1, instruction 0 (1SEND_F0): stage 2 is on the same rank: no message is needed");
}

Test(program, pairs_stay_together)
{
    const struct pp_program_head head = line_of(1, 2);
    struct pp_orders *lists = cells_orders(arena, "0F0 (0F1;0B0)OVERLAP_F_B 0B1", 1);
    struct pp_program *p = NULL;

    lists->count[0] = 2; /* the list ends inside the pair */
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, &err), PP_EPROGRAM);
    lists->count[0] = 4;
    lists->ops[0][1].aux = 0;
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, &err), PP_EPROGRAM);
    cr_assert(strstr(err.message, "instruction 2 (0B0): an overlapped pair"), "%s", err.message);
}

Test(program, absurd_sizes_are_refused)
{
    const struct pp_orders *lists = cells_orders(arena, "0F0", 1);
    struct pp_program_head head = line_of(1, 1 << 24);
    struct pp_program *p;

    head.granules = 2;
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, &err), PP_EPROGRAM);
    cr_assert_str_eq(err.message, "a program of 33554432 micro-batches * granules: 1 to 16777216 "
                                  "are possible");
    head = line_of(1, 0);
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, NULL), PP_EPROGRAM);
}

Test(program, grid_shows_the_marked_cell)
{
    const struct pp_program_head head = line_of(2, 2);
    const struct pp_program *p = frozen(&head, "0F0 (0F1;0B0)OVERLAP_F_B 0B1\n1F0 1B0 1F1 1B1");

    cr_assert_str_eq(pp_program_grid(arena, p, 1, 1), "rank 0 | 0F0 (0F1; 0B0) 0B1\n"
                                                      "rank 1 | 1F0 [1B0] 1F1  1B1");
    cr_assert_str_eq(pp_program_grid(arena, p, -1, -1), "rank 0 | 0F0 (0F1; 0B0) 0B1\n"
                                                        "rank 1 | 1F0 1B0   1F1  1B1");
}

Test(program, grid_is_a_window_of_a_big_program)
{
    static uint16_t ranks[64];
    struct pp_program_head head = line_of(64, 32);
    struct pp_orders *lists = pp_orders_create(arena, 64);
    struct pp_program *p = NULL;

    head.rank_of = ranks;
    for (int r = 0; r < 64; r++) {
        ranks[r] = (uint16_t)r;
        for (int mb = 0; mb < 32; mb++)
            pp_orders_add(arena, lists, r,
                          (struct pp_op){.kind = PP_F,
                                         .stage = (uint16_t)r,
                                         .granules = 1,
                                         .mb = mb,
                                         .arg = -1,
                                         .slot = -1});
    }
    cr_assert_eq(pp_program_freeze(arena, &head, lists, &p, &err), PP_OK);
    const char *grid = pp_program_grid(arena, p, 40, 16);
    cr_assert(strncmp(grid, "rank 36 | ... 36F12 36F13", 25) == 0, "%s", grid);
    cr_assert(strstr(grid, "[40F16]"), "%s", grid);
    cr_assert(strstr(grid, "rank 44 | ... 44F12 44F13 44F14 44F15 44F16   44F17 44F18 44F19 44F20 "
                           "..."),
              "%s", grid);
    cr_assert_null(strstr(grid, "rank 45"));
}
