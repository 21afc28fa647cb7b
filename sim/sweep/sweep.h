/* sim/sweep/sweep.h — many runs: the product of lists of option values, one row each.
 *
 * A point is exactly `pipesim run` with one value of every list. A row holds the figures of its
 * report under the last names of the JSON fields; a refused point has a row with the reason. Rows
 * depend on their point alone, so parts, workers and resumption cannot change them. */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/cli.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

#include <stdio.h>

/* ---- sim/sweep/grid.c ---- */
struct pp_grid_axis {
    int option;                   /* index into pp_sim_cli.options */
    const char **values;          /* as one would type them */
    struct pp_option_value *read; /* [count]: as pp_options_parse() leaves them */
    const char **keys;            /* [count]: equal for values that mean the same */
    int count, capacity;          /* count 1: the same for all points */
};
struct pp_grid {
    struct pp_grid_axis *axes; /* in the order of the option table; the last varies fastest */
    int axis_count;
    int64_t points;
    bool is_listed;                 /* several schedules: each drops the options that it lacks */
    bool *drops;                    /* [schedule * axis_count + axis] it does; NULL: none does */
    int64_t *first;                 /* [schedule + 1]: its first point; NULL like drops */
    struct pp_subject *subjects;    /* of each value of --schedule, else of --preset; opened once */
    struct pp_request *presets;     /* of each value of --preset, flags left out; NULL without */
    struct pp_platforms *platforms; /* of points that have run in this process */
    struct pp_grid_file *files;     /* that points read (check.h) */
    int file_count, file_capacity;
};
/* The product of all lists. A schedule that lacks a listed option has one point for all values of
 * that option. Numbers are listed as "a,b,c", "lo:hi:xK" (times K) or "lo:hi:+K" (plus K), both
 * ends included. --schedule and choices are listed as "a,b" ("all": every schedule). All other
 * options are given again for each value. A value of several words ("3=0.8 5=0.5") gives a
 * repeatable option several times. PP_EINVAL with the option for a value that no point could read,
 * or that is there twice, and for more than 2^31 points. Files are opened here, and fail as they do
 * in a run. */
enum pp_status pp_grid_open(struct pp_arena *arena, const struct pp_parsed *parsed,
                            struct pp_grid *grid, struct pp_error *err);
/* The command line of a point, as if typed to `pipesim run`. */
enum pp_status pp_grid_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                             struct pp_parsed *parsed, struct pp_error *err);
/* What pp_resolve() takes: the above over its preset, and its schedule. */
enum pp_status pp_grid_request(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                               struct pp_wish *wish, struct pp_subject *subject,
                               struct pp_error *err);
/* Index of a point's value on an axis; -1 where its schedule lacks the option. */
int pp_grid_index(const struct pp_grid *grid, int64_t point, int axis);
/* The same as text ("--schedule zbv --pp 8"), as a shell takes it: says in messages which point. */
const char *pp_grid_text(struct pp_arena *arena, const struct pp_grid *grid, int64_t point);
/* 16 hexadecimal digits: equal for equal points of any sweep of this version, however they were
 * typed. The bytes of files are part of it. */
enum { PP_SWEEP_KEY_BYTES = 17 };
const char *pp_grid_key(const struct pp_grid *grid, int64_t point, char key[PP_SWEEP_KEY_BYTES]);

/* ---- sim/sweep/row.c ---- */
/* First `point`, then inputs, figures, and at the end status,reason,points,key. No newline. */
void pp_sweep_header(const struct pp_grid *grid, FILE *out);
/* `result` NULL: refused, with `err`. Newline included. */
void pp_sweep_row(const struct pp_grid *grid, int64_t point, const struct pp_result *result,
                  const struct pp_error *err, FILE *out);
/* Resolve and simulate one point and print its row. Never fails: what fails is in the row. */
void pp_sweep_run_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                        FILE *out);

/* ---- sim/sweep/file.c: the result file, resumable at any moment ---- */
/* Rows are appended as they arrive, each by one write, so whatever ends the program loses at most
 * the rows that were being computed. Closing puts them into the order of points, in one rename. */
struct pp_sweep_file;
/* `path` NULL or "-" is `out`. A stream like this, a device or a pipe has nothing to resume. Its
 * rows come out in the order of points, each as soon as those before it are there.
 *
 * The sweep continues an existing file that belongs to it: same header, and keys that are points of
 * the grid. So a longer sweep takes over the rows of a shorter one. A torn last line is dropped.
 * Another file is PP_EINVAL, naming the line, and is left as it is; `is_fresh` starts anew.
 * PP_EFAIL if another sweep writes to the file.
 *
 * `wanted[point]` marks the points that this part computes, and stays until the end. Points that
 * are in the file are cleared. Rows that have failed are dropped, and their points computed again.
 */
enum pp_status pp_sweep_file_open(struct pp_arena *arena, const char *path, FILE *out,
                                  const struct pp_grid *grid, bool is_fresh, bool *wanted,
                                  struct pp_sweep_file **file, struct pp_error *err);
/* A row with its newline; each point once. After PP_EFAIL (a full disk) all rows before are there,
 * and the file takes no more. */
enum pp_status pp_sweep_file_add(struct pp_sweep_file *file, int64_t point, const char *row,
                                 size_t length, struct pp_error *err);
/* What is there so far. */
struct pp_sweep_counts {
    int64_t rows, resumed, unfit;
    int64_t refused;        /* whose status is not ok */
    char first_reason[256]; /* of the lowest of these points */
};
struct pp_sweep_counts pp_sweep_file_counts(const struct pp_sweep_file *file);
/* Also after an interrupt. Without it (the arena ends) a file keeps its rows as they came. */
enum pp_status pp_sweep_file_close(struct pp_sweep_file *file, struct pp_error *err);

/* ---- sim/sweep/merge.c ---- */
/* Writes the rows of several files with the same header into one, in the order of points. A row
 * that is in several files is written once. A failed row counts only if there is no other of its
 * point. `notes` gets the missing points. Different sweeps are joined in the order given and
 * numbered anew, with a note. PP_EINVAL for other columns, and for rows that contradict each other
 * (file:line of both). */
enum pp_status pp_sweep_merge(struct pp_arena *arena, const char *const *paths, int count,
                              const char *output, FILE *out, FILE *notes, struct pp_error *err);

/* ---- sim/sweep/part.c ---- */
/* Part i of n computes the points k with k mod n = i - 1. */
struct pp_sweep_part {
    int index, count;   /* 1-based */
    const char *source; /* NULL: --part, or all; else the variables of the launcher */
};
/* --part i/n, else what the launcher says. */
enum pp_status pp_sweep_part(struct pp_arena *arena, const char *option, struct pp_sweep_part *part,
                             struct pp_error *err);
/* Parts made by a launcher share one command line: each has its own file, "sweep.part-2-of-4.csv".
 */
const char *pp_sweep_part_path(struct pp_arena *arena, const char *path, struct pp_sweep_part part);

/* ---- sim/sweep/summary.c ---- */
struct pp_sweep_summary {
    const char *path;        /* NULL: stdout */
    bool is_file;            /* that can be read again */
    const char *merged_path; /* -o as given, where a launcher made the parts; else NULL */
    struct pp_sweep_part part;
    struct pp_sweep_counts counts;
    int64_t computed; /* now, in so many seconds */
    double seconds;
};
/* In one line how many points, refused ones with the first reason, points that do not fit, speed;
 * in another what to type next. For stdout only what is wrong with all points. */
void pp_sweep_summary(const struct pp_sweep_summary *summary, FILE *out);
