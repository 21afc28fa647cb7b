/* A row of a sweep as a JSON object on one line. */
#include "core/lines.h"
#include "core/text/csv.h"
#include "core/text/json_write.h"
#include "sim/sweep/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Columns whose values are texts even if they look like numbers. */
static const char *const TEXTS[] = {"schedule", "engine", "model", "cluster",
                                    "status",   "reason", "key",   NULL};

/* Returns the value of a cell: null if it is empty, a number if it is one, else the text. */
static json_t *value_of(const char *column, const char *cell)
{
    char *end;

    if (!*cell)
        return json_null();
    if (!strcmp(column, "fits") || !strcmp(column, "tight"))
        return json_boolean(!strcmp(cell, "true"));
    const double number = strtod(cell, &end);
    const bool is_number = !*end && (isdigit((unsigned char)*cell) || *cell == '-');
    if (!is_number || pp_is_one_of(column, TEXTS))
        return pp_json_text(cell);
    return strspn(cell, "-0123456789") == strlen(cell) ? json_integer(strtoll(cell, NULL, 10))
                                                       : pp_json_real(number);
}

static bool read_row(struct pp_arena *arena, struct pp_sweep_text text, struct pp_csv *csv)
{
    return pp_csv_parse(arena, "row", text.data, text.length, csv, NULL, NULL) == PP_OK &&
           csv->count > 0;
}

void pp_sweep_json_line(struct pp_sweep_text header, struct pp_sweep_text row, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_csv names = {0}, cells = {0};

    if (!read_row(arena, header, &names) || !read_row(arena, row, &cells))
        return;
    json_t *o = json_object();
    for (int i = 0; i < names.rows->count && i < cells.rows->count; i++)
        json_object_set_new(o, names.rows->fields[i],
                            value_of(names.rows->fields[i], cells.rows->fields[i]));
    json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(o);
}
