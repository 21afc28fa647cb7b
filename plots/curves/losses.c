/* Losses of a training's log, a row for each point of a curve. */
#include "plots/plot.h"

const char pp_losses_by[] = "data";

enum { STEP, LOSS, DATA, COLUMNS };

/* Adds the rows of a log that have a value in the column. */
static void add(struct pp_arena *arena, const struct pp_table *log, const int from[2],
                const char *data, struct pp_table *losses)
{
    for (int row = 0; row < log->rows; row++) {
        if (!*log->cells[row][from[LOSS]])
            continue;
        const char **cells = PP_ARRAY(arena, const char *, COLUMNS);
        cells[STEP] = log->cells[row][from[STEP]];
        cells[LOSS] = log->cells[row][from[LOSS]];
        cells[DATA] = data;
        losses->lines[losses->rows] = log->lines[row];
        losses->cells[losses->rows++] = cells;
    }
}

enum pp_status pp_plot_losses(struct pp_arena *arena, const struct pp_table *log,
                              struct pp_table *losses, struct pp_error *err)
{
    static const char *const NAMES[COLUMNS] = {"step", "loss", pp_losses_by};
    static const char *const CURVES[][2] = {{"loss", "training"}, {"valid_loss", "validation"}};
    const int most = (int)PP_COUNT(CURVES) * log->rows;
    const char **columns = PP_ARRAY(arena, const char *, COLUMNS);

    for (int c = 0; c < COLUMNS; c++)
        columns[c] = NAMES[c];
    *losses = (struct pp_table){.name = log->name,
                                .columns = columns,
                                .column_count = COLUMNS,
                                .cells = PP_ARRAY(arena, const char **, most + 1),
                                .lines = PP_ARRAY(arena, int, most + 1)};
    for (size_t i = 0; i < PP_COUNT(CURVES); i++) {
        int from[2];
        PP_TRY(pp_table_column(log, "--kind loss", "step", &from[STEP], err));
        PP_TRY(pp_table_column(log, "--kind loss", CURVES[i][0], &from[LOSS], err));
        add(arena, log, from, CURVES[i][1], losses);
    }
    return PP_OK;
}
