/* bench/sweep.c — points a second of a sweep, through the real command: starting, workers, rows and
 * the file are in it. Every point is a report without its trace: identical replicas folded, the
 * evaluator. Wall clock, so that it needs a quiet machine.
 *
 * Usage: bench_sweep PIPESIM */
#define _GNU_SOURCE /* mkdtemp */
#include "bench/bench.h"
#include "core/process/pool.h"
#include "core/quantile.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIALS = 5 };

/* The same 6 schedules and sizes of samples, recomputed or not. */
struct workload {
    const char *name, *ranks, *micro_batches, *tp, *zero; /* tp NULL: the tool chooses both */
    int points;
};
static const struct workload WORKLOADS[] = {
    {"pp 4..8, N 8..32", "4,8", "8:32:+8", "4", "0", 6 * 2 * 4 * 4 * 2},
    {"pp 4..16, N 16..64", "4:16:x2", "16:64:+16", "4", "0", 6 * 3 * 4 * 4 * 2},
    {"the same, tp and ZeRO open", "4:16:x2", "16:64:+16", NULL, NULL, 6 * 3 * 4 * 4 * 2},
};

static void run_sweep(const char *program, const struct workload *w, const char *jobs,
                      const char *path)
{
    /* clang-format off */
    const char *const arguments[] = {
        program, "sweep", "--schedule", "gpipe,1f1b,interleaved,zb-h1,zbv,chimera",
        "--model", "gpt-18b", "--cluster", "a100", "--gpus", "128", "--pp", w->ranks,
        "--micro-batches", w->micro_batches, "--mbs", "1:8:x2", "--recompute", "none",
        "--recompute", "full", "--engine", "dag", "--part", "all", "--jobs", jobs,
        "--output", path, "--fresh", w->tp ? "--tp" : NULL, w->tp, "--zero", w->zero, NULL};
    /* clang-format on */
    int state;
    const pid_t child = fork();

    if (child == 0) {
        const int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, STDERR_FILENO);
        execv(program, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &state, 0) != child || state != 0) {
        fprintf(stderr, "bench: error: %s sweep failed\n", program);
        exit(PP_EFAIL);
    }
}

/* Rows that have the text; every one of these points can be run. */
static int count_rows(const char *path, const char *text)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int count = 0;

    while (file && getline(&line, &room, file) > 0)
        count += strstr(line, text) != NULL;
    free(line);
    if (file)
        fclose(file);
    return count;
}

/* On one worker, then on two. */
static void print_workload(const char *program, const struct workload *w, const char *path)
{
    static const char *const JOBS[] = {"1", "2"};
    double rates[2];

    for (int i = 0; i < 2; i++) {
        double taken_s[TRIALS];
        for (int trial = 0; trial < TRIALS; trial++) {
            const double start_s = now_s();
            run_sweep(program, w, JOBS[i], path);
            taken_s[trial] = now_s() - start_s;
        }
        rates[i] = w->points / pp_median(taken_s, TRIALS);
    }
    printf("  %-27s  %6d  %8.0f  %9.0f  %7.0f %%\n", w->name, w->points, rates[0], rates[1],
           100 * rates[1] / rates[0] / 2);
    if (count_rows(path, ",ok,") != w->points)
        printf("  only %d of them ran\n", count_rows(path, ",ok,"));
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/pp-bench-sweep-XXXXXX", path[sizeof folder + 16];

    if (argc != 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_sweep PIPESIM\n");
        return PP_EINVAL;
    }
    snprintf(path, sizeof path, "%s/sweep.csv", folder);
    printf(
        "sweep: 6 schedules, gpt-18b on 128 A100, folded, dag; points/s, median of %d; %d cores\n",
        TRIALS, pp_pool_cores());
    printf("  points                       number  1 worker  2 workers  of linear\n");
    for (size_t i = 0; i < sizeof WORKLOADS / sizeof *WORKLOADS; i++)
        print_workload(argv[1], &WORKLOADS[i], path);
    unlink(path);
    rmdir(folder);
    return 0;
}
