/* tests/exec/random_case.h — a run of a random legal program, drawn by its seed. */
#ifndef PP_TESTS_EXEC_RANDOM_CASE_H
#define PP_TESTS_EXEC_RANDOM_CASE_H

#include "tests/exec/run.h"
#include "tests/unit/support/random_program.h"

static inline struct exec_case random_case(struct pp_arena *arena, uint64_t seed)
{
    struct pp_program *odd, *compute;

    random_program(arena, seed, &odd, &compute);
    return (struct exec_case){.compute = compute,
                              .shape = pp_program_shape(compute),
                              .replicas = 1 + (int)(seed % 2),
                              .mbs = 1,
                              .steps = 2,
                              .layers = 4,
                              .is_exact = true,
                              .is_untied = seed % 3 == 0,
                              .post = (enum pp_post)(seed / 3 % 4),
                              .grad_sync = (enum pp_grad_sync)(seed % 2),
                              .clip = 1,
                              .seed = seed};
}

#endif
