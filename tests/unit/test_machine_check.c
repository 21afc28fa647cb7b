/* Where the ranks meet last, all gradients are there. */
#include "exec/machine_parts.h"

#include <criterion/criterion.h>
#include <string.h>

static const char HEAD[] = "# format: pipesim-program/1\n# level: lowered\n# mode: train\n";

static enum pp_status check(const char *lists, struct pp_error *err)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
    struct pp_program *program;
    const char *text = pp_arena_printf(arena, "%s%s", HEAD, lists);

    cr_assert_eq(
        pp_program_parse(arena, "test.csv", text, strlen(text), PP_DIALECT_2025, &program, err),
        PP_OK, "%s", err->message);
    return pp_check_updates(program, err);
}

Test(machine_check, gradients_are_complete)
{
    static const struct {
        const char *lists, *message; /* NULL: accepted */
    } cases[] = {
        {"0F0,0B0,0AR,(0AR)WAIT,0BAR,0U\n", NULL},
        {"0F0,0BAR,0I0,0W0,0AR,(0AR)WAIT,0BAR,0U\n", NULL},
        {"0F0,0I0,0BAR,0W0,0U\n", "rank 0 op 3: 0W0 stands behind the last BAR of its list, where "
                                  "the norm of all gradients is taken; move it in front"},
        {"0F0,0BAR,0B0,0U\n", "rank 0 op 2: 0B0 stands behind the last BAR of its list, where the "
                              "norm of all gradients is taken; move it in front"},
        {"0F0,0B0,0BAR,0AR,(0AR)WAIT,0U\n",
         "rank 0 op 3: 0AR stands behind the last BAR of its list, where the norm of all gradients "
         "is taken; move it in front"},
        {"0F0,0B0,0AR,0BAR,(0AR)WAIT,0U\n",
         "rank 0 op 4: (0AR)WAIT stands behind the last BAR of its list, where the norm of all "
         "gradients is taken; move it in front"},
        {"0F0,0B0,0BAR,0U,0BAR\n", "rank 0 op 3: 0U stands before the last BAR of its list, where "
                                   "the norm of all gradients is taken; move it behind"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pp_error err = {0};
        const enum pp_status status = check(cases[i].lists, &err);

        cr_assert_eq(status, cases[i].message ? PP_EPROGRAM : PP_OK, "%s%s", cases[i].lists,
                     err.message);
        cr_assert_str_eq(err.message, cases[i].message ? cases[i].message : "");
    }
}
