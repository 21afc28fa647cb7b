/* No schedule changes the weights. With exact gradients every executable schedule trains to the
 * same bits as a loop over the micro-batches, in any number of ranks, replicas and pipelines. For
 * every run, a replay of its own durations gives its own times, and its memory is as predicted. */
#include "schedules/order/concat.h"
#include "schedules/registry.h"
#include "tests/exec/equal.h"

#include <criterion/criterion.h>
#include <string.h>

/* Without PIPESIM_LONG=1 fewer steps. */
static int steps(void)
{
    return getenv("PIPESIM_LONG") ? 20 : 3;
}

static int all_schedules(int ranks, int replicas)
{
    const struct exec_case usual = {
        .shape = {.ranks = ranks, .micro_batches = ranks > 4 ? ranks : 4},
        .replicas = replicas,
        .mbs = 1,
        .steps = steps(),
        .is_exact = true,
        .clip = 1};

    return each_schedule(&usual, run_and_check);
}

Test(equality, every_schedule_2_ranks)
{
    cr_assert_geq(all_schedules(2, 1), 15);
    cr_assert_geq(all_schedules(2, 2), 15);
}

Test(equality, every_schedule_4_ranks)
{
    cr_assert_geq(all_schedules(4, 1), 15);
    cr_assert_geq(all_schedules(4, 2), 15);
}

Test(equality, every_schedule_8_ranks)
{
    cr_assert_geq(all_schedules(8, 1), 15);
    cr_assert_geq(all_schedules(8, 2), 15);
}

/* ---- optimizer state that copies share out ----------------------------------------------------*/

static void train(struct pp_arena *arena, const struct exec_case *base, int zero,
                  struct exec_run *run)
{
    struct exec_case c = *base;

    c.zero = zero;
    cr_assert(exec_run(arena, &c, run), "%s was refused", exec_case_text(arena, &c));
}

/* State is a share, and nothing else of the memory has changed. */
static void check_shares(const struct exec_run *whole, const struct exec_run *cut, const char *name)
{
    const struct pp_program *p = cut->program;
    const int copies = cut->batch.replicas * p->pipelines;

    for (int rank = 0; rank < p->ranks; rank++) {
        const struct pp_rank_layout *all = &whole->result.layout[rank],
                                    *share = &cut->result.layout[rank];
        size_t unit_bytes = 0; /* shares are whole units of 16 elements, in m and v */
        for (int place = 0; place < p->pipelines * p->stages; place++)
            unit_bytes += p->rank_of[place] == rank ? 2 * 16 * sizeof(double) : 0;
        cr_assert_geq(share->optimizer_bytes * (size_t)copies, all->optimizer_bytes, "%s", name);
        cr_assert_lt(share->optimizer_bytes, all->optimizer_bytes / (size_t)copies + unit_bytes,
                     "%s", name);
        cr_assert_eq(all->peak_bytes - all->optimizer_bytes,
                     share->peak_bytes - share->optimizer_bytes, "%s", name);
    }
}

/* Gradients are added in the order of unshared state, so that all is equal without exact ones. */
static int check_same_bits(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = exec_case_text(arena, c);
    const size_t bytes = sizeof(double) * (size_t)c->steps;
    struct exec_run whole, cut;

    train(arena, c, 0, &whole);
    train(arena, c, 1, &cut);
    const struct pp_training_result *a = &whole.result, *b = &cut.result;
    cr_assert(memcmp(a->losses, b->losses, bytes) == 0, "%s: losses", name);
    cr_assert(memcmp(a->grad_norms, b->grad_norms, bytes) == 0, "%s: norms", name);
    cr_assert_eq(a->weights.differing, b->weights.differing, "%s: weights", name);
    cr_assert(a->weights.max_abs == b->weights.max_abs, "%s: weights", name);
    check_shares(&whole, &cut, name);
    if (c->is_exact)
        check_run(arena, c, &cut);
    cr_assert_eq(b->structural_error_s, 0, "%s", name);
    return 1;
}

static int every_schedule_shared_out(int ranks, int replicas, bool is_exact)
{
    const struct exec_case usual = {.shape = {.ranks = ranks, .micro_batches = ranks},
                                    .replicas = replicas,
                                    .mbs = 1,
                                    .steps = 3,
                                    .is_exact = is_exact,
                                    .clip = 0.5};

    return each_schedule(&usual, check_same_bits);
}

Test(equality, state_shared_out_by_2)
{
    cr_assert_geq(every_schedule_shared_out(4, 2, true), 15);
    cr_assert_geq(every_schedule_shared_out(2, 2, false), 15);
}

Test(equality, state_shared_out_by_4)
{
    cr_assert_geq(every_schedule_shared_out(2, 4, true), 15);
    cr_assert_geq(every_schedule_shared_out(4, 4, false), 15);
}

/* Cases: pipelines alone; two copies on one rank. Matrices that are tied across ranks, on a rank,
 * or not. Blocks of the norm over many shares and shares over many tensors; all backends. */
Test(equality, state_shared_out_variants)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("chimera", 4, 4, .shape.pipelines = 4),
        EXEC_CASE("gems", 3, 6, .replicas = 3),
        EXEC_CASE("zbv", 4, 8, .replicas = 3),
        EXEC_CASE("zbv", 4, 8, .replicas = 2, .is_untied = true),
        EXEC_CASE("1f1b", 4, 4, .replicas = 40),
        EXEC_CASE("1f1b", 8, 8, .replicas = 2, .layers = 3),
        EXEC_CASE("1f1b", 1, 4, .replicas = 3),
        EXEC_CASE("1f1b", 2, 2, .replicas = 3, .layers = 2, .hidden = 96, .vocab = 251),
        EXEC_CASE("hanayo", 2, 2, .replicas = 2, .is_double = true),
        EXEC_CASE("1f1b", 4, 4, .replicas = 2, .buckets = 5, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("chimera", 4, 4, .replicas = 2, .buckets = 3, .grad_sync = PP_SYNC_EAGER_OPT),
        EXEC_CASE("interleaved", 2, 4, .replicas = 2, .backend = &pp_backend_fake),
        EXEC_CASE("dualpipe", 4, 8, .replicas = 2, .backend = &pp_backend_fake),
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int is_exact = 0; is_exact < 2; is_exact++) {
            struct exec_case c = exact_case(cases[i], 1, 3);

            c.is_exact = is_exact;
            check_same_bits(&c);
        }
}

/* Options beyond the defaults, and other models. */
Test(equality, variants)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("chimera", 4, 8, .shape.pipelines = 4),
        EXEC_CASE("chimera", 8, 8, .shape.pipelines = 4),
        EXEC_CASE("chimera", 8, 8, .shape.pipelines = 8),
        EXEC_CASE("chimera", 4, 8, .shape.option[PP_CONCAT_AT] = PP_CONCAT_DOUBLING),
        EXEC_CASE("chimera", 4, 8, .shape.option[PP_CONCAT_AT] = PP_CONCAT_HALVING),
        EXEC_CASE("chimera", 4, 4, .grad_sync = PP_SYNC_EAGER_OPT, .is_untied = true),
        EXEC_CASE("chimera", 4, 4, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("1f1b", 4, 8, .grad_sync = PP_SYNC_EAGER),
        EXEC_CASE("1f1b", 4, 8, .is_recomputed = true),
        EXEC_CASE("zb-h1", 4, 8, .is_recomputed = true),
        EXEC_CASE("zbv", 4, 8, .is_recomputed = true),
        EXEC_CASE("chimera", 4, 8, .shape.option[PP_CONCAT_AT] = PP_CONCAT_HALVING,
                  .is_recomputed = true),
        EXEC_CASE("seq1f1b", 4, 4, .shape.splits = 4),
        EXEC_CASE("bfs", 2, 8, .shape.chunks = 4),
        EXEC_CASE("interleaved", 2, 8, .shape.chunks = 4, .shape.splits = 2),
        EXEC_CASE("hanayo", 4, 8, .shape.chunks = 4),
        EXEC_CASE("gpipe", 1, 4),
        EXEC_CASE("1f1b", 8, 8, .layers = 3),
        EXEC_CASE("zbv", 4, 8, .is_gated = true, .has_rope = true, .is_untied = true),
        EXEC_CASE("dualpipe", 4, 8, .is_gated = true),
        EXEC_CASE("seq1f1b", 4, 4, .has_rope = true),
        EXEC_CASE("v-half", 4, 8, .is_double = true),
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int replicas = 1; replicas <= 2; replicas++) {
            struct exec_case c = exact_case(cases[i], 2, steps());

            c.replicas = replicas;
            cr_assert_eq(run_and_check(&c), 1, "case %zu was refused", i);
        }
}

/* When receives are posted, and into how many buckets a sum is cut, is a matter of time alone. */
Test(equality, posts_and_buckets)
{
    static const char *const SCHEDULES[] = {"1f1b", "chimera", "zbv", "interleaved"};
    static const struct exec_case cases[] = {
        {.post = PP_POST_JIT},
        {.post = PP_POST_BATCHED, .grad_sync = PP_SYNC_EAGER},
        {.post = PP_POST_SENDER, .is_recomputed = true},
        {.buckets = 3},
        {.buckets = 2, .grad_sync = PP_SYNC_EAGER, .is_untied = true},
        {.buckets = 7, .grad_sync = PP_SYNC_EAGER_OPT, .post = PP_POST_BATCHED},
        {.buckets = 255, .layers = 1}, /* more than some stages have elements for */
    };
    int cut = 0;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (size_t k = 0; k < sizeof(SCHEDULES) / sizeof(*SCHEDULES); k++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct exec_case c = exact_case(cases[i], 1, 2);
            struct exec_run run;

            c.schedule = SCHEDULES[k];
            c.shape = (struct pp_shape){.ranks = 4, .micro_batches = 4};
            c.replicas = 2;
            cr_assert(exec_run(arena, &c, &run), "%s was refused", exec_case_text(arena, &c));
            check_run(arena, &c, &run);
            for (int s = 0; s < run.program->collective_count; s++)
                cut += run.program->collectives[s].buckets > 1;
        }
    cr_assert_gt(cut, 1000);
}

/* An R before every other backward: where an F covers two granules, one may be recomputed and the
 * other not. */
static struct pp_program *recompute_some(struct pp_arena *arena, const struct pp_program *compute)
{
    const struct pp_program_head head = pp_program_head_of(compute);
    const struct pp_orders *lists = pp_program_thaw(arena, compute);
    struct pp_orders *out = pp_orders_create(arena, compute->ranks);
    struct pp_program *program;
    struct pp_error err = {0};

    for (int rank = 0; rank < compute->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++) {
            struct pp_op op = lists->ops[rank][i];
            if (op.kind == PP_B && op.aux == 0 && op.mb % 3 == 1) {
                op.kind = PP_R;
                pp_orders_add(arena, out, rank, op);
                op.kind = PP_B;
            }
            pp_orders_add(arena, out, rank, op);
        }
    cr_assert_eq(pp_program_freeze(arena, &head, out, &program, &err), PP_OK, "%s", err.message);
    return program;
}

Test(equality, recomputed_in_part)
{
    static const struct {
        const char *schedule;
        struct pp_shape shape;
    } cases[] = {
        {"chimera", {.ranks = 4, .micro_batches = 8, .option[PP_CONCAT_AT] = PP_CONCAT_HALVING}},
        {"1f1b", {.ranks = 4, .micro_batches = 8}},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_shape shape = cases[k].shape;
        struct pp_program *compute;
        struct pp_error err = {0};

        cr_assert_eq(pp_schedule_program(arena, pp_schedule_find(cases[k].schedule), &shape, NULL,
                                         &compute, &err),
                     PP_OK, "%s", err.message);
        const struct exec_case c = {.compute = recompute_some(arena, compute),
                                    .shape = shape,
                                    .replicas = 2,
                                    .mbs = 2,
                                    .steps = 4,
                                    .is_exact = true,
                                    .clip = 1};
        cr_assert_eq(run_and_check(&c), 1);
    }
}
