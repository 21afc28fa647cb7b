/* Optimizer state on another memory tier changes no bit: losses, norms, weights and gradients of
 * every executable schedule are those of the run without. Bytes written and copied are those of the
 * layout and of the costs. */
#define _GNU_SOURCE /* mkdtemp */
#include "tests/exec/tiers.h"

static struct exec_case usual(int ranks, int micro_batches)
{
    return (struct exec_case){.shape = {.ranks = ranks, .micro_batches = micro_batches},
                              .mbs = 1,
                              .steps = 2,
                              .clip = 0.5,
                              .homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST,
                              .is_cpu_update = true};
}

/* Returns 0 for a case that is refused. */
static int run_both(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    return run_with_tiers(arena, c, NULL, &run);
}

/* ---- every schedule -------------------------------------------------------------------------- */

Test(updates, every_schedule)
{
    struct exec_case c = usual(4, 4);

    cr_assert_geq(each_schedule(&c, run_both), 19);
}

Test(updates, every_schedule_with_shares_of_the_optimizer_state)
{
    struct exec_case c = usual(2, 4);

    c.replicas = 2;
    c.zero = 1;
    c.is_bf16 = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* The device runs work in any order that events allow. */
Test(updates, every_schedule_on_a_device_in_any_order)
{
    struct exec_case c = usual(2, 4);

    c.backend = &pp_backend_fake;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* Buckets are far smaller than chunks, so that most of the state comes and goes inside of U. */
static struct exec_case streamed(int ranks, int micro_batches)
{
    struct exec_case c = usual(ranks, micro_batches);

    c.is_cpu_update = false;
    c.bucket = 1000;
    return c;
}

Test(updates, every_schedule_in_buckets)
{
    const struct exec_case c = streamed(4, 4);

    cr_assert_geq(each_schedule(&c, run_both), 19);
}

Test(updates, every_schedule_in_buckets_on_a_device_in_any_order)
{
    struct exec_case c = streamed(2, 4);

    c.backend = &pp_backend_fake;
    c.is_bf16 = true;
    cr_assert_geq(each_schedule(&c, run_both), 19);
}

/* ---- variants -------------------------------------------------------------------------------- */

static const struct exec_case variants[] = {
    EXEC_CASE("1f1b", 2, 4, .is_exact = true),
    EXEC_CASE("chimera", 2, 4, .is_exact = true, .is_bf16 = true),
    EXEC_CASE("zb-h1", 2, 4, .is_recomputed = true, .has_weight_stream = true,
              .backend = &pp_backend_fake),
    EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 4),
    EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .buckets = 3, .grad_sync = PP_SYNC_EAGER),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 2),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .replicas = 2, .zero = 3),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .transport = &pp_transport_shm, .zero = 1),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .transport = &pp_transport_tcp),
    EXEC_CASE("gpipe", 2, 4, .is_double = true, .saved_home = PP_TIER_HOST),
    EXEC_CASE("1f1b", 2, 4, .homes = {[PP_STATE_PARAMS] = PP_TIER_HOST}),
};

static const struct exec_case in_buckets[] = {
    EXEC_CASE("1f1b", 2, 4, .bucket = 17, .is_exact = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .bucket = 999, .bucket_count = 1),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .bucket = 2500, .bucket_count = 2,
              .backend = &pp_backend_fake),
    EXEC_CASE("1f1b", 2, 4, .moved_optimizer = 0.3, .bucket = 1000, .is_bf16 = true),
    EXEC_CASE("1f1b", 2, 4, .moved_optimizer = 0.7, .replicas = 2, .zero = 1),
    EXEC_CASE("1f1b", 2, 4, .homes = {[PP_STATE_OPTIMIZER] = PP_TIER_NVME}, .nvme = tier_files,
              .hidden = 64, .bucket = 1),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .nvme = tier_files, .is_bf16 = true,
              .homes = {PP_TIER_NVME, PP_TIER_NVME, PP_TIER_NVME}),
    EXEC_CASE("1f1b", 2, 4, .homes = {[PP_STATE_GRADS] = PP_TIER_HOST}, .bucket = 1000,
              .is_exact = true),
    EXEC_CASE("1f1b", 2, 4, .homes = {[PP_STATE_PARAMS] = PP_TIER_HOST}, .bucket = 1000, .tp = 2),
    EXEC_CASE("1f1b", 2, 4, .replicas = 2, .transport = &pp_transport_shm, .zero = 1,
              .bucket = 1000),
    EXEC_CASE("zbv", 2, 4, .replicas = 2, .transport = &pp_transport_tcp, .bucket = 1000),
    EXEC_CASE("1f1b", 2, 4, .clock = PP_CLOCK_WALL, .bucket = 1000),
};

/* The host updates on a stream of its own: a share of the state, or early. */
static const struct exec_case on_a_stream[] = {
    EXEC_CASE("1f1b", 2, 4, .moved_optimizer = 0.4, .clip = 0.5),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true, .is_bf16 = true,
              .backend = &pp_backend_fake),
    EXEC_CASE("bfs", 2, 4, .shape.chunks = 4, .is_early = true, .moved_optimizer = 0.6),
    EXEC_CASE("zbv", 2, 4, .is_early = true, .backend = &pp_backend_fake, .moved_optimizer = 0.5),
    EXEC_CASE("chimera", 2, 4, .is_early = true, .is_exact = true),
    EXEC_CASE("1f1b", 2, 4, .is_early = true, .replicas = 2, .zero = 1),
    EXEC_CASE("interleaved", 2, 4, .is_early = true, .replicas = 2, .zero = 1, .is_bf16 = true,
              .shape.chunks = 2, .homes = {PP_TIER_HOST}),
    EXEC_CASE("1f1b", 2, 4, .moved_optimizer = 0.4, .replicas = 2, .zero = 1, .is_bf16 = true,
              .homes = {PP_TIER_HOST, PP_TIER_HOST}, .backend = &pp_backend_fake),
    EXEC_CASE("1f1b", 2, 4, .is_early = true, .tp = 2),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true,
              .homes = {[PP_STATE_GRADS] = PP_TIER_HOST}),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true, .clock = PP_CLOCK_WALL),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true,
              .transport = &pp_transport_shm),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 4, .is_early = true, .nvme = tier_files,
              .homes = {[PP_STATE_GRADS] = PP_TIER_NVME}),
    EXEC_CASE("zb-h1", 2, 4, .is_early = true, .nvme = tier_files, .is_exact = true,
              .homes = {PP_TIER_NVME, PP_TIER_NVME}, .backend = &pp_backend_fake),
};

Test(updates, on_a_stream_of_the_host, .init = begin_files, .fini = end_files)
{
    for (size_t i = 0; i < PP_COUNT(on_a_stream); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = on_a_stream[i];

        c.mbs = 1;
        c.steps = 3;
        c.seed = i;
        c.is_cpu_update = true;
        c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
    }
}

Test(updates, in_buckets, .init = begin_files, .fini = end_files)
{
    for (size_t i = 0; i < PP_COUNT(in_buckets); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = in_buckets[i];

        c.mbs = 1;
        c.steps = 2;
        c.clip = 0.5;
        c.seed = i;
        if (!c.homes[PP_STATE_OPTIMIZER])
            c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
    }
}

Test(updates, variants)
{
    for (size_t i = 0; i < PP_COUNT(variants); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = variants[i];

        c.mbs = 1;
        c.steps = 2;
        c.clip = 0.5;
        c.seed = i;
        c.is_cpu_update = true;
        if (!c.homes[PP_STATE_OPTIMIZER])
            c.homes[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
        cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
    }
}

/* ---- state in a file ------------------------------------------------------------------------- */

static const struct exec_case filed[] = {
    EXEC_CASE("1f1b", 2, 4, .is_exact = true),
    EXEC_CASE("interleaved", 2, 4, .shape.chunks = 2, .is_bf16 = true),
    EXEC_CASE("1f1b", 2, 2, .replicas = 2, .zero = 1, .is_bf16 = true),
    EXEC_CASE("bfs", 1, 2, .shape.chunks = 2, .layers = 2, .hidden = 128, .bucket = 1),
    EXEC_CASE("zbv", 2, 4, .transport = &pp_transport_tcp),
    EXEC_CASE("zb-h1", 2, 4, .clock = PP_CLOCK_WALL, .transport = &pp_transport_shm),
    EXEC_CASE("1f1b", 2, 4, .backend = &pp_backend_fake),
};

static void run_filed(struct exec_case c, const char *folder, unsigned homes)
{
    c.mbs = 1;
    c.steps = 2;
    c.clip = 0.5;
    c.is_cpu_update = true;
    c.nvme = folder;
    for (int class = 0; class < PP_STATE_SHARDED; class ++)
        c.homes[class] = homes >> class & 1            ? PP_TIER_NVME
                         : class == PP_STATE_OPTIMIZER ? PP_TIER_HOST
                                                       : PP_TIER_DEVICE;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    cr_assert(run_both(&c), "%s", exec_case_text(arena, &c));
}

/* The host updates bucket by bucket. Homes are bits of a number: parameters, gradients, state. */
Test(updates, of_state_in_a_file)
{
    static const unsigned HOMES[] = {1U << PP_STATE_OPTIMIZER,
                                     1U << PP_STATE_OPTIMIZER | 1U << PP_STATE_GRADS, 7,
                                     1U << PP_STATE_PARAMS};
    char folder[] = "/tmp/test_updates_XXXXXX";

    cr_assert(mkdtemp(folder));
    for (size_t i = 0; i < PP_COUNT(filed); i++)
        for (size_t k = 0; k < PP_COUNT(HOMES); k++)
            run_filed(filed[i], folder, HOMES[k]);
    cr_assert_eq(rmdir(folder), 0);
}
