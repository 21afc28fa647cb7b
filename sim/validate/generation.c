/* Rows of runs that generate: errors by family and figure, and which runs fit. */
#include "core/text/json_write.h"
#include "core/text/terminal.h"
#include "sim/validate/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds the errors of one figure, in rows of a family or of all families (NULL). */
static int add_errors(const struct pp_validation *v, const char *family, int figure, double *errors,
                      int n)
{
    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        const double error = row->predicted[figure] / row->published[figure] - 1;
        if (pp_validation_is_generation(row) && !row->row->is_out_of_memory && isfinite(error) &&
            (!family || strcmp(row->row->family, family) == 0))
            errors[n++] = error;
    }
    return n;
}

struct pp_validation_errors pp_validation_generation_errors(struct pp_arena *arena,
                                                            const struct pp_validation *v)
{
    double *errors = PP_ARRAY(arena, double, 2 * v->count + 1);
    const int n = add_errors(v, NULL, PP_GENERATION_LATENCY, errors, 0);

    return pp_validation_errors_of(errors, add_errors(v, NULL, PP_GENERATION_RATE, errors, n));
}

/* Returns the names of families in the order of rows, ended by NULL. */
static const char **families_of(struct pp_arena *arena, const struct pp_validation *v)
{
    const char **names = PP_ARRAY(arena, const char *, v->count + 1);
    int count = 0;

    for (int i = 0; i < v->count; i++) {
        int k = 0;
        if (!v->rows[i].is_generation)
            continue;
        while (k < count && strcmp(names[k], v->rows[i].row->family) != 0)
            k++;
        names[k] = v->rows[i].row->family;
        count += k == count;
    }
    return names;
}

/* Runs by their published outcome, and by the predicted one. */
struct outcomes {
    int oom, oom_refused, ran, ran_fits;
};

static struct outcomes outcomes_of(const struct pp_validation *v)
{
    struct outcomes o = {0};

    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        if (!pp_validation_is_generation(row))
            continue;
        const bool is_oom = row->row->is_out_of_memory, fits = row->prediction.fits;
        o.oom += is_oom;
        o.oom_refused += is_oom && !fits;
        o.ran += !is_oom;
        o.ran_fits += !is_oom && fits;
    }
    return o;
}

/* ---- reports --------------------------------------------------------------------------------- */

static void line(struct pp_arena *arena, const struct pp_validation *v, const char *family,
                 int figure, const char *format, FILE *out)
{
    double *errors = PP_ARRAY(arena, double, v->count + 1);
    const struct pp_validation_errors e =
        pp_validation_errors_of(errors, add_errors(v, family, figure, errors, 0));

    if (e.n > 0)
        fprintf(out, format, family ? family : "every family", pp_generation_names[figure], e.n,
                100 * e.median_abs, 100 * e.p90_abs, 100 * e.mean_abs, 100 * e.bias);
}

/* Prints a line for every figure of all families together, then of each. */
static void lines(struct pp_arena *arena, const struct pp_validation *v, const char *format,
                  FILE *out)
{
    for (int figure = 0; figure < PP_GENERATION_FIGURES; figure++)
        line(arena, v, NULL, figure, format, out);
    for (const char **family = families_of(arena, v); *family; family++)
        for (int figure = 0; figure < PP_GENERATION_FIGURES; figure++)
            line(arena, v, *family, figure, format, out);
}

static bool has_any(const struct pp_validation *v)
{
    for (int i = 0; i < v->count; i++)
        if (pp_validation_is_generation(&v->rows[i]))
            return true;
    return false;
}

/* Returns the figure by which a row is ordered: its first error in time; -1 = none. */
static int judged_figure(const struct pp_validation_row *row)
{
    for (int figure = 0; figure <= PP_GENERATION_FIRST; figure++)
        if (pp_validation_is_generation(row) && !row->row->is_out_of_memory &&
            isfinite(row->predicted[figure] / row->published[figure]))
            return figure;
    return -1;
}

static double judged_factor(const struct pp_validation_row *row)
{
    const int figure = judged_figure(row);

    return row->predicted[figure] / row->published[figure];
}

static int by_factor(const void *a, const void *b)
{
    const struct pp_validation_row *const *x = a, *const *y = b;
    const double dx = fabs(log(judged_factor(*x))), dy = fabs(log(judged_factor(*y)));

    return dx > dy ? -1 : dx < dy;
}

static bool is_judged(const struct pp_validation_row *row)
{
    return judged_figure(row) >= 0;
}

static void print_worst(struct pp_arena *arena, const struct pp_validation *v, int worst, FILE *out)
{
    int n;
    const struct pp_validation_row **rows =
        pp_validation_sorted(arena, v, is_judged, by_factor, &n);

    if (n == 0 || worst == 0)
        return;
    fprintf(out, "\n%-32s %-13s %9s %9s %8s\n", "generation, worst first", "figure", "published",
            "predicted", "error");
    for (int i = 0; i < n && i < worst; i++) {
        const int figure = judged_figure(rows[i]);
        fprintf(out, "%-32.32s %-13s %9.4g %9.4g %+6.1f %%\n", rows[i]->row->id,
                figure == PP_GENERATION_RATE      ? "tokens/s"
                : figure == PP_GENERATION_LATENCY ? "latency, s"
                                                  : "first tok., s",
                rows[i]->published[figure], rows[i]->predicted[figure],
                100 * (judged_factor(rows[i]) - 1));
    }
}

void pp_validation_print_generation(struct pp_arena *arena, const struct pp_validation *v,
                                    int worst, FILE *out)
{
    const struct outcomes o = outcomes_of(v);

    if (!has_any(v))
        return;
    fprintf(out, "\n%-22s %-12s %5s %8s %8s %8s %8s\n", "generation", "figure", "rows", "median",
            "p90", "mean", "bias");
    lines(arena, v, "%-22.22s %-12s %5d %6.1f %% %6.1f %% %6.1f %% %+6.1f %%\n", out);
    fprintf(out,
            "\nOf %d runs published as out of memory, %d are predicted not to fit. Of %d that\n"
            "ran, %d are predicted to fit.\n",
            o.oom, o.oom_refused, o.ran, o.ran_fits);
    print_worst(arena, v, worst, out);
}

void pp_validation_markdown_generation(struct pp_arena *arena, const struct pp_validation *v,
                                       FILE *out)
{
    const struct outcomes o = outcomes_of(v);

    if (!has_any(v))
        return;
    fputs(
        "\n## Generation\n\n"
        "Rows of tests/published/inference.csv are runs that generate, and no other figure of "
        "this page\ncounts them. docs/costs.md, \"Generation\", says which constants were fitted "
        "on which family, and\nwhat the rule near the ridge predicts of families that did not "
        "choose it.\n\n"
        "| family | figure | rows | median | p90 | mean | bias |\n|---|---|---|---|---|---|---|\n",
        out);
    lines(arena, v, "| %s | %s | %d | %.1f %% | %.1f %% | %.1f %% | %+.1f %% |\n", out);
    fprintf(out,
            "\nOut of memory: of %d rows published as such %d are predicted not to fit; of %d rows "
            "that ran %d\nare predicted to fit.\n",
            o.oom, o.oom_refused, o.ran, o.ran_fits);
}

void pp_validation_put_generation(const struct pp_validation_row *row, json_t *o)
{
    char key[64];

    for (int i = 0; i < PP_GENERATION_MEMORY; i++) {
        const bool is_there = isfinite(row->published[i]) && !row->skipped;
        const double predicted = is_there ? row->predicted[i] : (double)NAN;
        snprintf(key, sizeof(key), "published_%s", pp_generation_keys[i]);
        pp_json_put(o, key, row->published[i]);
        snprintf(key, sizeof(key), "predicted_%s", pp_generation_keys[i]);
        pp_json_put(o, key, predicted);
        snprintf(key, sizeof(key), "%s_error_frac", pp_generation_keys[i]);
        pp_json_put(o, key, predicted / row->published[i] - 1);
    }
}
