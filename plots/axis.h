/* plots/axis.h — axes and terminal headings that several kinds of pictures share. */
#pragma once

#include "plots/figure.h"

/* A time unit that suits times up to `end_s`. `unit` is that of unit mode ("units"), or NULL. */
struct pp_axis_time {
    double factor; /* units per second */
    const char *unit;
};
struct pp_axis_time pp_axis_time(double end_s, const char *unit);
/* "45.2 ms" or, in unit mode, "21 units". */
const char *pp_axis_time_text(struct pp_arena *arena, double seconds, const char *unit);

/* Quotes a label of a tic for gnuplot. Doubles '%', which is a format there. */
const char *pp_axis_tic(const struct pp_figure *figure, const char *text);
/* Labels places 0 .. count-1 on x, without labels that would touch; turns long ones. */
void pp_axis_labels(const struct pp_figure *figure, const char *const *labels, int count,
                    const char *axis);

/* Writes the capacity of a device as a line, an element of "plot"; nothing if it is unknown (0). */
void pp_axis_capacity(const struct pp_figure *figure, double gib);

/* A round distance of tics, for about `count` of them in `span`. */
double pp_axis_step(double span, double count);

/* Columns of the terminal for the picture, in [60, 200]. */
int pp_axis_columns(const struct pp_plot_target *target);
/* Prints the title of a picture in the terminal; nothing if it has none. */
void pp_axis_heading(const struct pp_plot_target *target, const char *title);
