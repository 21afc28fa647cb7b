/* Random legal programs: any placement, any order, fused pairs, splits, granules, several
 * pipelines. Each runs without a deadlock, on threads and on the fake device. It trains to the same
 * bits as the loop, and takes the predicted memory. */
#include "tests/exec/train.h"
#include "tests/unit/support/random_program.h"

#include <stdlib.h>

static void check_memory(uint64_t seed, const struct exec_run *run)
{
    for (int rank = 0; rank < run->program->ranks; rank++)
        cr_assert_eq(run->result.touched_bytes[rank], (double)run->result.layout[rank].peak_bytes,
                     "seed %llu: rank %d touched %.0f bytes, predicted %zu",
                     (unsigned long long)seed, rank, run->result.touched_bytes[rank],
                     run->result.layout[rank].peak_bytes);
}

static void check_program(uint64_t seed, const struct pp_backend *backend)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_program *odd, *compute;
    struct exec_run run;

    random_program(arena, seed, &odd, &compute);
    const struct exec_case c = {.compute = compute,
                                .shape = pp_program_shape(compute),
                                .replicas = 1 + (int)(seed % 2),
                                .mbs = 1,
                                .steps = 2,
                                .layers = 4,
                                .is_exact = true,
                                .is_untied = seed % 3 == 0,
                                .post = (enum pp_post)(seed / 3 % 4),
                                .grad_sync = (enum pp_grad_sync)(seed % 2),
                                .buckets = seed % 5 < 3 ? 1 : (int)(seed % 7) + 2,
                                .backend = backend,
                                .clip = 1,
                                .seed = seed};
    cr_assert(exec_run(arena, &c, &run));
    cr_assert_eq(run.result.gradients.differing, 0, "seed %llu on %s: gradients differ, worst %s",
                 (unsigned long long)seed, backend->name, run.result.gradients.worst);
    cr_assert_eq(run.result.weights.differing, 0, "seed %llu on %s: weights differ",
                 (unsigned long long)seed, backend->name);
    cr_assert(run.result.is_loss_equal, "seed %llu on %s", (unsigned long long)seed, backend->name);
    check_memory(seed, &run);
    if (backend->is_immediate) /* else its times are those of a replay */
        cr_assert_eq(run.result.structural_error_s, 0, "seed %llu", (unsigned long long)seed);
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
