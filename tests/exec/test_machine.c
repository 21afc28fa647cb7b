/* One machine at a time: what a step takes, its clocks, its memory, and how it fails. */
#include "tests/exec/causal.h"

#include <math.h>
#include <string.h>

static struct exec_case small(const char *schedule)
{
    return (struct exec_case){.schedule = schedule,
                              .shape = {.ranks = 4, .micro_batches = 8},
                              .replicas = 1,
                              .mbs = 2,
                              .steps = 6,
                              .clip = 1};
}

static void start(struct pp_arena *arena, const struct exec_case *c, struct exec_run *run,
                  struct pp_machine **machine)
{
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, c, run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_machine_create(arena, &run->training.machine, machine, &err), PP_OK, "%s",
                 err.message);
}

/* ---- memory ---------------------------------------------------------------------------------*/

/* Bytes of a block's parameters, and of the activations that a micro-batch saves in a stage of
 * blocks alone. They follow from the dimensions (GPT-2 style): the places of exec/stage/graph.h,
 * added up by hand. I leaves five gradients of [hidden] for W, and a sixth for the last bias of
 * each block but the last. B leaves none. */
static double block_params(const struct pp_net *n)
{
    return 12.0 * n->hidden * n->hidden + 13.0 * n->hidden;
}
static double activation_bytes(const struct pp_net *n, int samples, int blocks, bool has_w)
{
    const double tokens = (double)samples * n->seq, h = n->hidden;
    const double saved = blocks * (16 * h + 4 + n->heads), kept = h;
    const double left = has_w ? (5 * blocks + blocks - 1) * h : 0;

    return sizeof(float) * (tokens * (saved + kept) + left);
}

Test(machine, memory_is_the_closed_form)
{
    static const char *const SCHEDULES[] = {"gpipe", "1f1b", "zb-h1", "zb-h2", "eager-1f1b"};

    for (size_t i = 0; i < sizeof(SCHEDULES) / sizeof(*SCHEDULES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = small(SCHEDULES[i]);
        struct exec_run run;

        cr_assert(exec_run(arena, &c, &run));
        for (int rank = 1; rank < 3; rank++) { /* two blocks each, no embedding, no head */
            const struct pp_rank_layout *l = &run.result.layout[rank];
            const double params = 2 * block_params(&run.training.net) * sizeof(float);
            const double activations = run.result.lifetimes[rank].peak_activations *
                                       activation_bytes(&run.training.net, c.mbs, 2,
                                                        pp_program_has_kind(run.program, PP_W));

            cr_expect_eq((double)l->params_bytes, params, "%s", c.schedule);
            cr_expect_eq((double)l->grads_bytes, params);
            cr_expect_eq((double)l->optimizer_bytes, 2 * params);
            cr_expect_eq((double)l->activations_bytes, activations, "%s rank %d: %zu, formula %g",
                         c.schedule, rank, l->activations_bytes, activations);
            cr_expect_eq(run.result.touched_bytes[rank],
                         4 * params + activations + (double)(l->buffers_bytes + l->other_bytes));
        }
    }
}

/* ---- clocks ---------------------------------------------------------------------------------*/

Test(machine, wall_clock_is_causal)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = small("zbv");
    struct exec_run run;

    c.clock = PP_CLOCK_WALL;
    c.is_exact = true;
    cr_assert(exec_run(arena, &c, &run));
    cr_assert_eq(run.result.gradients.differing, 0);
    check_causal(&run);
}

/* The virtual clock of a step is at least the busiest rank, at most all work in a row. */
Test(machine, virtual_clock_is_between_bounds)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = small("1f1b");
    struct exec_run run;
    struct pp_machine *machine;
    struct pp_step_result result;
    struct pp_error err = {0};

    start(arena, &c, &run, &machine);
    cr_assert_eq(pp_machine_step(machine, &run.training.text, 0, &result, &err), PP_OK);
    const int64_t *ps = pp_machine_step_times(machine, 0).duration_ps;
    int64_t all_ps = 0, busiest_ps = 0;
    for (int rank = 0; rank < 4; rank++) {
        int64_t busy_ps = 0;
        for (int i = run.program->begin[rank]; i < run.program->begin[rank + 1]; i++)
            busy_ps += ps[i];
        all_ps += busy_ps;
        busiest_ps = busy_ps > busiest_ps ? busy_ps : busiest_ps;
    }
    const int64_t step_ps = pp_machine_times(machine)->makespan_ps;
    cr_expect(step_ps >= busiest_ps);
    cr_expect(step_ps <= all_ps + 2000000000); /* and the wires */
    cr_expect_float_eq(result.step_s, 1e-12 * (double)step_ps, 1e-15);
    pp_machine_destroy(machine);
}

/* ---- copies from the device -----------------------------------------------------------------*/

static size_t read_bytes;

static enum pp_status count_read(struct pp_backend_device *device, const void *from, void *to,
                                 size_t bytes, struct pp_error *err)
{
    read_bytes += bytes;
    return pp_backend_fake.read(device, from, to, bytes, err);
}

/* A run that checks nothing brings only losses to the host. */
Test(machine, states_that_are_not_checked_stay_on_the_device)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend backend = pp_backend_fake;
    struct exec_case c = small("1f1b");
    struct exec_run run;
    struct pp_error err = {0};
    size_t loss_bytes = 0;

    backend.read = count_read;
    c.backend = &backend;
    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK);
    run.training.check = PP_CHECK_NONE;
    run.training.valid = NULL;
    run.training.machine.is_poisoned = false;
    cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_OK, "%s", err.message);
    for (int rank = 0; rank < c.shape.ranks; rank++)
        loss_bytes += run.result.layout[rank].loss_bytes;
    cr_expect_eq(read_bytes, loss_bytes * (size_t)c.steps, "%zu bytes", read_bytes);
}

/* ---- failure --------------------------------------------------------------------------------*/

Test(machine, a_loss_that_is_not_finite_ends_the_run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = small("chimera");
    struct exec_run run;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK);
    run.training.check = PP_CHECK_NONE;
    run.recipe.rate = 1e30;
    run.recipe.clip = 0;
    cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_EFAIL);
    cr_expect(strstr(err.message, "step ") && strstr(err.message, "finite"), "%s", err.message);
    cr_expect_lt(run.result.steps_done, c.steps);
}

Test(machine, more_memory_than_there_is_is_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = small("gpipe");
    struct exec_run run;
    struct pp_machine *machine;
    struct pp_error err = {0};

    c.hidden = 16384;
    c.layers = 400;
    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK);
    cr_assert_eq(pp_machine_create(arena, &run.training.machine, &machine, &err), PP_EFAIL);
    cr_expect(strstr(err.message, "rank 3"), "%s", err.message);
}

Test(machine, ranks_that_never_meet_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c = small("1f1b");
    struct exec_run run;
    struct pp_machine *machine;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK);
    for (int i = 0; i < pp_program_size(run.program); i++)
        if (run.program->kind[i] == PP_BAR)
            run.program->kind[i] = PP_DROP;
    cr_assert_eq(pp_machine_create(arena, &run.training.machine, &machine, &err), PP_EPROGRAM);
    cr_expect(strstr(err.message, "BAR"), "%s", err.message);
}

/* ---- no allocation --------------------------------------------------------------------------*/

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1

#include <stdatomic.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
static atomic_long allocations;

void *malloc(size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(bytes);
}
#else
#define COUNTS_ALLOCATIONS 0
static long allocations;
#endif

Test(machine, a_step_allocates_nothing)
{
    if (!COUNTS_ALLOCATIONS)
        cr_skip_test("a sanitizer counts for itself");
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = small("chimera");
    struct exec_run run;
    struct pp_machine *machine;
    struct pp_step_result result;
    struct pp_error err = {0};

    c.replicas = 2;
    start(arena, &c, &run, &machine);
    cr_assert_eq(pp_machine_step(machine, &run.training.text, 0, &result, &err), PP_OK);
    const long before = allocations; /* BLAS has taken its buffers */
    for (int step = 1; step < 4; step++)
        cr_assert_eq(pp_machine_step(machine, &run.training.text, step, &result, &err), PP_OK);
    cr_expect_gt(before, 0);
    cr_expect_eq(allocations, before);
    pp_machine_destroy(machine);
}
