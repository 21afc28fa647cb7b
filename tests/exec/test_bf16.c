/* Mixed precision: bfloat16 activations and weights, fp32 gradients, moments and master weights. No
 * schedule changes its bits either, and it trains as single precision does. */
#include "schedules/registry.h"
#include "tests/exec/equal.h"

#include <math.h>
#include <string.h>

static const struct exec_case base = {.schedule = "1f1b",
                                      .shape = {.ranks = 4, .micro_batches = 8},
                                      .replicas = 1,
                                      .mbs = 2,
                                      .steps = 4,
                                      .is_exact = true,
                                      .is_bf16 = true,
                                      .clip = 1};

static void train(struct pp_arena *arena, const struct exec_case *c, struct exec_run *run)
{
    cr_assert(exec_run(arena, c, run), "%s was refused", exec_case_text(arena, c));
}

/* ---- bits ------------------------------------------------------------------------------------*/

Test(bf16, every_schedule_trains_to_the_same_bits)
{
    int runs = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = base;
        struct exec_run run;

        if (pp_schedules[i]->is_simulated_only)
            continue;
        c.schedule = pp_schedules[i]->name;
        c.shape = (struct pp_shape){.ranks = 2, .micro_batches = 4};
        cr_assert(find_shape(pp_schedules[i], &c.shape), "%s", c.schedule);
        c.replicas = 1 + runs % 2;
        c.seed = (uint64_t)i;
        train(arena, &c, &run);
        check_run(arena, &c, &run);
        runs++;
    }
    cr_assert_geq(runs, 15);
}

Test(bf16, variants_train_to_the_same_bits)
{
    static const struct exec_case cases[] = {
        {.schedule = "zbv", .shape = {.ranks = 2, .micro_batches = 4}, .has_rope = true},
        {.schedule = "zbv", .shape = {.ranks = 4, .micro_batches = 8}, .is_gated = true},
        {.schedule = "chimera", .shape = {.ranks = 4, .micro_batches = 4}, .is_untied = true},
        {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 4}, .is_recomputed = true},
        {.schedule = "seq1f1b", .shape = {.ranks = 2, .micro_batches = 4, .splits = 4}},
        {.schedule = "zbv",
         .shape = {.ranks = 2, .micro_batches = 4},
         .replicas = 2,
         .zero = 1,
         .backend = &pp_backend_fake},
        {.schedule = "1f1b",
         .shape = {.ranks = 2, .micro_batches = 2},
         .replicas = 2,
         .zero = 1,
         .transport = &pp_transport_tcp},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = cases[i];
        struct exec_run run;

        c.replicas = c.replicas ? c.replicas : 1;
        c.mbs = base.mbs;
        c.steps = base.steps;
        c.is_exact = c.is_bf16 = true;
        c.clip = base.clip;
        train(arena, &c, &run);
        check_run(arena, &c, &run);
    }
}

/* Replicas, pipelines and a tied matrix add in another order than the loop. */
Test(bf16, without_exact_gradients_only_rounding_differs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = base;
    struct exec_run run;

    c.schedule = "chimera";
    c.replicas = 2;
    c.is_exact = false;
    c.steps = 1;
    train(arena, &c, &run);
    const struct pp_difference *d = &run.result.gradients;
    cr_assert_gt(d->differing, 0);
    cr_assert_lt(sqrt(d->squares / d->reference_squares), 5e-6);
}

/* ---- shared state ----------------------------------------------------------------------------*/

Test(bf16, state_shared_out_changes_no_bit)
{
    static const char *const SCHEDULES[] = {"1f1b", "chimera"};

    for (int i = 0; i < 4; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct exec_case c = base;
        struct exec_run whole, cut;
        const size_t bytes = sizeof(double) * (size_t)c.steps;

        c.schedule = SCHEDULES[i % 2];
        c.is_exact = i / 2;
        c.replicas = 3;
        train(arena, &c, &whole);
        c.zero = 1;
        train(arena, &c, &cut);
        cr_assert_eq(memcmp(whole.result.losses, cut.result.losses, bytes), 0);
        cr_assert_eq(memcmp(whole.result.grad_norms, cut.result.grad_norms, bytes), 0);
        if (c.is_exact)
            check_run(arena, &c, &cut);
        for (int rank = 0; rank < 4; rank++) {
            const struct pp_rank_layout *all = &whole.result.layout[rank],
                                        *share = &cut.result.layout[rank];
            const size_t copies = 3 * (size_t)cut.program->pipelines;
            cr_assert_geq(share->optimizer_bytes * copies, all->optimizer_bytes);
            cr_assert_lt(share->optimizer_bytes, all->optimizer_bytes / 2);
            cr_assert_eq(all->peak_bytes - all->optimizer_bytes,
                         share->peak_bytes - share->optimizer_bytes);
        }
    }
}

/* ---- memory ----------------------------------------------------------------------------------*/

/* As in test_machine.c: two blocks on a rank, but elements have 2 bytes, statistics and gradients
 * 4, and there are three vectors of optimizer state. */
static void check_memory(const char *schedule)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = base;
    struct exec_run run;

    c.schedule = schedule;
    c.is_exact = false;
    train(arena, &c, &run);
    const struct pp_net *n = &run.training.net;
    const double h = n->hidden, params = 2 * (12 * h * h + 13 * h), tokens = c.mbs * n->seq;
    const double left = pp_program_has_kind(run.program, PP_W) ? 4 * 11 * h : 0;
    const double saved = 2 * tokens * (2 * 16 * h + 4 * (4 + n->heads)) + left;

    for (int rank = 1; rank < 3; rank++) {
        const struct pp_rank_layout *l = &run.result.layout[rank];
        const int held = run.result.lifetimes[rank].peak_activations;

        cr_assert_eq((double)l->params_bytes, 2 * params);
        cr_assert_eq((double)l->grads_bytes, 4 * params);
        cr_assert_eq((double)l->optimizer_bytes, 12 * params);
        cr_assert_eq((double)l->activations_bytes, held * (saved + tokens * 2 * h));
        cr_assert_eq(run.result.touched_bytes[rank], (double)l->peak_bytes);
    }
}

Test(bf16, memory_is_the_closed_form)
{
    check_memory("1f1b");
    check_memory("zb-h1");
}

/* ---- training --------------------------------------------------------------------------------*/

Test(bf16, loss_follows_that_of_single_precision)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_case c = base;
    struct exec_run mixed, single;

    c.steps = 30;
    c.layers = 4;
    train(arena, &c, &mixed);
    c.is_bf16 = false;
    train(arena, &c, &single);
    const double *ours = mixed.result.losses, *right = single.result.losses;
    for (int step = 0; step < c.steps; step++)
        cr_assert(fabs(ours[step] / right[step] - 1) < 1e-2, "step %d: %.5f, not %.5f", step,
                  ours[step], right[step]);
    cr_assert_neq(ours[0], right[0]); /* it is another precision */
    cr_assert_lt(ours[c.steps - 1], 0.8 * ours[0]);
}
