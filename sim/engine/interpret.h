/* sim/engine/interpret.h — interprets a program rank by rank, over transfers that share links.
 *
 * Each rank runs ahead on its own clock until it waits for an unfinished instruction. Only
 * transfers, and compute that collectives slow down, happen in the order of time. Semantics:
 * docs/architecture.md. All replicas share the lists and have clocks of their own. */
#pragma once

#include "sim/engine/express.h"

struct pp_job {
    const struct pp_program *program; /* lowered */
    const struct pp_costs *costs;
    const struct pp_engine_options *options;
    const struct pp_wires *wires; /* NULL: messages do not share links and take the costs' times */
    struct pp_times *times;       /* columns allocated, steps and replicas set */
    struct pp_network_stats *stats; /* out */
    int64_t *executed;              /* out, updated throughout: executed instructions */
};

/* Bytes of the columns of pp_times for all replicas and steps (PP_TIMES_POSTS), and their places in
 * a block. */
size_t pp_job_bytes(const struct pp_program *program, int replicas, int steps);
void pp_job_place(const struct pp_program *program, int replicas, int steps, void *block,
                  struct pp_times *times);

/* Begins a run, in `arena`; the job is kept by reference. */
struct pp_run *pp_interpret_begin(struct pp_arena *arena, struct pp_job *job);
/* Continues to the end or, without a solver, until one is needed, which sets `needs_solver`. Times
 * until then are recorded. PP_EPROGRAM for a deadlock; it names rank, position and op. */
enum pp_status pp_interpret_go(struct pp_run *run, const struct pp_solver *solver,
                               bool *needs_solver, struct pp_error *err);
