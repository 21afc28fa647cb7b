/* Schedules without a flush: which weights a micro-batch uses, where updates stand, the steady
 * step, the memory of the versions. */
#include "schedules/evaluate/evaluate.h"
#include "schedules/lower/lower.h"
#include "schedules/memory/memory.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/state_specs.h"

#include <criterion/criterion.h>

enum { RANKS = 6, BATCHES = 9, STEPS = 4 };

static struct pp_program *compute(struct pp_arena *arena, const char *name, int ranks, int n,
                                  int steps)
{
    const struct pp_shape shape = {.ranks = ranks, .micro_batches = n * steps, .steps = steps};
    struct pp_program *program;

    if (pp_schedule_program(arena, pp_schedule_find(name), &shape, NULL, &program, NULL) != PP_OK)
        return NULL;
    return program;
}

static struct pp_program *lower(struct pp_arena *arena, const char *name, struct pp_program *p,
                                int n, struct pp_lower_options options)
{
    struct pp_error err = {0};
    struct pp_program *lowered;

    options.update_every = pp_schedule_update_every(pp_schedule_find(name), n);
    cr_assert_eq(pp_lower(arena, p, &options, &lowered, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(lowered, NULL, &err), PP_OK, "%s", err.message);
    return lowered;
}

/* Replay the updates of one rank: weights 0 are the initial ones, update k makes weights k + 1.
 * `used[mb]` is what the forward of a micro-batch found newest. */
static void check_versions(const struct pp_program *p, int rank)
{
    int used[BATCHES * STEPS], updates = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int mb = p->mb[i], alive = p->ranks - rank;
        if (p->kind[i] == PP_F)
            used[mb] = updates;
        else /* from those that it uses to the newest, all are alive */
            cr_assert_leq(updates++ - used[mb] + 1, alive);
        cr_assert_eq(p->version[i], used[mb] % alive, "D %d rank %d mb %d", p->ranks, rank, mb);
    }
}

Test(asynchronous, pipedream_uses_the_newest_weights_twice)
{
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int n = 1; n <= BATCHES; n++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_program *p = compute(arena, "pipedream", ranks, n, STEPS);
            for (int r = 0; r < ranks; r++)
                check_versions(p, r);
        }
}

/* W(t-1) is there when step t begins on a rank, and only one younger one before it ends. */
Test(asynchronous, two_buffered_weights_are_enough)
{
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int n = ranks; n <= BATCHES; n++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_program *p = compute(arena, "pipedream-2bw", ranks, n, STEPS);
            for (int r = 0; r < ranks; r++)
                for (int i = p->begin[r], backwards = 0; i < p->begin[r + 1]; i++) {
                    const int step = p->mb[i] / n, weights = step > 0 ? step - 1 : 0;
                    cr_assert_eq(p->version[i], weights % 2);
                    cr_assert_geq(backwards / n, weights);
                    cr_assert_leq(backwards / n, weights + 1);
                    backwards += p->kind[i] == PP_B;
                }
        }
}

Test(asynchronous, refuses_too_few_micro_batches)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    cr_assert_null(compute(arena, "pipedream-2bw", 4, 3, 2));
    cr_assert_null(compute(arena, "1f1b", 4, 4, 2));
}

/* ---- updates --------------------------------------------------------------------------------- */

static void check_updates(const struct pp_program *p, int every, int zero)
{
    for (int r = 0; r < p->ranks; r++) {
        int backwards = 0, updates = 0, sums = 0, gathers = 0;
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const bool is_wait = p->kind[i] == PP_WAIT;
            if (p->kind[i] == PP_B)
                cr_assert_eq(backwards++ / every, updates, "the update comes at once");
            sums += is_wait && p->aux[i] == (zero ? PP_RS : PP_AR);
            gathers += is_wait && p->aux[i] == PP_AG;
            if (p->kind[i] != PP_U)
                continue;
            cr_assert_eq(backwards, ++updates * every);
            cr_assert_eq(sums, updates, "an update waits for its own sum");
            cr_assert_eq(gathers, zero ? updates - 1 : 0);
        }
        cr_assert_eq(updates * every, p->micro_batches);
    }
}

Test(asynchronous, updates)
{
    static const char *const names[] = {"pipedream", "pipedream-2bw"};

    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int n = ranks; n <= BATCHES; n += 2)
            for (int k = 0; k < 8; k++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                double recompute[RANKS] = {1, 0, 1, 0, 1, 1};
                const struct pp_lower_options options = {.post = (enum pp_post)(k / 2),
                                                         .recv_slots = 1 + k % 3,
                                                         .has_sync = true,
                                                         .has_optimizer = true,
                                                         .has_tied = true,
                                                         .state = specs_zero(k % 3 == 1),
                                                         .recompute_frac = recompute};
                struct pp_program *p = compute(arena, names[k % 2], ranks, n, 3);
                p = lower(arena, names[k % 2], p, n, options);
                check_updates(p, k % 2 ? n : 1, k % 3 == 1);
            }
}

/* ---- time and memory ------------------------------------------------------------------------- */

/* Without a flush the first rank, and with it every rank, ends a step N (F + B) after the last. */
Test(asynchronous, steady_step_has_no_bubble)
{
    static const char *const names[] = {"pipedream", "pipedream-2bw"};
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    const struct pp_eval_options options = {.is_buffered = true};

    for (int k = 0; k < 2; k++)
        for (int ranks = 1; ranks <= RANKS; ranks++)
            for (int n = k ? ranks : 1; n <= BATCHES; n++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct pp_program *p = compute(arena, names[k], ranks, n, STEPS);
                struct pp_eval *plan;
                int64_t end_s[STEPS] = {0};
                const struct pp_costs *costs = pp_costs_unit(arena, &unit, ranks, ranks, 1, 1);
                cr_assert_eq(pp_eval_create(arena, p, costs, &options, &plan, NULL), PP_OK);
                const struct pp_times *t = pp_eval_run(arena, plan, 1, NULL, PP_TIMES_ALL);
                for (int i = 0; i < pp_program_size(p); i++) {
                    const int64_t end = t->end_ps[i] / 1000000000000, step = p->mb[i] / n;
                    end_s[step] = end > end_s[step] ? end : end_s[step];
                }
                cr_assert_eq(end_s[0], 3 * (n + ranks - 1));
                for (int step = 1; step < STEPS; step++)
                    cr_assert_eq(end_s[step] - end_s[step - 1], 3 * n, "D %d N %d", ranks, n);
            }
}

Test(asynchronous, memory_of_the_versions)
{
    enum { D = 4 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_unit_costs unit = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};
    struct pp_costs *costs = pp_costs_unit(arena, &unit, D, D, 1, 1);
    struct pp_stage_memory memory[D] = {{0}};

    for (int s = 0; s < D; s++)
        memory[s] = (struct pp_stage_memory){
            .params_bytes = 100 + s, .grads_bytes = 10, .optimizer_bytes = 1};
    costs->memory = memory;
    const struct pp_rank_memory *stashed =
        pp_memory_peaks(arena, compute(arena, "pipedream", D, 8, 2), costs);
    const struct pp_rank_memory *twice =
        pp_memory_peaks(arena, compute(arena, "pipedream-2bw", D, 8, 3), costs);
    const struct pp_rank_memory *once =
        pp_memory_peaks(arena, compute(arena, "1f1b", D, 8, 1), costs);
    for (int r = 0; r < D; r++) {
        cr_assert_eq(once[r].params_bytes, 100 + r);
        cr_assert_eq(stashed[r].params_bytes, (D - r) * (100 + r));
        cr_assert_eq(twice[r].params_bytes, 2 * (100 + r));
        cr_assert_eq(stashed[r].grads_bytes + stashed[r].optimizer_bytes, 11);
    }
}
