/* The drawn rows of a table, and notes on the others. */
#include "plots/curves/chart.h"

#include "core/cli/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_SHOWN = 12 };

struct condition {
    int column;
    const char *text, *values; /* as typed; text after its '=' */
};

/* ---- columns over the rows ------------------------------------------------------------------- */

bool pp_chart_is_numeric(const struct pp_chart *chart, int column)
{
    int numbers = 0;

    for (int i = 0; i < chart->row_count; i++) {
        bool is_number;
        numbers += !isnan(pp_table_number(&chart->table, chart->rows[i], column, &is_number));
        if (!is_number)
            return false;
    }
    return numbers > 0;
}

bool pp_chart_varies(const struct pp_chart *chart, int column)
{
    for (int i = 1; i < chart->row_count; i++)
        if (strcmp(pp_chart_cell(chart, chart->rows[i], column),
                   pp_chart_cell(chart, chart->rows[0], column)) != 0)
            return true;
    return false;
}

const char *pp_chart_values_text(const struct pp_chart *chart, int column, const int *rows,
                                 int count)
{
    const char *seen[VALUES_SHOWN], *text = "";
    int shown = 0;

    for (int i = 0; i < count; i++) {
        const char *value = pp_chart_cell(chart, rows[i], column);
        int k = 0;
        while (k < shown && strcmp(seen[k], value) != 0)
            k++;
        if (k < shown)
            continue;
        if (shown == VALUES_SHOWN)
            return pp_arena_printf(chart->arena, "%s, ...", text);
        seen[shown] = value;
        text = pp_arena_printf(chart->arena, "%s%s%s", text, shown++ ? ", " : "",
                               *value ? value : "(empty)");
    }
    return text;
}

/* ---- --where --------------------------------------------------------------------------------- */

static bool is_same_value(const char *a, const char *b)
{
    char *end_a, *end_b;

    if (pp_same_name(a, b))
        return true;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);
    return *a && *b && !*end_a && !*end_b && !(x < y) && !(x > y);
}

/* Is true if the cell equals one of "4,8,16", or the whole text. */
static bool is_among(struct pp_arena *arena, const char *cell, const char *values)
{
    if (is_same_value(cell, values))
        return true;
    char *list = pp_arena_strdup(arena, values);
    for (char *value; (value = strsep(&list, ","));)
        if (is_same_value(cell, value))
            return true;
    return false;
}

static enum pp_status read_condition(const struct pp_chart *chart, const char *text,
                                     struct condition *condition, struct pp_error *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text)
        return pp_error_set(err, PP_EINVAL, "--where %s: COLUMN=VALUE is expected, such as pp=8",
                            text);
    if (equals[1] == '=')
        return pp_error_set(err, PP_EINVAL, "--where takes %.*s=%s", (int)(equals - text), text,
                            equals + 2);
    condition->text = text;
    condition->values = equals + 1;
    return pp_table_column(&chart->table, "--where",
                           pp_arena_printf(chart->arena, "%.*s", (int)(equals - text), text),
                           &condition->column, err);
}

/* Is true if the row meets one condition of every column that has conditions. */
static bool meets(const struct pp_chart *chart, int row, const struct condition *conditions,
                  int count)
{
    for (int i = 0; i < count; i++) {
        bool is_met = false;
        for (int j = 0; j < count && !is_met; j++)
            is_met = conditions[j].column == conditions[i].column &&
                     is_among(chart->arena, pp_chart_cell(chart, row, conditions[j].column),
                              conditions[j].values);
        if (!is_met)
            return false;
    }
    return true;
}

static enum pp_status keep_where(struct pp_chart *chart, struct pp_error *err)
{
    const int count = chart->curves->where_count;
    struct condition *conditions = PP_ARRAY(chart->arena, struct condition, count);

    for (int i = 0; i < count; i++) {
        int left = 0;
        PP_TRY(read_condition(chart, chart->curves->where[i], &conditions[i], err));
        for (int k = 0; k < chart->row_count && !left; k++)
            left = meets(chart, chart->rows[k], &conditions[i], 1);
        if (!left)
            return pp_error_set(
                err, PP_EINVAL, "--where %s: no row of %s has that; %s is %s", conditions[i].text,
                chart->table.name, chart->table.columns[conditions[i].column],
                pp_chart_values_text(chart, conditions[i].column, chart->rows, chart->row_count));
    }
    int kept = 0;
    for (int i = 0; i < chart->row_count; i++)
        if (meets(chart, chart->rows[i], conditions, count))
            chart->rows[kept++] = chart->rows[i];
    chart->row_count = kept;
    if (kept > 0)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "no row of %s meets all of", chart->table.name);
    for (int i = 0; i < count; i++)
        pp_error_append(err, " --where %s", conditions[i].text);
    return PP_EINVAL;
}

/* ---- status ---------------------------------------------------------------------------------- */

static enum pp_status keep_ok(struct pp_chart *chart, struct pp_error *err)
{
    const struct pp_table *table = &chart->table;
    const int status = pp_table_find(table, "status"), reason = pp_table_find(table, "reason");
    int kept = 0, first = -1;

    if (status < 0)
        return PP_OK;
    for (int i = 0; i < chart->row_count; i++) {
        const char *text = pp_chart_cell(chart, chart->rows[i], status);
        if (!*text || !strcmp(text, "ok") || !strcmp(text, "fits")) /* of a sweep; of a plan */
            chart->rows[kept++] = chart->rows[i];
        else if (first < 0)
            first = chart->rows[i];
    }
    const int left_out = chart->row_count - kept;
    chart->row_count = kept;
    if (left_out == 0)
        return PP_OK;
    const char *why =
        pp_arena_printf(chart->arena, "%s:%d %s%s%.160s", table->name, table->lines[first],
                        pp_chart_cell(chart, first, status), reason < 0 ? "" : ": ",
                        reason < 0 ? "" : pp_chart_cell(chart, first, reason));
    if (kept == 0)
        return pp_error_set(err, PP_EINVAL, "nothing to draw: no row of %s is ok, the first: %s",
                            table->name, why);
    if (chart->notes)
        fprintf(chart->notes, "note: left out %d of %d rows%s: %s\n", left_out, left_out + kept,
                left_out > 1 ? ", the first" : "", why);
    return PP_OK;
}

enum pp_status pp_chart_select(struct pp_chart *chart, struct pp_error *err)
{
    const struct pp_table *table = &chart->table;

    if (table->rows == 0)
        return pp_error_set(err, PP_EINVAL, "%s has a header but no rows: nothing to draw",
                            table->name);
    chart->rows = PP_ARRAY(chart->arena, int, table->rows);
    chart->row_count = table->rows;
    for (int i = 0; i < table->rows; i++)
        chart->rows[i] = i;
    PP_TRY(keep_where(chart, err));
    return keep_ok(chart, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool has_value(const struct pp_chart *chart, int row, int column)
{
    return chart->is_categorical && column == chart->x
               ? *pp_chart_cell(chart, row, column) != '\0'
               : !isnan(pp_table_number(&chart->table, row, column, NULL));
}

enum pp_status pp_chart_need_values(struct pp_chart *chart, struct pp_error *err)
{
    const int columns[] = {chart->x, chart->y};
    const bool is_abstract = pp_chart_is_abstract(chart);
    const int status = pp_table_find(&chart->table, "status");

    for (int c = 0; c < 2; c++) {
        const int before = chart->row_count;
        const char *name = chart->table.columns[columns[c]];
        int kept = 0;
        for (int i = 0; i < before; i++)
            if (has_value(chart, chart->rows[i], columns[c]))
                chart->rows[kept++] = chart->rows[i];
        chart->row_count = kept;
        if (kept == 0)
            return pp_error_set(err, PP_EINVAL, "nothing to draw: %s is empty in all rows of %s%s",
                                name, chart->table.name,
                                is_abstract && columns[c] < status
                                    ? " (a sweep with --unit has no such figures)"
                                    : "");
        if (kept < before && chart->notes)
            fprintf(chart->notes, "note: left out %d of %d rows without %s\n", before - kept,
                    before, name);
    }
    return PP_OK;
}
