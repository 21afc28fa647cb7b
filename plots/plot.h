/* plots/plot.h — the kinds of pictures and their data.
 *
 * Every function draws one figure to `target`, in the terminal too: curves through gnuplot, other
 * kinds without it. PP_EINVAL, with the reason, if there is nothing to draw. */
#pragma once

#include "plots/figure.h"
#include "plots/table.h"
#include "traces/trace.h"

#include <math.h>

/* ---- plots/curves: any column over any other ------------------------------------------------- */
struct pp_chart;
/* A named picture: columns for those that the command line does not give. */
struct pp_curve_kind {
    const char *name;
    const char *x, *y; /* "peak_mem_bytes|peak_activations": first with values; NULL: suggested */
    const char *along; /* input along which points are joined; other inputs that vary distinguish
                        * the curves. NULL: no such input */
    bool is_scatter;   /* any number of points for each x, in the order of the rows */
    bool is_joined;    /* points of a series are joined even if is_scatter */
    bool is_labelled;  /* names are drawn at the points */
    const char *(*adapt)(struct pp_chart *chart); /* chooses y from the rows; may be NULL */
};
extern const struct pp_curve_kind pp_curve_kinds[]; /* the plain kind first; name NULL at the end */

struct pp_curves {
    const struct pp_curve_kind *kind; /* NULL: the plain one */
    const char *x, *y;                /* columns; NULL: those of the kind */
    const char *by;                   /* of the series, "schedule,pp"; NULL: suggested; "": one */
    const char *const *where;         /* conditions on the rows: "pp=8", "pp=4,8" */
    int where_count;
    const struct pp_table *points; /* published or measured values, NULL: none. Columns are x and y
                                    * of the picture; those of `by`, which name the series; and
                                    * `label`, drawn at the point */
    bool has_log_x, has_log_y;     /* logarithmic anyway if values double or span decades */
    const char *x_range, *y_range; /* "LO:HI" in the numbers of the column or, with "%", hundredths;
                                    * one side may be empty; NULL: from the values */
    FILE *notes;                   /* receives a line for each choice and omission; NULL: none */
};
enum pp_status pp_plot_curves(struct pp_arena *arena, const struct pp_table *table,
                              const struct pp_curves *curves, const struct pp_plot_target *target,
                              struct pp_error *err);

/* ---- plots/curves/losses.c: a log of pipeexec ------------------------------------------------ */
/* Makes a table of step, loss and pp_losses_by: "training" or "validation". PP_EINVAL if a column
 * of the log is missing. */
extern const char pp_losses_by[];
enum pp_status pp_plot_losses(struct pp_arena *arena, const struct pp_table *log,
                              struct pp_table *losses, struct pp_error *err);

/* ---- plots/memory/memory.c: bytes by component ----------------------------------------------- */
enum { PP_PLOT_MEMORY_PARTS = 7 }; /* as pp_memory_part_keys */
struct pp_plot_bar {
    const char *label; /* "0", "1", ... of ranks, or the name of a schedule */
    double part_bytes[PP_PLOT_MEMORY_PARTS];
    double activations; /* drawn if bytes are not known */
    bool is_over;       /* does not fit */
};
struct pp_plot_memory {
    const char *title;
    const char *axis; /* name of the labels: "pipeline rank" */
    struct pp_plot_bar *bars;
    int count;
    bool has_bytes;
    bool is_of_ranks;      /* activations are micro-batches of a rank, else of a chunk */
    bool has_fits;         /* bars have `is_over`; else a bar is over if it is above the capacity */
    double capacity_bytes; /* capacity of the device, drawn as a line; 0 = not known */
};
enum pp_status pp_plot_memory(struct pp_arena *arena, const struct pp_plot_memory *memory,
                              const struct pp_plot_target *target, struct pp_error *err);
struct pp_plot_memory_part {
    const char *key, *name; /* "params_bytes" of reports and sweeps, "parameters" */
    unsigned rgb;
    char letter;  /* in the terminal */
    bool is_rare; /* not in files of older versions, and left out where it is 0 */
};
extern const struct pp_plot_memory_part pp_plot_memory_parts[PP_PLOT_MEMORY_PARTS];
/* Title of a run's picture; of several runs' if `schedule` is NULL. */
const char *pp_plot_memory_title(struct pp_arena *arena, const char *schedule, bool is_unit);
/* ---- plots/memory/table.c -------------------------------------------------------------------- */
/* Bars of a sweep: one for each row that meets `options->where`, at its fullest rank. Labels are
 * the columns `options->by`; NULL: the inputs that differ. PP_EINVAL for missing columns and
 * texts. */
enum pp_status pp_plot_memory_table(struct pp_arena *arena, const struct pp_table *table,
                                    const struct pp_curves *options, struct pp_plot_memory *memory,
                                    struct pp_error *err);

/* ---- plots/memory/time.c: memory of ranks or tiers over the time of a step ------------------- */
/* Steps of held memory: each value is valid until the next time. */
struct pp_held_curve {
    double *time_s, *held; /* [count], times ascend */
    int count;
};
/* Adds a point to a curve that has room for it. A time is at least the last one. */
static inline void pp_held_add(struct pp_held_curve *curve, double time_s, double held)
{
    if (curve->count > 0 && curve->time_s[curve->count - 1] > time_s)
        time_s = curve->time_s[curve->count - 1];
    curve->time_s[curve->count] = time_s;
    curve->held[curve->count++] = held;
}
struct pp_plot_held {
    const char *title, *quantity; /* "memory", "activations held" */
    bool is_bytes;                /* else chunk activations */
    bool is_small;                /* bytes in MiB, else in GiB */
    int count;
    const struct pp_held_curve *curves; /* [count] */
    const char *const *names;           /* [count]; NULL: ranks 0, 1, ... */
    double end_s, capacity;             /* capacity 0 = not known */
    const char *time_unit;              /* NULL = seconds; "units" */
};
enum pp_status pp_plot_held(struct pp_arena *arena, const struct pp_plot_held *held,
                            const struct pp_plot_target *target, struct pp_error *err);
/* ---- plots/memory/held.c --------------------------------------------------------------------- */
/* Chunk activations that each rank of replica 0 holds, from the start of F to the end of B or W. Of
 * many steps without overlap the last one is drawn. `granules` are ids of a micro-batch; 0: the
 * most that a forward covers. PP_EINVAL if a rank frees more than it holds. */
enum pp_status pp_plot_held_trace(struct pp_arena *arena, const struct pp_trace *trace,
                                  int granules, struct pp_plot_held *held, struct pp_error *err);

/* ---- plots/memory/tiers.c: memory of a rank on a tier, at the times of a trace --------------- */
/* Bytes that stay, and those that an instruction takes at its start and gives back at its end. */
struct pp_plot_tier {
    double base_bytes;
    const double *taken_bytes, *given_bytes; /* [instruction]; NULL: nothing changes */
};
struct pp_figure_events;
struct pp_program;
/* Returns the curve of a rank; `events` are those of the trace of `program`. */
struct pp_held_curve pp_plot_tier_curve(struct pp_arena *arena, const struct pp_program *program,
                                        const struct pp_trace *trace,
                                        const struct pp_figure_events *events, int rank,
                                        const struct pp_plot_tier *tier);
/* Cuts a curve to a part of the time; what is held at its begin is kept. */
void pp_held_cut(struct pp_held_curve *curve, double from_s, double to_s);

/* ---- plots/memory/heat.c: utilisation of links over time ------------------------------------- */
struct pp_plot_heat {
    const char *title;
    const char **rows;       /* [row_count] names; names of one class are neighbours */
    const double *mean_frac; /* [row_count] mean over the step */
    const double *frac;      /* [row_count * bins] utilisation in each bin, 0 .. 1 */
    int row_count, bins;
    double end_s;
};
enum pp_status pp_plot_heat(struct pp_arena *arena, const struct pp_plot_heat *heat,
                            const struct pp_plot_target *target, struct pp_error *err);
/* Mean and greatest utilisation of each class of links, from a report. */
struct pp_plot_link {
    const char *name;
    int count; /* links of the class */
    double mean_frac, max_frac;
};
struct pp_plot_links {
    const char *title;
    const struct pp_plot_link *links;
    int count;
};
enum pp_status pp_plot_links(struct pp_arena *arena, const struct pp_plot_links *links,
                             const struct pp_plot_target *target, struct pp_error *err);

/* ---- plots/timeline/plot.c ------------------------------------------------------------------- */
struct pp_plot_timeline {
    const char *title;
    const char *time_unit;     /* NULL = seconds */
    const char *part;          /* part of `trace` that is drawn, named in the title; NULL = all */
    const char *axis;          /* label of the axis; NULL = "time (UNIT)" */
    int first_rank, last_rank; /* ranks shown; -1 = all */
    double from_s, to_s;       /* NAN = all */
    int granules;              /* ids of a micro-batch; 0 = not known */
    double divisor;            /* of units that characters show; 0 = 1 */
};
static inline struct pp_plot_timeline pp_plot_timeline_whole(const char *time_unit, int granules)
{
    return (struct pp_plot_timeline){.time_unit = time_unit,
                                     .first_rank = -1,
                                     .last_rank = -1,
                                     .from_s = NAN,
                                     .to_s = NAN,
                                     .granules = granules};
}
enum pp_status pp_plot_timeline(struct pp_arena *arena, const struct pp_trace *trace,
                                const struct pp_plot_timeline *options,
                                const struct pp_plot_target *target, struct pp_error *err);
/* Several timelines, one above the other on the same axis of time, each with a heading. */
struct pp_plot_timeline_panel {
    const struct pp_trace *trace;
    const char *heading;
    double divisor;      /* divides its times, so that panels can be compared; 0 = 1 */
    double from_s, to_s; /* part of `trace` that is drawn; both 0 = as the options say */
};
enum { PP_PLOT_TIMELINE_PANELS = 6 };
enum pp_status pp_plot_timeline_panels(struct pp_arena *arena,
                                       const struct pp_plot_timeline_panel *panels, int count,
                                       const struct pp_plot_timeline *options,
                                       const struct pp_plot_target *target, struct pp_error *err);
/* ---- plots/timeline/gantt.c ------------------------------------------------------------------ */
/* Prints characters: a row per rank, a column per quantum of time. Wide charts are cropped with a
 * "… N more" marker, and an overview follows. PP_EINVAL as pp_timeline_make(), with no output. */
enum pp_status pp_gantt_print(const struct pp_trace *trace, const struct pp_plot_timeline *options,
                              struct pp_terminal terminal, FILE *out, struct pp_error *err);
/* ---- plots/timeline/step.c ------------------------------------------------------------------- */
/* Part of a trace of several steps that is shown: the median step, as pp_compare() chooses it. If
 * more than two steps overlap, it is the time of the middle one, with all concurrent ops. */
struct pp_plot_step {
    const struct pp_trace *trace; /* to be drawn: the step alone, or the whole trace */
    double from_s, to_s;          /* time shown; NAN = all */
    const char *note;             /* "step 9 of 17"; NULL: all is shown */
};
struct pp_plot_step pp_plot_step(struct pp_arena *arena, const struct pp_trace *trace);
/* One step of length `step_s`, to be drawn next to others: the median step. If steps overlap, the
 * time from the begin of the middle one, with concurrent ops of its neighbours. */
struct pp_plot_step pp_plot_one_step(struct pp_arena *arena, const struct pp_trace *trace,
                                     double step_s);
/* ---- plots/timeline/compare.c ---------------------------------------------------------------- */
struct pp_comparison;
struct pp_compare_options;
/* pp_compare(), without its hints, which are options of `pipesim compare`. */
enum pp_status pp_plot_compare(struct pp_arena *arena, const struct pp_trace *predicted,
                               const struct pp_trace *measured,
                               const struct pp_compare_options *options,
                               struct pp_comparison *comparison, struct pp_error *err);
/* Panels of the median step of each trace, the prediction first. */
enum pp_status pp_plot_compare_panels(struct pp_arena *arena,
                                      const struct pp_comparison *comparison, const char *time_unit,
                                      struct pp_plot_timeline_panel panels[2],
                                      struct pp_error *err);
/* Draws the median steps of both traces, one above the other on the same axis of time. */
enum pp_status pp_plot_timelines(struct pp_arena *arena, const struct pp_trace *predicted,
                                 const struct pp_trace *measured,
                                 const struct pp_plot_timeline *options,
                                 const struct pp_plot_target *target, struct pp_error *err);

/* ---- plots/memory/error.c: predicted over measured durations, a point for each op ------------ */
enum pp_status pp_plot_error(struct pp_arena *arena, const struct pp_trace *predicted,
                             const struct pp_trace *measured, const struct pp_plot_target *target,
                             struct pp_error *err);
