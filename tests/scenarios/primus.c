/* Schedules of AMD Primus on one job: speeds and memory over those of 1F1B. The page states no
 * batch, so only ratios are compared. */
#include "core/arena.h"
#include "core/text/csv.h"
#include "core/text/file.h"
#include "tests/scenarios/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE, DEVICE, PP, VP, ALGORITHM, SCHEDULE, SPEED, TFLOPS, MEMORY, COLUMNS };

struct job {
    const char *name, *title;
    int micro_batches;
    double f, i, w; /* flops of a layer, forward = 10 */
};

struct relative { /* to 1F1B */
    double speed, memory;
};

static struct relative ours_of(const struct job *job, const char **row)
{
    const bool has_vp = !strcmp(row[SCHEDULE], "interleaved");
    const bool has_two = row[SCHEDULE][0] == 'v' || !strcmp(row[SCHEDULE], "zbv");
    const double chunks = has_vp ? atof(row[VP]) : has_two ? 2 : 1;
    const struct figures f =
        scenario_run("--schedule %s%s%s --pp %s --micro-batches %d --unit F=%.9g,I=%.9g,W=%.9g",
                     row[SCHEDULE], has_vp ? " --vp " : "", has_vp ? row[VP] : "", row[PP],
                     job->micro_batches, job->f / chunks, job->i / chunks, job->w / chunks);

    return (struct relative){1 / f.iteration_s, f.peak_micro_batches};
}

static void compare(const struct job *job)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *path = PP_TESTS_DIR "/data/primus_schedules.csv";
    struct relative first = {0, 0};
    const char **base = NULL;
    struct pp_csv csv;
    struct pp_error err;
    char *text;
    size_t length;
    double worst = 0;
    bool are_same_side = true;

    if (pp_file_read(arena, path, &text, &length, &err) != PP_OK ||
        pp_csv_parse(arena, path, text, length, &csv, NULL, &err) != PP_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    printf("%s: %d micro-batches, F : I : W = %g : %g : %g\n\n", job->title, job->micro_batches,
           job->f, job->i, job->w);
    puts("                      speed                    memory   activations");
    puts("schedule     VP   published   ours      %   published          ours");
    for (int k = 1; k < csv.count; k++) {
        const char **row = csv.rows[k].fields;
        if (csv.rows[k].count < COLUMNS || strcmp(row[TABLE], job->name) || !*row[SPEED])
            continue;
        const struct relative now = ours_of(job, row);
        if (!base)
            base = row, first = now;
        const double published = atof(row[SPEED]) / atof(base[SPEED]);
        const double ours = now.speed / first.speed, error = ours / published - 1;
        printf("%-13s%2s %11.3f%7.3f%7.1f %11.2f%14.2f\n", row[SCHEDULE], row[VP], published, ours,
               100 * error, atof(row[MEMORY]) / atof(base[MEMORY]), now.memory / first.memory);
        if (strcmp(row[SCHEDULE], "v-min"))
            worst = fmax(worst, fabs(error));
        are_same_side &= (published > 1) == (ours > 1);
    }
    putchar('\n');
    scenario_assert(are_same_side, "the same schedules are faster than 1F1B");
    scenario_assert(worst <= 0.04, "every speed but that of v-min within 4 %%; worst %.1f %%",
                    100 * worst);
}

static void llama(void)
{
    compare(&(struct job){"llama", "Llama2-7B, 16 layers, 8 MI300", 32, 10, 11.4, 8.6});
}

static void qwen(void)
{
    compare(&(struct job){"qwen", "Qwen3-235B, 32 MI355", 24, 10, 12.3, 7.7});
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {{"llama", llama}, {"qwen", qwen}, {0}};

    return scenario_main(argc, argv, sections);
}
