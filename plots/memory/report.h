/* plots/memory/report.h — the part of the JSON of `pipesim run --json` that pictures need.
 *
 * Reads "pipesim.report/1" and "pipesim.comparison/1"; leaves out refused runs of a comparison.
 * Strict: PP_EINVAL with file and key for missing keys and other types. In the arena. */
#pragma once

#include "plots/plot.h"

struct pp_report_run {
    const char *schedule, *engine;
    bool is_unit;              /* no bytes are known */
    double device_bytes;       /* 0 in unit mode */
    double iteration_s;        /* units in unit mode */
    struct pp_plot_bar *ranks; /* at their peaks; bytes are 0 in unit mode */
    int rank_count, peak_rank;
    int vp;                     /* chunks of a rank; 1 if the report lacks its layout */
    struct pp_plot_link *links; /* the most used first */
    int link_count;             /* 0 in unit mode */
};
struct pp_report {
    const char *name; /* name of the file */
    struct pp_report_run *runs;
    int count; /* at least 1 */
};
enum pp_status pp_report_parse(struct pp_arena *arena, const char *name, const char *text,
                               size_t length, struct pp_report *report, struct pp_error *err);

/* Bars of memory: of one run for each rank; of several for each run, at its fullest rank. */
enum pp_status pp_report_memory(struct pp_arena *arena, const struct pp_report *report,
                                struct pp_plot_memory *memory, struct pp_error *err);
/* Links of one run; PP_EINVAL for several runs, and if no link carries anything. */
enum pp_status pp_report_links(struct pp_arena *arena, const struct pp_report *report,
                               struct pp_plot_links *links, struct pp_error *err);
