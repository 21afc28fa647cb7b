/* tests/exec/train.h — make a run and train it, or fail the test. */
#ifndef PP_TESTS_EXEC_TRAIN_H
#define PP_TESTS_EXEC_TRAIN_H

#include "tests/exec/run.h"

#include <criterion/criterion.h>

/* False when the schedule does not accept the shape. */
static inline bool exec_run(struct pp_arena *arena, const struct exec_case *c, struct exec_run *run)
{
    struct pp_error err = {0};
    enum pp_status status = exec_run_make(arena, c, run, &err);

    if (status == PP_EINVAL)
        return false;
    if (status == PP_OK)
        status = pp_train(arena, &run->training, &run->result, &err);
    cr_assert_eq(status, PP_OK, "%s: %s", exec_case_text(arena, c), err.message);
    return true;
}

#endif
