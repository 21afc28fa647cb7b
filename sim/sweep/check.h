/* sim/sweep/check.h — checks of a whole sweep, before its first point. */
#pragma once

#include "sim/sweep/sweep.h"

#include <sys/stat.h>

/* Opens every value that is a name or a file. Fills `subjects`, `presets`, `is_listed` and the keys
 * of the axes. Errors are those of a run; a repeated value is PP_EINVAL. */
enum pp_status pp_sweep_check(struct pp_arena *arena, struct pp_grid *grid, struct pp_error *err);
/* Returns the axis of an option, or NULL. */
struct pp_grid_axis *pp_grid_axis(const struct pp_grid *grid, const char *name);
/* Returns the axis whose values have subjects: --schedule, else --preset. */
const struct pp_grid_axis *pp_grid_subject_axis(const struct pp_grid *grid);

enum { PP_SWEEP_VALUES = 1 << 20 }; /* limit for one option */
/* Appends the values of one `text` of an option to its axis. PP_EINVAL, beginning with `typed` and
 * the text, for an unreadable value, an empty range and too many values. */
enum pp_status pp_sweep_list(struct pp_arena *arena, const char *typed, const char *text,
                             struct pp_grid_axis *axis, struct pp_error *err);

/* File that a value is or names. */
struct pp_grid_file {
    int axis, value;
    const char *path;
    bool is_kept;     /* its contents stay in memory: points do not read it again */
    struct stat info; /* before the file was read */
};
/* Finds files of --schedule, --model, --cluster and --cost. PP_EINVAL for pipes and devices. */
enum pp_status pp_sweep_inputs_open(struct pp_arena *arena, struct pp_grid *grid,
                                    struct pp_error *err);
/* Adds the hash of a file's contents to the key, and those of all files that a platform names. */
enum pp_status pp_sweep_input_key(struct pp_arena *arena, struct pp_grid *grid, int axis, int value,
                                  const char **key, struct pp_error *err);
/* PP_EFAIL if a file has changed: of all files, or of those that a point reads. */
enum pp_status pp_sweep_inputs_check(const struct pp_grid *grid, struct pp_error *err);
enum pp_status pp_sweep_inputs_check_point(const struct pp_grid *grid, int64_t point,
                                           struct pp_error *err);
/* Returns the input that is the file at `path`, and its option; NULL if there is none. */
const char *pp_sweep_inputs_find(const struct pp_grid *grid, const char *path, const char **option);
