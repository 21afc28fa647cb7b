/* bench/tp.c — what tensor parallelism costs on the CPU: T workers of one rank against one worker,
 * with the same work. CPU time is that of all threads. It includes norms, embedding and head, which
 * every worker runs, and smaller multiplications. `outside` is the share outside of ops and
 * exchanges: threads that wait for each other, messages, loss and norm. The wall clock is best when
 * every worker has a core. Each figure is of the best of many steps. */
#include "bench/bench.h"
#include "core/process/pool.h"
#include "tests/exec/run.h"

#include <math.h>

struct best {
    double cpu_s, wall_s, outside_frac;
};

static struct best best_of(struct exec_case c, int tp, int cores)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct best best = {INFINITY, INFINITY, 0};
    struct pp_step_result result;
    struct pp_machine *machine;
    struct pp_error err = {0};
    struct exec_run run;

    c.tp = tp;
    c.cores = cores;
    must(exec_run_make(arena, &c, &run, &err), &err);
    run.training.machine.kernels = pp_kernels_fp32(false);
    must(pp_machine_create(arena, &run.training.machine, &machine, &err), &err);
    for (int step = 0; step < 10; step++) {
        must(pp_machine_step(machine, &run.training.text, step, &result, &err), &err);
        best.wall_s = fmin(best.wall_s, result.wall_s);
        if (result.cpu_s < best.cpu_s) {
            best.cpu_s = result.cpu_s;
            best.outside_frac = result.outside_s / result.cpu_s;
        }
    }
    pp_machine_destroy(machine);
    return best;
}

int main(void)
{
    static const struct exec_case cases[] = {
        {.hidden = 128, .heads = 4, .seq = 64, .mbs = 2},
        {.hidden = 256, .heads = 8, .seq = 64, .mbs = 2},
        {.hidden = 256, .heads = 8, .seq = 64, .mbs = 2, .shape.ranks = 2},
    };

    printf("8 layers, 4 micro-batches of 2, vocabulary 256; %d cores\n"
           "  hidden  seq  ranks  T  cores   outside   CPU time / T = 1   wall clock x T / T = 1\n",
           pp_pool_cores());
    for (size_t i = 0; i < 2 * PP_COUNT(cases); i++) {
        struct exec_case c = cases[i / 2];
        const int cores = i % 2 ? 1 : pp_pool_cores();

        c.schedule = "1f1b";
        c.shape.ranks = c.shape.ranks ? c.shape.ranks : 1;
        c.shape.micro_batches = 4;
        c.replicas = c.steps = 1;
        c.vocab = 256;
        const struct best one = best_of(c, 1, cores);
        for (int tp = 1; tp <= 4; tp *= 2) {
            const struct best best = tp == 1 ? one : best_of(c, tp, cores);
            printf("  %6d %4d %6d %2d %6d  %6.2f %%  %17.3f   %22.3f\n", c.hidden, c.seq,
                   c.shape.ranks, tp, cores, 100 * best.outside_frac, best.cpu_s / one.cpu_s,
                   best.wall_s * tp / one.wall_s);
        }
    }
    return 0;
}
