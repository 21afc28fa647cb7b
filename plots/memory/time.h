/* plots/memory/time.h — memory over time: curves of ranks, as a figure and in characters. */
#pragma once

#include "plots/axis.h"
#include "plots/plot.h"

enum { PP_HELD_CURVES = 6 };

struct pp_held_sheet {
    const struct pp_plot_held *held;
    struct pp_held_curve
        *curves; /* [count of held]; of points at one time, the greatest and the last */
    struct pp_axis_time time;
    double unit;           /* bytes or activations in one unit of the axis */
    double capacity, most; /* in units */
    int peak;              /* the curve that holds most */
    int shown[PP_HELD_CURVES], shown_count;
    const char *names[PP_HELD_CURVES]; /* ranks with that curve */
};

/* PP_EINVAL if no rank holds anything over time. */
enum pp_status pp_held_open(struct pp_arena *arena, const struct pp_plot_held *held,
                            struct pp_held_sheet *sheet, struct pp_error *err);
/* Thins a curve to a few thousand points; drops points that cannot be seen. */
struct pp_held_curve pp_held_thin(struct pp_arena *arena, const struct pp_held_sheet *sheet,
                                  int rank);
