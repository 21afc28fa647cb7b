/* Prints the report of a validation. */
#include "sim/validate/parts.h"

#include "core/text/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, NAME = 25, CELL_BYTES = 16 };

static void put_percent(double frac, const char *format, FILE *out)
{
    char text[CELL_BYTES];

    if (isfinite(frac) && fabs(frac) < 100)
        snprintf(text, sizeof(text), format, 100 * frac);
    else
        snprintf(text, sizeof(text), isfinite(frac) ? "large" : "-");
    fprintf(out, " %8s", text);
}

static void heading(const char *title, FILE *out)
{
    fprintf(out, "\n%-*s %5s %8s %8s %8s %8s %8s\n", NAME, title, "rows", "median", "p90", "mean",
            "bias", "guess");
}

static void line(const struct pp_validation_group *g, const struct pp_validation_errors *e,
                 FILE *out)
{
    if (e->n == 0)
        return;
    fprintf(out, "%-*.*s %5d", NAME, NAME, g->name, e->n);
    put_percent(e->median_abs, "%.1f %%", out);
    put_percent(e->p90_abs, "%.1f %%", out);
    put_percent(e->mean_abs, "%.1f %%", out);
    put_percent(e->bias, "%+.1f %%", out);
    if (e == &g->time)
        put_percent(g->baseline.median_abs, "%.1f %%", out);
    fputc('\n', out);
}

static void print_by(struct pp_arena *arena, const struct pp_validation *v,
                     pp_validation_filter filter, enum pp_validation_key key, const char *rows,
                     FILE *out)
{
    int count, n = 0;
    const struct pp_validation_group *groups = pp_validation_by(arena, v, filter, key, &count);

    for (int i = 0; i < count; i++)
        n += groups[i].time.n;
    if (n == 0)
        return;
    heading(pp_arena_printf(arena, "%s, by %s", rows, pp_validation_key_names[key]), out);
    for (int i = 0; i < count; i++)
        line(&groups[i], &groups[i].time, out);
}

static void print_times(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    const struct pp_validation_group all =
        pp_validation_all(arena, v, pp_validation_is_complete, "all");
    const struct pp_validation_group pipelined =
        pp_validation_all(arena, v, pp_validation_is_pipelined, "PP > 1");
    const struct pp_validation_group rest =
        pp_validation_all(arena, v, pp_validation_is_incomplete, "inferred or experts");
    const struct pp_validation_group inferred =
        pp_validation_all(arena, v, pp_validation_is_inferred, "inferred settings");
    int families;

    if (pp_validation_count(v).rows == 0) /* others count apart */
        return;
    if (all.time.n + rest.time.n + inferred.time.n == 0) {
        fputs("\nno row has both a published step time and a prediction\n", out);
        return;
    }
    heading("every setting stated", out);
    line(&all, &all.time, out);
    line(&pipelined, &pipelined.time, out);
    const double median = pp_validation_median_of_families(arena, v, false, &families);
    if (families > 0) {
        fprintf(out, "%-*s %5d", NAME, "median of families", families);
        put_percent(median, "%.1f %%", out);
        fputc('\n', out);
    }
    line(&rest, &rest.time, out);
    line(&inferred, &inferred.time, out);
    for (int key = 0; key < PP_VALIDATION_KEYS; key++)
        print_by(arena, v, pp_validation_is_complete, (enum pp_validation_key)key, "complete", out);
    print_by(arena, v, pp_validation_is_incomplete, PP_BY_FAMILY, "others", out);
}

static void print_memory(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    const struct pp_validation_group all = pp_validation_all(arena, v, pp_validation_is_any, "all");
    const struct pp_validation_count runs = pp_validation_count(v);
    int count;
    const struct pp_validation_group *groups =
        pp_validation_by(arena, v, pp_validation_is_any, PP_BY_FAMILY, &count);

    if (all.memory.n > 0) {
        fprintf(out, "\n%-*s %5s %8s %8s %8s %8s\n", NAME, "peak memory", "rows", "median", "p90",
                "mean", "bias");
        line(&all, &all.memory, out);
        for (int i = 0; i < count; i++)
            line(&groups[i], &groups[i].memory, out);
    }
    if (runs.oom + runs.ran > 0)
        pp_text_wrap(
            out, WIDTH, fprintf(out, "\n") - 1, 0,
            pp_arena_printf(arena, "%s%d runs that fitted, %d are predicted to fit.",
                            runs.oom ? pp_arena_printf(arena,
                                                       "Of %d runs published as out of memory, %d "
                                                       "are predicted not to fit. Of ",
                                                       runs.oom, runs.oom_refused)
                                     : "Of ",
                            runs.ran, runs.ran_fits));
}

static int by_error(const void *a, const void *b)
{
    const struct pp_validation_row *const *x = a, *const *y = b;
    const double dx = fabs(log1p((*x)->error_frac)), dy = fabs(log1p((*y)->error_frac));

    return dx > dy ? -1 : dx < dy;
}

static bool has_error(const struct pp_validation_row *row)
{
    return pp_validation_is_complete(row) && isfinite(row->error_frac);
}

static void print_worst(struct pp_arena *arena, const struct pp_validation *v, int worst, FILE *out)
{
    int n;
    const struct pp_validation_row **rows = pp_validation_sorted(arena, v, has_error, by_error, &n);

    if (n == 0 || worst == 0)
        return;
    fprintf(out, "\n%-32s %11s %11s %8s\n", "complete rows, worst first", "published", "predicted",
            "error");
    for (int i = 0; i < n && i < worst; i++) {
        fprintf(out, "%-32.32s %9.4g s %9.4g s", rows[i]->row->id, rows[i]->step_s,
                rows[i]->prediction.step_s);
        put_percent(rows[i]->error_frac, "%+.1f %%", out);
        fputc('\n', out);
    }
}

static void print_reasons(struct pp_arena *arena, const char *title,
                          const struct pp_validation_reason *reasons, int count, FILE *out)
{
    if (count > 0)
        fprintf(out, "\n%s\n", title);
    for (int i = 0; i < count; i++)
        pp_text_wrap(out, WIDTH, fprintf(out, "%6d  ", reasons[i].n), 8,
                     pp_arena_printf(arena, "%s (%s%s)", reasons[i].text,
                                     reasons[i].n > 1 ? "first: " : "",
                                     pp_measurement_place(arena, reasons[i].first)));
}

void pp_validation_print(struct pp_arena *arena, const struct pp_validation *v, int worst,
                         FILE *out)
{
    const struct pp_validation_count count = pp_validation_count(v);
    int refused, skipped;
    const struct pp_validation_reason *refusals = pp_validation_reasons(arena, v, true, &refused);
    const struct pp_validation_reason *reasons = pp_validation_reasons(arena, v, false, &skipped);

    if (count.rows > 0 || count.generation_rows == 0)
        fprintf(out, "%d row%s: %d predicted; of %d that state%s every setting, %d\n", count.rows,
                count.rows == 1 ? "" : "s", count.predicted, count.complete,
                count.complete == 1 ? "s" : "", count.complete_predicted);
    if (count.inferred > 0)
        fprintf(out, "%d more with inferred settings, which count apart\n", count.inferred);
    if (count.figure_rows > 0)
        fprintf(out, "%d more publish one figure each, which count apart; %d predicted\n",
                count.figure_rows, count.figures);
    if (count.generation_rows > 0)
        fprintf(out,
                count.rows > 0
                    ? "%d more are of runs that generate, which count apart; %d predicted\n"
                    : "%d rows of runs that generate; %d predicted\n",
                count.generation_rows, count.generations);
    fprintf(out,
            "An error is predicted / published - 1. median, p90, mean: of its size; bias: the\n"
            "median with its sign%s\n",
            count.rows > 0 ? "; guess: of a step at the median MFU of the other families." : ".");
    print_times(arena, v, out);
    print_memory(arena, v, out);
    pp_validation_print_figures(arena, v, out);
    pp_validation_print_generation(arena, v, worst, out);
    print_worst(arena, v, worst, out);
    print_reasons(arena, "published values refused", refusals, refused, out);
    print_reasons(arena, "skipped", reasons, skipped, out);
}
