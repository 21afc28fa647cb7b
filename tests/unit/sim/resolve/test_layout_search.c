/* The quick planner: what it keeps of the best candidate. */
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

/* The program is too large to be kept, so that its memory is used again by the run. */
Test(layout_search, outcomes_of_auto_outlive_a_large_program)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result *result = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena,
                            "run --engine dag --model gpt2-64 --gpus 2 --pp 2 --mbs 2 --zero 0 "
                            "--recompute none --micro-batches 70000 --schedule chimera "
                            "--concat auto --nic fifo", /* no part is left out */
                            PP_QUICK, result, &err),
                 PP_OK, "%s", err.message);
    cr_assert_gt(pp_program_size(result->program), 1 << 18);
    const struct pp_trials *trials = result->config.origin.trials;
    cr_assert_not_null(trials);
    cr_assert_str_eq(trials->option, "concat");
    cr_assert_eq(trials->count, 3);
    for (int i = 0; i < trials->count; i++)
        cr_expect(!trials->list[i].outcome.is_refused && trials->list[i].outcome.fits, "%d", i);
}
