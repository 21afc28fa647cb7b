/* plots/timeline/parts.h — private to the folder: steps of drawing a figure, and the text Gantt. */
#pragma once

#include "plots/timeline/page.h"

/* Finds pipelines and chunks, and sets those of boxes. PP_EINVAL if there are too many. */
enum pp_status pp_timeline_find_pipes(struct pp_arena *arena, struct pp_timeline *timeline,
                                      struct pp_error *err);

/* Finds copies among the first `events` of the trace. */
void pp_timeline_find_copies(struct pp_arena *arena, int events, struct pp_timeline *timeline);
void pp_timeline_print_copies(const struct pp_timeline_page *page, int index);
void pp_timeline_plot_copies(const struct pp_timeline_page *page, int index);

/* The ranks from `first` to `end` - 1 of the options; PP_EINVAL if there are none. */
enum pp_status pp_timeline_choose_ranks(const struct pp_timeline *timeline,
                                        const struct pp_plot_timeline *options, int *first,
                                        int *end, struct pp_error *err);
static inline double pp_timeline_line_in(const struct pp_timeline_page *page)
{
    return 1.4 * page->figure->font_pt / 72;
}
/* Lays out and draws panels whose timelines are made. */
enum pp_status pp_timeline_draw(struct pp_arena *arena, struct pp_timeline_panel *panels, int count,
                                const struct pp_plot_timeline *options,
                                const struct pp_plot_target *target, struct pp_error *err);

/* Writes the page after its layout; `title` NULL = none. */
void pp_timeline_print(const struct pp_timeline_page *page, const char *title);

/* Write data blocks of panel `index`, and the plot elements that draw them. */
void pp_timeline_print_boxes(const struct pp_timeline_page *page, int index);
void pp_timeline_plot_boxes(const struct pp_timeline_page *page, int index);
void pp_timeline_print_bins(const struct pp_timeline_page *page, int index);
void pp_timeline_plot_bins(const struct pp_timeline_page *page, int index);

/* Chooses one font size for the page, 0 if no kind has room, and the numbered kinds of panels. */
void pp_timeline_choose_numbers(struct pp_timeline_page *page);
/* Text of a box, or of half a pair. `width` is in the unit of the axis. The text is empty if the
 * kind has no numbers, or if the box is much narrower than others of its kind. */
void pp_timeline_number(const struct pp_timeline_page *page, const struct pp_timeline_panel *panel,
                        const struct pp_timeline_op *op, bool is_fused, double width, char *text,
                        size_t bytes);

/* Height of the legend on a page of that width; draws it if `figure` is open. */
double pp_timeline_legend(const struct pp_timeline_page *page);

struct pp_gantt {
    struct pp_arena *arena;
    struct pp_timeline timeline;
    struct pp_terminal terminal;
    FILE *out;
    bool is_unit;
    double divisor; /* of units that are printed */
    int granules;
    int first_rank, end_rank; /* ranks drawn */
    double from_s;            /* begin of the time drawn; boxes and steps count from it */
    bool is_part;             /* draws a part of the time */
    int64_t total_ps;         /* length of the time drawn */
    int64_t quantum_ps;       /* time of one column of the exact chart */
    int columns;              /* columns of the whole exact chart */
    int label_width;          /* "P12 |" */
    int mb_digits, split_digits, cell_width;
};

/* Keeps the boxes within the time of the options; times then count from its begin. */
enum pp_status pp_gantt_choose_time(struct pp_gantt *g, const struct pp_plot_timeline *options,
                                    struct pp_error *err);
/* Prints the whole step in the width of the terminal, one character for many ops. */
void pp_gantt_print_overview(const struct pp_gantt *g);
void pp_gantt_print_label(const struct pp_gantt *g, int rank);
/* Time as text: "1 unit", "12.1 ms". */
const char *pp_gantt_print_time(const struct pp_gantt *g, int64_t ps, char *text, size_t bytes);
void pp_gantt_print_legend(const struct pp_gantt *g);
/* Prints a line for each lane of a rank: '=' where copies take most of a column of `column_ps`, '-'
 * where they take less. A column has `width` characters, with `gap` blanks between columns. */
void pp_gantt_print_lanes(const struct pp_gantt *g, int rank, int columns, double column_ps,
                          int width, int gap);
void pp_gantt_print_lane_names(const struct pp_gantt *g); /* nothing without lanes */
