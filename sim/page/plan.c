/* The page of a plan: the report, a picture of what was found, a table of the best. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/axis.h"
#include "plots/page/page.h"

#include <math.h>

#define GB 1e9
enum { MOST_DOTS = 2000 };

static const char *name_of(struct pp_arena *arena, const struct pp_page_plan *plan, int at)
{
    const struct pp_page_point *point = &plan->points[at];
    const char *name = pp_arena_printf(arena, "#%d", at + 1);

    for (int i = 0; i < plan->column_count; i++)
        name = pp_arena_printf(arena, "%s, %s %s", name, plan->columns[i], point->choices[i]);
    return name;
}

static void write_picture(struct pp_arena *arena, const struct pp_page *page,
                          const struct pp_page_plan *plan)
{
    const int shown = plan->count < MOST_DOTS ? plan->count : MOST_DOTS;
    struct pp_html_dot *dots = PP_ARRAY(arena, struct pp_html_dot, shown);
    double longest_s = 0;

    for (int i = 0; i < shown; i++)
        longest_s = fmax(longest_s, plan->points[i].step_s);
    const struct pp_axis_time time = pp_axis_time(longest_s, NULL);
    for (int i = 0; i < shown; i++)
        dots[i] = (struct pp_html_dot){.x = plan->points[i].step_s * time.factor,
                                       .y = plan->points[i].peak_bytes / GB,
                                       .name = name_of(arena, plan, i),
                                       .is_marked = plan->points[i].is_tie};
    const struct pp_html_scatter scatter = {.points = dots,
                                            .count = shown,
                                            .limit = plan->capacity_bytes / GB,
                                            .axis = pp_arena_printf(arena, "step (%s)", time.unit),
                                            .label =
                                                "Peak memory over step, a dot for each choice"};
    pp_page_heading(page, "choices", "Choices");
    pp_html(page->out,
            "<figure>\n<figcaption>Peak memory of the fullest rank (GB) over the step; dashed: the "
            "device; large dots: as fast as the best, as far as costs can tell%s</figcaption>\n",
            shown < plan->count ? "; the best of them" : "");
    pp_html_scatter(&scatter, page->out);
    fputs("</figure>\n", page->out);
}

static void write_row(struct pp_arena *arena, const struct pp_page *page,
                      const struct pp_page_plan *plan, int at)
{
    const struct pp_page_point *point = &plan->points[at];
    char text[PP_UNITS_TEXT_BYTES];

    fputs(point->is_tie ? "<tr class=\"own\">" : "<tr>", page->out);
    pp_html(page->out, "<td class=\"number\">%d</td>", at + 1);
    for (int i = 0; i < plan->column_count; i++)
        pp_html(page->out, "<td>%s</td>", point->choices[i]);
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.iteration_s", at), point->step_s,
                 pp_units_print(point->step_s, PP_UNIT_SECONDS, text));
    pp_page_percent(page, pp_arena_printf(arena, "points.%d.mfu", at), point->mfu);
    snprintf(text, sizeof(text), "%.1f GB", point->peak_bytes / GB);
    pp_page_cell(page, pp_arena_printf(arena, "points.%d.peak_mem_bytes", at),
                 round(point->peak_bytes), text);
    fputs("</tr>\n", page->out);
}

static void write_table(struct pp_arena *arena, const struct pp_page *page,
                        const struct pp_page_plan *plan)
{
    const int shown = plan->count < PP_PAGE_ROWS ? plan->count : PP_PAGE_ROWS;

    fputs("<div class=\"wide\"><table><caption>", page->out);
    if (shown < plan->count)
        pp_html(page->out, "The first %d of %d. ", shown, plan->count);
    fputs("Bold: ties with the best</caption>\n<thead><tr><th class=\"number\">#</th>", page->out);
    for (int i = 0; i < plan->column_count; i++)
        pp_html(page->out, "<th>%s</th>", plan->columns[i]);
    fputs("<th class=\"number\">step</th><th class=\"number\">MFU</th><th class=\"number\">peak"
          "</th></tr></thead>\n<tbody>\n",
          page->out);
    for (int i = 0; i < shown; i++)
        write_row(arena, page, plan, i);
    fputs("</tbody></table></div>\n", page->out);
}

enum pp_status pp_page_plan(struct pp_arena *arena, const struct pp_page *page, const void *subject,
                            struct pp_error *err)
{
    const struct pp_page_plan *plan = subject;
    const struct pp_page_link links[] = {{"report", "report", true},
                                         {"choices", "choices", plan->count > 0}};

    (void)err;
    pp_page_begin(page, plan->title, links, sizeof(links) / sizeof(*links));
    pp_page_heading(page, "report", "Report");
    pp_page_printed(page, plan->print, plan->subject);
    if (plan->count > 0) {
        write_picture(arena, page, plan);
        write_table(arena, page, plan);
    }
    pp_page_command(page);
    return PP_OK;
}
