/* plots/axis.h — axes and terminal headings that several kinds of pictures share. */
#pragma once

#include "plots/figure.h"

/* Times up to `end_s` in a unit that suits them. `unit` is that of unit mode ("units"), or NULL. */
struct pp_axis_time {
    double factor; /* seconds -> unit */
    const char *unit;
};
struct pp_axis_time pp_axis_time(double end_s, const char *unit);

/* A label of a tic, quotes included: there gnuplot takes '%' for a format. */
const char *pp_axis_tic(const struct pp_figure *figure, const char *text);
/* Labels of the places 0 .. count-1 on x: every so many where they would touch, turned where names
 * are long. With `axis` as the name of the axis. */
void pp_axis_labels(const struct pp_figure *figure, const char *const *labels, int count,
                    const char *axis);

/* What a device holds, as a line and an element of "plot" in front of others; 0 = not known. */
void pp_axis_capacity(const struct pp_figure *figure, double gib);

/* A round distance of tics: about `count` of them in `span`. */
double pp_axis_step(double span, double count);

/* Columns of the terminal to draw in, in [60, 200]. */
int pp_axis_columns(const struct pp_plot_target *target);
/* The title of a picture in the terminal, when it has one. */
void pp_axis_heading(const struct pp_plot_target *target, const char *title);
