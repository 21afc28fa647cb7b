/* sim/sweep/check.h — what is wrong for the whole sweep, before its first point. */
#pragma once

#include "sim/sweep/sweep.h"

#include <sys/stat.h>

/* Opens every value that is a name or a file, fills `subjects`, `presets`, `is_listed` and the keys
 * of the axes. Errors as in a run; a value that is there twice is PP_EINVAL. */
enum pp_status pp_sweep_check(struct pp_arena *arena, struct pp_grid *grid, struct pp_error *err);
/* The axis of an option by name, or NULL. */
struct pp_grid_axis *pp_grid_axis(const struct pp_grid *grid, const char *name);
/* The axis whose values the subjects are of: --schedule, else --preset. */
const struct pp_grid_axis *pp_grid_subject_axis(const struct pp_grid *grid);

/* ---- sim/sweep/list.c ---- */
enum { PP_SWEEP_VALUES = 1 << 20 }; /* the most of one option */
/* Append the values of `text` to the axis: of one time the option was given. PP_EINVAL, beginning
 * with `typed` and the text, for what cannot be read, an empty range and too many values. */
enum pp_status pp_sweep_list(struct pp_arena *arena, const char *typed, const char *text,
                             struct pp_grid_axis *axis, struct pp_error *err);

/* ---- sim/sweep/inputs.c ---- */
/* A file that a value is, or that it names. */
struct pp_grid_file {
    int axis, value;
    const char *path;
    bool is_kept;     /* its contents are in memory: points do not read it again */
    struct stat info; /* before it was read */
};
/* Files of --schedule, --model and --cluster, before they are read. PP_EINVAL for what cannot be
 * read twice. */
enum pp_status pp_sweep_inputs_open(struct pp_arena *arena, struct pp_grid *grid,
                                    struct pp_error *err);
/* Adds the hash of the contents to a key, and of all files that a platform names. */
enum pp_status pp_sweep_input_key(struct pp_arena *arena, struct pp_grid *grid, int axis, int value,
                                  const char **key, struct pp_error *err);
/* PP_EFAIL when one of them is another one by now: of all files, and of those that a point reads.
 */
enum pp_status pp_sweep_inputs_check(const struct pp_grid *grid, struct pp_error *err);
enum pp_status pp_sweep_inputs_check_point(const struct pp_grid *grid, int64_t point,
                                           struct pp_error *err);
/* The input that is this file, by whatever name, and its option; NULL: none. */
const char *pp_sweep_inputs_find(const struct pp_grid *grid, const char *path, const char **option);
