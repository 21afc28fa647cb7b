/* plots/timeline/gantt_parts.h — what the files of the text Gantt share. Private to plots/gantt*.c.
 */
#ifndef PP_PLOTS_TIMELINE_GANTT_PARTS_H
#define PP_PLOTS_TIMELINE_GANTT_PARTS_H

#include "plots/timeline/gantt.h"
#include "plots/timeline/timeline.h"

struct pp_gantt {
    struct pp_arena *arena;
    struct pp_timeline timeline;
    struct pp_terminal terminal;
    FILE *out;
    bool is_unit;
    int granules;
    int first_rank, end_rank; /* those drawn */
    double from_s;            /* the time drawn begins there; boxes and steps count from then */
    bool is_part;             /* of the time */
    int64_t total_ps;         /* of the time drawn */
    int64_t quantum_ps;       /* time of one column of the exact chart */
    int columns;              /* of the whole exact chart */
    int label_width;          /* "P12 |" */
    int mb_digits, split_digits, cell_width;
};

int64_t pp_gantt_ps(double seconds);
/* ---- plots/timeline/gantt_part.c ---- */
/* Which ranks are drawn, PP_EINVAL where there are none. */
enum pp_status pp_gantt_choose_ranks(struct pp_gantt *g, const struct pp_gantt_options *options,
                                     struct pp_error *err);
/* Leave what lies within the time that is asked for, counted from its begin. */
enum pp_status pp_gantt_choose_time(struct pp_gantt *g, const struct pp_gantt_options *options,
                                    struct pp_error *err);

/* The bar that begins every row. */
void pp_gantt_print_label(const struct pp_gantt *g, int rank);
/* The whole step in the width of the terminal, one character for many ops. */
void pp_gantt_print_overview(const struct pp_gantt *g);
/* What the letters and numbers mean; only what occurs. */
void pp_gantt_print_legend(const struct pp_gantt *g);
/* "1 unit", "12.1 ms" */
const char *pp_gantt_print_time(const struct pp_gantt *g, int64_t ps, char *text, size_t bytes);

#endif
