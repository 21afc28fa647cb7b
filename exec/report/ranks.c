/* A table with a row for each rank, in as many columns as the terminal has room for. */
#include "exec/report/report.h"

#include "core/units.h"

#include <math.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)
enum { MAX_RANK_ROWS = 16, NUMBER = 6, MARK = 2 };

static void print_mebibytes(double bytes, char text[PP_UNITS_TEXT_BYTES])
{
    if (isfinite(bytes))
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.2f", bytes / MIB);
    else
        strcpy(text, "-");
}

static void print_busy(const struct pp_training_result *r, int rank, char *text)
{
    pp_units_print(r->metrics.ranks[rank].busy_s, PP_UNIT_SECONDS, text);
}

static void print_idle(const struct pp_training_result *r, int rank, char *text)
{
    const struct pp_rank_times *times = &r->metrics.ranks[rank];

    snprintf(text, PP_UNITS_TEXT_BYTES, "%.1f %%",
             100 * times->idle_s / (times->busy_s + times->idle_s));
}

static void print_memory(const struct pp_training_result *r, int rank, char *text)
{
    print_mebibytes((double)r->layout[rank].peak_bytes, text);
}

static void print_touched(const struct pp_training_result *r, int rank, char *text)
{
    print_mebibytes(r->touched_bytes[rank], text);
}

static void print_state(const struct pp_training_result *r, int rank, char *text)
{
    const struct pp_rank_layout *l = &r->layout[rank];

    print_mebibytes((double)(l->params_bytes + l->grads_bytes + l->optimizer_bytes), text);
}

static void print_activations(const struct pp_training_result *r, int rank, char *text)
{
    print_mebibytes((double)r->layout[rank].activations_bytes, text);
}

static void print_count(const struct pp_training_result *r, int rank, char *text)
{
    snprintf(text, PP_UNITS_TEXT_BYTES, "%g", r->lifetimes[rank].peak_activations);
}

static const struct column {
    const char *title;
    int width;
    int place; /* the less, the longer it stays when columns must go */
    void (*print)(const struct pp_training_result *r, int rank, char text[PP_UNITS_TEXT_BYTES]);
} COLUMNS[] = {
    {"busy", 11, 0, print_busy},         {"idle", 10, 1, print_idle},
    {"memory MiB", 13, 2, print_memory}, {"touched", 10, 3, print_touched},
    {"state", 9, 5, print_state},        {"activ.", 10, 6, print_activations},
    {"chunks", 8, 4, print_count},
};
enum { COLUMN_COUNT = PP_COUNT(COLUMNS) };

/* Columns whose place is below this are shown. */
static int fitting(int width)
{
    int used = NUMBER + MARK, shown = 0;

    for (; shown < COLUMN_COUNT; shown++) {
        int next = 0;
        while (COLUMNS[next].place != shown)
            next++;
        used += COLUMNS[next].width;
        if (used > width)
            break;
    }
    return shown;
}

static void print_rank(const struct pp_exec_page *page, const struct pp_training_result *r,
                       int rank, int shown)
{
    char text[PP_UNITS_TEXT_BYTES];

    fprintf(page->out, "%*d", NUMBER, rank);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        COLUMNS[c].print(r, rank, text);
        if (COLUMNS[c].place < shown)
            fprintf(page->out, "%*s", COLUMNS[c].width, text);
    }
    fputs(rank == r->peak_rank ? " <\n" : "\n", page->out);
}

void pp_exec_report_ranks(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const int ranks = run->plan.program->ranks, shown = fitting(page->terminal.width);
    const int worst = run->result.peak_rank;

    fprintf(page->out, "%*s", NUMBER, "rank");
    for (int c = 0; c < COLUMN_COUNT; c++)
        if (COLUMNS[c].place < shown)
            fprintf(page->out, "%*s", COLUMNS[c].width, COLUMNS[c].title);
    fputc('\n', page->out);
    for (int rank = 0; rank < ranks; rank++) {
        if (ranks <= MAX_RANK_ROWS || rank < 4 || rank >= ranks - 4 || rank == worst)
            print_rank(page, &run->result, rank, shown);
        else if (rank == 4)
            fprintf(page->out, "   ...\n");
    }
}
