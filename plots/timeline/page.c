/* The part of panels that is shown, and the places of panels and legend on the page. */
#include "plots/timeline/parts.h"

#include <math.h>

/* Sizes on a page and in a column of a paper. */
static const struct size {
    double width_in, font_pt;
    double pitch_in, rows_in; /* most of a row, most of all rows together */
    int arrows;               /* most messages; more would be a grey area */
} PAGE = {7, 10, 0.3, 5.5, 300}, COLUMN = {3.3, 8, 0.19, 3.6, 70};
/* Least height of a row; every k-th rank is drawn if rows would be thinner. */
static const double LEAST_PITCH_IN = 0.02;

/* ---- what is shown --------------------------------------------------------------------------- */

enum pp_status pp_timeline_choose_ranks(const struct pp_timeline *t,
                                        const struct pp_plot_timeline *options, int *first,
                                        int *end, struct pp_error *err)
{
    *first = options->first_rank < 0 ? 0 : options->first_rank;
    *end = options->last_rank < 0 ? t->ranks : options->last_rank + 1;
    if (*first < *end && *end <= t->ranks)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: ranks %d to %d: it has 0 to %d", t->trace->program,
                        *first, *end > *first ? *end - 1 : *first, t->ranks - 1);
}

/* Chooses all times, from 0 on; a trace that begins late is shown from its begin. */
static enum pp_status choose_time(struct pp_timeline_panel *panel,
                                  const struct pp_plot_timeline_panel *of,
                                  const struct pp_plot_timeline *options, struct pp_error *err)
{
    const struct pp_timeline *t = &panel->timeline;
    const double from_s = of->to_s > 0 ? of->from_s : options->from_s,
                 to_s = of->to_s > 0 ? of->to_s : options->to_s;
    const bool is_late = t->begin_s > 0.5 * t->end_s || t->begin_s < 0;

    if (t->count == 0 || !(t->end_s > t->begin_s))
        return pp_error_set(err, PP_EINVAL, "%s: nothing to draw: it takes no time",
                            t->trace->program);
    panel->from_s = !isnan(from_s) ? from_s : is_late ? t->begin_s : 0;
    panel->to_s = !isnan(to_s) ? fmin(to_s, t->end_s) : t->end_s;
    if (!(panel->to_s > panel->from_s))
        return pp_timeline_refuse_time(t, panel->from_s, panel->to_s,
                                       options->time_unit ? options->time_unit : "s", err);
    return PP_OK;
}

enum pp_status pp_timeline_open(struct pp_arena *arena, const struct pp_plot_timeline_panel *of,
                                const struct pp_plot_timeline *options,
                                struct pp_timeline_panel *panel, struct pp_error *err)
{
    int end;

    *panel = (struct pp_timeline_panel){
        .heading = of->heading, .divisor = of->divisor > 0 ? of->divisor : 1, .every = 1};
    PP_TRY(pp_timeline_make(arena, of->trace, &panel->timeline, err));
    PP_TRY(pp_timeline_choose_ranks(&panel->timeline, options, &panel->first_rank, &end, err));
    panel->rows = end - panel->first_rank;
    return choose_time(panel, of, options, err);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

void pp_timeline_choose_axis(struct pp_timeline_page *page, const struct pp_plot_timeline *options)
{
    static const struct {
        const char *name;
        double seconds;
    } UNITS[] = {{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}};
    enum { COUNT = PP_COUNT(UNITS) };
    const char *unit = options->time_unit;
    double longest_s = 0;
    int i = 0;

    for (int p = 0; p < page->count; p++)
        longest_s = fmax(longest_s,
                         (page->panels[p].to_s - page->panels[p].from_s) / page->panels[p].divisor);
    while (!unit && i + 1 < COUNT && longest_s < UNITS[i].seconds)
        i++;
    page->unit = unit ? unit : UNITS[i].name;
    page->unit_s = UNITS[i].seconds;
    page->span = longest_s / page->unit_s;
    page->axis =
        options->axis ? options->axis : pp_arena_printf(page->arena, "time (%s)", page->unit);
    page->origin = isnan(options->from_s) ? 0 : options->from_s / page->unit_s;
}

static int all_rows(const struct pp_timeline_page *page)
{
    int rows = 0;

    for (int p = 0; p < page->count; p++)
        rows += page->panels[p].rows;
    return rows;
}

static void thin_rows(struct pp_timeline_page *page, double rows_in)
{
    const int most = (int)(rows_in / LEAST_PITCH_IN), rows = all_rows(page);
    const int every = (rows + most - 1) / most;

    for (int p = 0; p < page->count && every > 1; p++) {
        page->panels[p].every = every;
        page->panels[p].rows = (page->panels[p].rows + every - 1) / every;
    }
}

/* Height of the page without rows. */
static double around_in(const struct pp_timeline_page *page, bool has_title)
{
    double sum_in = page->legend_in + 2.3 * pp_timeline_line_in(page) +
                    (has_title ? 1.4 : 0.4) * pp_timeline_line_in(page);

    for (int p = 0; p < page->count; p++)
        sum_in += (page->panels[p].heading ? 1.2 : 0) * pp_timeline_line_in(page) +
                  (p > 0 ? 0.4 : 0) * pp_timeline_line_in(page);
    return sum_in;
}

/* Rows with lanes are higher, so that their boxes are as high as without. */
static double least_box_share(const struct pp_timeline_page *page)
{
    double least = 1;

    for (int p = 0; p < page->count; p++)
        least = fmin(least, pp_timeline_box_share(&page->panels[p]));
    return least;
}

static void choose_sizes(struct pp_timeline_page *page, const struct size *size)
{
    const double character_in = pp_figure_character_in(page->figure);
    int last = 0;

    for (int p = 0; p < page->count; p++) {
        const struct pp_timeline_panel *panel = &page->panels[p];
        const int rank = panel->first_rank + panel->every * (panel->rows - 1);
        last = rank > last ? rank : last;
    }
    page->left_in = (snprintf(NULL, 0, "%d", last) + 2.8) * character_in;
    page->right_in = page->figure->width_in - 2.2 * character_in;
    if (page->right_in < 1.2 * page->left_in)
        page->right_in = 1.2 * page->left_in;
    thin_rows(page, size->rows_in);
    page->pitch_in = fmin(size->pitch_in / least_box_share(page), size->rows_in / all_rows(page));
    page->legend_in = pp_timeline_legend(page);
}

/* Places panels from the foot of the page upwards. */
static void place_panels(struct pp_timeline_page *page, bool has_title)
{
    const double rows_in = fmax(page->figure->height_in - around_in(page, has_title), 0.1);
    double at_in = page->legend_in + 2.3 * pp_timeline_line_in(page);
    bool is_binned = false;

    for (int p = 0; p < page->count; p++)
        is_binned |= page->panels[p].is_binned;
    page->pitch_in = rows_in / all_rows(page);
    page->height_in = page->pitch_in * (is_binned ? 0.92 : 0.8);
    for (int p = page->count - 1; p >= 0; p--) {
        struct pp_timeline_panel *panel = &page->panels[p];
        panel->foot_in = at_in;
        panel->top_in = at_in + panel->rows * page->pitch_in;
        at_in = panel->top_in + (panel->heading ? 1.2 : 0) * pp_timeline_line_in(page) +
                0.4 * pp_timeline_line_in(page);
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

enum pp_status pp_timeline_draw(struct pp_arena *arena, struct pp_timeline_panel *panels, int count,
                                const struct pp_plot_timeline *options,
                                const struct pp_plot_target *target, struct pp_error *err)
{
    const struct size *size = target->is_paper ? &COLUMN : &PAGE;
    /* Fields of the figure that the layout reads before the figure is opened. */
    struct pp_figure figure = {.target = target,
                               .font_pt = size->font_pt,
                               .width_in =
                                   target->width_in > 0 ? target->width_in : size->width_in};
    struct pp_timeline_page page = {
        .arena = arena, .figure = &figure, .panels = panels, .count = count};
    const char *shown = target->title ? target->title : target->is_paper ? NULL : options->title;
    const bool has_title = shown && *shown;

    pp_timeline_choose_axis(&page, options);
    choose_sizes(&page, size);
    for (int p = 0; p < count; p++) {
        panels[p].is_binned = pp_timeline_is_dense(&page, &panels[p]);
        if (!panels[p].is_binned) /* arrows only if they are few enough to follow */
            panels[p].messages =
                pp_timeline_messages(arena, &panels[p].timeline, panels[p].from_s, panels[p].to_s,
                                     size->arrows, &panels[p].message_count);
    }
    page.legend_in = pp_timeline_legend(&page);
    const double height_in = around_in(&page, has_title) + page.pitch_in * all_rows(&page);
    const struct pp_figure_wish wish = {
        .width_in = size->width_in, .height_in = height_in, .paper_height_in = height_in};
    pp_figure_open(arena, target, &wish, &figure);
    place_panels(&page, has_title);
    pp_timeline_choose_numbers(&page);
    pp_timeline_print(&page, has_title ? shown : NULL);
    return pp_figure_close(&figure, err);
}
