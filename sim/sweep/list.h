/* sim/sweep/list.h — the text of an option of a sweep into the values that it stands for. */
#ifndef PP_SIM_SWEEP_LIST_H
#define PP_SIM_SWEEP_LIST_H

#include "sim/sweep/sweep.h"

enum { PP_SWEEP_VALUES = 1 << 20 }; /* the most of one option */

/* Append the values of `text` to the axis: of one time the option was given. PP_EINVAL, beginning
 * with `typed` and the text, for what cannot be read, an empty range and too many values. */
enum pp_status pp_sweep_list(struct pp_arena *arena, const char *typed, const char *text,
                             struct pp_grid_axis *axis, struct pp_error *err);

#endif
