/* Names of columns: those of published tables, those of a sweep, and what people type. */
#include "sim/published/parts.h"

#include "core/printable.h"
#include "core/text/csv.h"
#include "sim/cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Other names of columns; messages on a table of one's own have the first, that of --template. */
static const struct alias {
    const char *text;
    enum pp_measure_column column;
} ALIASES[] = {
    {"model", PP_COL_MODEL},
    {"seq", PP_COL_SEQ},
    {"seq_length", PP_COL_SEQ},
    {"device", PP_COL_GPU},
    {"mbs", PP_COL_MBS},
    {"micro_batch_size", PP_COL_MBS},
    {"gbs", PP_COL_GBS},
    {"global_batch_size", PP_COL_GBS},
    {"vp", PP_COL_VP},
    {"zero", PP_COL_ZERO},
    {"zero_stage", PP_COL_ZERO},
    {"sequence_parallel", PP_COL_SEQ_PARALLEL},
    {"step_time_s", PP_COL_STEP_S},
    {"step_time", PP_COL_STEP_S},
    {"step_s", PP_COL_STEP_S},
    {"measured_s", PP_COL_STEP_S},
    {"measured_step_s", PP_COL_STEP_S},
    {"iteration_s", PP_COL_STEP_S},
    {"iteration_time_s", PP_COL_STEP_S},
    {"tokens_per_s_per_gpu", PP_COL_TOKENS_PER_S},
    {"mem_gib", PP_COL_MEM_GIB},
    {"measured_mem_gib", PP_COL_MEM_GIB},
    {"mem_bytes", PP_COL_MEM_BYTES},
    {"measured_mem_bytes", PP_COL_MEM_BYTES},
    {"notes", PP_COL_NOTE},
    {"comment", PP_COL_NOTE},
};
/* Names in tables with one figure a row. */
static const struct alias FIGURE_ALIASES[] = {{"model_params_b", PP_COL_PARAMS_B},
                                              {"batch_per_gpu", PP_COL_MBS}};
/* Columns of published tables about the tables themselves. */
static const char *const SILENT[] = {"confidence", "derived_fields"};

/* Columns that say the same in two ways. */
static const struct {
    enum pp_measure_column column[2];
    const char *text;
} SAME[] = {{{PP_COL_GPU, PP_COL_CLUSTER}, "which devices ran"},
            {{PP_COL_MEM_GIB, PP_COL_MEM_BYTES}, "how much memory was used"}};

static bool is_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcasecmp(name, list[i]))
            return true;
    return false;
}

/* Tables by their columns: of steps, with one figure a row, of runs that generate. */
enum table_kind { OF_STEPS, OF_FIGURES, OF_GENERATION };

/* Is true for a table with one figure a row. Elsewhere its own columns are not known. */
static bool has_figures(const struct pp_csv_row *fields)
{
    static const char *const MARKS[] = {"metric", "value", "unit"};
    size_t found = 0;

    for (int i = 0; i < fields->count; i++)
        found += is_in(fields->fields[i], MARKS, PP_COUNT(MARKS));
    return found == PP_COUNT(MARKS);
}

/* Is true for a table of runs that generate. Elsewhere its own columns are not known. */
static bool has_generation(const struct pp_csv_row *fields)
{
    static const char *const MARKS[] = {"prompt_tokens", "new_tokens"};
    size_t found = 0;

    for (int i = 0; i < fields->count; i++)
        found += is_in(fields->fields[i], MARKS, PP_COUNT(MARKS));
    return found == PP_COUNT(MARKS);
}

static int column_of(const char *name, enum table_kind kind)
{
    const bool is_of_figures = kind == OF_FIGURES;

    for (int i = 0; i < PP_MEASURE_COLUMNS; i++) {
        const enum table_kind of = i >= PP_COL_PROMPT   ? OF_GENERATION
                                   : i >= PP_COL_METRIC ? OF_FIGURES
                                                        : OF_STEPS;
        if ((of == OF_STEPS || of == kind) && !strcasecmp(name, pp_measure_columns[i]))
            return i;
    }
    for (size_t i = 0; is_of_figures && i < PP_COUNT(FIGURE_ALIASES); i++)
        if (!strcasecmp(name, FIGURE_ALIASES[i].text))
            return FIGURE_ALIASES[i].column;
    for (size_t i = 0; i < PP_COUNT(ALIASES); i++)
        if (!strcasecmp(name, ALIASES[i].text))
            return ALIASES[i].column;
    return -1;
}

const char *pp_measure_name(const struct pp_measurement *row, enum pp_measure_column column)
{
    for (size_t i = 0; row->is_own && i < PP_COUNT(ALIASES); i++)
        if (ALIASES[i].column == column)
            return ALIASES[i].text;
    return pp_measure_columns[column];
}

/* Returns the option of a run that a column gives; NULL if none has its name. A sweep writes
 * "recompute_option" next to the figure "recompute". */
static const struct pp_option *option_of(const char *column)
{
    static const char *const OTHERS[] = {"preset",    "from",   "unit", "cost",
                                         "constants", "engine", "seed"};
    static const char TAIL[] = "_option";
    char name[64];
    const size_t length = strlen(column), tail = sizeof(TAIL) - 1;
    const bool has_tail = length > tail && !strcmp(column + length - tail, TAIL);
    snprintf(name, sizeof(name), "%.*s", (int)(length - (has_tail ? tail : 0)), column);
    const unsigned both = 1U << PP_CMD_RUN | 1U << PP_CMD_SWEEP;

    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option *option = &pp_sim_cli.options[i];
        if ((option->commands & both) == both && pp_same_name(name, option->name) &&
            !is_in(option->name, OTHERS, PP_COUNT(OTHERS)))
            return option;
    }
    return NULL;
}

/* Is true for the result of a sweep, to which columns may have been added. */
static bool is_of_sweep(const struct pp_csv_row *fields)
{
    static const char *const MARKS[] = {"point", "points", "key"};
    size_t found = 0;

    for (int i = 0; i < fields->count; i++)
        found += is_in(fields->fields[i], MARKS, PP_COUNT(MARKS));
    return found == PP_COUNT(MARKS);
}

/* Is true for a field of a sweep's file that is no option: a figure that it predicts. */
static bool is_predicted(const struct pp_measure_header *h, int field)
{
    int end = h->fields->count - 1;

    while (end > 0 && strcasecmp(h->fields->fields[end], "key") != 0)
        end--;
    return h->is_sweep && field <= end;
}

/* Is true for a field before the figures that a sweep predicts: "recompute" is a figure, too. */
static bool is_input(const struct pp_measure_header *h, int field)
{
    for (int i = 0; i <= field; i++)
        if (!strcasecmp(h->fields->fields[i], "iteration_s"))
            return false;
    return true;
}

static enum pp_status take_column(struct pp_measure_header *h, int field, int column,
                                  struct pp_error *err)
{
    const char *const *names = h->fields->fields;
    const int other = h->place[column];

    if (other >= 0 && !strcasecmp(names[field], names[other]))
        return pp_error_set(err, PP_EINVAL, "%s:%d: column %s stands there twice", h->name,
                            h->fields->line, names[field]);
    if (other >= 0)
        return pp_error_set(
            err, PP_EINVAL, "%s:%d: columns %s and %s are two names of one thing, %s; keep one",
            h->name, h->fields->line, names[other], names[field], pp_measure_columns[column]);
    h->place[column] = field;
    return PP_OK;
}

static enum pp_status check_same(const struct pp_measure_header *h, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(SAME); i++) {
        const int a = h->place[SAME[i].column[0]], b = h->place[SAME[i].column[1]];
        if (a >= 0 && b >= 0)
            return pp_error_set(err, PP_EINVAL, "%s:%d: columns %s and %s both say %s; keep one",
                                h->name, h->fields->line, h->fields->fields[a],
                                h->fields->fields[b], SAME[i].text);
    }
    return PP_OK;
}

/* A table has at least one column of a configuration, and a sweep's a measurement. */
static enum pp_status check_known(const struct pp_measure_header *h, struct pp_error *err)
{
    bool has_metric = false, has_configuration = h->option_count > 0;

    for (int i = 0; i < PP_MEASURE_COLUMNS; i++) {
        const bool is_there = h->place[i] >= 0;
        has_configuration =
            has_configuration || (is_there && i >= PP_COL_MODEL && i <= PP_COL_FRAMEWORK);
        has_metric = has_metric || (is_there && i >= PP_COL_STEP_S && i <= PP_COL_MEM_BYTES);
    }
    if (!has_configuration)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: no known column; expected a header such as "
                            "model,cluster,gpus,tp,pp,schedule,mbs,gbs,seq,step_time_s; "
                            "'pipesim validate --template' prints a table to fill",
                            h->name, h->fields->line);
    if (h->is_sweep && !has_metric)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: the result of a sweep, whose iteration_s is predicted; add a "
                            "column step_time_s with the seconds that were measured",
                            h->name, h->fields->line);
    return PP_OK;
}

/* Hints at a column that is ignored, with the nearest known name that the table lacks. */
static void hint_at(struct pp_arena *arena, const struct pp_measure_header *h, int field,
                    struct pp_measurements *list)
{
    const char *known[PP_MEASURE_COLUMNS + PP_COUNT(ALIASES) + 1] = {NULL};
    const char *name = h->fields->fields[field];
    int count = 0;

    for (int i = 0; i < PP_COL_METRIC; i++)
        if (h->place[i] < 0)
            known[count++] = pp_measure_columns[i];
    for (size_t i = 0; i < PP_COUNT(ALIASES); i++)
        if (h->place[ALIASES[i].column] < 0)
            known[count++] = ALIASES[i].text;
    const char *near = pp_suggest(name, known);
    *PP_PUSH(arena, list->hints, list->hint_count, list->hint_capacity) =
        pp_arena_printf(arena, "%s:%d: column \"%.60s\" is not known and ignored%s%s%s", h->name,
                        h->fields->line, pp_printable(arena, name), near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
}

enum pp_status pp_measure_header_read(struct pp_arena *arena, const char *name,
                                      const struct pp_csv_row *fields, struct pp_measure_header *h,
                                      struct pp_measurements *list, struct pp_error *err)
{
    const enum table_kind kind = has_generation(fields) ? OF_GENERATION
                                 : has_figures(fields)  ? OF_FIGURES
                                                        : OF_STEPS;

    *h = (struct pp_measure_header){.name = name,
                                    .fields = fields,
                                    .is_generation = kind == OF_GENERATION,
                                    .is_sweep = is_of_sweep(fields),
                                    .status = -1};
    h->options = PP_ARRAY(arena, struct pp_measure_option_column, fields->count + 1);
    memset(h->place, -1, sizeof(h->place));
    for (int i = 0; i < fields->count; i++) {
        const char *field = fields->fields[i];
        const struct pp_option *option = option_of(field);
        int column = column_of(field, kind);
        if (is_predicted(h, i) && !is_input(h, i))
            column = -1;
        if (column >= 0)
            PP_TRY(take_column(h, i, column, err));
        if (option && (h->is_sweep ? is_input(h, i) : column < 0))
            h->options[h->option_count++] = (struct pp_measure_option_column){option, i};
        h->status = h->is_sweep && !strcmp(field, "status") ? i : h->status;
    }
    PP_TRY(check_same(h, err));
    PP_TRY(check_known(h, err));
    for (int i = 0; i < fields->count; i++)
        if (column_of(fields->fields[i], kind) < 0 && !option_of(fields->fields[i]) &&
            !is_predicted(h, i) && !is_in(fields->fields[i], SILENT, PP_COUNT(SILENT)))
            hint_at(arena, h, i, list);
    return PP_OK;
}
