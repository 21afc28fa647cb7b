/* Readable names of columns, and the units in which columns are drawn. */
#include "plots/curves/chart.h"

#include "core/cli/options.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *column;
    struct pp_column_name name;
    const char *value; /* format of a value: "%s GPU(s)"; NULL = name of the column first */
};
#define OF_STEP "of the step"
static const struct row ROWS[] = {
    {"schedule", {"schedule", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"engine", {"engine", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"model", {"model", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"cluster", {"cluster", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"unit", {"costs", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"data", {"data", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"name", {"name", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"preset", {"preset", NULL, PP_COLUMN_PLAIN}, "%s"},
    {"gpus", {"GPUs", NULL, PP_COLUMN_PLAIN}, "%s GPU(s)"},
    {"tp", {"tensor-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL},
    {"pp", {"pipeline ranks", NULL, PP_COLUMN_PLAIN}, "pp %s"},
    {"dp", {"data-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL},
    {"cp", {"context-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL},
    {"ep", {"expert-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL},
    {"vp", {"chunks per rank", NULL, PP_COLUMN_PLAIN}, NULL},
    {"micro_batches", {"micro-batches", NULL, PP_COLUMN_PLAIN}, "%s micro-batch(es)"},
    {"mbs", {"sequences per micro-batch", NULL, PP_COLUMN_PLAIN}, NULL},
    {"gbs", {"sequences per step", NULL, PP_COLUMN_PLAIN}, "%s sequence(s) per step"},
    {"gbs_per_gpu",
     {"sequences per GPU and step", NULL, PP_COLUMN_PLAIN},
     "%s sequence(s) per GPU"},
    {"pipelines", {"pipelines", NULL, PP_COLUMN_PLAIN}, "%s pipeline(s)"},
    {"seq", {"tokens per sequence", NULL, PP_COLUMN_PLAIN}, NULL},
    {"iteration_s", {"step time", NULL, PP_COLUMN_SECONDS}, NULL},
    {"iteration_s/vp", {"step time / chunks per rank", NULL, PP_COLUMN_SECONDS}, NULL},
    {"bubble_frac", {"bubble", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"closed_form_bubble_frac", {"bubble by the closed form", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"span_bubble_frac", {"span idle", "of the span", PP_COLUMN_FRAC}, NULL},
    {"mfu", {"MFU", NULL, PP_COLUMN_FRAC}, NULL},
    {"hfu", {"HFU", NULL, PP_COLUMN_FRAC}, NULL},
    {"model_flops_per_s_per_gpu", {"model flops per GPU", NULL, PP_COLUMN_FLOPS}, NULL},
    {"first_token_s", {"time to the first token", NULL, PP_COLUMN_SECONDS}, NULL},
    {"token_s", {"time a token", NULL, PP_COLUMN_SECONDS}, NULL},
    {"tokens_per_s", {"tokens/s", NULL, PP_COLUMN_RATE}, NULL},
    {"tokens_per_s_per_gpu", {"tokens/s per GPU", NULL, PP_COLUMN_RATE}, NULL},
    {"peak_mem_bytes", {"peak memory", NULL, PP_COLUMN_BYTES}, NULL},
    {"peak_activations", {"peak activations", "micro-batches of a chunk", PP_COLUMN_PLAIN}, NULL},
    {"peak_micro_batches", {"peak activations", "micro-batches of a rank", PP_COLUMN_PLAIN}, NULL},
    {"exposed_comm_frac", {"exposed communication", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"forward", {"forward", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"backward", {"backward", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"recompute", {"recomputation", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"tp_comm", {"tensor-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"cp_comm", {"context-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"ep_comm", {"expert-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"p2p", {"waiting for messages", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"dp_sync", {"gradient synchronization", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"optimizer", {"optimizer", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"moves", {"moves", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"bubble", {"waiting for other stages", OF_STEP, PP_COLUMN_FRAC}, NULL},
    {"params_bytes", {"memory of parameters", NULL, PP_COLUMN_BYTES}, NULL},
    {"grads_bytes", {"memory of gradients", NULL, PP_COLUMN_BYTES}, NULL},
    {"optimizer_bytes", {"memory of the optimizer", NULL, PP_COLUMN_BYTES}, NULL},
    {"activations_bytes", {"memory of activations", NULL, PP_COLUMN_BYTES}, NULL},
    {"kv_bytes", {"memory of keys and values", NULL, PP_COLUMN_BYTES}, NULL},
    {"buffers_bytes", {"memory of buffers", NULL, PP_COLUMN_BYTES}, NULL},
    {"other_bytes", {"other memory", NULL, PP_COLUMN_BYTES}, NULL},
};

/* Columns that mean something else where rows generate. */
static const struct row SERVING[] = {
    {"groups", {"groups", NULL, PP_COLUMN_PLAIN}, "%s group(s)"},
    {"micro_batches", {"groups", NULL, PP_COLUMN_PLAIN}, "%s group(s)"},
    {"prompt_groups", {"pieces of prompts", NULL, PP_COLUMN_PLAIN}, "%s piece(s)"},
    {"batch", {"batch", "sequences of a replica", PP_COLUMN_PLAIN}, NULL},
    {"mbs", {"sequences per group", NULL, PP_COLUMN_PLAIN}, "%s sequence(s) per group"},
    {"gbs", {"sequences", NULL, PP_COLUMN_PLAIN}, "%s sequence(s)"},
    {"gbs_per_gpu", {"sequences per GPU", NULL, PP_COLUMN_PLAIN}, "%s sequence(s) per GPU"},
    {"prompt", {"tokens of a prompt", NULL, PP_COLUMN_PLAIN}, NULL},
    {"seq", {"tokens of a prompt", NULL, PP_COLUMN_PLAIN}, NULL},
    {"tokens", {"tokens to generate", NULL, PP_COLUMN_PLAIN}, "%s token(s)"},
    {"iteration_s", {"time of all tokens", NULL, PP_COLUMN_SECONDS}, NULL},
    {"latency_s", {"time of all tokens", NULL, PP_COLUMN_SECONDS}, NULL},
};

/* Columns of a title, in its order. */
static const char *const TITLE[] = {"schedule", "model", "cluster",      "unit",
                                    "gpus",     "pp",    "micro_batches"};

static const struct row *find(const struct pp_table *table, const char *column)
{
    for (size_t i = 0; i < PP_COUNT(SERVING) && pp_table_serves(table); i++)
        if (!strcmp(SERVING[i].column, column)) /* token_s is not tokens */
            return &SERVING[i];
    for (size_t i = 0; i < PP_COUNT(ROWS); i++)
        if (pp_same_name(ROWS[i].column, column))
            return &ROWS[i];
    return NULL;
}

static const struct suffix {
    const char *text;
    enum pp_column_unit unit;
} SUFFIXES[] = {
    {"_flops_per_s", PP_COLUMN_FLOPS}, {"_per_s", PP_COLUMN_RATE}, {"_s", PP_COLUMN_SECONDS},
    {"_bytes", PP_COLUMN_BYTES},       {"_frac", PP_COLUMN_FRAC},
};

/* "link_wait_s" -> "link wait"; `cut` characters are dropped from the end */
static const char *spaced(struct pp_arena *arena, const char *column, size_t cut)
{
    char *text = pp_arena_strdup(arena, column);

    text[strlen(text) - cut] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
    return text;
}

struct pp_column_name pp_column_name(struct pp_arena *arena, const struct pp_table *table, int at)
{
    const char *column = table->columns[at];
    const struct row *row = find(table, column);
    const size_t length = strlen(column);

    if (row && row->name.detail && !strcmp(row->name.detail, OF_STEP) && pp_table_serves(table))
        return (struct pp_column_name){row->name.text, "of the run", row->name.unit};
    if (row)
        return row->name;
    for (size_t i = 0; i < PP_COUNT(SUFFIXES); i++) {
        const size_t tail = strlen(SUFFIXES[i].text);
        if (length > tail && !strcmp(column + length - tail, SUFFIXES[i].text))
            return (struct pp_column_name){spaced(arena, column, tail), NULL, SUFFIXES[i].unit};
    }
    return (struct pp_column_name){spaced(arena, column, 0), NULL, PP_COLUMN_PLAIN};
}

/* 0.33333333333333331 -> 0.3333 */
static const char *shortened(struct pp_arena *arena, const char *value)
{
    enum { LONG = 8 };
    char *end;
    const double number = strtod(value, &end);
    const bool is_long = strlen(value) > LONG && !*end && strchr(value, '.');

    return is_long ? pp_arena_printf(arena, "%.4g", number) : value;
}

/* Fills in a value and its plural: "%s GPU(s)" -> "1 GPU", "8 GPUs". */
static const char *fill(struct pp_arena *arena, const char *format, const char *value)
{
    const bool is_one = !strcmp(value, "1");
    char *text = pp_arena_alloc(arena, strlen(format) + strlen(value) + 1), *to = text;
    bool is_ending = false;

    for (; *format; format++) {
        if (*format == '%') {
            to = stpcpy(to, value);
            format++;
        } else if (*format == '(' || *format == ')') {
            is_ending = *format == '(';
        } else if (!is_ending || !is_one) {
            *to++ = *format;
        }
    }
    return text;
}

/* Length of the suffix of "recompute_option" (recompute is a result), which is not shown. */
static size_t option_length(const char *column)
{
    static const char OPTION[] = "_option";
    const size_t length = strlen(column), tail = sizeof(OPTION) - 1;

    return length > tail && !strcmp(column + length - tail, OPTION) ? tail : 0;
}

const char *pp_column_value(struct pp_arena *arena, const struct pp_table *table,
                            const char *column, const char *value)
{
    const struct row *row = find(table, column);
    const char *shown = *value ? shortened(arena, value) : "none";

    return row && row->value ? fill(arena, row->value, shown)
                             : pp_arena_printf(arena, "%s %s",
                                               spaced(arena, column, option_length(column)), shown);
}

const char *pp_chart_constants(const struct pp_chart *chart, int columns)
{
    const bool is_abstract = pp_table_find(&chart->table, "unit") >= 0;
    const char *text = "";

    for (size_t i = 0; i < PP_COUNT(TITLE); i++) {
        const int column = pp_table_find(&chart->table, TITLE[i]);
        if (column < 0 || column == chart->x || column == chart->y ||
            pp_chart_varies(chart, column) || (is_abstract && !strcmp(TITLE[i], "gpus")))
            continue;
        const char *value = pp_chart_cell(chart, chart->rows[0], column);
        const char *longer =
            pp_arena_printf(chart->arena, "%s%s%s", text, *text ? ", " : "",
                            fill(chart->arena, find(&chart->table, TITLE[i])->value, value));
        if (*value && (int)strlen(longer) <= columns)
            text = longer;
    }
    return text;
}
