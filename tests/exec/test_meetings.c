/* How often a group meets, and how often its threads sleep for that: numbers, not times. */
#define _GNU_SOURCE /* getrusage */
#include "exec/machine/parts.h"
#include "tests/exec/equal.h"

#include <sys/resource.h>

enum { STEPS = 4, STARTS = 2 }; /* threads sleep before a step, and its first thread after it */

static int64_t sleeps_so_far(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* Runs steps with a group of `tp` devices. Returns how often its threads have slept. */
static int64_t run_steps(struct pp_arena *arena, struct exec_case c, struct exec_run *run,
                         struct pp_machine **machine)
{
    struct pp_step_result result;
    struct pp_error err = {0};

    c.schedule = "1f1b";
    c.shape.micro_batches = 4;
    c.heads = 4;
    c.mbs = 1;
    c.steps = STEPS;
    cr_assert_eq(exec_run_make(arena, &c, run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_machine_create(arena, &run->training.machine, machine, &err), PP_OK, "%s",
                 err.message);
    const int64_t before = sleeps_so_far();
    for (int step = 0; step < STEPS; step++)
        cr_assert_eq(pp_machine_step(*machine, &run->training.text, step, &result, &err), PP_OK,
                     "%s", err.message);
    return sleeps_so_far() - before;
}

/* A group meets once before each exchange, and once at the end of each op. */
Test(meetings, once_an_exchange_and_once_an_op)
{
    static const int cores[] = {1, 2, 4, 16};

    for (size_t i = 0; i < PP_COUNT(cores); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_machine *machine;
        struct exec_run run;

        run_steps(arena, (struct exec_case){.shape.ranks = 2, .tp = 4, .cores = cores[i]}, &run,
                  &machine);
        for (int k = 0; k < machine->worker_count; k++) {
            const struct pp_program *p = run.program;
            const int rank = machine->workers[k].rank;
            int meetings = 0;

            for (int op = p->begin[rank]; op < p->begin[rank + 1]; op++) {
                enum pp_stage_call_kind kind;

                meetings += pp_op_is_compute(p->kind[op]);
                if (pp_bind_kind(p->kind[op], &kind))
                    meetings += pp_stage_exchange_count(run.stages[p->stage[op]], kind);
            }
            cr_assert_eq(machine->workers[k].meets, meetings);
        }
        pp_machine_destroy(machine);
    }
}

/* Threads without a core sleep once an op, not once a meeting: the last one that comes runs it. */
Test(meetings, threads_without_a_core_sleep_once_an_op)
{
    for (int tp = 2; tp <= 4; tp *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_machine *machine;
        struct exec_run run;

        const int64_t sleeps = run_steps(
            arena, (struct exec_case){.shape.ranks = 1, .tp = tp, .cores = 1}, &run, &machine);
        const int64_t once_an_op = STEPS * (tp + 1) * (run.program->begin[1] + STARTS),
                      once_a_meeting = STEPS * (tp - 1) * machine->workers[0].meets;
        cr_assert_leq(sleeps, once_an_op, "T = %d: %lld sleeps", tp, (long long)sleeps);
        cr_assert_gt(once_a_meeting, 4 * once_an_op);
        pp_machine_destroy(machine);
    }
}
