/* exec/worker/inject.h — injects faults: a rank dies, hangs or stops at a chosen op, or its tier on
 * NVMe fails. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

struct pp_worker;
struct pp_inject_kind {
    const char *name, *summary;
    /* Runs in the worker, before the instruction. False = the worker gives up. */
    bool (*run)(struct pp_worker *worker);
    /* shows only with connections and clocks of workers' own; only on the wall clock */
    bool needs_remote, needs_wall;
    bool needs_file;  /* shows only where something lives on NVMe */
    bool needs_cache; /* shows only in a program that generates */
};
struct pp_inject {
    const struct pp_inject_kind *kind; /* NULL = none */
    int rank, replica, tp_index;       /* tp_index: device of its tensor-parallel group */
    int op, step;                      /* op counts from 0 in the rank's list, step from 1 */
};

/* Parses "kill rank:1 op:5 step:2". Missing numbers are 0; a missing step is the first of the run,
 * `first_step` + 1. Without text, `kind` is NULL. PP_EINVAL names the expected words. */
enum pp_status pp_inject_parse(const char *text, int first_step, struct pp_inject *inject,
                               struct pp_error *err);
/* PP_EINVAL if steps first_step + 1 to `steps` never reach the place, with the valid range, or if
 * the fault would not show. */
struct pp_program;
enum pp_status pp_inject_check(const struct pp_inject *inject, const struct pp_program *program,
                               int replicas, int tp, int first_step, int steps,
                               struct pp_error *err);
