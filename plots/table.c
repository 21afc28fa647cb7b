/* A CSV table with a header and any columns. */
#include "plots/table.h"

#include "core/cli/options.h"
#include "core/text/csv.h"
#include "core/text/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 4096 };
/* Sums and logarithms of plots would overflow beyond it. */
#define DRAWN_MAX 1e100

static enum pp_status check_header(const struct pp_table *table, int line, struct pp_error *err)
{
    if (table->column_count > COLUMNS_MAX)
        return pp_error_set(err, PP_EINVAL, "%s:%d: %d columns are too many (at most %d)",
                            table->name, line, table->column_count, (int)COLUMNS_MAX);
    for (int i = 0; i < table->column_count; i++) {
        if (!*table->columns[i])
            return pp_error_set(err, PP_EINVAL, "%s:%d: column %d has no name", table->name, line,
                                i + 1);
        for (int j = 0; j < i; j++)
            if (!strcmp(table->columns[i], table->columns[j]))
                return pp_error_set(err, PP_EINVAL, "%s:%d: columns %d and %d are both named %s",
                                    table->name, line, j + 1, i + 1, table->columns[i]);
    }
    return PP_OK;
}

static enum pp_status take_row(struct pp_table *table, const struct pp_csv_row *row,
                               struct pp_error *err)
{
    if (row->count != table->column_count)
        return pp_error_set(err, PP_EINVAL, "%s:%d: %d fields, but the header has %d", table->name,
                            row->line, row->count, table->column_count);
    table->cells[table->rows] = row->fields;
    table->lines[table->rows++] = row->line;
    return PP_OK;
}

enum pp_status pp_table_parse(struct pp_arena *arena, const char *name, const char *text,
                              size_t length, struct pp_table *table, struct pp_error *err)
{
    struct pp_csv csv;
    int header = 0;

    *table = (struct pp_table){.name = name};
    PP_TRY(pp_csv_parse(arena, name, text, length, &csv, NULL, err));
    while (header < csv.count && csv.rows[header].count == 0)
        header++;
    if (header == csv.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s: the file is empty: a line with the names of columns is expected",
                            name);
    table->columns = csv.rows[header].fields;
    table->column_count = csv.rows[header].count;
    table->cells = PP_ARRAY(arena, const char **, csv.count);
    table->lines = PP_ARRAY(arena, int, csv.count);
    PP_TRY(check_header(table, csv.rows[header].line, err));
    for (int i = header + 1; i < csv.count; i++)
        if (csv.rows[i].count > 0)
            PP_TRY(take_row(table, &csv.rows[i], err));
    return PP_OK;
}

enum pp_status pp_table_read(struct pp_arena *arena, const char *path, struct pp_table *table,
                             struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "<stdin>";
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_table_parse(arena, pp_arena_strdup(arena, name), text, length, table, err);
}

int pp_table_find(const struct pp_table *table, const char *column)
{
    for (int i = 0; i < table->column_count; i++)
        if (!strcmp(table->columns[i], column))
            return i;
    for (int i = 0; i < table->column_count; i++)
        if (pp_same_name(table->columns[i], column))
            return i;
    return -1;
}

bool pp_table_serves(const struct pp_table *table)
{
    const int mode = pp_table_find(table, "mode");

    return mode >= 0 && table->rows > 0 && !strcmp(table->cells[0][mode], "infer");
}

/* Column of a sweep that a usual word means; NULL if there is none. */
static const char *usual_name(const struct pp_table *table, const char *word)
{
    static const struct {
        const char *word, *column;
    } USUAL[] = {
        {"time", "iteration_s"},
        {"step", "iteration_s"},
        {"step_time", "iteration_s"},
        {"iteration", "iteration_s"},
        {"duration", "iteration_s"},
        {"mem", "peak_mem_bytes"},
        {"memory", "peak_mem_bytes"},
        {"peak", "peak_mem_bytes"},
        {"peak_memory", "peak_mem_bytes"},
        {"throughput", "tokens_per_s"},
        {"tokens", "tokens_per_s"},
        {"activations", "peak_activations"},
        {"closed_form", "closed_form_bubble_frac"},
        {"batch", "gbs"},
        {"batch_size", "gbs"},
        {"stages", "pp"},
        {"ranks", "pp"},
        {"chunks", "vp"},
        {"microbatches", "micro_batches"},
        {"devices", "gpus"},
    };

    for (size_t i = 0; i < PP_COUNT(USUAL); i++)
        if (pp_same_name(USUAL[i].word, word) && pp_table_find(table, USUAL[i].column) >= 0)
            return USUAL[i].column;
    return NULL;
}

enum pp_status pp_table_column(const struct pp_table *table, const char *option, const char *column,
                               int *index, struct pp_error *err)
{
    const char *names[COLUMNS_MAX + 1];

    *index = pp_table_find(table, column);
    if (*index >= 0)
        return PP_OK;
    memcpy(names, table->columns, sizeof(*names) * (size_t)table->column_count);
    names[table->column_count] = NULL;
    const char *near = usual_name(table, column);
    if (!near)
        near = pp_suggest(column, names);
    pp_error_set(err, PP_EINVAL, "%s: %s has no column \"%s\"", option, table->name, column);
    if (near)
        pp_error_append(err, "; did you mean %s?", near);
    pp_error_append(err, "\n  columns:");
    for (int i = 0; i < table->column_count; i++)
        pp_error_append(err, " %s", names[i]);
    return PP_EINVAL;
}

double pp_table_number(const struct pp_table *table, int row, int column, bool *is_number)
{
    const char *text = table->cells[row][column];
    bool ignored;
    char *end;

    is_number = is_number ? is_number : &ignored;
    *is_number = true;
    if (!*text)
        return (double)NAN;
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return *text == 't';
    const double value = strtod(text, &end);
    *is_number = !*end;
    if (!*is_number || !(fabs(value) <= DRAWN_MAX))
        return (double)NAN;
    return fabs(value) < 1 / DRAWN_MAX ? 0 : value;
}

void pp_table_add_ratio(struct pp_arena *arena, struct pp_table *table, const char *name, int above,
                        int below)
{
    const size_t old = (size_t)table->column_count, bytes = sizeof(*table->columns);
    bool is_a, is_b;

    table->columns = pp_arena_grow(arena, table->columns, old * bytes, (old + 1) * bytes);
    table->columns[old] = name;
    const char ***cells = PP_ARRAY(arena, const char **, table->rows);
    for (int i = 0; i < table->rows; i++) {
        const double ratio =
            pp_table_number(table, i, above, &is_a) / pp_table_number(table, i, below, &is_b);
        cells[i] = pp_arena_grow(arena, table->cells[i], old * bytes, (old + 1) * bytes);
        cells[i][old] =
            is_a && is_b && isfinite(ratio) ? pp_arena_printf(arena, "%.17g", ratio) : "";
    }
    table->cells = cells;
    table->column_count++;
}
