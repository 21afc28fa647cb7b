/* Tensor parallelism: T workers of each rank share the blocks. With exact gradients, every schedule
 * trains to the bits of a loop on one rank that runs the T parts in turn. Times replay exactly, and
 * memory is as predicted. Against a run without it, only rounding differs. */
#include "core/random.h"
#include "schedules/registry.h"
#include "tests/exec/equal.h"

#include <math.h>
#include <string.h>

Test(tp, every_schedule_has_the_bits_of_one_rank)
{
    const struct exec_case usual = EXEC_CASE(NULL, 2, 4, .tp = 2), c = exact_case(usual, 1, 2);

    cr_assert_geq(each_schedule(&c, run_and_check), 15);
}

Test(tp, every_schedule_shares_tokens_too)
{
    const struct exec_case usual = EXEC_CASE(NULL, 2, 4, .tp = 2, .is_sequence_parallel = true),
                           c = exact_case(usual, 1, 2);

    cr_assert_geq(each_schedule(&c, run_and_check), 15);
}

/* Without exact gradients, a run in parts has the losses and norms of one without. */
static void expect_equal_runs(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case whole = *c;
    struct exec_run a, b;

    whole.tp_split = 1;
    cr_assert(exec_run(arena, c, &a) && exec_run(arena, &whole, &b));
    for (int k = 0; k < c->steps; k++)
        cr_assert(a.result.losses[k] == b.result.losses[k] &&
                      a.result.grad_norms[k] == b.result.grad_norms[k],
                  "%s: step %d", exec_case_text(arena, c), k);
}

/* The group adds up a part of the rows while the next one is computed. Three parts, devices with
 * different numbers of words, two rounds of a large sum, and others. */
Test(tp, parts_of_rows_have_the_bits_of_all)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("1f1b", 2, 4, .tp = 4, .heads = 4, .tp_split = 2),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .seq = 12, .tp_split = 3),
        EXEC_CASE("zbv", 2, 4, .tp = 2, .replicas = 2, .zero = 2, .is_untied = true, .tp_split = 2),
        EXEC_CASE("gpipe", 2, 4, .tp = 2, .is_recomputed = true, .is_gated = true, .tp_split = 4),
        EXEC_CASE("gpipe", 1, 3, .tp = 2, .is_bf16 = true, .tp_split = 2),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2, .tp = 2, .tp_split = 2),
        EXEC_CASE("zb-h1", 2, 4, .tp = 2, .is_double = true, .tp_split = 4),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .tp_split = 2, .transport = &pp_transport_shm),
        EXEC_CASE("1f1b", 1, 2, .tp = 4, .heads = 4, .hidden = 256, .seq = 64, .tp_split = 2,
                  .transport = &pp_transport_tcp, .steps = 1),
    };
    struct exec_case c = exact_case((struct exec_case)EXEC_CASE(NULL, 2, 4, .tp = 2), 1, 2);

    c.tp_split = 2;
    cr_assert_geq(each_schedule(&c, run_and_check), 15);
    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        c = exact_case(cases[i], 2, cases[i].steps ? cases[i].steps : 2);
        c.seed = i;
        cr_assert(run_and_check(&c), "case %zu was refused", i);
        c.is_exact = false;
        expect_equal_runs(&c);
    }
}

/* Four devices, also with different numbers of words; replicas, also with shared state or
 * gradients. Several heads of queries for one of keys, gates, untied heads. Recomputation, sequence
 * splits, other types of numbers, processes. */
Test(tp, variants)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("1f1b", 2, 4, .tp = 4, .heads = 4),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .replicas = 2),
        EXEC_CASE("chimera", 2, 4, .tp = 2, .replicas = 2, .zero = 1),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .replicas = 2, .zero = 2),
        EXEC_CASE("interleaved", 2, 4, .shape.chunks = 2, .tp = 2, .replicas = 3, .zero = 2),
        EXEC_CASE("zb-h1", 2, 4, .tp = 4, .heads = 4, .replicas = 2, .zero = 2,
                  .transport = &pp_transport_shm),
        EXEC_CASE("zbv", 2, 4, .tp = 2, .replicas = 2, .zero = 2, .is_untied = true),
        EXEC_CASE("gpipe", 1, 3, .tp = 2, .replicas = 2, .zero = 2, .is_bf16 = true),
        EXEC_CASE("zb-h1", 2, 4, .tp = 4, .heads = 4, .vocab = 49, .replicas = 2, .zero = 2,
                  .is_untied = true),
        EXEC_CASE("zb-h1", 2, 4, .tp = 4, .heads = 4, .has_qk_norm = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .heads = 4, .has_rope = true, .is_gated = true,
                  .has_qk_norm = true, .is_recomputed = true),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2, .tp = 2, .replicas = 2, .zero = 2,
                  .is_bf16 = true, .has_qk_norm = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 4, .heads = 4, .vocab = 49, .replicas = 2, .zero = 3,
                  .has_qk_norm = true),
        EXEC_CASE("1f1b", 3, 4, .tp = 4, .heads = 4, .hidden = 96, .vocab = 251, .replicas = 3,
                  .zero = 2, .steps = 2),
        EXEC_CASE("zbv", 2, 4, .tp = 4, .heads = 4, .vocab = 50, .replicas = 2, .zero = 1),
        EXEC_CASE("gpipe", 1, 2, .tp = 4, .heads = 4, .vocab = 5, .is_recomputed = true),
        EXEC_CASE("zb-h1", 2, 4, .tp = 2, .heads = 4, .has_rope = true, .is_gated = true,
                  .is_untied = true),
        EXEC_CASE("gpipe", 2, 4, .tp = 2, .is_recomputed = true),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2, .tp = 2),
        EXEC_CASE("1f1b", 1, 4, .tp = 2, .is_bf16 = true),
        EXEC_CASE("zbv", 2, 4, .tp = 2, .is_double = true),
        EXEC_CASE("zbv", 2, 4, .tp = 2, .replicas = 2, .transport = &pp_transport_shm),
        EXEC_CASE("chimera", 2, 4, .tp = 2, .transport = &pp_transport_tcp),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .replicas = 2, .zero = 3, .is_recomputed = true,
                  .transport = &pp_transport_tcp),
        EXEC_CASE("gpipe", 1, 2, .tp = 4, .heads = 4, .vocab = 49, .is_bf16 = true,
                  .transport = &pp_transport_tcp),
    };

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        struct exec_case c = exact_case(cases[i], 2, cases[i].steps ? cases[i].steps : 2);
        c.seed = i;
        cr_assert(run_and_check(&c), "case %zu was refused", i);
        c.is_sequence_parallel = true;
        cr_assert(run_and_check(&c), "case %zu was refused", i);
    }
}

/* A missing event between the devices of a group shows as a wrong number. */
Test(tp, fake_device_finds_no_order_that_is_wrong)
{
    static const char *const schedules[] = {"1f1b", "zbv", "chimera", "interleaved"};

    for (size_t i = 0; i < 2 * PP_COUNT(schedules); i++) {
        struct exec_case c = {.schedule = schedules[i / 2],
                              .shape = {.ranks = 2, .micro_batches = 4},
                              .replicas = 1 + (int)(i % 2),
                              .mbs = 1,
                              .steps = 12,
                              .tp = 2,
                              .is_exact = true,
                              .backend = &pp_backend_fake,
                              .is_sequence_parallel = i % 4 >= 2,
                              .tp_split = i % 4 == 1 ? 2 : 0,
                              .seed = i};
        cr_assert(find_shape(pp_schedule_find(c.schedule), &c.shape));
        cr_assert(run_and_check(&c));
    }
}

static uint64_t drawn(uint64_t seed, int what, uint64_t below)
{
    return pp_random_bits(seed, (uint64_t)what) % below;
}

enum { SEQ = 8 };

/* Returns a random layout: schedule, ranks, replicas, devices, model. */
static bool draw_case(uint64_t seed, struct exec_case *c)
{
    int count = 0;

    while (pp_schedules[count])
        count++;
    const struct pp_schedule *schedule = pp_schedules[drawn(seed, 0, (uint64_t)count)];
    const int tp = 1 << drawn(seed, 1, 3), ranks = 1 + (int)drawn(seed, 2, 4);
    *c = (struct exec_case){.schedule = schedule->name,
                            .shape = {.ranks = ranks, .micro_batches = 1 + (int)drawn(seed, 3, 6)},
                            .replicas = 1 + (int)drawn(seed, 4, 2),
                            .tp = tp,
                            .heads = 8,
                            .hidden = 32,
                            .seq = SEQ,
                            .vocab = 40 + (int)drawn(seed, 13, 20),
                            .layers = 1 + (int)drawn(seed, 5, 8),
                            .mbs = 1 + (int)drawn(seed, 6, 2),
                            .zero = (int)drawn(seed, 7, 2),
                            .is_untied = drawn(seed, 8, 2),
                            .is_gated = drawn(seed, 9, 2),
                            .has_qk_norm = drawn(seed, 14, 2),
                            .is_sequence_parallel = drawn(seed, 15, 2),
                            .has_rope = drawn(seed, 10, 2),
                            .is_recomputed = drawn(seed, 11, 3) == 0,
                            .again.modules = (unsigned)drawn(seed, 12, 2) * PP_AGAIN_NORM |
                                             (unsigned)drawn(seed, 16, 2) * PP_AGAIN_MLP,
                            .cores = 4 * (int)drawn(seed, 17, 4),
                            .steps = 2,
                            .is_exact = true,
                            .seed = seed};
    c->zero = c->replicas > 1 ? c->zero : 0;
    c->is_recomputed &= strcmp(c->schedule, "seq1f1b") != 0; /* it has splits */
    if (schedule->is_simulated_only || !find_shape(schedule, &c->shape))
        return false;
    const int splits = c->shape.splits > 1 ? c->shape.splits : 1;
    c->is_sequence_parallel &= tp > 1 && c->mbs * (SEQ / splits) % tp == 0;
    return true;
}

/* R of a feed-forward layer reads a norm of which each worker saves a share. */
Test(tp, a_norm_of_shares_is_made_again_for_the_layer_after_it)
{
    const struct exec_case c = EXEC_CASE("1f1b", 2, 4, .tp = 2, .mbs = 1, .layers = 4, .steps = 2,
                                         .is_exact = true, .is_sequence_parallel = true,
                                         .is_recomputed = true, .again.modules = PP_AGAIN_MLP);

    cr_assert_eq(run_and_check(&c), 1);
}

Test(tp, random_layouts)
{
    const int wanted = getenv("PIPESIM_LONG") ? 300 : 30;
    int runs = 0;

    for (uint64_t seed = 1; runs < wanted; seed++) {
        struct exec_case c;
        cr_assert_lt(seed, 40 * (uint64_t)wanted);
        if (draw_case(seed, &c))
            runs += run_and_check(&c);
    }
}

/* Largest difference of a loss or norm, relative, of runs with `tp` devices and with one. */
static double distance(bool is_double, int tp)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = EXEC_CASE("1f1b", 2, 4, .mbs = 2, .steps = 4, .heads = 4,
                                   .is_exact = is_double, .is_double = is_double);
    struct exec_run one, shared;
    double most = 0;

    cr_assert(exec_run(arena, &c, &one));
    c.tp = tp;
    cr_assert(exec_run(arena, &c, &shared));
    for (int k = 0; k < c.steps; k++) {
        const double a = one.result.losses[k], b = shared.result.losses[k],
                     x = one.result.grad_norms[k], y = shared.result.grad_norms[k];
        most = fmax(most, fmax(fabs(a - b) / a, fabs(x - y) / x));
    }
    return most;
}

/* Types with a unit roundoff u differ by a small multiple of u: docs/tensor-parallelism.md. */
Test(tp, differs_from_one_device_by_rounding)
{
    for (int tp = 2; tp <= 4; tp *= 2) {
        cr_assert_lt(distance(true, tp), 64 * 0x1p-53 * (1 << 10));
        cr_assert_lt(distance(false, tp), 64 * 0x1p-24);
    }
}

/* On the wall clock exchanges are measured: the costs, with wires as slow as these, say more. */
Test(tp, exchanges_take_measured_time)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct exec_case c =
        EXEC_CASE("1f1b", 1, 2, .mbs = 1, .steps = 4, .tp = 2, .clock = PP_CLOCK_WALL);
    struct exec_run run;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
    const struct pp_exec_wires slow = {.alpha_s = 1, .bytes_per_s = 1};
    run.training.machine.costs =
        pp_exec_costs(arena, run.program, run.training.machine.stages, &run.batch,
                      run.training.machine.kernels, &slow, false);
    cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_OK, "%s", err.message);
    const double exchanged_s =
        run.result.metrics.time_frac[PP_TIME_TP_COMM] * run.result.metrics.iteration_s;
    cr_assert_gt(exchanged_s, 0);
    cr_assert_lt(exchanged_s, 1);
    cr_assert_lt(run.result.metrics.time_frac[PP_TIME_TP_COMM], 1);
}
