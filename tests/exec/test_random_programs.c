/* Random legal programs: any placement, any order, fused pairs, splits, granules, several
 * pipelines. Each runs without a deadlock, on threads and on the fake device. It trains to the same
 * bits as the loop, and takes the predicted memory. */
#include "tests/exec/equal.h"
#include "tests/exec/random_case.h"

#include <stdlib.h>

static void check_program(uint64_t seed, const struct pp_backend *backend)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = random_case(arena, seed);
    struct exec_run run;

    c.buckets = seed % 5 < 3 ? 1 : (int)(seed % 7) + 2;
    c.backend = backend;
    cr_assert(exec_run(arena, &c, &run));
    check_run(arena, &c, &run);
}

/* A number of its own for each test, so that they run side by side. */
static void check_many(uint64_t first, int short_count, const struct pp_backend *backend)
{
    const int count = getenv("PIPESIM_LONG") ? 500 : short_count;

    for (int i = 0; i < count; i++)
        check_program(first + (uint64_t)i, backend);
}

Test(random_programs, run_on_threads)
{
    check_many(1, 200, &pp_backend_cpu);
}

Test(random_programs, run_on_the_fake_device)
{
    check_many(100001, 50, &pp_backend_fake);
}
