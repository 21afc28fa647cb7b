/* Makes reports of rows of a sweep, for comparison. */
#include "sim/check/baseline.h"

#include "traces/metrics.h"

#include <math.h>
#include <string.h>

/* Columns of a sweep: point, inputs, figures, status and the rest. */
struct columns {
    const struct pp_table *table;
    int figures, status; /* first column of each */
    bool *varies;        /* [column] of the inputs */
};

static enum pp_status find_columns(struct pp_arena *arena, const struct pp_table *t,
                                   struct columns *c, struct pp_error *err)
{
    *c = (struct columns){.table = t,
                          .figures = pp_table_find(t, "iteration_s"),
                          .status = pp_table_find(t, "status"),
                          .varies = PP_ARRAY(arena, bool, t->column_count)};
    if (pp_table_find(t, "point") != 0 || c->figures < 0 || c->status < c->figures)
        return pp_error_set(err, PP_EINVAL,
                            "%s: expected what pipesim sweep writes: the columns point, ..., "
                            "iteration_s, ..., status",
                            t->name);
    for (int column = 1; column < c->figures; column++)
        for (int row = 1; row < t->rows; row++)
            c->varies[column] |= strcmp(t->cells[row][column], t->cells[0][column]) != 0;
    return PP_OK;
}

static bool is_time_part(const char *name)
{
    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (!strcmp(name, pp_time_part_names[i]))
            return true;
    return false;
}

/* true and false are answers, not numbers. */
static json_t *value_of(const struct pp_table *t, int row, int column)
{
    const char *text = t->cells[row][column];
    bool is_number;

    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return json_boolean(text[0] == 't');
    const double number = pp_table_number(t, row, column, &is_number);
    return !is_number ? json_string(text) : isnan(number) ? json_null() : json_real(number);
}

static json_t *row_json(struct pp_arena *arena, const struct columns *c, int row)
{
    const struct pp_table *t = c->table;
    const char *name = t->cells[row][0];
    json_t *run = json_object(), *time = json_object();

    for (int column = 1; column < c->figures; column++)
        if (c->varies[column])
            name = pp_arena_printf(arena, "%s %s", name, t->cells[row][column]);
    json_object_set_new(run, "schema", json_string("row"));
    json_object_set_new(run, "name", json_string(name));
    json_object_set_new(run, "ok", json_boolean(!strcmp(t->cells[row][c->status], "ok")));
    for (int column = c->figures; column < c->status; column++)
        json_object_set_new(is_time_part(t->columns[column]) ? time : run, t->columns[column],
                            value_of(t, row, column));
    json_object_set_new(run, "time_frac", time);
    return run;
}

static void release(void *json)
{
    json_decref(json);
}

enum pp_status pp_baseline_sweep(struct pp_arena *arena, const struct pp_table *table,
                                 json_t **rows, struct pp_error *err)
{
    struct columns columns;

    PP_TRY(find_columns(arena, table, &columns, err));
    json_t *runs = json_array();
    for (int row = 0; row < table->rows; row++)
        json_array_append_new(runs, row_json(arena, &columns, row));
    *rows = json_pack("{so}", "runs", runs);
    pp_arena_defer(arena, release, *rows);
    return PP_OK;
}
