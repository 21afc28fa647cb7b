/* plots/memory/report.h — the JSON of `pipesim run --json`, as far as pictures need it.
 *
 * Reads "pipesim.report/1" and "pipesim.comparison/1"; runs of a comparison that were refused are
 * left out. Strict: what is missing or of another type is PP_EINVAL with file and key. Lives in the
 * arena. */
#pragma once

#include "plots/plot.h"

struct pp_report_run {
    const char *schedule, *engine;
    bool is_unit;              /* no bytes are known */
    double device_bytes;       /* 0 in unit mode */
    double iteration_s;        /* units in unit mode */
    struct pp_plot_bar *ranks; /* at their peaks; bytes are 0 in unit mode */
    int rank_count, peak_rank;
    struct pp_plot_link *links; /* the most used first */
    int link_count;             /* 0 in unit mode */
};
struct pp_report {
    const char *name; /* of the file */
    struct pp_report_run *runs;
    int count; /* at least 1 */
};
enum pp_status pp_report_parse(struct pp_arena *arena, const char *name, const char *text,
                               size_t length, struct pp_report *report, struct pp_error *err);

/* What is drawn from it. */
/* One run: its ranks. Several: one bar each, at its fullest rank. */
enum pp_status pp_report_memory(struct pp_arena *arena, const struct pp_report *report,
                                struct pp_plot_memory *memory, struct pp_error *err);
/* Of one run; PP_EINVAL for several, and where no link carries anything. */
enum pp_status pp_report_links(struct pp_arena *arena, const struct pp_report *report,
                               struct pp_plot_links *links, struct pp_error *err);
