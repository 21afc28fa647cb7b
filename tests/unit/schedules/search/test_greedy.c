/* List scheduling: whenever a rank starts an op, no better one was ready, and it never idles while
 * anything is. Judged by the evaluator's times of the frozen order, not by the play itself. */
#include "schedules/evaluate/evaluate.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <math.h>

struct run {
    struct pp_program *program;
    const struct pp_times *times;
    int64_t *end[2]; /* of F and B: [stage * micro-batches + mb] */
    int64_t wire_ps;
};

static struct run run_hanayo(struct pp_arena *arena, struct pp_shape shape,
                             const struct pp_unit_costs *unit)
{
    const struct pp_eval_options options = {.is_buffered = true};
    struct run run = {.wire_ps = llround(unit->c * 1e12)};
    struct pp_eval *plan;
    struct pp_error err;

    const struct pp_costs *costs =
        pp_costs_unit(arena, unit, shape.ranks, shape.ranks * shape.chunks, 1, 1);
    cr_assert_eq(
        pp_schedule_program(arena, pp_schedule_find("hanayo"), &shape, costs, &run.program, &err),
        PP_OK, "%s", err.message);
    cr_assert_eq(pp_eval_create(arena, run.program, costs, &options, &plan, &err), PP_OK, "%s",
                 err.message);
    run.times = pp_eval_run(arena, plan, 1, NULL, PP_TIMES_ALL);
    for (int k = 0; k < 2; k++)
        run.end[k] = PP_ARRAY(arena, int64_t, run.program->stages * shape.micro_batches);
    for (int i = 0; i < run.program->begin[shape.ranks]; i++)
        run.end[run.program->kind[i] == PP_B][run.program->stage[i] * shape.micro_batches +
                                              run.program->mb[i]] = run.times->end_ps[i];
    return run;
}

static int64_t output_at(const struct run *run, int is_backward, int stage, int mb, int rank)
{
    const bool is_here = pp_program_rank_of(run->program, 0, stage) == rank;

    return run->end[is_backward][stage * run->program->micro_batches + mb] +
           (is_here ? 0 : run->wire_ps);
}

static int64_t ready_at(const struct run *run, int rank, int i)
{
    const struct pp_program *p = run->program;
    const int stage = p->stage[i], mb = p->mb[i];

    if (p->kind[i] == PP_F)
        return stage == 0 ? 0 : output_at(run, 0, stage - 1, mb, rank);
    return stage == p->stages - 1 ? output_at(run, 0, stage, mb, rank)
                                  : output_at(run, 1, stage + 1, mb, rank);
}

static bool is_better(const struct pp_program *p, int a, int b)
{
    if (p->kind[a] != p->kind[b])
        return p->kind[a] == PP_B;
    return p->mb[a] != p->mb[b] ? p->mb[a] < p->mb[b] : p->stage[a] > p->stage[b];
}

static int check_rank(const struct run *run, int rank)
{
    const struct pp_program *p = run->program;
    int checked = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int64_t start = run->times->start_ps[i];
        const int64_t free = i > p->begin[rank] ? run->times->end_ps[i - 1] : 0;
        for (int j = i + 1; j < p->begin[rank + 1]; j++, checked++) {
            const int64_t ready = ready_at(run, rank, j);
            cr_assert(!is_better(p, j, i) || ready > start, "D=%d N=%d rank %d: op %d before %d",
                      p->ranks, p->micro_batches, rank, i - p->begin[rank], j - p->begin[rank]);
            cr_assert(start == free || ready >= start, "D=%d N=%d rank %d idles before op %d",
                      p->ranks, p->micro_batches, rank, i - p->begin[rank]);
        }
    }
    return checked;
}

Test(greedy, the_best_ready_op_runs_and_no_rank_idles_with_work)
{
    const struct pp_unit_costs units[] = {{.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3},
                                          {.f = 3, .b = 2, .i = 1, .w = 1, .fb = 5, .c = 0.5},
                                          {.f = 1.1, .b = 2.3, .i = 1, .w = 1.3, .fb = 3.4, .c = 2},
                                          {.f = 1, .b = 0, .fb = 1}};
    int checked = 0;

    for (int k = 0; k < 4; k++)
        for (int ranks = 1; ranks <= 5; ranks++)
            for (int chunks = 2; chunks <= 6; chunks += 2)
                for (int n = 1; n <= 13; n += 3) {
                    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                    const struct run run = run_hanayo(
                        arena,
                        (struct pp_shape){.ranks = ranks, .chunks = chunks, .micro_batches = n},
                        &units[k]);
                    for (int rank = 0; rank < ranks && units[k].b > 0; rank++)
                        checked += check_rank(&run, rank);
                }
    cr_assert_gt(checked, 10000);
}
