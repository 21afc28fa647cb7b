/* bench/plan.c — CPU time to evaluate one plan: costs, program, lowering, longest path and peak
 * memory, replicas folded; options are read and resolved before. And to predict published rows.
 * The shortest of many runs.
 *
 * In the column "new" the program is built; in "known" it is that of an earlier plan. Searches and
 * sweeps try a program under many costs. A program of "proved" is known, too, and has buffers and a
 * proof; its run gives all figures of a report.
 *
 * Usage: bench_plan PIPESIM TABLE.csv... */
#include "bench/bench.h"
#include "tests/unit/support/sim_run.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 300 };

static const struct {
    const char *name, *line;
} PLANS[] = {
    {"1f1b pp 4, N 16", "--schedule 1f1b --pp 4 --micro-batches 16 --zero 0"},
    {"1f1b pp 8, N 32", "--schedule 1f1b --pp 8 --micro-batches 32 --zero 0"},
    {"1f1b pp 8, N 64", "--schedule 1f1b --pp 8 --micro-batches 64 --zero 0"},
    {"interleaved pp 8, N 32", "--schedule interleaved --pp 8 --vp 2 --micro-batches 32 --zero 0"},
    {"1f1b pp 8, N 32, ZeRO 3", "--schedule 1f1b --pp 8 --micro-batches 32 --zero 3"},
    {"pp 1, N 8, ZeRO 3", "--schedule 1f1b --pp 1 --micro-batches 8 --zero 3"},
};

/* Returns the shortest run; `programs` NULL: all is made anew. */
static double run_s(const struct pp_config *config, enum pp_depth depth,
                    struct pp_known_programs *programs)
{
    double best_s = 1e9;

    for (int run = 0; run < RUNS; run++) {
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        struct pp_prepared prepared = {.programs = programs};
        struct pp_result result;
        struct pp_error err;
        const double start_s = cpu_s();
        must(pp_simulate(scratch, config, depth, &prepared, &result, &err), &err);
        const double taken_s = cpu_s() - start_s;
        best_s = taken_s < best_s ? taken_s : best_s;
    }
    return best_s;
}

static void bench_plan(size_t k)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *line =
        pp_arena_printf(arena,
                        "%s --model gpt-18b --cluster a100 --gpus 128 --tp 4 --mbs 1 "
                        "--recompute none --engine dag",
                        PLANS[k].line);
    struct pp_known_programs known = {0};
    struct pp_result result;
    struct pp_error err;

    must(sim_run_at(arena, line, PP_QUICK, &result, &err), &err);
    printf("%-26s %8d %8.1f %8.1f %8.1f\n", PLANS[k].name, pp_program_size(result.program),
           1e6 * run_s(&result.config, PP_QUICK, NULL),
           1e6 * run_s(&result.config, PP_QUICK, &known),
           1e6 * run_s(&result.config, PP_PROVED, &known));
    pp_known_programs_drop(&known);
}

/* User time of the command over the tables. */
static double validate_s(char **argv, int count)
{
    struct rusage before, after;
    int state;

    getrusage(RUSAGE_CHILDREN, &before);
    fflush(stdout); /* else the child prints it, too */
    const pid_t child = fork();
    if (child == 0) {
        char *words[16] = {argv[1], (char[]){"validate"}};
        for (int i = 2; i < count && i < 15; i++)
            words[i] = argv[i];
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        execv(argv[1], words);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &state, 0) != child || state != 0) {
        fprintf(stderr, "bench: error: %s validate failed\n", argv[1]);
        exit(PP_EFAIL);
    }
    getrusage(RUSAGE_CHILDREN, &after);
    return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

int main(int argc, char **argv)
{
    printf("%-26s %8s %8s %8s %8s\n", "one plan", "instr.", "new us", "known us", "proved us");
    for (size_t k = 0; k < sizeof(PLANS) / sizeof(*PLANS); k++)
        bench_plan(k);
    if (argc > 2)
        printf("validate, all tables: %.2f s of one core\n", validate_s(argv, argc));
    return 0;
}
