/* Makes the command line of a row. */
#include "sim/published/parts.h"

#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- missing cells --------------------------------------------------------------------------- */

/* Adds the names of columns with empty cells to a list. */
static const char *add_missing(const struct pp_measure_writer *w, const char *text,
                               const enum pp_measure_column *list, int count)
{
    for (int i = 0; i < count; i++)
        if (!*w->row->cell[list[i]])
            text = pp_arena_printf(w->arena, "%s%s %s", text, *text ? "," : "",
                                   pp_measure_name(w->row, list[i]));
    return text;
}

/* Names an unknown model of one's own table that states no sizes; "" if that is not what is wrong.
 */
static const char *unknown_model(const struct pp_measure_writer *w)
{
    const char *name = w->row->cell[PP_COL_MODEL], **names = NULL;
    int count = 0, capacity = 0;

    if (!w->row->is_own || !*name || *w->row->cell[PP_COL_LAYERS] || pp_measure_is_named(w->row))
        return "";
    for (const struct pp_model *m = pp_model_presets; m->name; m++)
        *PP_PUSH(w->arena, names, count, capacity) = m->name;
    *PP_PUSH(w->arena, names, count, capacity) = NULL;
    const char *near = pp_suggest(name, names);
    return pp_arena_printf(w->arena,
                           "model \"%.60s\" is unknown%s%s%s ('pipesim models' lists "
                           "names); else ",
                           name, near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Checks the cells that no other cell replaces. A model known by name needs no sizes; a vocabulary
 * may follow from the number of parameters. */
static enum pp_status check_cells(const struct pp_measure_writer *w, struct pp_error *err)
{
    static const enum pp_measure_column NEEDED[] = {PP_COL_SEQ, PP_COL_TP, PP_COL_PP};
    static const enum pp_measure_column BATCH[] = {PP_COL_MBS, PP_COL_GBS};
    const enum pp_measure_column machine = w->row->is_own ? PP_COL_CLUSTER : PP_COL_GPU;
    static const enum pp_measure_column SIZES[] = {PP_COL_LAYERS, PP_COL_HIDDEN, PP_COL_HEADS,
                                                   PP_COL_VOCAB};
    static const enum pp_measure_column EITHER[] = {PP_COL_GPUS, PP_COL_DP};
    const struct pp_measurement *row = w->row;

    if (row->defect)
        return pp_error_set(err, PP_EINVAL, "%s", row->defect);
    if (*row->cell[PP_COL_OUTCOME] && !row->is_out_of_memory && !row->is_computed)
        return pp_error_set(err, PP_EINVAL,
                            "outcome \"%.40s\" is not known: OOM, computed or nothing",
                            row->cell[PP_COL_OUTCOME]);
    PP_TRY(pp_measure_check_numbers(w->arena, row, err));
    const char *missing = add_missing(w, "", NEEDED, PP_COUNT(NEEDED));
    const bool has_count = *row->cell[PP_COL_MICRO_BATCHES];
    if (!*row->cell[PP_COL_CLUSTER] && !*row->cell[PP_COL_GPU])
        missing = add_missing(w, missing, &machine, 1);
    if (!has_count)
        missing = add_missing(w, missing, BATCH + 1, 1); /* a micro-batch is inferred */
    else if (!*row->cell[PP_COL_MBS])
        missing = add_missing(w, missing, BATCH, *row->cell[PP_COL_GBS] ? 0 : 2);
    if (!pp_measure_is_named(row))
        missing = add_missing(w, missing, SIZES, *row->cell[PP_COL_PARAMS_B] ? 3 : 4);
    if (!*row->cell[PP_COL_GPUS] && !*row->cell[PP_COL_DP])
        missing = add_missing(w, missing, EITHER, PP_COUNT(EITHER));
    return *missing ? pp_error_set(err, PP_EINVAL, "%smissing:%s", unknown_model(w), missing)
                    : PP_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Returns a value; "2pp" is twice the number of pipeline ranks. */
static const char *value_of(struct pp_measure_writer *w, const char *value)
{
    int64_t factor;
    char number[32];
    const size_t length = value ? strlen(value) : 0;

    if (length < 3 || length > sizeof(number) || strcmp(value + length - 2, "pp") != 0)
        return value;
    snprintf(number, sizeof(number), "%.*s", (int)length - 2, value);
    if (pp_units_parse_int(number, 1, PP_OPTION_BIG, &factor, NULL) != PP_OK)
        return value;
    return pp_arena_printf(w->arena, "%" PRId64, factor * w->pp);
}

static enum pp_status apply(struct pp_measure_writer *w, const struct pp_measure_rule *rule,
                            struct pp_error *err)
{
    const char *cell = w->row->cell[rule->column];

    if (!rule->option && (rule->column == PP_COL_NOTE || rule->column == PP_COL_SOURCE))
        return pp_error_set(err, PP_EINVAL, "%s", rule->reason); /* the cell is a long text */
    if (!rule->option)
        return pp_error_set(err, PP_EINVAL, "%s \"%.60s\": %s", pp_measure_columns[rule->column],
                            cell, rule->reason);
    if (pp_measure_is_void(w, rule->option))
        return PP_OK;
    if (rule->reason)
        pp_measure_note(w, pp_arena_printf(w->arena, "%s%s%s: %s", rule->option,
                                           rule->value ? " " : "", rule->value ? rule->value : "",
                                           rule->reason));
    if (!rule->value)
        return PP_OK;
    if (!strcmp(rule->option, "offload"))
        return pp_measure_put_offload(w, rule), PP_OK;
    if (strpbrk(rule->value, "#/=") || !strcmp(rule->value, "#"))
        return pp_measure_put_shard(w, rule, err);
    pp_measure_put(w, rule->option, value_of(w, rule->value));
    return PP_OK;
}

/* Options that a rule has settled, typed or not. */
enum { SETTLED_MAX = 32 };
struct settled {
    const char *names[SETTLED_MAX];
    int count;
};
static bool settle(struct settled *settled, const char *name)
{
    for (int i = 0; i < settled->count; i++)
        if (!strcmp(settled->names[i], name))
            return false;
    if (settled->count < SETTLED_MAX)
        settled->names[settled->count++] = name;
    return true;
}

static enum pp_status put_words(struct pp_measure_writer *w, struct pp_error *err)
{
    struct settled settled = {.count = 0};

    for (const struct pp_measure_rule *rule = pp_measure_rules; rule->pattern; rule++) {
        if (!pp_measure_matches(w->row->cell[rule->column], rule->pattern) ||
            (rule->option &&
             (!settle(&settled, rule->option) || pp_measure_given(w, rule->option))))
            continue;
        /* shard factors and a stage mean the same: the first counts */
        if (rule->option && !strcmp(rule->option, "shard"))
            settle(&settled, "zero");
        PP_TRY(apply(w, rule, err));
    }
    return PP_OK;
}

/* Is true for a cell whose words a rule knows. */
static bool is_spoken(enum pp_measure_column column, const char *cell)
{
    for (const struct pp_measure_rule *rule = pp_measure_rules; rule->pattern; rule++)
        if (rule->column == column && pp_measure_matches(cell, rule->pattern))
            return true;
    return false;
}

/* Adds a framework by its own name; rules know its other names. */
static enum pp_status put_framework(struct pp_measure_writer *w, struct pp_error *err)
{
    const char *cell = w->row->cell[PP_COL_FRAMEWORK];
    const struct pp_framework *framework;

    if (!*cell || is_spoken(PP_COL_FRAMEWORK, cell))
        return PP_OK;
    if (pp_framework_find(cell, &framework, err) != PP_OK)
        return err->status;
    pp_measure_put(w, "framework", framework->name);
    return PP_OK;
}

/* Refuses cells whose words no rule knows. */
static enum pp_status check_words(const struct pp_measure_writer *w, struct pp_error *err)
{
    static const enum pp_measure_column SPOKEN[] = {PP_COL_ZERO, PP_COL_RECOMPUTE, PP_COL_PRECISION,
                                                    PP_COL_SEQ_PARALLEL};

    for (size_t i = 0; i < PP_COUNT(SPOKEN); i++) {
        const char *cell = w->row->cell[SPOKEN[i]];
        if (*cell && !is_spoken(SPOKEN[i], cell))
            return pp_error_set(err, PP_EINVAL, "%s \"%.60s\" is not known",
                                pp_measure_columns[SPOKEN[i]], cell);
    }
    return PP_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Adds what all rows have. */
static void put_usual(struct pp_measure_writer *w)
{
    pp_measure_put(w, "engine", "dag");
    if (w->row->constants)
        pp_measure_put(w, "constants", w->row->constants);
}

/* A row of a sweep has all options in columns of their own, and nothing is concluded. */
static enum pp_status own_command(struct pp_measure_writer *w, struct pp_error *err)
{
    if (w->row->defect)
        return pp_error_set(err, PP_EINVAL, "%s", w->row->defect);
    PP_TRY(pp_measure_put_given(w, err));
    put_usual(w);
    return PP_OK;
}

enum pp_status pp_measure_command(struct pp_arena *arena, const struct pp_measurement *row,
                                  struct pp_measure_command *command, struct pp_error *err)
{
    struct pp_measure_writer w = {.arena = arena, .row = row, .command = command};

    *command = (struct pp_measure_command){.argc = 0};
    pp_measure_put_word(&w, "pipesim");
    pp_measure_put_word(&w, "run");
    if (row->is_sweep)
        return own_command(&w, err);
    if (row->is_generation) {
        PP_TRY(pp_measure_put_generation(&w, err));
        put_usual(&w);
        return PP_OK;
    }
    PP_TRY(check_cells(&w, err));
    PP_TRY(pp_measure_put_given(&w, err));
    PP_TRY(pp_measure_read_degrees(&w, err));
    PP_TRY(pp_measure_put_schedule(&w, err));
    PP_TRY(put_framework(&w, err));
    PP_TRY(check_words(&w, err));
    pp_measure_put_degrees(&w);
    PP_TRY(pp_measure_put_batch(&w, err));
    PP_TRY(pp_measure_put_cluster(&w, err));
    pp_measure_put_recipes(&w);
    PP_TRY(put_words(&w, err));
    if (w.dp * w.cp == 1)
        pp_measure_put(&w, "zero", "0");
    PP_TRY(pp_measure_put_named_schedule(&w, err));
    PP_TRY(pp_measure_check_chunks(&w, err));
    PP_TRY(pp_measure_put_model(&w, err));
    put_usual(&w);
    return PP_OK;
}
