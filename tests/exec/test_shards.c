/* Sharded gradients and parameters change no bit. With exact gradients, all schedules train to the
 * bits of the loop, on threads, processes and the fake device. Each process touches the predicted
 * bytes, and a replay has the same times. */
#include "tests/exec/equal.h"
#include "tests/exec/random_case.h"

#include <stdlib.h>

enum { LEAST_ZERO = 2, MOST_ZERO = 3 };

/* Returns 0 for a program that cannot be cut. */
static int cut_and_check(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case whole = *c, cut = *c;
    struct exec_run run;

    whole.zero = 0;
    cr_assert_eq(exec_run_make(arena, &whole, &run, &(struct pp_error){0}), PP_OK);
    if (has_stage_twice(run.program))
        return 0;
    cr_assert(exec_run(arena, &cut, &run), "%s was refused", exec_case_text(arena, &cut));
    if (c->zero >= LEAST_ZERO)
        cr_assert_eq(pp_state_cut(&run.program->state.spec, PP_STATE_GRADS),
                     c->sharers ? c->sharers : c->replicas);
    check_run(arena, &cut, &run);
    return 1;
}

/* Each of them with all that is cut. */
static void check_every_stage(const struct exec_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int zero = LEAST_ZERO; zero <= MOST_ZERO; zero++) {
            struct exec_case c = exact_case(cases[i], 2, 2);

            c.zero = zero;
            cr_assert_eq(cut_and_check(&c), 1);
        }
}

static int all_schedules(struct exec_case usual)
{
    int runs = 0;

    for (usual.zero = LEAST_ZERO; usual.zero <= MOST_ZERO; usual.zero++)
        runs += each_schedule(&usual, cut_and_check);
    return runs;
}

static struct exec_case usual_of(int ranks, int replicas)
{
    return exact_case((struct exec_case)EXEC_CASE(NULL, ranks, ranks, .replicas = replicas), 1, 2);
}

Test(shards, every_schedule_has_the_bits_of_the_loop)
{
    cr_assert_geq(all_schedules(usual_of(2, 2)), 40);
    cr_assert_geq(all_schedules(usual_of(4, 3)), 40);
}

/* The last gather before an instruction that fills its buffer; -1 = none. */
static int gather_of(const struct pp_program *p, const struct pp_wholes *wholes, int i)
{
    const int32_t *of = wholes->of[PP_WHOLE_PARAMS];
    int at = i - 1;

    while (at >= p->begin[pp_program_rank_at(p, i)] && (p->kind[at] != PP_AG || of[at] != of[i]))
        at--;
    return at >= p->begin[pp_program_rank_at(p, i)] ? at : -1;
}

/* Validations make these gathers and no others. */
Test(shards, a_gather_that_a_forward_uses_is_known)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = usual_of(2, 2);
    struct exec_run run;
    int left_out = 0;

    c.schedule = "zbv";
    c.zero = 3;
    cr_assert_eq(exec_run_make(arena, &c, &run, &(struct pp_error){0}), PP_OK);
    const struct pp_program *p = run.program;
    const struct pp_stage *const *stages = (const struct pp_stage *const *)run.stages;
    const struct pp_cuts *cuts = pp_memory_cuts(arena, p, stages, &run.batch);
    const struct pp_wholes *wholes = pp_wholes_find(arena, p, stages, cuts);
    bool *is_used = PP_ARRAY(arena, bool, pp_program_size(p));
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_F) {
            cr_assert_geq(gather_of(p, wholes, i), 0);
            is_used[gather_of(p, wholes, i)] = true;
        }
    for (int i = 0; i < pp_program_size(p); i++) {
        cr_assert_eq(wholes->has_forward[i], is_used[i], "instruction %d", i);
        left_out += p->kind[i] == PP_AG && !is_used[i];
    }
    cr_assert_gt(left_out, 0);
}

Test(shards, every_schedule_on_the_fake_device)
{
    struct exec_case usual = usual_of(2, 2);

    usual.backend = &pp_backend_fake;
    cr_assert_geq(all_schedules(usual), 40);
}

Test(shards, every_schedule_between_processes)
{
    struct exec_case usual = usual_of(2, 2);

    usual.transport = &pp_transport_shm;
    cr_assert_geq(all_schedules(usual), 40);
    usual.transport = &pp_transport_tcp;
    cr_assert_geq(all_schedules(usual), 40);
}

/* Blocks of the norm over many shares, shares over many tensors, and empty ones. Tied matrices,
 * sums in buckets, other element types, recomputation. */
Test(shards, variants)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("1f1b", 4, 4, .replicas = 40),
        EXEC_CASE("1f1b", 1, 4, .replicas = 3),
        EXEC_CASE("1f1b", 2, 2, .replicas = 3, .layers = 2, .hidden = 96, .vocab = 251),
        EXEC_CASE("1f1b", 4, 4, .replicas = 2, .buckets = 5, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("interleaved", 2, 4, .replicas = 2, .grad_sync = PP_SYNC_EAGER,
                  .gather_buffers = 4),
        EXEC_CASE("zb-h1", 4, 8, .replicas = 2, .is_recomputed = true, .gather_buffers = 1),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 4, .replicas = 2),
        EXEC_CASE("gpipe", 2, 4, .replicas = 2, .is_double = true),
        EXEC_CASE("1f1b", 2, 4, .replicas = 2, .is_bf16 = true, .hidden = 32),
    };

    check_every_stage(cases, sizeof(cases) / sizeof(*cases));
}

/* Chimera fills its first pipeline alone: chunks of the others sum gradients without a backward. */
Test(shards, pipelines_without_micro_batches)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("chimera", 2, 1, .replicas = 2),
        EXEC_CASE("chimera", 4, 2, .replicas = 3, .is_untied = true),
        EXEC_CASE("chimera", 4, 2, .replicas = 4, .sharers = 2),
        EXEC_CASE("chimera", 4, 2, .replicas = 2, .buckets = 3, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("chimera", 2, 1, .replicas = 2, .backend = &pp_backend_fake),
        EXEC_CASE("chimera", 4, 2, .replicas = 2, .transport = &pp_transport_shm),
        EXEC_CASE("chimera", 4, 2, .replicas = 2, .transport = &pp_transport_tcp),
    };

    check_every_stage(cases, sizeof(cases) / sizeof(*cases));
}

/* Groups of copies that each hold a state, and sum their shares: of two and three in turn, or both
 * in a long run. */
Test(shards, groups)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("1f1b", 2, 2, .replicas = 4),
        EXEC_CASE("zbv", 2, 4),
        EXEC_CASE("interleaved", 2, 4, .shape.chunks = 2, .is_recomputed = true),
        EXEC_CASE("1f1b", 4, 4, .buckets = 3, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("1f1b", 2, 2, .is_bf16 = true),
        EXEC_CASE("gpipe", 2, 2, .backend = &pp_backend_fake),
        EXEC_CASE("zb-h1", 2, 4, .transport = &pp_transport_shm),
        EXEC_CASE("1f1b", 2, 2, .transport = &pp_transport_tcp),
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int zero = 1; zero <= MOST_ZERO; zero++)
            for (int sharers = 2; sharers <= 3; sharers++) {
                struct exec_case c = exact_case(cases[i], 2, 2);

                if (sharers != 2 + (int)(i + (size_t)zero) % 2 && !getenv("PIPESIM_LONG"))
                    continue;
                c.zero = zero;
                c.sharers = sharers;
                c.replicas = c.replicas == 4 && sharers == 2 ? 4 : 2 * sharers;
                c.hidden = 32;
                cr_assert_eq(cut_and_check(&c), 1);
            }
}

/* PIPESIM_LONG=1: more of them. */
Test(shards, random_programs)
{
    const uint64_t count = getenv("PIPESIM_LONG") ? 1000 : 150;
    int runs = 0;

    for (uint64_t seed = 1; seed <= count; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = random_case(arena, seed);

        c.replicas = 2 + (int)(seed % 3);
        c.zero = LEAST_ZERO + (int)(seed % (MOST_ZERO - LEAST_ZERO + 1));
        c.gather_buffers = 1 + (int)(seed / 2 % 3);
        c.sharers = seed % 3 == 2 && seed % 5 == 0 ? 2 : 0;
        c.transport = seed % 11 == 0 ? &pp_transport_shm : NULL;
        runs += cut_and_check(&c);
    }
    cr_assert_geq(runs, (int)count * 9 / 10);
}
