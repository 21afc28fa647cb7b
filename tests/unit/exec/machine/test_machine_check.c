/* Where the ranks meet last, all gradients are there; and program and model agree. */
#include "exec/program/check.h"

#include <criterion/criterion.h>
#include <string.h>

static const char HEAD[] = "# format: pipesim-program/1\n# level: lowered\n# mode: train\n";

static struct pp_program *read(struct pp_arena *arena, const char *lists, struct pp_error *err)
{
    struct pp_program *program;
    const char *text = pp_arena_printf(arena, "%s%s", HEAD, lists);

    cr_assert_eq(
        pp_program_parse(arena, "test.csv", text, strlen(text), PP_DIALECT_2025, &program, err),
        PP_OK, "%s", err->message);
    return program;
}

static enum pp_status check(const char *lists, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    return pp_check_updates(read(arena, lists, err), err);
}

Test(machine_check, gradients_are_complete)
{
    static const struct {
        const char *lists, *message; /* NULL: accepted */
    } cases[] = {
        {"0F0,0B0,0AR,(0AR)WAIT,0BAR,0U\n", NULL},
        {"0F0,0BAR,0I0,0W0,0AR,(0AR)WAIT,0BAR,0U\n", NULL},
        {"0F0,0I0,0BAR,0W0,0U\n", "rank 0 op 3: 0W0 stands after the last BAR of its list, where "
                                  "the norm of all gradients is taken; move it before that BAR"},
        {"0F0,0BAR,0B0,0U\n", "rank 0 op 2: 0B0 stands after the last BAR of its list, where the "
                              "norm of all gradients is taken; move it before that BAR"},
        {"0F0,0B0,0BAR,0AR,(0AR)WAIT,0U\n",
         "rank 0 op 3: 0AR stands after the last BAR of its list, where the norm of all gradients "
         "is taken; move it before that BAR"},
        {"0F0,0B0,0AR,0BAR,(0AR)WAIT,0U\n",
         "rank 0 op 4: (0AR)WAIT stands after the last BAR of its list, where the norm of all "
         "gradients is taken; move it before that BAR"},
        {"0F0,0B0,0BAR,0U,0BAR\n", "rank 0 op 3: 0U stands before the last BAR of its list, where "
                                   "the norm of all gradients is taken; move it after that BAR"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pp_error err = {0};
        const enum pp_status status = check(cases[i].lists, &err);

        cr_assert_eq(status, cases[i].message ? PP_EPROGRAM : PP_OK, "%s%s", cases[i].lists,
                     err.message);
        cr_assert_str_eq(err.message, cases[i].message ? cases[i].message : "");
    }
}

static enum pp_status check_with(const char *lists, bool is_tied, int replicas,
                                 struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    return pp_check_program(read(arena, lists, err), is_tied, false, replicas, err);
}

#define TIED_0 "0F0,0B0,(0;1)AR,((0;1)AR)WAIT,0BAR,0U\n"
#define TIED_1 "1F0,1B0,(0;1)AR,((0;1)AR)WAIT,0BAR,1U\n"

Test(machine_check, program_and_model_agree)
{
    static const struct {
        const char *lists;
        bool is_tied;
        int replicas;
        const char *message; /* NULL: accepted */
    } cases[] = {
        {"0F0,0B0,0BAR,0U\n", false, 1, NULL},
        {"0F0,0B0,0BAR,0U\n", true, 1, NULL},
        {"0F0,1F0,1B0,0B0,0BAR,1U,0U\n", true, 1, NULL}, /* added up on the rank */
        {"0F0,0B0,0AR,(0AR)WAIT,0BAR,0U\n", false, 2, NULL},
        {TIED_0 TIED_1, true, 1, NULL},
        {TIED_0 TIED_1, false, 1,
         "(0;1)AR sums a matrix that embedding and head share, but the head of this model has its "
         "own"},
        {TIED_0 TIED_1, true, 2,
         "rank 0: nothing sums the gradients of stage 0, which has 2 copies; put 0AR and (0AR)WAIT "
         "before the last BAR"},
        {"0F0,0B0,0BAR,0U\n1F0,1B0,0BAR,1U\n", false, 1, NULL},
        {"0F0,0B0,0BAR,0U\n1F0,1B0,0BAR,1U\n", true, 1,
         "rank 0: the embedding of stage 0 is also the head of stage 1 on rank 1, but (0;1)AR, "
         "which sums the gradients, is missing"},
        {"0F0,0B0,0BAR,0U\n", false, 3,
         "rank 0: nothing sums the gradients of stage 0, which has 3 copies; put 0AR and (0AR)WAIT "
         "before the last BAR"},
        {"0F0,0B0,0RS,(0RS)WAIT,0BAR,0U,0AG,(0AG)WAIT\n", false, 2, NULL},
        {"0F0s0,0F0s1,0R0s1,0B0s1,0B0s0,0BAR,0U\n", false, 1,
         "rank 0 op 2: 0R0s1 cannot recompute one of 2 sequence splits alone: the other splits "
         "need its saved tensors"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pp_error err = {0};
        const enum pp_status status =
            check_with(cases[i].lists, cases[i].is_tied, cases[i].replicas, &err);

        cr_assert_eq(status, cases[i].message ? PP_EPROGRAM : PP_OK, "%s%s", cases[i].lists,
                     err.message);
        cr_assert_str_eq(err.message, cases[i].message ? cases[i].message : "");
    }
}
