/* plots/timeline/page.h — a page of timelines: panels one above the other on one axis of time.
 *
 * The figure (plots/timeline/page.c) and the HTML page (plots/page/timeline.c) draw the same
 * panels. Lengths on the page are inches; x is time in the unit of the axis. */
#pragma once

#include "plots/plot.h"
#include "plots/timeline/timeline.h"

struct pp_timeline_panel {
    struct pp_timeline timeline;
    const char *heading;   /* above it; NULL = none */
    double from_s, to_s;   /* part shown, in trace time; the axis begins at 0 with from_s */
    double divisor;        /* divides its times, to make panels comparable; 1 = none */
    int first_rank, every; /* every k-th rank is a row */
    int rows;
    bool is_binned;    /* ops are too narrow to be seen one by one */
    uint64_t numbered; /* bits of the kinds of boxes that have numbers */
    struct pp_timeline_message *messages;
    int message_count;      /* 0: no arrows */
    double top_in, foot_in; /* ends of the rows, from the foot of the page */
};

struct pp_timeline_page {
    struct pp_arena *arena;
    struct pp_figure *figure;
    struct pp_timeline_panel *panels;
    int count;
    const char *axis;           /* its label */
    const char *unit;           /* unit of the axis: "ms" */
    double unit_s;              /* seconds per unit */
    double span;                /* length of the axis, in that unit */
    double origin;              /* label of the axis's begin, in that unit */
    double left_in, right_in;   /* ends of the rows, from the left of the page */
    double pitch_in, height_in; /* height of a row, and of the box in it */
    bool has_short_numbers;     /* numbers without splits and ranges */
    double number_pt;           /* font size of micro-batch numbers; 0 = none */
    double legend_in;           /* height of the legend, at the foot of the page */
};

static inline double pp_timeline_x(const struct pp_timeline_page *page,
                                   const struct pp_timeline_panel *panel, double seconds)
{
    return (seconds - panel->from_s) / panel->divisor / page->unit_s;
}
/* End of a panel's time on the axis; panels may be shorter than the axis. */
static inline double pp_timeline_span(const struct pp_timeline_page *page,
                                      const struct pp_timeline_panel *panel)
{
    return pp_timeline_x(page, panel, panel->to_s);
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

/* ---- plots/timeline/page.c ------------------------------------------------------------------- */
/* Makes the timeline of a trace and chooses the part that is shown. */
enum pp_status pp_timeline_open(struct pp_arena *arena, const struct pp_plot_timeline_panel *of,
                                const struct pp_plot_timeline *options,
                                struct pp_timeline_panel *panel, struct pp_error *err);
/* Chooses the unit and length of the axis, from the longest panel. */
void pp_timeline_choose_axis(struct pp_timeline_page *page, const struct pp_plot_timeline *options);

/* ---- plots/timeline/boxes.c: a box for every op ---------------------------------------------- */
/* Index of an op's pipeline and chunk, and the number of such classes. */
int pp_timeline_class(const struct pp_timeline *timeline, const struct pp_timeline_op *op);
int pp_timeline_classes(const struct pp_timeline *timeline);
/* Share of a box's height that marks its class. */
double pp_timeline_foot(int class, int classes);
/* Colour of an op: chunks go from dark to light, neighbouring micro-batches alternate. */
unsigned pp_timeline_rgb(const struct pp_timeline *timeline, const struct pp_timeline_op *op);
/* Is true if text on the colour is white. */
bool pp_timeline_is_dark(unsigned rgb);

/* Is true if boxes are wide enough for a frame. */
bool pp_timeline_is_framed(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel);
/* Is true if overlapped pairs are framed. */
bool pp_timeline_has_pairs(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel);

/* ---- plots/timeline/copies.c: lanes of copies at the foot of a row --------------------------- */
extern const char *const pp_timeline_lane_names[PP_COPY_STREAMS];
int pp_timeline_lanes(const struct pp_timeline *timeline);
unsigned pp_timeline_lane_rgb(enum pp_copy_stream stream);
/* Shares of a row's height. Boxes begin at its top. Bins of time have no lanes below them. */
double pp_timeline_lanes_share(const struct pp_timeline *timeline);
double pp_timeline_box_share(const struct pp_timeline_panel *panel);
double pp_timeline_lane_share(void);
double pp_timeline_lane_foot(const struct pp_timeline *timeline, enum pp_copy_stream stream);

/* ---- plots/timeline/numbers.c ---------------------------------------------------------------- */
/* Text of an op: "3", "3.1" of a split, "2-3" of several micro-batches; its kind if it has none. A
 * short text names neither splits nor the last of several. */
void pp_timeline_write_number(const struct pp_timeline *timeline, const struct pp_timeline_op *op,
                              bool is_short, char *text, size_t bytes);

/* ---- plots/timeline/bins.c: shares of kinds, for ops narrower than a dot --------------------- */
bool pp_timeline_is_dense(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel);
struct pp_timeline_layer {
    int row;
    double start, end; /* in the unit of the axis */
    double low, high;  /* shares of the row's height, from its foot */
    unsigned rgb;
};
struct pp_timeline_painter {
    void *context;
    void (*draw)(void *context, const struct pp_timeline_layer *layer);
};
/* Width of a bin, and least idle time between strips of bins, in the unit of the axis. */
struct pp_timeline_grain {
    double bin, gap;
};
struct pp_timeline_grain pp_timeline_grain(const struct pp_timeline_page *page,
                                           const struct pp_timeline_panel *panel,
                                           double least_bin_in);
void pp_timeline_draw_bins(const struct pp_timeline_page *page,
                           const struct pp_timeline_panel *panel, struct pp_timeline_grain grain,
                           const struct pp_timeline_painter *painter);

/* ---- plots/timeline/legend.c ----------------------------------------------------------------- */
/* Names of kinds, "F forward"; NULL: ops of that kind are not drawn. */
extern const char *const pp_timeline_kinds[PP_OP_KINDS];
/* Adds the kinds of ops of a timeline to `occurs`. */
void pp_timeline_find_kinds(const struct pp_timeline *timeline, bool occurs[PP_OP_KINDS]);
/* "chunk 2", "pipeline P3 to P0". */
const char *pp_timeline_class_name(struct pp_arena *arena, const struct pp_timeline *timeline,
                                   int class);
