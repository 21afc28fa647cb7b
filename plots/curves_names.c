/* What columns are called in pictures, and in which unit they are drawn. */
#include "plots/curves_parts.h"

#include "core/options.h"

#include <math.h>
#include <string.h>

struct row {
    const char *column;
    struct pp_column_name name;
    const char *in_series; /* "pp" of "pp 8"; "" where the value speaks for itself; NULL = by the
                            * column's name */
    const char *in_title;  /* "%s GPUs"; NULL = left out of titles */
};
#define OF_STEP "of the step"
static const struct row ROWS[] = {
    {"schedule", {"schedule", NULL, PP_COLUMN_PLAIN}, "", "%s"},
    {"engine", {"engine", NULL, PP_COLUMN_PLAIN}, "", NULL},
    {"model", {"model", NULL, PP_COLUMN_PLAIN}, "", "%s"},
    {"cluster", {"cluster", NULL, PP_COLUMN_PLAIN}, "", "%s"},
    {"unit", {"costs", NULL, PP_COLUMN_PLAIN}, "", "%s"},
    {"name", {"name", NULL, PP_COLUMN_PLAIN}, "", NULL},
    {"preset", {"preset", NULL, PP_COLUMN_PLAIN}, "", NULL},
    {"gpus", {"GPUs", NULL, PP_COLUMN_PLAIN}, "GPUs", "%s GPUs"},
    {"tp", {"tensor-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"pp", {"pipeline ranks", NULL, PP_COLUMN_PLAIN}, NULL, "pp %s"},
    {"dp", {"data-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"cp", {"context-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"ep", {"expert-parallel degree", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"vp", {"chunks per rank", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"micro_batches",
     {"micro-batches", NULL, PP_COLUMN_PLAIN},
     "micro-batches",
     "%s micro-batches"},
    {"mbs", {"sequences per micro-batch", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"gbs", {"sequences per step", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"gbs_per_gpu", {"sequences per GPU and step", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"seq", {"tokens per sequence", NULL, PP_COLUMN_PLAIN}, NULL, NULL},
    {"iteration_s", {"step time", NULL, PP_COLUMN_SECONDS}, NULL, NULL},
    {"bubble_frac", {"bubble", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"closed_form_bubble_frac", {"bubble by the closed form", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"span_bubble_frac", {"bubble, span form", "of the span", PP_COLUMN_FRAC}, NULL, NULL},
    {"mfu", {"MFU", NULL, PP_COLUMN_FRAC}, NULL, NULL},
    {"hfu", {"HFU", NULL, PP_COLUMN_FRAC}, NULL, NULL},
    {"model_flops_per_s_per_gpu", {"model flops per GPU", NULL, PP_COLUMN_FLOPS}, NULL, NULL},
    {"tokens_per_s", {"tokens/s", NULL, PP_COLUMN_RATE}, NULL, NULL},
    {"tokens_per_s_per_gpu", {"tokens/s per GPU", NULL, PP_COLUMN_RATE}, NULL, NULL},
    {"peak_mem_bytes", {"peak memory", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"peak_activations",
     {"activations held at the peak", "micro-batches of a chunk", PP_COLUMN_PLAIN},
     NULL,
     NULL},
    {"peak_micro_batches",
     {"activations held at the peak", "micro-batches of a rank", PP_COLUMN_PLAIN},
     NULL,
     NULL},
    {"exposed_comm_frac", {"exposed communication", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"forward", {"forward", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"backward", {"backward", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"recompute", {"recomputation", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"tp_comm", {"tensor-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"cp_comm", {"context-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"ep_comm", {"expert-parallel communication", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"p2p", {"waiting for messages", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"dp_sync", {"gradient synchronization", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"optimizer", {"optimizer", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"moves", {"moves", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"bubble", {"bubble", OF_STEP, PP_COLUMN_FRAC}, NULL, NULL},
    {"params_bytes", {"memory of parameters", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"grads_bytes", {"memory of gradients", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"optimizer_bytes", {"memory of the optimizer", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"activations_bytes", {"memory of activations", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"buffers_bytes", {"memory of buffers", NULL, PP_COLUMN_BYTES}, NULL, NULL},
    {"other_bytes", {"other memory", NULL, PP_COLUMN_BYTES}, NULL, NULL},
};
enum { ROWS_COUNT = sizeof(ROWS) / sizeof(*ROWS) };

static const struct row *find(const char *column)
{
    for (int i = 0; i < ROWS_COUNT; i++)
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

/* "link_wait_s" -> "link wait", in seconds; without `cut` as long as it is */
static const char *spaced(struct pp_arena *arena, const char *column, size_t cut)
{
    char *text = pp_arena_strdup(arena, column);

    text[strlen(text) - cut] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = ' ';
    return text;
}

struct pp_column_name pp_column_name(struct pp_arena *arena, const char *column)
{
    const struct row *row = find(column);
    const size_t length = strlen(column);

    if (row)
        return row->name;
    for (size_t i = 0; i < sizeof(SUFFIXES) / sizeof(*SUFFIXES); i++) {
        const size_t tail = strlen(SUFFIXES[i].text);
        if (length > tail && !strcmp(column + length - tail, SUFFIXES[i].text))
            return (struct pp_column_name){spaced(arena, column, tail), NULL, SUFFIXES[i].unit};
    }
    return (struct pp_column_name){spaced(arena, column, 0), NULL, PP_COLUMN_PLAIN};
}

const char *pp_column_value(struct pp_arena *arena, const char *column, const char *value)
{
    const struct row *row = find(column);
    const char *before = row && row->in_series ? row->in_series : spaced(arena, column, 0);
    const char *shown = *value ? value : "none";

    return *before ? pp_arena_printf(arena, "%s %s", before, shown) : shown;
}

static bool is_drawn(const struct pp_chart *chart, int column)
{
    bool is_found = column == chart->x || column == chart->y;

    for (int k = 0; k < chart->by_count; k++)
        is_found |= column == chart->by[k] && pp_chart_varies(chart, column);
    return is_found;
}

const char *pp_chart_constants(const struct pp_chart *chart, int columns)
{
    const bool is_abstract = pp_table_find(&chart->table, "unit") >= 0;
    const char *text = "";

    for (int i = 0; i < ROWS_COUNT; i++) {
        const int column = pp_table_find(&chart->table, ROWS[i].column);
        if (!ROWS[i].in_title || column < 0 || is_drawn(chart, column) ||
            pp_chart_varies(chart, column) || (is_abstract && !strcmp(ROWS[i].column, "gpus")))
            continue;
        const char *value = pp_chart_cell(chart, chart->rows[0], column);
        const char *hole = strstr(ROWS[i].in_title, "%s");
        const char *longer =
            pp_arena_printf(chart->arena, "%s%s%.*s%s%s", text, *text ? ", " : "",
                            (int)(hole - ROWS[i].in_title), ROWS[i].in_title, value, hole + 2);
        if (*value && (int)strlen(longer) <= columns)
            text = longer;
    }
    return text;
}
