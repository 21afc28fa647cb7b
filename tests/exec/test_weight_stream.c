/* W on streams of their own, on a device that runs work in an adverse order wherever events allow
 * it. All schedules train to the same bits, and no wait is redundant. */
#include "schedules/evaluate/weight_stream.h"
#include "schedules/registry.h"
#include "tests/exec/equal.h"

/* As many steps as there are streams: each is held back once. */
static struct exec_case usual(void)
{
    return (struct exec_case){.shape = {.ranks = 2, .micro_batches = 4},
                              .replicas = 1,
                              .mbs = 1,
                              .steps = 16,
                              .layers = 4,
                              .is_exact = true,
                              .clip = 0.5,
                              .backend = &pp_backend_fake,
                              .has_weight_stream = true};
}

static int train(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    if (!exec_run(arena, c, &run))
        return 0;
    check_run(arena, c, &run);
    return run.program->weight_stream != NULL;
}

static int every_schedule(int ranks, int replicas)
{
    struct exec_case c = usual();

    c.shape = (struct pp_shape){.ranks = ranks, .micro_batches = ranks};
    c.replicas = replicas;
    return each_schedule(&c, train);
}

Test(weight_stream, every_schedule)
{
    cr_assert_geq(every_schedule(2, 1), 4);
    cr_assert_geq(every_schedule(4, 1), 4);
}

Test(weight_stream, every_schedule_with_replicas)
{
    cr_assert_geq(every_schedule(2, 2), 4);
}

/* Sums posted while W runs, in buckets, of tied matrices, of shared state; saved again by R; of
 * overlapped pairs. */
Test(weight_stream, variants)
{
    static const struct exec_case cases[] = {
        {.schedule = "zb-h1", .replicas = 2, .buckets = 3, .grad_sync = PP_SYNC_EAGER},
        {.schedule = "zb-h1", .replicas = 2, .grad_sync = PP_SYNC_EAGER_OPT, .is_untied = true},
        {.schedule = "zbv", .replicas = 2, .zero = 1, .buckets = 2, .grad_sync = PP_SYNC_EAGER},
        {.schedule = "zb-h1", .replicas = 2, .zero = 2},
        {.schedule = "zbv", .replicas = 2, .zero = 2},
        {.schedule = "zb-h1", .replicas = 2, .zero = 3},
        {.schedule = "zbv", .replicas = 2, .zero = 3},
        {.schedule = "dualpipe", .replicas = 2, .zero = 3},
        {.schedule = "zb-h1", .replicas = 1, .is_recomputed = true},
        {.schedule = "zbv", .replicas = 1, .is_recomputed = true, .is_gated = true},
        {.schedule = "zbv", .is_recomputed = true, .again = {.modules = PP_AGAIN_NORM}},
        {.schedule = "zb-h1", .is_recomputed = true, .again = {.modules = PP_AGAIN_MLP}},
        {.schedule = "v-min", .is_recomputed = true, .again = {.blocks = 1}},
        {.schedule = "dualpipe", .replicas = 2},
        {.schedule = "dualpipev", .replicas = 1, .is_bf16 = true},
        {.schedule = "zb-h2", .replicas = 1, .has_rope = true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct exec_case c = usual(), from = cases[i];

        c.schedule = from.schedule;
        c.replicas = from.replicas ? from.replicas : 1;
        c.again = from.again;
        c.buckets = from.buckets;
        c.grad_sync = from.grad_sync;
        c.zero = from.zero;
        c.is_untied = from.is_untied;
        c.is_recomputed = from.is_recomputed;
        c.is_gated = from.is_gated;
        c.is_bf16 = from.is_bf16;
        c.has_rope = from.has_rope;
        cr_assert(find_shape(pp_schedule_find(c.schedule), &c.shape), "%s", c.schedule);
        cr_assert_eq(train(&c), 1, "%s has no W", c.schedule);
    }
}

/* ---- without one of the waits -----------------------------------------------------------------*/

/* Does anything show? */
static bool is_caught(const struct exec_case *c, int dropped)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, c, &run, &err), PP_OK, "%s", err.message);
    run.program->weight_stream->after[dropped] = -1;
    if (pp_train(arena, &run.training, &run.result, &err) != PP_OK)
        return true;
    const struct pp_training_result *r = &run.result;
    return r->gradients.differing > 0 || r->weights.differing > 0 || !r->is_loss_equal;
}

static int drop_each(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;
    struct pp_error err = {0};
    int dropped = 0;

    cr_assert_eq(exec_run_make(arena, c, &run, &err), PP_OK, "%s", err.message);
    cr_assert_not_null(run.program->weight_stream, "%s", c->schedule);
    for (int i = 0; i < pp_program_size(run.program); i++) {
        const struct pp_op op = pp_program_op(run.program, i);
        char text[PP_OP_TEXT_BYTES];

        if (pp_weight_stream_after(run.program, i) < 0)
            continue;
        pp_op_print(&op, pp_program_style(run.program), text);
        cr_expect(is_caught(c, i), "%s: nothing shows that %s of op %d has nothing to wait for",
                  c->schedule, text, i);
        dropped++;
    }
    return dropped;
}

Test(weight_stream, each_wait_is_needed)
{
    struct exec_case c = usual();

    c.schedule = "zb-h1";
    c.shape.micro_batches = 5;
    cr_assert_geq(drop_each(&c), 12);
    c.is_untied = true; /* no sum ends before the barrier */
    cr_assert_geq(drop_each(&c), 12);
    c.is_recomputed = true;
    cr_assert_geq(drop_each(&c), 12);
}

/* Halves and whole backwards of one stage. */
Test(weight_stream, each_wait_next_to_whole_backwards_is_needed)
{
    struct exec_case c = usual();

    c.schedule = "dualpipe";
    c.shape.ranks = 4;
    cr_assert(find_shape(pp_schedule_find(c.schedule), &c.shape));
    c.steps = 32;
    cr_assert_eq(drop_each(&c), 12);
}
