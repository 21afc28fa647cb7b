/* Rows with one figure each: predicts them, and prints errors by family and metric. */
#include "sim/published/figures.h"
#include "core/quantile.h"
#include "core/text/json_write.h"
#include "core/text/terminal.h"
#include "sim/validate/parts.h"

#include <math.h>
#include <string.h>

void pp_validation_figure(struct pp_arena *arena, const struct pp_measurement *m,
                          struct pp_validation_row *row)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_published_figure figure;
    struct pp_error err = {0};

    const bool is_predicted = pp_figure_predict(scratch, m, &figure, &err) == PP_OK;
    *row = (struct pp_validation_row){
        .row = m,
        .skipped = is_predicted ? NULL : pp_arena_strdup(arena, pp_measure_reason(scratch, &err)),
        .step_s = (double)NAN,
        .error_frac = (double)NAN,
        .mem_error_frac = (double)NAN,
        .mfu = (double)NAN,
        .baseline_error_frac = (double)NAN,
        .is_figure = true,
        .figure = figure.metric,
        .figure_published = figure.published,
        .figure_predicted = figure.predicted,
        .is_report = figure.is_report};
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Rows of one family and metric. */
struct group {
    const struct pp_validation_row *first;
    struct pp_validation_errors errors;
};

static bool is_alike(const struct pp_validation_row *a, const struct pp_validation_row *b)
{
    return !strcmp(a->row->family, b->row->family) && a->figure == b->figure &&
           a->is_report == b->is_report;
}

static struct pp_validation_errors errors_of(struct pp_arena *arena, const struct pp_validation *v,
                                             const struct pp_validation_row *first)
{
    double *errors = PP_ARRAY(arena, double, v->count + 1);
    int n = 0;

    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        if (pp_validation_is_figure(row) && is_alike(row, first))
            errors[n++] = row->figure_predicted / row->figure_published - 1;
    }
    return pp_validation_errors_of(errors, n);
}

/* Returns the groups in the order of rows. */
static struct group *groups_of(struct pp_arena *arena, const struct pp_validation *v, int *count)
{
    struct group *groups = NULL;
    int capacity = 0;

    *count = 0;
    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        int k = 0;
        if (!pp_validation_is_figure(row))
            continue;
        while (k < *count && !is_alike(groups[k].first, row))
            k++;
        if (k == *count)
            *PP_PUSH(arena, groups, *count, capacity) = (struct group){.first = row};
    }
    for (int k = 0; k < *count; k++)
        groups[k].errors = errors_of(arena, v, groups[k].first);
    return groups;
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Prints "published -> predicted" of a single row, or the number of rows. */
static const char *rows_of(struct pp_arena *arena, const struct group *g)
{
    const struct pp_validation_row *row = g->first;
    const double unit = row->figure->unit;

    if (g->errors.n > 1)
        return pp_arena_printf(arena, "%d rows", g->errors.n);
    return pp_arena_printf(arena, "%.6g %s, predicted %.6g", row->figure_published / unit,
                           row->figure->unit_name, row->figure_predicted / unit);
}

void pp_validation_print_figures(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    int count;
    const struct group *groups = groups_of(arena, v, &count);

    if (count > 0)
        fprintf(out, "\n%-26s %-28s %8s %8s\n", "one figure a row", "published", "median", "bias");
    for (int i = 0; i < count; i++) {
        const struct group *g = &groups[i];
        fprintf(out, "%-26.26s %-28.28s %6.1f %% %+6.1f %%\n", g->first->row->family,
                g->first->row->cell[PP_COL_METRIC], 100 * g->errors.median_abs,
                100 * g->errors.bias);
        fprintf(out, "%-26s %s%s\n", "", rows_of(arena, g),
                g->first->is_report ? "; its source says little" : "");
    }
}

void pp_validation_markdown_figures(struct pp_arena *arena, const struct pp_validation *v,
                                    FILE *out)
{
    int count;
    const struct group *groups = groups_of(arena, v, &count);

    if (count == 0)
        return;
    fputs(
        "\n## Larger than the devices\n\n"
        "Rows of tests/published/tiers.csv publish one figure each, of runs with state beyond "
        "the device. No\nconstant was fitted on them, and no other figure of this page counts "
        "them. A batch that the source\nleaves open is the best one that fits. The source of "
        "*reported* rows says too little to judge a\nprediction.\n\n"
        "| family | metric | | published | median | p90 | bias |\n|---|---|---|---|---|---|---|\n",
        out);
    for (int i = 0; i < count; i++) {
        const struct group *g = &groups[i];
        fprintf(out, "| %s | %s | %s | %s | %.1f %% | %.1f %% | %+.1f %% |\n",
                g->first->row->family, g->first->row->cell[PP_COL_METRIC],
                g->first->is_report ? "reported" : "", rows_of(arena, g),
                100 * g->errors.median_abs, 100 * g->errors.p90_abs, 100 * g->errors.bias);
    }
}

enum pp_status pp_validation_print_figure(struct pp_arena *arena, const struct pp_measurement *m,
                                          FILE *out, struct pp_error *err)
{
    enum { WIDTH = 80, LABEL = 10 };
    struct pp_published_figure f;
    const enum pp_status status = pp_figure_predict(arena, m, &f, err);

    fprintf(out, "%s (%s:%d)\n", m->id, m->file, m->line);
    for (size_t i = 0; i < PP_COUNT(f.command); i++)
        if (f.command[i].argc)
            fprintf(out, "%-*s%s\n", LABEL, i ? "over" : "command",
                    pp_measure_command_lines(arena, &f.command[i], WIDTH, LABEL));
    if (f.found)
        fprintf(out, "%-*s%s\n", LABEL, "found", f.found);
    if (status != PP_OK) {
        pp_text_wrap(out, WIDTH, fprintf(out, "%-*s", LABEL, "skipped"), LABEL,
                     pp_measure_reason(arena, err));
        return pp_error_set(err, PP_EINVAL, "--row %s: the row is skipped, nothing is predicted",
                            m->id);
    }
    const double unit = f.metric->unit;
    fprintf(out, "%-*spublished %.6g %s, predicted %.6g %s, error %+.1f %%\n", LABEL, "figure",
            f.published / unit, f.metric->unit_name, f.predicted / unit, f.metric->unit_name,
            100 * (f.predicted / f.published - 1));
    return PP_OK;
}

json_t *pp_validation_figure_json(const struct pp_validation_row *row)
{
    json_t *o = json_object();

    pp_json_put_text(o, "metric", row->row->cell[PP_COL_METRIC]);
    pp_json_put_text(o, "unit", row->figure->unit_name);
    pp_json_put(o, "published", row->figure_published / row->figure->unit);
    pp_json_put(o, "predicted",
                row->skipped ? (double)NAN : row->figure_predicted / row->figure->unit);
    pp_json_put(o, "error_frac",
                row->skipped ? (double)NAN : row->figure_predicted / row->figure_published - 1);
    return o;
}
