/* What verify says, word for word, about one program of every kind of mistake. */
#include "schedules/verify/verify.h"
#include "tests/unit/support/cells.h"

static const uint16_t loop[] = {0, 1, 2, 3}, one[] = {0, 0};

static struct pp_program_head head(int ranks, int stages, int micro_batches)
{
    return (struct pp_program_head){.name = "test",
                                    .ranks = ranks,
                                    .stages = stages,
                                    .pipelines = 1,
                                    .micro_batches = micro_batches,
                                    .granules = 1,
                                    .splits = 1,
                                    .versions = 1,
                                    .rank_of = ranks == 1 ? one : loop};
}

static enum pp_status verify(struct pp_program_head h, const char *text, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_orders *orders = cells_orders(arena, text, h.ranks);
    struct pp_program *program;

    if (h.file)
        cells_places(arena, orders, &h);
    *err = (struct pp_error){0};
    cr_assert_eq(pp_program_freeze(arena, &h, orders, &program, err), PP_OK, "%s", err->message);
    return pp_verify(program, NULL, err);
}

/* The words without the grid. */
static void says(struct pp_program_head h, const char *text, const char *words)
{
    struct pp_error err;

    cr_assert_eq(verify(h, text, &err), PP_EPROGRAM, "%s", text);
    cr_assert(strncmp(err.message, words, strlen(words)) == 0, "\ngot:  %s\nwant: %s", err.message,
              words);
}

static void accepts(struct pp_program_head h, const char *text)
{
    struct pp_error err;

    cr_assert_eq(verify(h, text, &err), PP_OK, "%s\n%s", text, err.message);
}

Test(verify, legal_programs)
{
    accepts(head(2, 2, 2), "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1");
    accepts(head(2, 2, 2), "0F0 0F1 0I0 0W0 0B1\n1F0 1I0 1F1 1W0 1B1");
}

Test(verify, missing_and_double_ops)
{
    says(head(2, 2, 1), "0F0 0B0\n1F0", "test: rank 1: 1B0 is missing (or 1I0 and 1W0)");
    says(head(2, 2, 1), "0F0 0B0\n1F0 1I0",
         "test: rank 1: 1W0 is missing: 1I0 needs it to complete the backward");
    says(head(2, 2, 1), "0F0 0B0\n1B0", "test: rank 1: 1F0 is missing (this rank holds stage 1)");
    says(head(2, 2, 1), "0F0 0F0 0B0\n1F0 1B0",
         "test: rank 0 op 2: 0F0 is listed twice, first at rank 0 op 1");
    says(head(2, 2, 1), "0F0 0B0\n1F0 1B0 1W0",
         "test: rank 1 op 3: 1W0 comes on top of 1B0 (rank 1 op 2): a backward is either one B, "
         "or one I and one W");
    says(head(2, 2, 1), "0F0 0B0 1F0\n1B0",
         "test: rank 0 op 3: 1F0 is on the wrong rank: stage 1 is on rank 1");
}

Test(verify, the_mock_deadlock)
{
    struct pp_program_head h = head(4, 4, 4);
    h.file = "s.csv";
    says(h,
         "0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3\n"
         "1F0 1F1 1F2 1B0 1F3 1B1 1B2 1B3\n"
         "2F0 2F1 2B3 2F2 2B0 2B1 2F3 2B2\n"
         "3F0 3B0 3F1 3B1 3F2 3B2 3F3 3B3",
         "s.csv: DEADLOCK after 13 of 32 instructions\n"
         "  rank 2 line 3 col 3: 2B3 waits for 2F3 on itself: 2B3 is listed before 2F3\n"
         "  also stuck: rank 0, 1, 3\n"
         "  fix: move 2F3 before 2B3 on rank 2");
}

Test(verify, a_cycle_over_two_ranks)
{
    says(head(2, 2, 2), "0F0 0B0 0F1 0B1\n1F0 1F1 1B0 1B1",
         "test: DEADLOCK after 2 of 8 instructions\n"
         "  rank 0 op 2: 0B0 waits for 1B0 (rank 1)\n"
         "  rank 1 op 2: 1F1 waits for 0F1 (rank 0)");
}

/* ---- lowered --------------------------------------------------------------------------------- */

static struct pp_program_head lowered(int ranks, int stages, int micro_batches)
{
    struct pp_program_head h = head(ranks, stages, micro_batches);

    h.level = PP_LEVEL_LOWERED;
    return h;
}

#define RANK0 "0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT 0B0 0RECV_B1 (0RECV_B1)WAIT 0B1\n"
#define RANK1 "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1"

Test(verify, legal_lowered_programs)
{
    accepts(lowered(2, 2, 2), RANK0 RANK1);
    accepts(lowered(1, 2, 1), "0F0 1F0 1B0 0B0 0U 1U");
}

Test(verify, messages_that_do_not_bring_what_is_needed)
{
    says(lowered(2, 2, 2),
         "0F0 0SEND_F0 0F1 0SEND_F1 0B0 0B1\n"
         "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1",
         "test: rank 0 op 5: 0B0 needs the result of 1B0 on rank 1, but 0RECV_B0 is missing\n");
    says(lowered(2, 2, 2),
         RANK0 "1RECV_F0 1F0 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1",
         "test: rank 1 op 2: 1F0 uses what 1RECV_F0 delivers, but (1RECV_F0)WAIT is missing\n");
    says(lowered(2, 2, 2),
         RANK0 "1RECV_F0 1F0 (1RECV_F0)WAIT 1B0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1",
         "test: rank 1 op 2: 1F0 is listed before (1RECV_F0)WAIT, which it needs\n"
         "  fix: move (1RECV_F0)WAIT before 1F0 on rank 1\n");
    says(
        lowered(2, 2, 2),
        "0SEND_F0 0F0 0F1 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT 0B0 0RECV_B1 (0RECV_B1)WAIT 0B1\n" RANK1,
        "test: rank 0 op 1: 0SEND_F0 is listed before 0F0, which it needs\n"
        "  fix: move 0F0 before 0SEND_F0 on rank 0\n");
    says(lowered(2, 2, 2),
         RANK0 "1RECV_F1 1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1",
         "test: rank 1 op 1: message 0 from rank 0 to rank 1 is sent as 0SEND_F0 but received as "
         "1RECV_F1: a channel delivers in the order of its sends\n");
    says(lowered(2, 2, 2),
         RANK0 "1RECV_F0 (1RECV_F0)WAIT 1B0 1F0 1SEND_B0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1",
         "test: rank 1 op 3: 1B0 is listed before 1F0, which it needs\n"
         "  fix: move 1F0 before 1B0 on rank 1\n");
    says(lowered(2, 2, 1),
         "0F0 0SEND_F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT 0B0\n"
         "1RECV_F0 1RECV_F0 (1RECV_F0)WAIT (1RECV_F0)WAIT 1F0 1B0 1SEND_B0",
         "test: rank 0 op 3: 0SEND_F0 is listed twice, first at rank 0 op 2\n");
}

Test(verify, deadlock_under_rendezvous)
{
    struct pp_program_head h = lowered(2, 2, 2);

    h.file = "late.csv";
    says(h,
         "0F0 0SEND_F0 0F1 0SEND_F1 (0SEND_F1)WAIT 0RECV_B0 (0RECV_B0)WAIT 0B0 0RECV_B1 "
         "(0RECV_B1)WAIT 0B1\n"
         "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 (1SEND_B0)WAIT 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 "
         "1SEND_B1",
         "late.csv: DEADLOCK after 9 of 22 instructions\n"
         "  rank 0 line 1 col 5: (0SEND_F1)WAIT waits for 1RECV_F1 (rank 1)\n"
         "  rank 1 line 2 col 6: (1SEND_B0)WAIT waits for 0RECV_B0 (rank 0)\n"
         "rank 0 |");
}

Test(verify, slots_in_use)
{
    says(lowered(2, 2, 2),
         "0F0[0] 0SEND_F0 0F1[0] 0SEND_F1 0RECV_B0 (0RECV_B0)WAIT 0B0 0RECV_B1 (0RECV_B1)WAIT "
         "0B1\n" RANK1,
         "test: rank 0 op 3: 0F1[0] overwrites the buffer of 0F0[0] (rank 0 op 1), which is still "
         "in use\n");
    says(lowered(2, 2, 2),
         "0F0 0SEND_F0[0] 0F1 0SEND_F1[0] 0RECV_B0 (0RECV_B0)WAIT 0B0 0RECV_B1 (0RECV_B1)WAIT "
         "0B1\n" RANK1,
         "test: rank 0 op 3: 0SEND_F1[0] overwrites the buffer of 0SEND_F0[0] (rank 0 op 2), which "
         "is still in use\n");
    says(lowered(2, 2, 2),
         RANK0 "1RECV_F0[1] 1RECV_F1[1] (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 (1RECV_F1)WAIT 1F1 1B1 "
               "1SEND_B1",
         "test: rank 1 op 2: 1RECV_F1[1] overwrites the buffer of 1RECV_F0[1] (rank 1 op 1), which "
         "is still in use\n");
    accepts(lowered(1, 1, 2), "0F0[0] 0F1[1] 0R0[0] 0B0 0R1[0] 0B1");
    says(lowered(1, 1, 2), "0F0[0] 0F1[0] 0R0[0] 0B0 0R1[0] 0B1",
         "test: rank 0 op 2: 0F1[0] overwrites the buffer of 0F0[0] (rank 0 op 1), which is still "
         "in use\n");
    says(lowered(1, 1, 2), "0F0[0] 0F1[1] 0R0[0] 0R1[0] 0B0 0B1",
         "test: rank 0 op 4: 0R1[0] overwrites the buffer of 0R0[0] (rank 0 op 3), which is still "
         "in use\n");
    says(lowered(1, 1, 2), "0F0[0] 0F1[0] 0R0[0] 0B0 0B1", /* 0F1 saves what 0F0 does not */
         "test: rank 0 op 3: 0R0[0] overwrites the buffer of 0F1[0] (rank 0 op 2), which is still "
         "in use\n");
    says(lowered(1, 1, 2), "0F0[0] 0F1 0B0 0B1",
         "test: rank 0 op 2: 0F1 has no buffer slot, as in 0F1[0], but other instructions have: "
         "name the slots of all F, R, SEND, RECV and COPY.up, or none\n");
    accepts(lowered(1, 1, 2), "0F0[0] 0COPY.down0 (0COPY.down0)WAIT 0F1[0] 0COPY.up0[1] "
                              "(0COPY.up0)WAIT 0B0 0B1");
    says(lowered(1, 1, 2),
         "0F0[0] 0COPY.down0 0F1[0] (0COPY.down0)WAIT 0COPY.up0[1] (0COPY.up0)WAIT 0B0 0B1",
         "test: rank 0 op 3: 0F1[0] overwrites the buffer of 0F0[0] (rank 0 op 1), which is still "
         "in use\n");
    says(lowered(1, 1, 2),
         "0F0[0] 0COPY.down0 (0COPY.down0)WAIT 0F1[0] 0COPY.up0[0] (0COPY.up0)WAIT 0B0 0B1",
         "test: rank 0 op 5: 0COPY.up0[0] overwrites the buffer of 0F1[0] (rank 0 op 4), which is "
         "still in use\n");
    says(lowered(1, 1, 2),
         "0F0[0] 0COPY.down0 (0COPY.down0)WAIT 0F1[0] 0COPY.up0 (0COPY.up0)WAIT 0B0 0B1",
         "test: rank 0 op 5: 0COPY.up0 has no buffer slot, as in 0COPY.up0[0], but other "
         "instructions have: name the slots of all F, R, SEND, RECV and COPY.up, or none\n");
    accepts(lowered(1, 1, 2), "0F0[0] 0COPY0 0F1[1] (0COPY0)WAIT 0B0 0B1"); /* moves nothing */
    says(lowered(1, 1, 1), "0F0[99] 0B0",
         "test: rank 0 op 1: 0F0[99]: slots are 0 to 17 on a rank of 2 instructions\n");
}

Test(verify, updates_and_sums)
{
    says(lowered(1, 1, 2), "0F0 0B0 0U 0F1 0B1",
         "test: rank 0 op 3: 0U is listed before 0B1, which it needs\n"
         "  fix: move 0B1 before 0U on rank 0\n");
    says(lowered(1, 1, 1), "0F0 0AR 0B0 (0AR)WAIT 0U",
         "test: rank 0 op 2: 0AR is listed before 0B0, which it needs\n"
         "  fix: move 0B0 before 0AR on rank 0\n");
    says(lowered(1, 1, 1), "0F0 0B0 0AR 0U (0AR)WAIT",
         "test: rank 0 op 4: 0U is listed before (0AR)WAIT, which it needs\n"
         "  fix: move (0AR)WAIT before 0U on rank 0\n");
    says(lowered(1, 1, 1), "0F0 0B0 0AR 0U",
         "test: rank 0 op 4: 0U uses the sum of 0AR, but (0AR)WAIT is missing\n");
    says(lowered(1, 2, 1), "0F0 1F0 1B0 0B0 0U",
         "test: rank 0: stage 1 of pipeline 0 has no U, other stages have\n");
    says(lowered(1, 2, 1), "0F0 1F0 1B0 0B0 0AR",
         "test: rank 0: stage 1 of pipeline 0 has no gradient collective, other stages have\n");
    says(lowered(1, 1, 1), "0F0 0B0 0RS (0RS)WAIT 0AG 0U",
         "test: rank 0 op 5: 0AG gathers weights that 0U has not updated yet\n"
         "  fix: move 0U before 0AG on rank 0\n");
    says(lowered(1, 1, 1), "0F0 0B0 0RS (0RS)WAIT 0AG 0U 0AG (0AG)WAIT",
         "test: rank 0 op 5: 0AG gathers weights that 0U has not updated yet\n");
    says(lowered(1, 1, 1), "0F0 0B0 0RS (0RS)WAIT 0U",
         "test: rank 0 op 5: 0U updates the share of the weights that 0RS leaves, and no AG "
         "gathers them\n");
    accepts(lowered(1, 1, 1), "0F0 0B0 0RS (0RS)WAIT 0U 0AG (0AG)WAIT");
    says(lowered(1, 1, 1), "0F0 0B0 0RS (0RS)WAIT 0U 0AG",
         "test: rank 0 op 6: nothing waits for 0AG: (0AG)WAIT is missing\n");
    says(lowered(1, 1, 1), "0F0 0B0 0AR",
         "test: rank 0 op 3: nothing waits for 0AR: (0AR)WAIT is missing\n");
    says(lowered(1, 1, 1), "0F0 0B0 0AR#0/2 0AR#1/2 (0AR#0/2)WAIT",
         "test: rank 0 op 4: nothing waits for 0AR#1/2: (0AR#1/2)WAIT is missing\n");
    says(lowered(2, 2, 1),
         "0F0 0SEND_F0 0RECV_B0 (0RECV_B0)WAIT 0B0 0BAR\n"
         "1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0",
         "test: rank 1: 0 BAR, but rank 0 has 1\n");
}

Test(verify, collectives_in_different_orders)
{
    static const uint16_t two_way[] = {0, 1, 1, 0}, pipes[] = {0, 1};
    struct pp_program_head h = lowered(2, 2, 2);

    h.pipelines = 2, h.rank_of = two_way, h.pipe_of = pipes;
    says(h,
         "0F0 0SEND_F0 1RECV_F1 (1RECV_F1)WAIT 1F1 1B1 1SEND_B1 0RECV_B0 (0RECV_B0)WAIT 0B0 "
         "0AR 1AR@1 (0AR)WAIT (1AR@1)WAIT\n"
         "0F1 0SEND_F1 1RECV_F0 (1RECV_F0)WAIT 1F0 1B0 1SEND_B0 0RECV_B1 (0RECV_B1)WAIT 0B1 "
         "1AR 0AR@1 (1AR)WAIT (0AR@1)WAIT",
         "test: DEADLOCK after 24 of 28 instructions\n"
         "  0AR@1 waits after 1AR@0, which rank 1 posts before it\n"
         "  1AR@1 waits after 0AR@0, which rank 0 posts before it\n"
         "  stuck: rank 0, 1\n"
         "  fix: post 0AR@1 and 1AR@0 in the same order on every rank\n");
}

Test(verify, overlapped_pairs)
{
    says(head(1, 1, 1), "(0F0;0B0)OVERLAP_F_B",
         "test: DEADLOCK after 0 of 2 instructions\n"
         "  rank 0 op 2: 0B0 waits for 0F0 on itself: 0B0 overlaps 0F0\n");
    says(lowered(1, 1, 1), "(0F0;0B0)OVERLAP_F_B",
         "test: rank 0 op 2: 0B0 overlaps 0F0, but needs its result\n");
    accepts(head(1, 1, 2), "0F0 (0F1;0B0)OVERLAP_F_B 0B1");
}

Test(verify, splits_and_granules)
{
    struct pp_program_head h = head(1, 1, 1);

    h.splits = 2;
    accepts(h, "0F0s0 0F0s1 0B0s1 0B0s0");
    says(h, "0F0s1 0F0s0 0B0s1 0B0s0",
         "test: DEADLOCK after 0 of 4 instructions\n"
         "  rank 0 op 1: 0F0s1 waits for 0F0s0 on itself: 0F0s1 is listed before 0F0s0\n"
         "  fix: move 0F0s0 before 0F0s1 on rank 0\n");
    says(h, "0F0s0 0F0s1 0B0s0 0B0s1",
         "test: DEADLOCK after 2 of 4 instructions\n"
         "  rank 0 op 3: 0B0s0 waits for 0B0s1 on itself: 0B0s0 is listed before 0B0s1\n"
         "  fix: move 0B0s1 before 0B0s0 on rank 0\n");
    h.splits = 1, h.granules = 2;
    accepts(h, "0F0-1 0B0 0B1");
    accepts(h, "0F0 0F1 0B0-1");
    says(h, "0F0 0B0 0B1 0F1",
         "test: DEADLOCK after 2 of 4 instructions\n"
         "  rank 0 op 3: 0B1 waits for 0F1 on itself: 0B1 is listed before 0F1\n"
         "  fix: move 0F1 before 0B1 on rank 0\n");
    says(h, "0F0 0F1 0B0-1 0B1", "test: rank 0 op 4: 0B1 is listed twice, first at rank 0 op 3\n");
}

Test(verify, recompute_versions_modes_and_memory)
{
    struct pp_program_head h = head(1, 1, 2);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *program;
    struct pp_error err;

    says(h, "0F0 0F1 0R1 0B0 0B1 0R0",
         "test: DEADLOCK after 3 of 6 instructions\n"
         "  rank 0 op 4: 0B0 waits for 0R0 on itself: 0B0 is listed before 0R0\n"
         "  fix: move 0R0 before 0B0 on rank 0\n");
    cr_assert_eq(
        pp_program_freeze(arena, &h, cells_orders(arena, "0F0 0F1 0B0 0B1", 1), &program, &err),
        PP_OK);
    cr_assert_eq(pp_verify(program, &(struct pp_verify_options){.max_activations = 2}, &err),
                 PP_OK);
    cr_assert_eq(pp_verify(program, &(struct pp_verify_options){.max_activations = 1}, &err),
                 PP_EPROGRAM);
    const char *words =
        "test: rank 0 op 2: 0F1 makes 2 chunk activations on this rank, the limit is 1\n";
    cr_assert(strncmp(err.message, words, strlen(words)) == 0, "%s", err.message);
    says(h, "0F0v1 0F1 0B0 0B1",
         "test: rank 0 op 3: 0B0 uses weight version 0, but 0F0 used version 1\n");
    h.mode = PP_MODE_INFER;
    accepts(h, "0F0 0F1");
    says(h, "0F0 0F1 0B0", "test: rank 0 op 3: 0B0 has no place in a forward-only program\n");
}
