/* Zero-bubble schedules: published throughput from the times of a stage and the row of 1F1B.
 * Source: Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024. */
#include "core/arena.h"
#include "core/text/csv.h"
#include "core/text/file.h"
#include "tests/scenarios/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE, MODEL, PP, LAYERS, MICRO_BATCHES, MBS, TF, TI, TW, TC, FIRST_RATE };
enum { PLAIN, INTERLEAVED, ZB_1P, ZB_2P, SCHEDULES };

/* Peak memory of ZB-2p, less the state, is 2.15 to 2.3 times that of 1F1B's p micro-batches (Table
 * 4). Its delayed weight gradients hold less than a whole micro-batch. */
#define ZB_2P_ACTIVATIONS 2.25

struct row {
    const char *model;
    int pp, layers, micro_batches, mbs;
    double f, i, w, c;      /* ms */
    double rate[SCHEDULES]; /* samples per GPU and second, 0 = not published */
};

static struct row row_of(const char **field)
{
    struct row row = {.model = field[MODEL] + strlen("GPT "),
                      .pp = atoi(field[PP]),
                      .layers = atoi(field[LAYERS]),
                      .micro_batches = atoi(field[MICRO_BATCHES]),
                      .mbs = atoi(field[MBS]),
                      .f = atof(field[TF]),
                      .i = atof(field[TI]),
                      .w = atof(field[TW]),
                      .c = atof(field[TC])};

    for (int s = 0; s < SCHEDULES; s++)
        row.rate[s] = atof(field[FIRST_RATE + s]);
    return row;
}

static double published_ms(const struct row *row, int schedule)
{
    return 1e3 * row->micro_batches * row->mbs / row->pp / row->rate[schedule];
}

/* The step of the schedule alone, ms. */
static double simulated_ms(const struct row *row, int schedule)
{
    const double v = row->layers, activations = schedule == ZB_1P ? 1 : ZB_2P_ACTIVATIONS;

    if (schedule == PLAIN)
        return scenario_run("--schedule 1f1b --pp %d --micro-batches %d --unit "
                            "F=%.9g,I=%.9g,W=%.9g,C=%.9g",
                            row->pp, row->micro_batches, row->f, row->i, row->w, row->c)
            .iteration_s;
    if (schedule == INTERLEAVED) /* a message is part of the op that it follows */
        return scenario_run("--schedule interleaved --pp %d --vp %d --micro-batches %d --unit "
                            "F=%.9g,I=%.9g,W=%.9g",
                            row->pp, row->layers, row->micro_batches, row->f / v + row->c,
                            row->i / v + row->c, row->w / v)
            .iteration_s;
    return scenario_run("--schedule zb-auto --max-activations %d --pp %d --micro-batches %d --unit "
                        "F=%.9g,I=%.9g,W=%.9g,C=%.9g --steps 4 --step-barrier off",
                        (int)(activations * row->pp), row->pp, row->micro_batches, row->f, row->i,
                        row->w, row->c)
        .iteration_s;
}

/* Prints a row; the largest error of it. */
static double predict(const struct row *row)
{
    const double rest_ms = published_ms(row, PLAIN) - simulated_ms(row, PLAIN);
    double worst = 0;

    printf("%-6s%3d%5d%4d %9.1f%8.1f", row->model, row->pp, row->micro_batches, row->mbs,
           published_ms(row, PLAIN), rest_ms);
    for (int s = INTERLEAVED; s < SCHEDULES; s++) {
        if (row->rate[s] == 0) {
            printf("%15s", "-");
            continue;
        }
        const double ours_ms = simulated_ms(row, s) + rest_ms,
                     error = ours_ms / published_ms(row, s) - 1;
        printf("%9.1f%6.1f", ours_ms, 100 * error);
        worst = fmax(worst, fabs(error));
    }
    putchar('\n');
    return worst;
}

static void table(const char *name, const char *title)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *path = PP_TESTS_DIR "/data/zero_bubble_throughput.csv";
    struct pp_csv csv;
    struct pp_error err;
    char *text;
    size_t length;
    double worst = 0;

    if (pp_file_read(arena, path, &text, &length, &err) != PP_OK ||
        pp_csv_parse(arena, path, text, length, &csv, NULL, &err) != PP_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    puts(title);
    puts("\n                     1F1B ms           1F1B-I         ZB-1p          ZB-2p");
    puts("model  p    m   b  published    rest       ms     %       ms     %       ms     %");
    for (int k = 1; k < csv.count; k++)
        if (csv.rows[k].count > ZB_2P && !strcmp(csv.rows[k].fields[TABLE], name)) {
            const struct row row = row_of(csv.rows[k].fields);
            worst = fmax(worst, predict(&row));
        }
    putchar('\n');
    scenario_assert(worst <= 0.04, "every step within 4 %% of the published one; worst %.1f %%",
                    100 * worst);
}

static void many(void)
{
    table("many", "many micro-batches (table 4)");
}

static void twice(void)
{
    table("double", "micro-batches of twice the samples, stage times doubled (appendix F)");
}

static void few(void)
{
    table("few", "at most as many micro-batches as ranks (appendix H)");
}

int main(int argc, char **argv)
{
    static const struct section sections[] = {{"many", many}, {"double", twice}, {"few", few}, {0}};

    return scenario_main(argc, argv, sections);
}
