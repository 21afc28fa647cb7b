/* Gradients on another memory tier change no bit: losses, norms and weights of every executable
 * schedule are those of the run without. The device has buffers of visits alone. If the host adds
 * up what comes, exact gradients have these bits. Counted bytes are those of the program. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/exec/random_case.h"
#include "tests/exec/tiers.h"

static struct exec_case usual(int ranks, int micro_batches)
{
    return (struct exec_case){
        .shape = {.ranks = ranks, .micro_batches = micro_batches},
        .mbs = 1,
        .steps = 2,
        .clip = 0.5,
        .is_cpu_update = true,
        .homes = {[PP_STATE_GRADS] = PP_TIER_HOST, [PP_STATE_OPTIMIZER] = PP_TIER_HOST}};
}

/* Bytes of the gradients of a chunk. */
static double chunk_bytes(const struct exec_run *run, int stage)
{
    return (double)run->stages[stage]->elements *
           (double)(run->recipe.is_exact ? sizeof(int64_t)
                                         : run->training.machine.kernels->gradient_bytes);
}

/* Bytes that moves of a list state. */
static double moved_bytes(const struct exec_run *run, int rank, int purpose)
{
    const struct pp_program *p = run->program;
    double bytes = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (p->kind[i] == PP_MOVE && p->purpose[i] == purpose)
            bytes += chunk_bytes(run, p->stage[i]);
    return bytes;
}

static double bytes_up;

static void check_tiers(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;

    for (int rank = 0; rank < run->program->ranks; rank++) {
        const struct pp_copied *copied = &r->tiers[rank].copied[PP_STATE_GRADS];

        cr_assert_eq(copied->down_bytes, moved_bytes(run, rank, PP_FOR_GRAD_DOWN), "%s", name);
        cr_assert_eq(copied->up_bytes, moved_bytes(run, rank, PP_FOR_GRAD_UP), "%s", name);
        cr_assert_eq(r->layout[rank].grads_bytes, 0, "%s", name);
        bytes_up += copied->up_bytes;
    }
}

/* Returns 0 for a case that is refused. */
static int run_both(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    if (!run_with_tiers(arena, c, NULL, &run))
        return 0;
    check_tiers(&run, exec_case_text(arena, c));
    return 1;
}

/* ---- every schedule -------------------------------------------------------------------------- */

Test(gradients, every_schedule)
{
    struct exec_case c = usual(4, 4);

    cr_assert_geq(each_schedule(&c, run_both), 19);
    cr_assert_gt(bytes_up, 0);
}

/* Copies sum what the last visit has brought up, also of a matrix whose ends are on one rank. */
Test(gradients, every_schedule_with_copies)
{
    struct exec_case c = usual(2, 4);

    c.replicas = 2;
    c.gather_buffers = 1;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

Test(gradients, every_schedule_with_sums_on_the_host)
{
    struct exec_case c = usual(4, 4);

    c.is_exact = true;
    c.sums_on_host = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* The device runs work in any order that events allow. */
Test(gradients, every_schedule_on_a_device_in_any_order)
{
    struct exec_case c = usual(2, 4);

    c.backend = &pp_backend_fake;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* ---- variants -------------------------------------------------------------------------------- */

static const struct exec_case variants[] = {
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .nvme = tier_files),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 3, .nvme = tier_files, .is_bf16 = true,
              .hidden = 32, .backend = &pp_backend_fake),
    EXEC_CASE("zbv", 2, 4, .nvme = tier_files, .sums_on_host = true, .is_exact = true),
    EXEC_CASE("zbv", 2, 4, .nvme = tier_files, .replicas = 2, .zero = 1,
              .transport = &pp_transport_shm),
    EXEC_CASE("zbv", 2, 4, .nvme = tier_files, .transport = &pp_transport_tcp),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .homes = {PP_TIER_HOST}),
    EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2, .homes = {PP_TIER_HOST}, .is_bf16 = true,
              .saved_home = PP_TIER_HOST),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_bf16 = true, .hidden = 32),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_double = true, .gather_buffers = 1),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .gather_buffers = 4, .is_recomputed = true),
    EXEC_CASE("bfs", 2, 4, .shape.chunks = 4, .is_exact = true, .clip = 1e-3),
    EXEC_CASE("zbv", 2, 4, .replicas = 3, .sums_on_host = true, .is_exact = true),
    EXEC_CASE("zbv", 2, 4, .sums_on_host = true, .is_exact = true, .backend = &pp_backend_fake),
    EXEC_CASE("dualpipe", 4, 8, .is_untied = true),
    EXEC_CASE("chimera", 4, 8, .is_exact = true, .transport = &pp_transport_tcp),
    EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 4),
    EXEC_CASE("interleaved", 2, 4, .tp = 2, .is_sequence_parallel = true),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 1, .is_untied = true),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .zero = 1, .buckets = 3, .grad_sync = PP_SYNC_EAGER),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .transport = &pp_transport_shm, .zero = 1),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .transport = &pp_transport_tcp),
    EXEC_CASE("interleaved", 2, 4, .transport = &pp_transport_shm, .sums_on_host = true,
              .is_exact = true),
    EXEC_CASE("interleaved", 2, 4, .clock = PP_CLOCK_WALL),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .clock = PP_CLOCK_WALL, .is_exact = true),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .clock = PP_CLOCK_WALL, .transport = &pp_transport_tcp),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .backend = &pp_backend_fake),
};

Test(gradients, variants, .init = begin_files, .fini = end_files)
{
    for (size_t i = 0; i < PP_COUNT(variants); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = variants[i];

        c.mbs = 1;
        c.steps = 2;
        c.clip = c.clip > 0 ? c.clip : 0.5;
        c.seed = i;
        c.is_cpu_update = true;
        c.homes[PP_STATE_GRADS] = c.nvme ? PP_TIER_NVME : PP_TIER_HOST;
        c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
    }
}

/* Programs of any legal order, with any number of chunks and buffers. */
Test(gradients, random_programs)
{
    const uint64_t count = getenv("PIPESIM_LONG") ? 400 : 40;
    int runs = 0;

    for (uint64_t seed = 0; seed < count; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = random_case(arena, seed);

        c.is_cpu_update = true;
        c.homes[PP_STATE_GRADS] = c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        c.gather_buffers = 1 + (int)(seed / 2 % 3);
        c.sums_on_host = seed % 4 == 0;
        c.is_exact = c.sums_on_host;
        c.backend = seed % 5 ? NULL : &pp_backend_fake;
        runs += run_both(&c);
    }
    cr_assert_geq(runs, (int)count / 2);
}
