/* Prints docs/accuracy.md: the errors of predictions, as a page. */
#include "sim/validate/parts.h"

#include <math.h>
#include <stdio.h>

static void put_cell(double frac, const char *format, FILE *out)
{
    fputc(' ', out);
    if (isfinite(frac))
        fprintf(out, format, 100 * frac);
    else
        fputc('-', out);
    fputs(" |", out);
}

static void put_rival(const struct pp_validation_errors *e, FILE *out)
{
    put_cell(e->median_abs, "%.1f %%", out);
    put_cell(e->p90_abs, "%.1f %%", out);
}

static void put_errors(const struct pp_validation_errors *e, FILE *out)
{
    put_rival(e, out);
    put_cell(e->mean_abs, "%.1f %%", out);
    put_cell(e->bias, "%+.1f %%", out);
}

/* ---- step times ------------------------------------------------------------------------------ */

static void headline(struct pp_arena *arena, const struct pp_validation *v, const char *constants,
                     FILE *out)
{
    static const struct {
        pp_validation_filter filter;
        const char *name;
    } PARTS[] = {{pp_validation_is_complete, "all"}, {pp_validation_is_pipelined, "PP > 1"}};
    int families;

    for (size_t i = 0; i < PP_COUNT(PARTS); i++) {
        const struct pp_validation_group g =
            pp_validation_all(arena, v, PARTS[i].filter, PARTS[i].name);
        fprintf(out, "| %s | %s | %d |", constants, g.name, g.time.n);
        put_errors(&g.time, out);
        put_rival(&g.baseline, out);
        fputc('\n', out);
    }
    const double median = pp_validation_median_of_families(arena, v, false, &families),
                 baseline = pp_validation_median_of_families(arena, v, true, &families);
    fprintf(out, "| %s | median of %d families' medians | |", constants, families);
    put_cell(median, "%.1f %%", out);
    fputs(" | | |", out);
    put_cell(baseline, "%.1f %%", out);
    fputs(" |\n", out);
}

/* Prints groups of both validations, with the same rows: `judged` columns follow the built-in. */
static void both(struct pp_arena *arena, const struct pp_validation_page *page,
                 pp_validation_filter filter, enum pp_validation_key key, FILE *out)
{
    int n, m = 0;
    const struct pp_validation_group *own =
        pp_validation_by(arena, page->built_in, filter, key, &n);
    const struct pp_validation_group *judged =
        page->judged ? pp_validation_by(arena, page->judged, filter, key, &m) : NULL;

    fprintf(out, "\n| %s | rows | median | p90 | mean | bias |", pp_validation_key_names[key]);
    fputs(judged ? " without it: median | p90 | mean | bias |" : "", out);
    fputs(" guess: median | p90 |\n|---|---|---|---|---|---|", out);
    fputs(judged ? "---|---|---|---|" : "", out);
    fputs("---|---|\n", out);
    for (int i = 0; i < n; i++) {
        if (own[i].time.n == 0)
            continue;
        fprintf(out, "| %s | %d |", own[i].name, own[i].time.n);
        put_errors(&own[i].time, out);
        if (i < m) /* the same rows in the same order */
            put_errors(&judged[i].time, out);
        put_rival(&own[i].baseline, out);
        fputc('\n', out);
    }
}

/* Prints what a fit without a family still knows of it. */
static void not_left_out(FILE *out)
{
    fputs("\nSome knowledge of the family stays in *fitted without the family*, so these errors "
          "are somewhat too\n"
          "small:\n\n"
          "* People who had seen all rows set the typical values and spreads of the constants "
          "before any row\n"
          "  (core/cost/constants.c).\n"
          "* Some shares that no fit changes were chosen with the rows in view. These are the "
          "compute that\n"
          "  concurrent gathers take (`gather_share_frac`), the half speed of misaligned "
          "products, and 0.92 of\n"
          "  a link. The hidden 50 and 75 % of tensor-parallel communication (`--tp-overlap`) are "
          "two more.\n"
          "* Habits of frameworks (docs/costs-memory.md, \"Memory of frameworks\") follow their "
          "sources. But the\n"
          "  modeled habits were chosen with the rows in view.\n"
          "* A fit without a family starts from the fit on all rows and keeps its slopes. It "
          "computes\n"
          "  predictions anew until its loss hardly falls. Where one linear step moves no "
          "constant by 1 %, that\n"
          "  step is the fit.\n",
          out);
}

/* Prints the rows whose batch or chunks no source states. */
static void inferred(struct pp_arena *arena, const struct pp_validation_page *page, FILE *out)
{
    fputs("\n### Rows with inferred settings\n\n"
          "The source states no micro-batch (we took one sample) or no chunks (one layer each). No "
          "other "
          "figure of\nthis page counts these rows, and no constant is fitted on them.\n",
          out);
    both(arena, page, pp_validation_is_inferred, PP_BY_FAMILY, out);
}

static void step_times(struct pp_arena *arena, const struct pp_validation_page *page, FILE *out)
{
    fputs("\n## Step times\n\n"
          "These rows state every knob, and their models have no experts.\n",
          out);
    if (page->judged)
        not_left_out(out);
    fputs("\n| constants | rows | n | median | p90 | mean | bias | guess: median | p90 |\n"
          "|---|---|---|---|---|---|---|---|---|\n",
          out);
    headline(arena, page->built_in, "built in", out);
    if (page->judged)
        headline(arena, page->judged, "fitted without the family", out);
    fputs("\n### By family\n", out);
    both(arena, page, pp_validation_is_complete, PP_BY_FAMILY, out);
    fputs("\n### By device, schedule, precision, framework and use\n", out);
    for (int key = PP_BY_FAMILY + 1; key < PP_VALIDATION_KEYS; key++)
        both(arena, page, pp_validation_is_complete, (enum pp_validation_key)key, out);
    fputs("\n### Other rows\n\n"
          "The source does not state all knobs and we inferred the rest, or the model has "
          "experts.\n",
          out);
    both(arena, page, pp_validation_is_incomplete, PP_BY_FAMILY, out);
    if (pp_validation_count(page->built_in).inferred > 0)
        inferred(arena, &(struct pp_validation_page){.built_in = page->built_in}, out);
}

/* ---- memory, rows without figures ------------------------------------------------------------ */

static void memory(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    const struct pp_validation_group all = pp_validation_all(arena, v, pp_validation_is_any, "all");
    const struct pp_validation_count count = pp_validation_count(v);
    int n;
    const struct pp_validation_group *groups =
        pp_validation_by(arena, v, pp_validation_is_any, PP_BY_FAMILY, &n);

    fputs("\n## Peak memory\n\n| family | rows | median | p90 | mean | bias |\n"
          "|---|---|---|---|---|---|\n",
          out);
    fprintf(out, "| all | %d |", all.memory.n);
    put_errors(&all.memory, out);
    fputc('\n', out);
    for (int i = 0; i < n; i++) {
        if (groups[i].memory.n == 0)
            continue;
        fprintf(out, "| %s | %d |", groups[i].name, groups[i].memory.n);
        put_errors(&groups[i].memory, out);
        fputc('\n', out);
    }
    fprintf(out,
            "\nOut of memory: of %d rows published as such %d are predicted not to fit; of %d "
            "rows that ran %d\nare predicted to fit.\n",
            count.oom, count.oom_refused, count.ran, count.ran_fits);
}

static void reasons(const char *title, const struct pp_validation_reason *list, int n, FILE *out)
{
    fprintf(out, "\n## %s\n\n| rows | reason | first |\n|---|---|---|\n", title);
    for (int i = 0; i < n; i++)
        fprintf(out, "| %d | %s | %s |\n", list[i].n, list[i].text, list[i].first->id);
}

static void without_a_value(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    int n;
    const struct pp_validation_reason *list = pp_validation_reasons(arena, v, true, &n);

    if (n > 0)
        reasons("Published values refused", list, n, out);
    list = pp_validation_reasons(arena, v, false, &n);
    reasons("Rows without a prediction", list, n, out);
}

void pp_validation_markdown(struct pp_arena *arena, const struct pp_validation_page *page,
                            FILE *out)
{
    const struct pp_validation_count count = pp_validation_count(page->built_in);

    fprintf(out,
            "# Accuracy\n\n"
            "`pipesim validate tests/published/*.csv%s --markdown` prints this page.\n"
            "The rows come from the sources in tests/published/README.md; docs/validate.md "
            "describes the command.\n\n"
            "%d published rows, %d of them predicted, %d more with inferred settings; %d rows "
            "state every\nknob, %d of them are predicted.\n\n"
            "An error is predicted / published - 1. Median, p90 and mean are of its size; bias is "
            "its median with\n"
            "sign. The baseline *guess* knows one number: the median over the MFUs of all other "
            "families,\n"
            "of rows that state every knob.\n",
            page->judged ? " --refit" : "", count.rows, count.predicted, count.inferred,
            count.complete, count.complete_predicted);
    if (page->judged)
        fputs("Columns *without it* have constants fitted on the rows of all other families. So "
              "no family is judged\n"
              "by constants that were fitted on it.\n",
              out);
    step_times(arena, page, out);
    memory(arena, page->built_in, out);
    pp_validation_markdown_figures(arena, page->built_in, out);
    pp_validation_markdown_generation(arena, page->built_in, out);
    without_a_value(arena, page->built_in, out);
}
