/* sim/sweep/sweep.h — runs for the product of lists of option values, one row each.
 *
 * A point is exactly `pipesim run` with one value of every list. Its row has the figures of the
 * report, under the last names of the JSON fields; the row of a refused point has the reason. Rows
 * depend on their point alone, so parts, workers and resumption cannot change them. */
#pragma once

#include "schedules/build/known.h"
#include "schedules/select/select.h"
#include "sim/cli/cli.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

#include <stdio.h>

/* ---- sim/sweep/grid.c ------------------------------------------------------------------------ */
struct pp_grid_axis {
    int option;                   /* index into pp_sim_cli.options */
    const char **values;          /* as typed */
    struct pp_option_value *read; /* [count]: from pp_options_parse() */
    const char **keys;            /* [count]: equal for values of equal meaning */
    int count, capacity;          /* count 1: one value for all points */
};
struct pp_grid {
    struct pp_grid_axis *axes; /* in the order of the option table; the last varies fastest */
    int axis_count;
    int64_t points;
    bool is_listed;              /* several schedules: each drops the options that it lacks */
    bool *drops;                 /* [schedule * axis_count + axis]; NULL: no schedule drops any */
    int64_t *first;              /* [schedule + 1]: first point of each; NULL like drops */
    struct pp_subject *subjects; /* one for each value of --schedule, else of --preset */
    struct pp_request *presets;  /* one per value of --preset, without flags; NULL: no --preset */
    struct pp_platforms *platforms;     /* of points that have run in this process */
    struct pp_known_programs *programs; /* of the same points */
    struct pp_grid_file *files;         /* read by points (check.h) */
    int file_count, file_capacity;
};
/* Opens the product of all lists. A schedule that lacks a listed option has one point for all its
 * values. Numbers are listed as "a,b,c", "lo:hi:xK" (times K) or "lo:hi:+K" (plus K), both ends
 * included. --schedule and choices are listed as "a,b" ("all": every schedule). Other options are
 * given again for each value; a value of several words ("3=0.8 5=0.5") gives a repeatable option
 * several times. PP_EINVAL, with the option, for unreadable or repeated values, and for more than
 * 2^31 points. Files are opened here, with the errors of a run. */
enum pp_status pp_grid_open(struct pp_arena *arena, const struct pp_parsed *parsed,
                            struct pp_grid *grid, struct pp_error *err);
/* Makes the command line of a point, as typed to `pipesim run`. */
enum pp_status pp_grid_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                             struct pp_parsed *parsed, struct pp_error *err);
/* Makes the input of pp_resolve(): a point's command line over its preset, and its schedule. */
enum pp_status pp_grid_request(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                               struct pp_wish *wish, struct pp_subject *subject,
                               struct pp_error *err);
/* Returns the index of a point's value on an axis; -1 if its schedule lacks the option. */
int pp_grid_index(const struct pp_grid *grid, int64_t point, int axis);
/* Returns a point as text of a shell ("--schedule zbv --pp 8"), for messages. */
const char *pp_grid_text(struct pp_arena *arena, const struct pp_grid *grid, int64_t point);
/* 16 hexadecimal digits: equal for equal points of any sweep of this version, however typed, with
 * equal bytes in files. */
enum { PP_SWEEP_KEY_BYTES = 17 };
const char *pp_grid_key(const struct pp_grid *grid, int64_t point, char key[PP_SWEEP_KEY_BYTES]);

/* ---- sim/sweep/row.c ------------------------------------------------------------------------- */
/* Writes `point`, inputs, figures, and status,reason,points,key. No newline. */
void pp_sweep_header(const struct pp_grid *grid, FILE *out);
/* Writes a row with its newline; `result` NULL: refused, with `err`. */
void pp_sweep_row(const struct pp_grid *grid, int64_t point, const struct pp_result *result,
                  const struct pp_error *err, FILE *out);
/* Resolves and simulates a point and prints its row. Never fails: the row has the error. */
void pp_sweep_run_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                        FILE *out);

/* ---- sim/sweep/file.c: the result file, resumable at any moment ------------------------------ */
/* Rows are appended as they arrive, each by one write, so a crash loses at most the rows that are
 * being computed. Closing sorts them by point, in one rename. */
struct pp_sweep_file;
/* Opens the result file; `path` NULL or "-" is `out`. A stream, device or pipe cannot be resumed:
 * its rows come in the order of points, each as soon as possible.
 *
 * The sweep continues an existing file with the same header, if its keys are points of the grid. So
 * a longer sweep takes over the rows of a shorter one. A torn last line is dropped. Another file is
 * PP_EINVAL, with the line, and stays as it is; PP_SWEEP_FRESH starts anew. PP_EFAIL if another
 * sweep writes to the file.
 *
 * `wanted[point]` marks the points that this part computes, and outlives the file. Points that are
 * in the file are cleared. Failed rows are dropped, and their points computed again. */
enum { PP_SWEEP_FRESH = 1, PP_SWEEP_JSON = 2 }; /* the latter: a stream of JSON lines */
enum pp_status pp_sweep_file_open(struct pp_arena *arena, const char *path, FILE *out,
                                  const struct pp_grid *grid, unsigned how, bool *wanted,
                                  struct pp_sweep_file **file, struct pp_error *err);
/* Adds a row with its newline; each point once. After PP_EFAIL (a full disk) earlier rows are safe,
 * and the file takes no more. */
enum pp_status pp_sweep_file_add(struct pp_sweep_file *file, int64_t point, const char *row,
                                 size_t length, struct pp_error *err);
struct pp_sweep_counts {
    int64_t rows, resumed, unfit;
    int64_t refused;                   /* status is not ok */
    char first_reason[PP_ERROR_BYTES]; /* of the lowest such point */
};
struct pp_sweep_counts pp_sweep_file_counts(const struct pp_sweep_file *file);
/* Closes, also after an interrupt. If only the arena ends, rows stay in order of arrival. */
enum pp_status pp_sweep_file_close(struct pp_sweep_file *file, struct pp_error *err);

/* ---- sim/sweep/merge.c ----------------------------------------------------------------------- */
/* Writes the rows of several files with the same header into one, in the order of points. A row of
 * several files is written once; a failed row counts only if its point has no other. `notes` gets
 * the missing points. Different sweeps are joined in the given order and renumbered, with a note.
 * PP_EINVAL for other columns, and for rows that contradict each other (file:line of both). */
enum pp_status pp_sweep_merge(struct pp_arena *arena, const char *const *paths, int count,
                              const char *output, FILE *out, FILE *notes, struct pp_error *err);

/* ---- sim/sweep/part.c ------------------------------------------------------------------------ */
/* Part i of n computes the points k with k mod n = i - 1. */
struct pp_sweep_part {
    int index, count;   /* 1-based */
    const char *source; /* variables of the launcher; NULL: --part, or all points */
};
/* Reads --part i/n, else the launcher's variables. */
enum pp_status pp_sweep_part(struct pp_arena *arena, const char *option, struct pp_sweep_part *part,
                             struct pp_error *err);
/* Returns a part's own file, "sweep.part-2-of-4.csv": a launcher's parts share a command line. */
const char *pp_sweep_part_path(struct pp_arena *arena, const char *path, struct pp_sweep_part part);

/* ---- sim/sweep/summary.c --------------------------------------------------------------------- */
struct pp_sweep_summary {
    const char *path;        /* NULL: stdout */
    bool is_file;            /* a file that can be read again */
    const char *merged_path; /* -o as given if a launcher made the parts; else NULL */
    struct pp_sweep_part part;
    struct pp_sweep_counts counts;
    int64_t computed; /* rows of this process */
    double seconds;
};
/* Prints points, refused ones with the first reason, points that do not fit, and speed in one line,
 * and the next command in another. For stdout, prints only what is wrong with all points. */
void pp_sweep_summary(const struct pp_sweep_summary *summary, FILE *out);
