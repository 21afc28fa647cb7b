/* Reads tables of measurements: cells by the names of their columns. */
#include "sim/published/parts.h"

#include "core/printable.h"
#include "core/text/csv.h"
#include "core/text/file.h"

#include <string.h>
#include <strings.h>

/* Returns the name of a file without folders and ending: the family of its rows. */
static const char *stem_of(struct pp_arena *arena, const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const size_t length = strcspn(base, ".");

    return length ? pp_printable(arena, pp_arena_printf(arena, "%.*s", (int)length, base)) : "none";
}

static void take_options(struct pp_arena *arena, const struct pp_measure_header *h,
                         const struct pp_csv_row *fields, struct pp_measurement *row)
{
    row->given = PP_ARRAY(arena, struct pp_measure_given, h->option_count + 1);
    for (int i = 0; i < h->option_count; i++) {
        const struct pp_measure_option_column *o = &h->options[i];
        const char *cell = o->field < fields->count ? fields->fields[o->field] : "";
        if (*cell)
            row->given[row->given_count++] =
                (struct pp_measure_given){o->option, pp_printable(arena, cell)};
    }
}

/* Is true if a row states what a table of one's own must state: the template's required columns.
 * Published tables say it in a column. */
static bool states_all(const struct pp_measurement *row)
{
    static const enum pp_measure_column NEEDED[] = {PP_COL_GPUS, PP_COL_TP,  PP_COL_PP,
                                                    PP_COL_MBS,  PP_COL_GBS, PP_COL_SEQ};

    for (size_t i = 0; i < PP_COUNT(NEEDED); i++)
        if (!*row->cell[NEEDED[i]])
            return false;
    return (*row->cell[PP_COL_MODEL] || *row->cell[PP_COL_LAYERS]) &&
           (*row->cell[PP_COL_GPU] || *row->cell[PP_COL_CLUSTER]) &&
           (*row->cell[PP_COL_SCHEDULE] || !strcmp(row->cell[PP_COL_PP], "1"));
}

static void fill(struct pp_arena *arena, const struct pp_measure_header *h,
                 const struct pp_csv_row *fields, struct pp_measurement *row)
{
    const char *name = h->name;
    const int *place = h->place;

    *row = (struct pp_measurement){.file = name,
                                   .line = fields->line,
                                   .is_generation = h->is_generation,
                                   .is_sweep = h->is_sweep};
    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        row->cell[i] = place[i] >= 0 && place[i] < fields->count
                           ? pp_printable(arena, fields->fields[place[i]])
                           : "";
    row->id = *row->cell[PP_COL_ID]
                  ? row->cell[PP_COL_ID]
                  : pp_printable(arena, pp_arena_printf(arena, "%s:%d", name, fields->line));
    row->family = *row->cell[PP_COL_FAMILY] ? row->cell[PP_COL_FAMILY] : stem_of(arena, name);
    row->is_out_of_memory = !strcasecmp(row->cell[PP_COL_OUTCOME], "oom");
    row->is_computed = !strcasecmp(row->cell[PP_COL_OUTCOME], "computed");
    row->is_own = place[PP_COL_COMPLETENESS] < 0;
    row->is_complete =
        row->is_own ? states_all(row) : !strcasecmp(row->cell[PP_COL_COMPLETENESS], "full");
    if (fields->count != h->fields->count)
        row->defect = pp_arena_printf(arena, "the line has %d fields, the header %d", fields->count,
                                      h->fields->count);
    else if (h->status >= 0 && strcmp(fields->fields[h->status], "ok") != 0)
        row->defect = "a point that the sweep could not predict";
    take_options(arena, h, fields, row);
    pp_measure_metrics(arena, row);
}

/* A row whose source is "same" has that of the row before, and its settings where a cell is empty.
 * Only tables with one figure a row say so. */
static void inherit(struct pp_measurement *row, const struct pp_measurement *before)
{
    row->cell[PP_COL_SOURCE] = before->cell[PP_COL_SOURCE];
    for (int i = 0; i < PP_MEASURE_COLUMNS; i++)
        if (!*row->cell[i] && i < PP_COL_METRIC)
            row->cell[i] = before->cell[i];
    if (!*row->cell[PP_COL_STATE])
        row->cell[PP_COL_STATE] = before->cell[PP_COL_STATE];
}

enum pp_status pp_measurements_parse(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_measurements *list,
                                     struct pp_error *err)
{
    struct pp_measure_header header = {.fields = NULL};
    struct pp_csv csv;

    PP_TRY(pp_csv_parse(arena, name, text, length, &csv, NULL, err));
    for (int i = 0; i < csv.count; i++) {
        if (csv.rows[i].count == 0)
            continue;
        if (header.fields) {
            struct pp_measurement *row = PP_PUSH(arena, list->rows, list->count, list->capacity);
            fill(arena, &header, &csv.rows[i], row);
            if (row > list->rows && *row->cell[PP_COL_METRIC] &&
                pp_measure_matches(row->cell[PP_COL_SOURCE], "^same") &&
                !strcmp(row[-1].family, row->family))
                inherit(row, row - 1);
        } else
            PP_TRY(pp_measure_header_read(arena, name, &csv.rows[i], &header, list, err));
    }
    return header.fields ? PP_OK : pp_error_set(err, PP_EINVAL, "%s: no header line", name);
}

enum pp_status pp_measurements_read(struct pp_arena *arena, const char *path,
                                    struct pp_measurements *list, struct pp_error *err)
{
    size_t length;
    char *text;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_measurements_parse(arena, path, text, length, list, err);
}

const char *pp_measurement_place(struct pp_arena *arena, const struct pp_measurement *row)
{
    return *row->cell[PP_COL_ID]
               ? pp_arena_printf(arena, "%s, %s:%d", row->id, row->file, row->line)
               : row->id;
}
