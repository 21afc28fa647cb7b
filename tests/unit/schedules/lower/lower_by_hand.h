/* Code that tests of lowering by hand share: programs as text, and whether a lowered one completes
 * whichever rank runs first. */
#ifndef PP_TESTS_LOWER_BY_HAND_H
#define PP_TESTS_LOWER_BY_HAND_H

#include "tests/unit/support/cells.h"
#include "tests/unit/support/lower_cases.h"

/* Cells as text, lowered. */
static inline struct pp_program *lower_text(struct pp_arena *arena, struct pp_program_head head,
                                            const char *text,
                                            const struct pp_lower_options *options)
{
    struct pp_orders *orders = cells_orders(arena, text, head.ranks);
    struct pp_program *compute, *lowered;
    struct pp_error err;

    cr_assert_eq(pp_program_freeze(arena, &head, orders, &compute, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_lower(arena, compute, options, &lowered, &err), PP_OK, "%s", err.message);
    return lowered;
}

static inline struct pp_program_head line_head(int ranks, int micro_batches)
{
    static const uint16_t line_of_ranks[] = {0, 1, 2, 3};

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

static inline int count_kind(const struct pp_program *p, int kind)
{
    int count = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        count += p->kind[i] == kind;
    return count;
}

/* Under both orders of the ranks. */
static inline bool can_run(struct pp_arena *arena, const struct pp_program *p, int *stalls)
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

#endif
