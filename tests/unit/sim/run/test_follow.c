/* Orders that follow the run: each op lasts as long as in the strict order, and a rank runs what
 * is ready. */
#include "schedules/registry.h"
#include "sim/run/simulate.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <string.h>

static void run(struct pp_arena *arena, const char *line, struct pp_result *result)
{
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_TIMED, result, &err), PP_OK, "%s: %s", line,
                 err.message);
}

static bool is_same_op(const struct pp_program *a, int i, const struct pp_program *b, int k)
{
    return a->kind[i] == b->kind[k] && a->stage[i] == b->stage[k] && a->pipe[i] == b->pipe[k] &&
           a->mb[i] == b->mb[k] && a->split[i] == b->split[k];
}

/* Time of instruction i, of one step and replica. */
static int64_t lasts_ps(const struct pp_result *r, int step, int i, int replica)
{
    const struct pp_times *t = r->times;
    const size_t at =
        ((size_t)step * (size_t)pp_program_size(r->program) + (size_t)i) * (size_t)t->replicas +
        (size_t)replica;

    return t->end_ps[at] - t->start_ps[at];
}

/* Compares all compute ops. Returns how many ranks have another order. */
static int compare(const struct pp_result *strict, const struct pp_result *other, const char *line)
{
    const struct pp_program *a = strict->program, *b = other->program;
    const int steps = strict->times->steps > 1 ? strict->times->steps : 1;
    int others = 0;

    cr_assert_eq(strict->times->replicas, other->times->replicas, "%s", line);
    for (int r = 0; r < a->ranks; r++) {
        bool is_other = false;
        for (int i = a->begin[r]; i < a->begin[r + 1]; i++) {
            if (!pp_op_has_cell(a->kind[i]))
                continue;
            int k = b->begin[r];
            while (k < b->begin[r + 1] && !is_same_op(a, i, b, k))
                k++;
            if (k == b->begin[r + 1] && a->kind[i] == PP_R && strstr(line, "skip"))
                continue; /* the other order needs it no more */
            cr_assert_lt(k, b->begin[r + 1], "%s", line);
            is_other |= k - b->begin[r] != i - a->begin[r];
            for (int step = 0; step < steps; step++)
                for (int p = 0; p < strict->times->replicas; p++)
                    cr_assert_eq(lasts_ps(strict, step, i, p), lasts_ps(other, step, k, p),
                                 "%s: rank %d op %d", line, r, i);
        }
        others += is_other;
    }
    return others;
}

/* Of every schedule, in unit mode and with a model. */
Test(follow, ops_last_as_long_as_in_the_strict_order)
{
    static const char *const kinds[] = {
        "--unit F=1,B=2,C=0.1 --pp 4", "--unit F=1,B=2 --pp 2 --slow 1=0.5",
        "--model gpt2-64 --pp 2 --tp 1 --dp 3 --mbs 2 --engine dag --slow 1.2=0.7 --steps 2 "
        "--step-barrier on --zero 0 --recompute full",
        "--model gpt2-64 --pp 4 --tp 1 --dp 1 --mbs 2 --engine dag --recompute none --zero 0",
        "--model gpt2-64 --pp 4 --tp 1 --dp 2 --mbs 2 --engine dag --recompute full,skip --zero 0"};
    static const char *const orders[] = {"dynamic:2x", "arrival:2x", "dynamic"};
    int others = 0, ran = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int i = 0; i < 5; i++, ran++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_result strict, other;
            if (pp_schedules[k]->is_continuous)
                continue;
            const char *line = pp_arena_printf(
                arena, "run --schedule %s %s --micro-batches 8 --jitter 30%% --seed %d",
                pp_schedules[k]->name, kinds[i], k);
            run(arena, line, &strict);
            line = pp_arena_printf(arena, "%s --order %s", line, orders[(k + i) % 3]);
            run(arena, line, &other);
            others += compare(&strict, &other, line);
        }
    cr_assert_gt(ran, 60);
    cr_assert_gt(others, 60);
}

/* Messages are free: where a rank waits, none of its later backwards was ready. */
static void check_no_rank_waits(const struct pp_result *r, const char *line)
{
    const struct pp_program *p = r->program;
    const int64_t *start = r->times->start_ps, *end = r->times->end_ps;

    for (int rank = 0; rank < p->ranks; rank++) {
        int64_t free_ps = 0;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (!pp_op_has_cell(p->kind[i]))
                continue;
            for (int k = i + 1; k < p->begin[rank + 1]; k++) {
                if (!pp_op_has_cell(p->kind[k]) || p->kind[k] != PP_B)
                    continue;
                int64_t ready_ps = 0;
                for (int n = 0; n < pp_program_size(p); n++)
                    if ((p->kind[n] == PP_B && p->stage[n] == p->stage[k] + 1 &&
                         p->mb[n] == p->mb[k]) ||
                        (p->kind[n] == PP_F && p->stage[n] == p->stage[k] && p->mb[n] == p->mb[k]))
                        ready_ps = end[n] > ready_ps ? end[n] : ready_ps;
                cr_assert(ready_ps > free_ps || start[i] == free_ps, "%s: rank %d waits at %d",
                          line, rank, i);
            }
            free_ps = end[i];
        }
    }
}

Test(follow, no_rank_waits_while_a_backward_is_ready)
{
    for (int seed = 0; seed < 12; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result other;
        const char *line = pp_arena_printf(arena,
                                           "run --schedule 1f1b --pp %d --micro-batches %d "
                                           "--unit F=1,B=2 --jitter 40%% --seed %d",
                                           2 + seed % 5, 4 + seed, seed);
        line = pp_arena_printf(arena, "%s --order %s", line, seed % 2 ? "dynamic:2x" : "arrival");
        run(arena, line, &other);
        check_no_rank_waits(&other, line);
    }
}
