/* What verify says, word for word, about one program of every kind of mistake. */
#include "cells.h"
#include "schedules/verify.h"

static const uint16_t loop[] = {0, 1, 2, 3, 0, 1, 2, 3};

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
                                    .rank_of = loop};
}

static enum pp_status verify(struct pp_program_head h, const char *text, struct pp_error *err)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
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
    fprintf(stderr, "%s\n\n", err.message);
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
