/* sim/sweep_check.h — what is wrong for the whole sweep, before its first point. */
#ifndef PP_SIM_SWEEP_CHECK_H
#define PP_SIM_SWEEP_CHECK_H

#include "sim/sweep.h"

/* Opens every value that is a name or a file, fills `subjects`, `presets`, `is_listed` and the keys
 * of the axes. Errors as in a run; a value that is there twice is PP_EINVAL. */
enum pp_status pp_sweep_check(struct pp_arena *arena, struct pp_grid *grid, struct pp_error *err);
/* The axis of an option by name, or NULL. */
struct pp_grid_axis *pp_grid_axis(const struct pp_grid *grid, const char *name);
/* The axis whose values the subjects are of: --schedule, else --preset. */
const struct pp_grid_axis *pp_grid_subject_axis(const struct pp_grid *grid);

#define PP_SWEEP_HASH 14695981039346656037u
/* FNV-1a, 64 bits; begins with PP_SWEEP_HASH. */
uint64_t pp_sweep_hash(uint64_t hash, const void *bytes, size_t length);

#endif
