/* plots/memory/time.h — memory over time: curves of ranks, as a figure and in characters. */
#ifndef PP_PLOTS_MEMORY_TIME_H
#define PP_PLOTS_MEMORY_TIME_H

#include "plots/axis.h"
#include "plots/plot.h"

enum { PP_HELD_CURVES = 6 };

struct pp_held_sheet {
    const struct pp_plot_held *held;
    struct pp_held_curve *curves; /* [rank] of points at one time the greatest and the last */
    struct pp_axis_time time;
    double unit;           /* of what is held */
    double capacity, most; /* in units */
    int peak;              /* the rank that holds most */
    int shown[PP_HELD_CURVES], shown_count;
    const char *names[PP_HELD_CURVES]; /* of the shown and those that are like them */
};

/* PP_EINVAL where no rank holds anything over time. */
enum pp_status pp_held_open(struct pp_arena *arena, const struct pp_plot_held *held,
                            struct pp_held_sheet *sheet, struct pp_error *err);
/* The curve of a rank without points that cannot be seen: a few thousand at most. */
struct pp_held_curve pp_held_thin(struct pp_arena *arena, const struct pp_held_sheet *sheet,
                                  int rank);

/* ---- plots/memory/ranges.c ---- */
/* Which of `bins` equal spans of the step a time lies in. */
int pp_held_bin(const struct pp_plot_held *held, double time_s, int bins);
/* Least and most of a curve in each of `bins` equal spans of time. */
struct pp_held_range {
    double least, most;
};
/* That many, empty. */
struct pp_held_range *pp_held_ranges(struct pp_arena *arena, int bins);
/* Widen them by the curve of a rank. */
void pp_held_add_range(const struct pp_held_sheet *sheet, int rank, struct pp_held_range *ranges,
                       int bins);

#endif
