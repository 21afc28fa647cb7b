/* Writes the page of a comparison: the error, its parts, both timelines, the whole report. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/axis.h"
#include "plots/page/page.h"
#include "sim/compare/compare.h"
#include "sim/report/lines.h"
#include "traces/compare/compare.h"

#include <math.h>

/* ---- the error ------------------------------------------------------------------------------- */

static const char *percent(struct pp_arena *arena, double frac)
{
    return isnan(frac) ? "-" : pp_arena_printf(arena, "%+.1f %%", 100 * frac);
}

static const char *verdict(struct pp_arena *arena, const struct pp_compare_report *report)
{
    if (isnan(report->tolerance_frac))
        return "";
    return pp_arena_printf(arena, "%s the tolerance of %g %%",
                           pp_compare_is_within(report) ? "within" : "OUTSIDE",
                           100 * report->tolerance_frac);
}

/* Writes the card of one of the two steps, with its bubble. */
static void write_side(struct pp_arena *arena, const struct pp_page *page,
                       const struct pp_compare_side *side, const char *unit, const char *label,
                       const char *key)
{
    const struct pp_page_card card = {
        .label = label,
        .key = key,
        .value = side->step_s,
        .figure = pp_axis_time_text(arena, side->step_s, unit),
        .remark = pp_arena_printf(arena, "bubble %.1f %%, span idle %.1f %%",
                                  100 * side->bubble_frac, 100 * side->span_bubble_frac),
        .meaning =
            pp_arena_printf(arena, "%s%s of %s",
                            side->steps > 1 && !side->is_overlapping ? "median of the " : "the ",
                            side->steps > 1 ? "steps" : "step", side->trace->program)};

    pp_page_card(page, &card);
}

static void write_answer(struct pp_arena *arena, const struct pp_page *page,
                         const struct pp_compare_report *report)
{
    const struct pp_comparison *c = report->comparison;
    const bool is_judged = !isnan(report->tolerance_frac);
    const struct pp_page_card error = {
        .label = "error",
        .key = isnan(c->step_error_frac) ? NULL : "step_error_frac",
        .value = c->step_error_frac,
        .figure = percent(arena, c->step_error_frac),
        .remark = verdict(arena, report),
        .meaning = "predicted / measured - 1: negative where the prediction is too short",
        .is_bad = is_judged && !pp_compare_is_within(report)};

    fputs("<dl class=\"cards\">\n", page->out);
    write_side(arena, page, &c->predicted, c->time_unit, "predicted", "predicted_step_s");
    write_side(arena, page, &c->measured, c->time_unit, "measured", "measured_step_s");
    pp_page_card(page, &error);
    fputs("</dl>\n", page->out);
    for (const char *const *note = pp_compare_notes(arena, c); *note; note++) {
        fputs("<p><strong>Note.</strong> ", page->out);
        pp_html_words(page->out, *note);
        fputs("</p>\n", page->out);
    }
}

/* ---- parts of the difference ----------------------------------------------------------------- */

static void write_band(const struct pp_page *page, const struct pp_compare_side *side,
                       const char *label, double longest_s)
{
    pp_html(page->out, "<p class=\"soft\">%s</p><div class=\"band\">", label);
    pp_page_time_band(page, side->part_s, longest_s);
    fputs("</div>\n", page->out);
}

static void write_part(struct pp_arena *arena, const struct pp_page *page,
                       const struct pp_comparison *c, int part)
{
    const double predicted_s = c->predicted.part_s[part], measured_s = c->measured.part_s[part],
                 error_s = predicted_s - measured_s;
    const char *name = pp_time_part_names[part];

    fputs("<tr><td class=\"name\">", page->out);
    pp_html_swatch(pp_style_part_rgb(part), page->out);
    pp_html_words(page->out, pp_time_part_words[part]);
    fputs("</td>", page->out);
    pp_page_cell(page, pp_arena_printf(arena, "predicted.time_s.%s", name), predicted_s,
                 pp_axis_time_text(arena, predicted_s, c->time_unit));
    pp_page_cell(page, pp_arena_printf(arena, "measured.time_s.%s", name), measured_s,
                 pp_axis_time_text(arena, measured_s, c->time_unit));
    pp_html(page->out, "<td class=\"number\">%s%s</td><td class=\"number\">",
            fabs(error_s) < 1e-12 ? ""
            : error_s < 0         ? "-"
                                  : "+",
            pp_axis_time_text(arena, fabs(error_s) < 1e-12 ? 0 : fabs(error_s), c->time_unit));
    if (c->step_error_s != 0)
        pp_html(page->out, "%.0f %%", round(100 * error_s / c->step_error_s) + 0.0);
    fputs("</td></tr>\n", page->out);
}

static void write_parts(struct pp_arena *arena, const struct pp_page *page,
                        const struct pp_comparison *c)
{
    const double longest_s = fmax(c->predicted.step_s, c->measured.step_s);

    pp_page_heading(page, "time", "Where the time is");
    write_band(page, &c->predicted, "predicted", longest_s);
    write_band(page, &c->measured, "measured", longest_s);
    fputs("<div class=\"wide\"><table><caption>Of an average rank; the differences add up to that "
          "of the step</caption>\n<thead><tr><th>part</th><th class=\"number\">predicted</th><th "
          "class=\"number\">measured</th><th class=\"number\">error</th><th class=\"number\">of "
          "the step's error</th></tr></thead>\n<tbody>\n",
          page->out);
    for (int part = 0; part < PP_TIME_PARTS; part++)
        if (c->predicted.part_s[part] != 0 || c->measured.part_s[part] != 0)
            write_part(arena, page, c, part);
    fputs("</tbody></table></div>\n", page->out);
}

/* ---- durations ------------------------------------------------------------------------------- */

static void write_time(struct pp_arena *arena, const struct pp_page *page, const char *unit,
                       int row, const char *name, double value_s)
{
    pp_page_cell(page, pp_arena_printf(arena, "durations.%d.%s", row, name), value_s,
                 pp_axis_time_text(arena, value_s, unit));
}

static void write_kind(struct pp_arena *arena, const struct pp_page *page, const char *unit,
                       const struct pp_compare_row *kind, int row)
{
    char count[PP_UNITS_TEXT_BYTES];

    pp_html(page->out, "<tr><td>%s</td><td class=\"number\">%s</td>", pp_compare_kind_name(kind),
            pp_units_print_count(kind->count, count));
    write_time(arena, page, unit, row, "predicted_mean_s", kind->predicted_mean_s);
    write_time(arena, page, unit, row, "measured_mean_s", kind->measured_mean_s);
    write_time(arena, page, unit, row, "measured_p50_s", kind->measured_p50_s);
    write_time(arena, page, unit, row, "measured_p95_s", kind->measured_p95_s);
    pp_page_cell(page, pp_arena_printf(arena, "durations.%d.error_frac", row), kind->error_frac,
                 percent(arena, kind->error_frac));
    pp_page_percent(page, pp_arena_printf(arena, "durations.%d.share_frac", row), kind->share_frac);
    fputs("</tr>\n", page->out);
}

static void write_kinds(struct pp_arena *arena, const struct pp_page *page,
                        const struct pp_comparison *c)
{
    pp_page_heading(page, "durations", "How long ops take");
    fputs("<div class=\"wide\"><table><caption>Share: of all that durations differ by</caption>"
          "\n<thead><tr><th>kind</th><th class=\"number\">count</th><th class=\"number\">"
          "predicted</th><th class=\"number\">measured</th><th class=\"number\">median</th><th "
          "class=\"number\">95 % below</th><th class=\"number\">error</th><th class=\"number\">"
          "share</th></tr></thead>\n<tbody>\n",
          page->out);
    for (int i = 0; i < c->kind_count; i++)
        write_kind(arena, page, c->time_unit, &c->kinds[i], i);
    fputs("</tbody></table></div>\n", page->out);
}

/* ---- the page -------------------------------------------------------------------------------- */

static enum pp_status write_timelines(struct pp_arena *arena, const struct pp_page *page,
                                      const struct pp_comparison *c, struct pp_error *err)
{
    const struct pp_plot_timeline all = pp_plot_timeline_whole(c->time_unit, 0);
    struct pp_plot_timeline_panel panels[2];

    pp_page_heading(page, "timeline", "Who computed what when");
    PP_TRY(pp_plot_compare_panels(arena, c, c->time_unit, panels, err));
    return pp_html_timelines(arena, panels, 2, &all, page->out, err);
}

static void print_report(const void *report, FILE *out)
{
    pp_report_compare(report, (struct pp_terminal){.width = 80}, out);
}

enum pp_status pp_page_compare(struct pp_arena *arena, const struct pp_page *page,
                               const void *subject, struct pp_error *err)
{
    static const struct pp_page_link LINKS[] = {{"time", "where the time is", true},
                                                {"timeline", "timelines", true},
                                                {"durations", "durations", true},
                                                {"report", "ranks and events", true}};
    const struct pp_compare_report *report = subject;
    const struct pp_comparison *c = report->comparison;
    const char *title = pp_arena_printf(arena, "Step predicted %s, measured %s",
                                        pp_axis_time_text(arena, c->predicted.step_s, c->time_unit),
                                        pp_axis_time_text(arena, c->measured.step_s, c->time_unit));

    pp_page_begin(page, title, LINKS, PP_COUNT(LINKS));
    write_answer(arena, page, report);
    write_parts(arena, page, c);
    PP_TRY(write_timelines(arena, page, c, err));
    write_kinds(arena, page, c);
    pp_page_heading(page, "report", "Ranks, events, and all else");
    pp_page_printed(page, print_report, report);
    pp_page_command(page);
    return PP_OK;
}
