/* exec/machine/inject.h — faults on demand: what a run does when a rank dies, hangs or stops is
 * tried, not hoped for. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

struct pp_worker;
struct pp_inject_kind {
    const char *name, *summary;
    /* In the worker, before the instruction. False = it gives up. */
    bool (*run)(struct pp_worker *worker);
    /* Shows only where workers have connections and clocks of their own; on the wall clock. */
    bool needs_remote, needs_wall;
};
struct pp_inject {
    const struct pp_inject_kind *kind; /* NULL = none */
    int rank, replica, op, step;       /* op counts from 0 in the list of the rank, step from 1 */
};

/* "kill rank:1 op:5 step:2"; what is left out is 0, the step the first of the run. `first_step` is
 * that, counted from 0. NULL = none. PP_EINVAL with what is expected. */
enum pp_status pp_inject_parse(const char *text, int first_step, struct pp_inject *inject,
                               struct pp_error *err);
/* PP_EINVAL when a run from first_step to the step before `steps` never comes to the place; says
 * what there is. */
struct pp_program;
enum pp_status pp_inject_check(const struct pp_inject *inject, const struct pp_program *program,
                               int replicas, int first_step, int steps, struct pp_error *err);
