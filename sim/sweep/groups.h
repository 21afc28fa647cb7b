/* sim/sweep/groups.h — groups of figures that a sweep has only with certain options. */
#pragma once

#include "sim/config/config.h"
#include "sim/sweep/sweep.h"

#include <stdio.h>

struct pp_sweep_group {
    const char *const *options; /* with any of them; terminated by NULL */
    const char *const *names;   /* of its columns; terminated by NULL */
    double (*value)(const struct pp_result *, int column); /* NAN = empty */
};
extern const struct pp_sweep_group pp_sweep_groups[]; /* terminated by names NULL */

/* Is true if the sweep has the group. */
bool pp_sweep_has_group(const struct pp_grid *grid, const struct pp_sweep_group *group);
