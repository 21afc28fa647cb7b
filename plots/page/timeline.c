/* Timelines as a part of a page. */
#include "plots/page/page.h"

#include "core/text/html.h"
#include "plots/page/timeline.h"

#include <math.h>
#include <string.h>

/* Inches and pixels of a screen, for limits that depend on the size of a picture. */
static const double WIDTH_IN = 10, NUMBER_PX = 8, WIDTH_PX = 960;
enum { ROWS_PX = 480, LEAST_PX = 4, MOST_PX = 26, LABEL_PX = 13, NUMBERED = 600, MOST_CLASSES = 4 };

static int pitch_px(const struct pp_timeline_panel *panel)
{
    const int pitch = ROWS_PX / panel->rows;

    return pitch < LEAST_PX ? LEAST_PX : pitch > MOST_PX ? MOST_PX : pitch;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* Chooses the distance of rows: every k-th of many ranks, or fewer if their ops are too many. */
static void choose_rows(struct pp_timeline_panel *panel, int most_boxes)
{
    const int ranks = panel->rows;
    const int by_rows = (ranks + PP_HTML_ROWS - 1) / PP_HTML_ROWS,
              by_boxes = (pp_timeline_shown(panel) + most_boxes - 1) / most_boxes;

    panel->every = by_boxes > by_rows && by_boxes < ranks ? by_boxes : by_rows;
    panel->rows = (ranks + panel->every - 1) / panel->every;
}

static enum pp_status open_panels(struct pp_timeline_page *page,
                                  const struct pp_plot_timeline_panel *panels,
                                  const struct pp_plot_timeline *options, struct pp_error *err)
{
    for (int i = 0; i < page->count; i++) {
        PP_TRY(pp_timeline_open(page->arena, &panels[i], options, &page->panels[i], err));
        choose_rows(&page->panels[i], PP_HTML_DETAIL / page->count);
    }
    pp_timeline_choose_axis(page, options);
    for (int i = 0; i < page->count; i++)
        page->panels[i].is_binned =
            pp_timeline_shown(&page->panels[i]) > PP_HTML_BOXES / page->count ||
            pp_timeline_is_dense(page, &page->panels[i]);
    return PP_OK;
}

/* ---- labels around the picture --------------------------------------------------------------- */

static void write_ranks(const struct pp_timeline_panel *panel, FILE *out)
{
    int every = 1;

    while (every * pitch_px(panel) < LABEL_PX)
        every *= 2;
    fputs("<div class=\"ranks\" aria-hidden=\"true\">", out);
    for (int row = 0; row < panel->rows; row += every)
        pp_html(out, "<span style=\"top:%.4g%%\">%d</span>", 100 * (row + 0.5) / panel->rows,
                panel->first_rank + row * panel->every);
    fputs("</div>\n", out);
}

/* Writes a number: "3", "3.1" of a split, "2-3" of several. */
static void write_number(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                         const struct pp_timeline_op *op, int row, const double time[2], FILE *out)
{
    const double left = fmax(time[0], 0) / page->span,
                 right = fmin(time[1], pp_timeline_span(page, panel)) / page->span;
    const unsigned rgb = pp_timeline_rgb(&panel->timeline, op);
    char text[32];

    pp_timeline_write_number(&panel->timeline, op, false, text, sizeof(text));
    if ((right - left) * WIDTH_PX < NUMBER_PX * (double)strlen(text))
        return;
    fprintf(out, "<span%s style=\"left:%.5g%%;width:%.5g%%;top:%.5g%%\">%s</span>",
            pp_timeline_is_dark(rgb) ? " class=\"on-dark\"" : "", 100 * left, 100 * (right - left),
            100 * (row + 0.5 * pp_timeline_box_share(panel)) / panel->rows, text);
}

static void write_numbers(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel, FILE *out)
{
    const struct pp_timeline *t = &panel->timeline;

    if (panel->is_binned || pitch_px(panel) < LABEL_PX || pp_timeline_shown(panel) > NUMBERED)
        return;
    fputs("<div class=\"numbers\" aria-hidden=\"true\">", out);
    for (int i = 0; i < t->count; i++) {
        const struct pp_timeline_box *box = &t->boxes[i];
        const int row = pp_timeline_row(panel, box->rank);
        const double start = pp_timeline_x(page, panel, box->start_s),
                     end = pp_timeline_x(page, panel, box->end_s),
                     middle =
                         box->is_fused ? start + (end - start) * (double)box->forward_frac : end;
        if (row < 0)
            continue;
        write_number(page, panel, &box->op, row, (const double[]){start, middle}, out);
        if (box->is_fused)
            write_number(page, panel, &box->second, row, (const double[]){middle, end}, out);
    }
    fputs("</div>\n", out);
}

/* ---- the legend ------------------------------------------------------------------------------ */

static void write_entry(unsigned rgb, double foot, const char *text, FILE *out)
{
    pp_html(out,
            "<li><svg viewBox=\"0 0 20 14\" aria-hidden=\"true\"><path class=\"op\" "
            "fill=\"#%06x\" d=\"M1 1h18v12h-18z\"/>",
            rgb);
    if (foot > 0)
        pp_html(out, "<path fill=\"#202020\" d=\"M1 13h18v-%gh-18z\"/>", 12 * foot);
    pp_html(out, "</svg> %s</li>\n", text);
}

/* Lists pipelines and chunks, of many the first and the last; equal entries of panels once. */
static void write_classes(const struct pp_timeline_page *page, FILE *out)
{
    const char *seen = "";

    for (int p = 0; p < page->count; p++) {
        const struct pp_timeline *t = &page->panels[p].timeline;
        const int classes = pp_timeline_classes(t);
        const bool is_seen =
            !page->panels[p].is_binned || pp_timeline_has_data(page, &page->panels[p]);
        for (int c = 1; c < classes && is_seen; c++) {
            const char *name = pp_timeline_class_name(page->arena, t, c);
            const char *entry = pp_arena_printf(page->arena, "|%s/%d|", name, classes);
            if (strstr(seen, entry) || !(classes <= MOST_CLASSES || c == 1 || c == classes - 1))
                continue;
            write_entry(0xe4e4e4, pp_timeline_foot(c, classes), name, out);
            seen = pp_arena_printf(page->arena, "%s%s", seen, entry);
        }
    }
}

static void write_notes(const struct pp_timeline_page *page, FILE *out)
{
    bool is_binned = false, has_detail = false, has_pairs = false;

    for (int p = 0; p < page->count; p++) {
        is_binned |= page->panels[p].is_binned;
        has_detail |= pp_timeline_has_data(page, &page->panels[p]);
        has_pairs |= pp_timeline_has_pairs(page, &page->panels[p]);
    }
    if (has_pairs)
        fputs("<li>framed: a forward and a backward that overlap</li>\n", out);
    if (is_binned)
        fputs("<li>height: share of the time; blank: idle</li>\n", out);
    if (!has_detail)
        pp_html(out, "<li>more than %d ops: too many to look at one by one</li>\n",
                PP_HTML_DETAIL / page->count);
    if (page->panels[0].every > 1)
        pp_html(out, "<li>one pipeline rank of %d is shown</li>\n", page->panels[0].every);
    if (page->panels[0].timeline.trace->replicas > 1)
        pp_html(out, "<li>replica 0 of %d</li>\n", page->panels[0].timeline.trace->replicas);
}

static bool has_lane(const struct pp_timeline_page *page, enum pp_copy_stream stream)
{
    bool has_lane = false;

    for (int p = 0; p < page->count; p++)
        has_lane |= page->panels[p].timeline.has_lane[stream];
    return has_lane;
}

static void write_legend(const struct pp_timeline_page *page, FILE *out)
{
    bool occurs[PP_OP_KINDS] = {false};

    for (int p = 0; p < page->count; p++)
        pp_timeline_find_kinds(&page->panels[p].timeline, occurs);
    fputs("<ul class=\"legend\">\n", out);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (occurs[kind] && pp_timeline_kinds[kind])
            write_entry(pp_style_op_rgb(kind, 0.5), 0, pp_timeline_kinds[kind], out);
    for (int stream = 0; stream < PP_COPY_STREAMS; stream++)
        if (has_lane(page, (enum pp_copy_stream)stream))
            write_entry(pp_timeline_lane_rgb((enum pp_copy_stream)stream), 0,
                        pp_timeline_lane_names[stream], out);
    write_classes(page, out);
    write_notes(page, out);
    fputs("</ul>\n", out);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void write_panel(const struct pp_timeline_page *page, int index, FILE *out)
{
    const struct pp_timeline_panel *panel = &page->panels[index];

    fputs("<figure class=\"timeline\">\n", out);
    if (panel->heading)
        pp_html(out, "<figcaption>%s</figcaption>\n", panel->heading);
    fputs("<div class=\"chart\">\n", out);
    pp_html(out, "<div class=\"plot\" style=\"height:%dpx\">\n", panel->rows * pitch_px(panel));
    pp_timeline_write_picture(page, index, out);
    write_ranks(panel, out);
    write_numbers(page, panel, out);
    fputs("</div>\n", out);
    pp_html_across(&(const struct pp_html_range){page->origin, page->origin + page->span},
                   page->axis, out);
    fputs("</div>\n", out);
    pp_timeline_write_data(page, index, out);
    fputs("</figure>\n", out);
}

enum pp_status pp_html_timelines(struct pp_arena *arena,
                                 const struct pp_plot_timeline_panel *panels, int count,
                                 const struct pp_plot_timeline *options, FILE *out,
                                 struct pp_error *err)
{
    struct pp_timeline_page page = {.arena = arena,
                                    .panels = PP_ARRAY(arena, struct pp_timeline_panel, count),
                                    .count = count,
                                    .right_in = WIDTH_IN};

    PP_TRY(open_panels(&page, panels, options, err));
    fputs("<p class=\"soft\">A row is a pipeline rank. A box is an op, and its width is the op's "
          "duration. Blanks are idle time.</p>\n",
          out);
    for (int i = 0; i < count; i++)
        write_panel(&page, i, out);
    write_legend(&page, out);
    return PP_OK;
}
