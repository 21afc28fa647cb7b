/* plots/timeline/page.h — a page of timelines: panels one above the other on one axis of time.
 *
 * The figure (plots/timeline/page.c) and the HTML page (plots/page/timeline.c) draw the same
 * panels. Lengths on the page are inches; x is time in the unit of the axis. */
#pragma once

#include "plots/plot.h"
#include "plots/timeline/timeline.h"

/* One timeline. */
struct pp_timeline_panel {
    struct pp_timeline timeline;
    const char *heading;   /* above it; NULL = none */
    double from_s, to_s;   /* shown, in the time of the trace; the axis begins at 0 with from_s */
    double divisor;        /* of its times: makes panels comparable; 1 = as they are */
    int first_rank, every; /* every how many-th rank is a row */
    int rows;
    bool is_binned;    /* ops are too narrow to be seen one by one */
    uint64_t numbered; /* bits of the kinds of boxes that have numbers */
    struct pp_timeline_message *messages;
    int message_count;      /* 0: no arrows */
    double top_in, foot_in; /* of the rows, from the foot of the page */
};

struct pp_timeline_page {
    struct pp_arena *arena;
    struct pp_figure *figure;
    struct pp_timeline_panel *panels;
    int count;
    const char *axis;           /* its label */
    const char *unit;           /* of the axis: "ms" */
    double unit_s;              /* seconds in one of it */
    double span;                /* of the axis, in that unit */
    double origin;              /* label of its begin, in that unit */
    double left_in, right_in;   /* of the rows, from the left of the page */
    double pitch_in, height_in; /* of a row, and of the box in it */
    bool has_short_numbers;     /* without splits and ranges */
    double number_pt;           /* of the micro-batch numbers; 0 = none */
    double legend_in;           /* height of the legend, at the foot of the page */
};

/* Time as it is drawn. */
static inline double pp_timeline_x(const struct pp_timeline_page *page,
                                   const struct pp_timeline_panel *panel, double seconds)
{
    return (seconds - panel->from_s) / panel->divisor / page->unit_s;
}
static inline double pp_timeline_in_per_unit(const struct pp_timeline_page *page)
{
    return (page->right_in - page->left_in) / page->span;
}
static inline double pp_timeline_width_in(const struct pp_timeline_page *page,
                                          const struct pp_timeline_panel *panel, double seconds)
{
    return seconds / panel->divisor / page->unit_s * pp_timeline_in_per_unit(page);
}
/* Row of a rank, or -1. */
static inline int pp_timeline_row(const struct pp_timeline_panel *panel, int rank)
{
    const int from_first = rank - panel->first_rank, row = from_first / panel->every;

    return from_first < 0 || from_first % panel->every != 0 || row >= panel->rows ? -1 : row;
}

/* ---- plots/timeline/page.c ---- */
/* The timeline of a trace, and which part of it is shown. */
enum pp_status pp_timeline_open(struct pp_arena *arena, const struct pp_plot_timeline_panel *of,
                                const struct pp_plot_timeline *options,
                                struct pp_timeline_panel *panel, struct pp_error *err);
/* The axis: its unit and length, by the longest panel. */
void pp_timeline_choose_axis(struct pp_timeline_page *page, const struct pp_plot_timeline *options);

/* ---- plots/timeline/boxes.c: every op a box ---- */
/* Which of the pipelines and chunks of a rank an op belongs to, and how many there are. */
int pp_timeline_class(const struct pp_timeline *timeline, const struct pp_timeline_op *op);
int pp_timeline_classes(const struct pp_timeline *timeline);
/* Share of a box's height that marks its class. */
double pp_timeline_foot(int class, int classes);
/* Colour of an op: chunks go from dark to light, neighbouring micro-batches a little to and fro. */
unsigned pp_timeline_rgb(const struct pp_timeline *timeline, const struct pp_timeline_op *op);
/* Is text on it white? */
bool pp_timeline_is_dark(unsigned rgb);

/* Are boxes wide enough for a frame? */
bool pp_timeline_is_framed(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel);
/* Are overlapped pairs framed? */
bool pp_timeline_has_pairs(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel);

/* ---- plots/timeline/numbers.c ---- */
/* "3", "3.1" of a split, "2-3" where it covers several; the kind where it has no micro-batch. A
 * short one names neither splits nor the last of several. */
void pp_timeline_write_number(const struct pp_timeline *timeline, const struct pp_timeline_op *op,
                              bool is_short, char *text, size_t bytes);

/* ---- plots/timeline/bins.c: shares of kinds, where ops are narrower than a dot ---- */
bool pp_timeline_is_dense(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel);
struct pp_timeline_layer {
    int row;
    double start, end; /* in the unit of the axis */
    double low, high;  /* share of the row's height, from its foot */
    unsigned rgb;
};
struct pp_timeline_painter {
    void *context;
    void (*draw)(void *context, const struct pp_timeline_layer *layer);
};
/* Width of a bin, and idle time that belongs to none, in the unit of the axis. */
struct pp_timeline_grain {
    double bin, gap;
};
struct pp_timeline_grain pp_timeline_grain(const struct pp_timeline_page *page,
                                           const struct pp_timeline_panel *panel,
                                           double least_bin_in);
void pp_timeline_draw_bins(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel, struct pp_timeline_grain grain,
                           const struct pp_timeline_painter *painter);

/* ---- plots/timeline/legend.c ---- */
/* "F forward", by kind; NULL: no op of it is drawn. */
extern const char *const pp_timeline_kinds[PP_OP_KINDS];
/* Adds the kinds of ops that occur. */
void pp_timeline_find_kinds(const struct pp_timeline *timeline, bool occurs[PP_OP_KINDS]);
/* "chunk 2", "pipeline P3 to P0". */
const char *pp_timeline_class_name(struct pp_arena *arena, const struct pp_timeline *timeline,
                                   int class);
