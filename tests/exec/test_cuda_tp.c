/* Tensor parallelism on the emulated device, in every mode and in every order of device work
 * without events between. The bits are those of one rank that runs the parts in turn. */
#define _GNU_SOURCE /* setenv */
#include "schedules/registry.h"
#include "tests/exec/causal.h"
#include "tests/exec/cuda_case.h"

#include <criterion/parameterized.h>

/* ---- to the bit -------------------------------------------------------------------------------*/

static const struct exec_case VARIANTS[] = {
    {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 4}, .tp = 4, .vocab = 50},
    {.schedule = "chimera", .shape = {.ranks = 2, .micro_batches = 4}, .tp = 2, .zero = 1},
    {.schedule = "zbv",
     .shape = {.ranks = 2, .micro_batches = 4},
     .tp = 2,
     .is_gated = true,
     .has_rope = true,
     .has_qk_norm = true,
     .is_untied = true},
    {.schedule = "seq1f1b", .shape = {.ranks = 2, .micro_batches = 2, .splits = 2}, .tp = 2},
    {.schedule = "1f1b",
     .shape = {.ranks = 1, .micro_batches = 2},
     .tp = 4,
     .replicas = 2,
     .zero = 2,
     .is_recomputed = true,
     .again.modules = PP_AGAIN_MLP},
};

/* The mode, tokens and the type change from case to case, and all meet in the end. */
static void check_variants(const struct pp_cuda_module *module, enum pp_device_mode mode)
{
    for (size_t i = 0; i < PP_COUNT(VARIANTS); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = cuda_variant(module, mode, &VARIANTS[i], (i + mode) % 2);
        struct exec_run run;

        c.uses_graphs = (i + mode) % 4 > 0;
        c.heads = 4;
        c.is_sequence_parallel = (i + mode) / 2 % 2;
        cuda_train(arena, &c, &run);
        check_run(arena, &c, &run);
    }
}

Test(cuda_tp, variants_one_op_at_a_time)
{
    check_variants(cuda_load(3), PP_DEVICE_SERIAL);
}

Test(cuda_tp, variants_concurrently)
{
    check_variants(cuda_load(4), PP_DEVICE_STREAMS);
}

Test(cuda_tp, variants_on_parts)
{
    check_variants(cuda_load(6), PP_DEVICE_PARTITION);
}

/* Orders of a device are drawn once in a process. */
ParameterizedTestParameters(cuda_tp, whatever_the_order)
{
    static int seeds[] = {10, 11, 12, 13, 14, 15};

    return cr_make_param_array(int, seeds, PP_COUNT(seeds));
}

ParameterizedTest(int *seed, cuda_tp, whatever_the_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(cuda_load(*seed), PP_DEVICE_STREAMS);
    struct exec_run run;

    c.schedule = *seed % 2 ? "zbv" : "1f1b";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 3};
    c.tp = 2;
    c.is_sequence_parallel = *seed / 2 % 2;
    cuda_train(arena, &c, &run);
    check_run(arena, &c, &run);
}

/* ---- times ------------------------------------------------------------------------------------*/

/* Parts of ops and exchanges are there, and together no longer than the op. Steps with and without
 * marks alternate, and have graphs of their own. */
Test(cuda_tp, parts_and_exchanges_are_within_ops)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(cuda_load(6), PP_DEVICE_PARTITION);
    struct pp_step_result result;
    struct pp_error err = {0};
    struct pp_machine *machine;
    struct exec_run run;

    c.schedule = "zb-h1";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 2};
    c.tp = 2;
    c.clock = PP_CLOCK_WALL;
    cuda_machine(arena, &c, &run, &machine);
    for (int step = 0; step < 6; step++) {
        int parted = 0;

        pp_machine_probes(machine, step % 2);
        cr_assert_eq(pp_machine_step(machine, &run.training.text, step, &result, &err), PP_OK, "%s",
                     err.message);
        const int64_t *exchanged_ps = pp_machine_times(machine)->tp_ps +
                                      (pp_machine_kept(machine) - 1) * pp_program_size(run.program);
        const struct pp_step_times times =
            pp_machine_step_times(machine, pp_machine_kept(machine) - 1);
        for (int i = 0; i < pp_program_size(run.program); i++) {
            const double op_s = 1e-12 * (double)times.duration_ps[i],
                         exchanged_s = 1e-12 * (double)exchanged_ps[i];
            if (run.program->kind[i] != PP_F && run.program->kind[i] != PP_I)
                continue;
            cr_assert(exchanged_s > 0 && exchanged_s + cuda_parts_s(machine, i) <= op_s + 1e-9,
                      "step %d, instruction %d: %g s and %g s of %g s", step, i, exchanged_s,
                      cuda_parts_s(machine, i), op_s);
            parted += cuda_parts_s(machine, i) > 0;
        }
        cr_assert_eq(parted, step % 2 ? 2 * 2 * 2 : 0); /* F and I of each micro-batch and rank */
    }
    pp_machine_destroy(machine);
}

Test(cuda_tp, wall_clock)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(cuda_load(5), PP_DEVICE_STREAMS);
    struct exec_run run;

    c.schedule = "zbv";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
    c.tp = 2;
    c.clock = PP_CLOCK_WALL;
    cuda_train(arena, &c, &run);
    cr_assert_eq(run.result.gradients.differing, 0);
    check_causal(&run);
}
