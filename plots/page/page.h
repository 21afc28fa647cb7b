/* plots/page/page.h — pictures as parts of a page.
 *
 * Pictures are SVG, which a browser shows and prints without a script. The timeline adds its ops as
 * data for the zoom of the page's script. Lengths along time are shares of the width, so that a
 * picture fits any screen. The output is well-formed XML and depends on the data alone. Errors of
 * the stream are sticky. */
#pragma once

#include "plots/plot.h"

#include <stddef.h>

/* Timelines on one axis of time, one below the other, and a legend. A picture has at most
 * PP_HTML_ROWS rows in a panel and PP_HTML_BOXES boxes. With more ops it shows shares of the time;
 * of more ranks it shows every k-th, and the legend says so. The script gets the ops of all panels,
 * unless they are more than PP_HTML_DETAIL. PP_EINVAL as pp_timeline_make(). */
enum { PP_HTML_ROWS = 128, PP_HTML_BOXES = 6000, PP_HTML_DETAIL = 30000 };
enum pp_status pp_html_timelines(struct pp_arena *arena,
                                 const struct pp_plot_timeline_panel *panels, int count,
                                 const struct pp_plot_timeline *options, FILE *out,
                                 struct pp_error *err);

/* Parts in a row, each as wide as its share of `whole`. `mark` is the value of a line; 0 = none. */
struct pp_html_part {
    const char *name;
    double value;
    unsigned rgb;
};
void pp_html_band(const struct pp_html_part *parts, int count, double whole, double mark,
                  FILE *out);
void pp_html_swatch(unsigned rgb, FILE *out);

/* Round numbers along a picture. pp_html_across() writes them below it, with the name of the axis;
 * pp_html_up() left of it, in the element that has the picture's height. */
struct pp_html_range {
    double from, to;
};
/* Position of a value in a picture of `units` units, from the begin of the range. */
int pp_html_place(const struct pp_html_range *range, double value, int units);
void pp_html_across(const struct pp_html_range *range, const char *name, FILE *out);
void pp_html_up(const struct pp_html_range *range, FILE *out);

/* Points with names; y begins at 0. The first points are on top. Writes nothing without points. */
struct pp_html_dot {
    double x, y;
    const char *name;
    bool is_marked;
};
struct pp_html_scatter {
    const struct pp_html_dot *points;
    int count;
    double limit; /* y of a horizontal line; 0 = none */
    const char *axis, *label;
};
void pp_html_scatter(const struct pp_html_scatter *scatter, FILE *out);

/* One curve of memory over the time of a step, for readers named by `label`. PP_EINVAL if no curve
 * holds anything. */
enum pp_status pp_html_held(struct pp_arena *arena, const struct pp_plot_held *held, int curve,
                            const char *label, FILE *out, struct pp_error *err);

extern const unsigned char pp_html_style_bytes[], pp_html_script_bytes[];
extern const size_t pp_html_style_count, pp_html_script_count;
