/* bench/sweep.c — points a second of a sweep, through the real command: starting, workers, rows and
 * the file are in it. Every point is a report without its trace: identical replicas folded, the
 * evaluator. Wall clock, so that it needs a quiet machine.
 *
 * Usage: bench_sweep PIPESIM */
#define _GNU_SOURCE /* mkdtemp */
#include "bench/bench.h"
#include "core/pool.h"
#include "core/quantile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIALS = 5 };

/* 6 schedules x pp 4, 8, 16 x 4 numbers of micro-batches x 4 sizes x 2. */
static const int POINTS = 6 * 3 * 4 * 4 * 2;

static void run_sweep(const char *program, const char *jobs, const char *path)
{
    /* clang-format off */
    char *const arguments[] = {
        (char *)program, "sweep", "--schedule", "gpipe,1f1b,interleaved,zb-h1,zbv,chimera",
        "--model", "gpt-18b", "--cluster", "a100", "--gpus", "128", "--pp", "4:16:x2",
        "--micro-batches", "16:64:+16", "--mbs", "1:8:x2", "--recompute", "none",
        "--recompute", "full", "--engine", "dag", "--part", "all", "--jobs", (char *)jobs,
        "--output", (char *)path, "--fresh", NULL};
    /* clang-format on */
    int state;
    const pid_t child = fork();

    if (child == 0) {
        const int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, STDERR_FILENO);
        execv(program, arguments);
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

int main(int argc, char **argv)
{
    char folder[] = "/tmp/pp-bench-sweep-XXXXXX", path[sizeof folder + 16];
    const char *const jobs[] = {"1", "2"};
    double single = 0;

    if (argc != 2 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_sweep PIPESIM\n");
        return PP_EINVAL;
    }
    snprintf(path, sizeof path, "%s/sweep.csv", folder);
    printf("sweep of %d points: 6 schedules, gpt-18b on 128 A100, median of %d; %d cores\n", POINTS,
           TRIALS, pp_pool_cores());
    printf("  workers       s   points/s   of linear\n");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        double taken_s[TRIALS];

        for (int trial = 0; trial < TRIALS; trial++) {
            const double start_s = now_s();
            run_sweep(argv[1], jobs[i], path);
            taken_s[trial] = now_s() - start_s;
        }
        const double rate = POINTS / pp_median(taken_s, TRIALS);
        if (i == 0)
            single = rate;
        printf("  %7s  %6.3f   %8.0f   %7.0f %%\n", jobs[i], POINTS / rate, rate,
               100 * rate / (single * atoi(jobs[i])));
    }
    printf("  rows that ran: %d of %d\n", count_rows(path, ",ok,"), POINTS);
    unlink(path);
    rmdir(folder);
    return 0;
}
