/* Reads tables of measurements: cells by the names of their columns. */
#include "sim/published/published.h"

#include "core/cli/options.h"
#include "core/printable.h"
#include "core/text/csv.h"
#include "core/text/file.h"

#include <string.h>
#include <strings.h>

/* A table has at least one of these columns. */
static bool is_configuration(int column)
{
    return column >= PP_COL_MODEL && column <= PP_COL_SEQ_PARALLEL;
}

static int column_of(const char *name)
{
    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        if (!strcasecmp(name, pp_measure_columns[i]))
            return i;
    return -1;
}

/* Sets place[column]: index of the field, -1 = not in the file. */
static enum pp_status read_header(const char *name, const struct pp_csv_row *header,
                                  int place[PP_MEASURE_COLUMNS], struct pp_error *err)
{
    bool is_known = false;

    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        place[i] = -1;
    for (int i = 0; i < header->count; i++) {
        const int column = column_of(header->fields[i]);
        if (column < 0)
            continue;
        if (place[column] >= 0)
            return pp_error_set(err, PP_EINVAL, "%s:%d: column %s stands there twice", name,
                                header->line, header->fields[i]);
        place[column] = i;
        is_known = is_known || is_configuration(column);
    }
    if (is_known)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s:%d: no known column; expected a header such as "
                        "id,layers,hidden,heads,vocab,seq_len,gpu,gpus,tp,pp,dp,schedule,"
                        "microbatch,global_batch,metric_step_time_s",
                        name, header->line);
}

/* Adds a hint for ignored columns whose names are nearly those of missing ones. */
static void look_for_typos(struct pp_arena *arena, const char *name,
                           const struct pp_csv_row *header, const int place[PP_MEASURE_COLUMNS],
                           struct pp_measurements *list)
{
    const char *missing[PP_MEASURE_COLUMNS + 1] = {NULL};
    int count = 0;

    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        if (place[i] < 0)
            missing[count++] = pp_measure_columns[i];
    for (int i = 0; i < header->count; i++) {
        const char *field = header->fields[i];
        const char *near = column_of(field) < 0 ? pp_suggest(field, missing) : NULL;
        if (near)
            *PP_PUSH(arena, list->hints, list->hint_count, list->hint_capacity) =
                pp_arena_printf(arena, "%s:%d: column \"%.60s\" is ignored; did you mean %s?", name,
                                header->line, pp_printable(arena, field), near);
    }
}

static void fill(struct pp_arena *arena, const char *name, const struct pp_csv_row *header,
                 const struct pp_csv_row *fields, const int place[PP_MEASURE_COLUMNS],
                 struct pp_measurement *row)
{
    *row = (struct pp_measurement){.file = name, .line = fields->line};
    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        row->cell[i] = place[i] >= 0 && place[i] < fields->count
                           ? pp_printable(arena, fields->fields[place[i]])
                           : "";
    row->id = *row->cell[PP_COL_ID]
                  ? row->cell[PP_COL_ID]
                  : pp_printable(arena, pp_arena_printf(arena, "%s:%d", name, fields->line));
    row->family = *row->cell[PP_COL_FAMILY] ? row->cell[PP_COL_FAMILY] : "none";
    row->is_out_of_memory = !strcasecmp(row->cell[PP_COL_OUTCOME], "oom");
    row->is_computed = !strcasecmp(row->cell[PP_COL_OUTCOME], "computed");
    row->is_complete = !strcasecmp(row->cell[PP_COL_COMPLETENESS], "full");
    if (fields->count != header->count)
        row->defect = pp_arena_printf(arena, "the line has %d fields, the header %d", fields->count,
                                      header->count);
    pp_measure_metrics(arena, row);
}

enum pp_status pp_measurements_parse(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_measurements *list,
                                     struct pp_error *err)
{
    const struct pp_csv_row *header = NULL;
    int place[PP_MEASURE_COLUMNS];
    struct pp_csv csv;

    PP_TRY(pp_csv_parse(arena, name, text, length, &csv, NULL, err));
    for (int i = 0; i < csv.count; i++) {
        if (csv.rows[i].count == 0)
            continue;
        if (header) {
            fill(arena, name, header, &csv.rows[i], place,
                 PP_PUSH(arena, list->rows, list->count, list->capacity));
            continue;
        }
        header = &csv.rows[i];
        PP_TRY(read_header(name, header, place, err));
        look_for_typos(arena, name, header, place, list);
    }
    return header ? PP_OK : pp_error_set(err, PP_EINVAL, "%s: no header line", name);
}

enum pp_status pp_measurements_read(struct pp_arena *arena, const char *path,
                                    struct pp_measurements *list, struct pp_error *err)
{
    size_t length;
    char *text;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_measurements_parse(arena, path, text, length, list, err);
}
