/* Whole trainings through the CUDA backend and its kernels, emulated (tests/cuda). Their bits are
 * those of the CPU kernels and of a loop on one rank. This holds for every schedule, every mode of
 * the device, and every order of device work without events between. */
#define _GNU_SOURCE /* setenv */
#include "exec/report/report.h"
#include "schedules/registry.h"
#include "tests/exec/causal.h"
#include "tests/exec/cuda_case.h"

#include <criterion/parameterized.h>
#include <math.h>

/* ---- against other kernels --------------------------------------------------------------------*/

static void check_close(const struct exec_run *a, const struct exec_run *b, double rel)
{
    for (int k = 0; k < a->training.steps; k++) {
        const double x = a->result.losses[k], y = b->result.losses[k];
        cr_assert(isfinite(x) && fabs(x - y) <= rel * fabs(y), "loss %.9g and %.9g in step %d", x,
                  y, k);
        const double p = a->result.grad_norms[k], q = b->result.grad_norms[k];
        cr_assert(isfinite(p) && fabs(p - q) <= 10 * rel * fabs(q), "norm %.9g and %.9g in step %d",
                  p, q, k);
    }
}

/* Like GPT-2, and like LLaMA. */
static const struct exec_case NETS[] = {
    {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 4}},
    {.schedule = "zbv",
     .shape = {.ranks = 2, .micro_batches = 4},
     .is_gated = true,
     .has_rope = true,
     .is_untied = true,
     .hidden = 32},
};

static struct exec_case case_of(const struct exec_case *net)
{
    struct exec_case c = *net;

    c.replicas = 1;
    c.mbs = 1;
    c.steps = 4;
    c.layers = 4;
    c.clip = 1;
    return c;
}

Test(cuda, fp32_follows_the_cpu)
{
    const struct pp_cuda_module *module = cuda_load(0);

    for (size_t i = 0; i < sizeof(NETS) / sizeof(*NETS); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = case_of(&NETS[i]);
        struct exec_run cpu, cuda;

        cuda_train(arena, &c, &cpu);
        c.backend = module->backend;
        c.kernels = module->fp32;
        cuda_train(arena, &c, &cuda);
        check_close(&cuda, &cpu, 1e-5);
        cr_assert_lt(pp_difference_rel_l2(&cuda.result.gradients), 1e-6);
    }
}

Test(cuda, bf16_follows_fp32)
{
    const struct pp_cuda_module *module = cuda_load(0);

    for (size_t i = 0; i < sizeof(NETS) / sizeof(*NETS); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = case_of(&NETS[i]);
        struct exec_run fp32, bf16;

        c.backend = module->backend;
        c.kernels = module->fp32;
        cuda_train(arena, &c, &fp32);
        c.kernels = module->bf16;
        cuda_train(arena, &c, &bf16);
        check_close(&bf16, &fp32, 1e-2);
    }
}

/* ---- to the bit -------------------------------------------------------------------------------*/

/* PIPESIM_LONG: in this mode; else those that the other mode leaves. */
static int every_schedule(const struct pp_cuda_module *module, enum pp_device_mode mode)
{
    const bool has_all = getenv("PIPESIM_LONG") != NULL;
    int runs = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = cuda_case(module, mode);
        struct exec_run run;

        if (pp_schedules[i]->is_simulated_only ||
            (!has_all && (i / 2 % 2 == 0) != (mode == PP_DEVICE_SERIAL)))
            continue;
        c.schedule = pp_schedules[i]->name;
        c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
        c.kernels = i % 2 ? module->bf16 : module->fp32;
        c.seed = (uint64_t)i;
        cr_assert(find_shape(pp_schedules[i], &c.shape), "%s", c.schedule);
        cuda_train(arena, &c, &run);
        check_run(arena, &c, &run);
        runs++;
    }
    return has_all ? runs : 2 * runs;
}

Test(cuda, every_schedule_one_op_at_a_time)
{
    cr_assert_geq(every_schedule(cuda_load(1), PP_DEVICE_SERIAL), 15);
}

Test(cuda, every_schedule_concurrently)
{
    cr_assert_geq(every_schedule(cuda_load(2), PP_DEVICE_STREAMS), 15);
}

/* Replicas, sums in buckets, state that is shared out, recomputation, splits, other nets. */
static const struct exec_case VARIANTS[] = {
    {.schedule = "chimera", .shape = {.ranks = 4, .micro_batches = 4}, .replicas = 2},
    {.schedule = "1f1b",
     .shape = {.ranks = 2, .micro_batches = 4},
     .replicas = 2,
     .zero = 1,
     .buckets = 3,
     .grad_sync = PP_SYNC_EAGER},
    {.schedule = "zb-h1", .shape = {.ranks = 2, .micro_batches = 4}, .is_recomputed = true},
    {.schedule = "seq1f1b", .shape = {.ranks = 2, .micro_batches = 2, .splits = 2}},
    {.schedule = "dualpipe",
     .shape = {.ranks = 2, .micro_batches = 4},
     .is_gated = true,
     .has_rope = true},
    {.schedule = "zb-h1",
     .shape = {.ranks = 2, .micro_batches = 5},
     .replicas = 2,
     .buckets = 2,
     .grad_sync = PP_SYNC_EAGER,
     .has_weight_stream = true},
    {.schedule = "zbv",
     .shape = {.ranks = 2, .micro_batches = 4},
     .is_recomputed = true,
     .has_weight_stream = true},
};

/* PIPESIM_LONG: in both precisions; else in one, which another mode does not take. */
static void check_variants(const struct pp_cuda_module *module, enum pp_device_mode mode)
{
    const bool has_all = getenv("PIPESIM_LONG") != NULL;

    for (size_t i = 0; i < sizeof(VARIANTS) / sizeof(*VARIANTS); i++)
        for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
            if (!has_all && (i + mode) % 2 != (size_t)is_bf16)
                continue;
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct exec_case c = cuda_variant(module, mode, &VARIANTS[i], is_bf16);
            struct exec_run run;

            cuda_train(arena, &c, &run);
            check_run(arena, &c, &run);
        }
}

Test(cuda, variants_one_op_at_a_time)
{
    check_variants(cuda_load(3), PP_DEVICE_SERIAL);
}

Test(cuda, variants_concurrently)
{
    check_variants(cuda_load(4), PP_DEVICE_STREAMS);
}

Test(cuda, variants_on_parts)
{
    check_variants(cuda_load(6), PP_DEVICE_PARTITION);
}

/* Orders of a device are drawn once in a process. */
ParameterizedTestParameters(cuda, whatever_the_order)
{
    static int seeds[] = {10, 11, 12, 13, 14, 15, 16, 17};

    return cr_make_param_array(int, seeds, sizeof(seeds) / sizeof(*seeds));
}

ParameterizedTest(int *seed, cuda, whatever_the_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(cuda_load(*seed), *seed % 4 == 0);
    struct exec_run run;

    c.schedule = *seed % 2 ? "zbv" : "chimera";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
    c.replicas = 2;
    c.buckets = 2;
    c.grad_sync = PP_SYNC_EAGER;
    cuda_train(arena, &c, &run);
    check_run(arena, &c, &run);
}

ParameterizedTestParameters(cuda, concurrent_weights_whatever_the_order)
{
    static int seeds[] = {20, 21, 22, 23};

    return cr_make_param_array(int, seeds, sizeof(seeds) / sizeof(*seeds));
}

ParameterizedTest(int *seed, cuda, concurrent_weights_whatever_the_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c =
        cuda_case(cuda_load(*seed), *seed % 2 ? PP_DEVICE_STREAMS : PP_DEVICE_PARTITION);
    struct exec_run run;

    c.schedule = *seed / 2 % 2 ? "zb-h1" : "zbv";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 5};
    c.has_weight_stream = true;
    cuda_train(arena, &c, &run);
    check_run(arena, &c, &run);
}

/* ---- graphs -----------------------------------------------------------------------------------*/

static void check_graphs(const struct pp_cuda_module *module, enum pp_device_mode mode,
                         bool is_bf16)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(module, mode);
    struct exec_run plain, kept;

    c.schedule = "zbv";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 2};
    c.kernels = is_bf16 ? module->bf16 : module->fp32;
    c.is_exact = false;
    c.steps = 5;
    c.uses_graphs = false;
    cuda_train(arena, &c, &plain);
    c.uses_graphs = true;
    cuda_train(arena, &c, &kept);
    cr_assert_eq(plain.result.graphs.count + plain.result.graphs.launches, 0);
    cr_assert_null(kept.result.graphs.why_not);
    cr_assert_eq(kept.result.graphs.left_out, 0);
    cr_assert_gt(kept.result.graphs.kernels, 5 * kept.result.graphs.count);
    /* In steps 2 to 5 all ops, updates and sums of squares are graphs. So are the forwards of the
     * validations after steps 2, 4 and 5. */
    const int updates = 2 * 2, squares = 2, forwards = 2 * 4, ops = 3 * forwards;
    cr_assert_eq(kept.result.graphs.launches, 4 * (updates + squares + ops) + 3 * forwards, "%ld",
                 (long)kept.result.graphs.launches);
    cr_assert_arr_eq(kept.result.losses, plain.result.losses, sizeof(double) * 5);
    cr_assert_arr_eq(kept.result.grad_norms, plain.result.grad_norms, sizeof(double) * 5);
    cr_assert_neq(kept.result.losses[4], kept.result.losses[3]);
}

/* Learning rate, corrections, scale of gradients and tokens are others in every step. */
Test(cuda, graphs_change_no_bit)
{
    const struct pp_cuda_module *module = cuda_load(7);

    for (int mode = PP_DEVICE_SERIAL; mode <= PP_DEVICE_PARTITION; mode++)
        for (int is_bf16 = 0; is_bf16 < 2; is_bf16++)
            check_graphs(module, (enum pp_device_mode)mode, is_bf16);
}

/* ---- times ------------------------------------------------------------------------------------*/

/* On the wall clock times are those at which the device has run each launch. */
static void check_clock(enum pp_device_mode mode, bool has_weight_stream)
{
    const struct pp_cuda_module *module = cuda_load(5);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(module, mode);
    struct exec_run run;

    c.schedule = "zbv";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
    c.replicas = 2;
    c.clock = PP_CLOCK_WALL;
    c.has_weight_stream = has_weight_stream;
    cuda_train(arena, &c, &run);
    cr_assert_eq(run.result.gradients.differing, 0);
    check_causal(&run);
}

Test(cuda, wall_clock_one_op_at_a_time)
{
    check_clock(PP_DEVICE_SERIAL, false);
}

Test(cuda, wall_clock_concurrently)
{
    check_clock(PP_DEVICE_STREAMS, false);
}

Test(cuda, wall_clock_on_parts)
{
    check_clock(PP_DEVICE_PARTITION, false);
}

Test(cuda, wall_clock_of_concurrent_weights)
{
    check_clock(PP_DEVICE_STREAMS, true);
    check_clock(PP_DEVICE_PARTITION, true);
}

/* Parts of ops are told apart by marks: all of each is there, and no more than the op took. */
Test(cuda, parts_of_ops)
{
    const struct pp_cuda_module *module = cuda_load(6);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = cuda_case(module, true);
    struct pp_step_result result;
    struct pp_error err = {0};
    struct pp_machine *machine;
    struct exec_run run;
    int parted = 0;

    c.schedule = "zb-h1";
    c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 2};
    cuda_machine(arena, &c, &run, &machine);
    pp_machine_probes(machine, true);
    cr_assert_eq(pp_machine_step(machine, &run.training.text, 0, &result, &err), PP_OK, "%s",
                 err.message);
    for (int i = 0; i < pp_program_size(run.program); i++) {
        const double sum_s = cuda_parts_s(machine, i);

        if (pp_machine_probe(machine, i, 0) == NULL)
            continue;
        cr_assert(sum_s > 0 &&
                      sum_s <=
                          1e-12 * (double)pp_machine_step_times(machine, 0).duration_ps[i] + 1e-9,
                  "instruction %d: %g s", i, sum_s);
        parted++;
    }
    cr_assert_eq(parted, 2 * 2 * 3); /* F, I and W of each micro-batch, on two ranks */
    pp_machine_destroy(machine);
}
