/* A table with a row for each rank, in as many columns as the terminal has room for. */
#include "exec/report/report.h"

#include <math.h>

#define MIB (1024.0 * 1024.0)
enum { MAX_RANK_ROWS = 16, NUMBER = 6, MARK = 2 };

enum { BUSY, IDLE, MEMORY, TOUCHED, STATE, ACTIVATIONS, CHUNKS, COLUMN_COUNT };
static const struct {
    const char *title;
    int width;
    int place; /* columns with the highest place are left out first */
} COLUMNS[COLUMN_COUNT] = {
    [BUSY] = {"busy", 11, 0},       [IDLE] = {"idle", 10, 1},  [MEMORY] = {"memory MiB", 13, 2},
    [TOUCHED] = {"touched", 10, 3}, [STATE] = {"state", 9, 5}, [ACTIVATIONS] = {"activ.", 10, 6},
    [CHUNKS] = {"chunks", 8, 4},
};

/* Returns the bytes of a column of sizes. */
static double bytes_of(const struct pp_training_result *r, int rank, int column)
{
    const struct pp_rank_layout *l = &r->layout[rank];

    return column == MEMORY    ? (double)l->peak_bytes
           : column == TOUCHED ? r->touched_bytes[rank]
           : column == STATE   ? (double)(l->params_bytes + l->grads_bytes + l->optimizer_bytes)
                               : (double)l->activations_bytes;
}

static void print_cell(const struct pp_training_result *r, int rank, int column,
                       char text[PP_UNITS_TEXT_BYTES])
{
    const struct pp_rank_times *times = &r->metrics.ranks[rank];

    if (column == BUSY)
        pp_exec_seconds(times->busy_s, text);
    else if (column == IDLE)
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.1f %%",
                 100 * times->idle_s / (times->busy_s + times->idle_s));
    else if (column == CHUNKS)
        snprintf(text, PP_UNITS_TEXT_BYTES, "%g", r->lifetimes[rank].peak_activations);
    else if (isfinite(bytes_of(r, rank, column)))
        snprintf(text, PP_UNITS_TEXT_BYTES, "%.2f", bytes_of(r, rank, column) / MIB);
    else
        snprintf(text, PP_UNITS_TEXT_BYTES, "-");
}

/* Returns the number of columns that fit; those whose place is below it are shown. */
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
        print_cell(r, rank, c, text);
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
