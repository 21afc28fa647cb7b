/* tests/oracle/fluid.h — what a lowered program does on a network, the slow and plain way.
 *
 * It was written from the definition in docs/architecture.md and shares no code with the engines.
 * Time is a double in seconds. At every moment the model looks for everything that may happen.
 * Whenever a transfer begins or ends, all rates are computed anew. Costs and routes are input. */
#ifndef PP_TESTS_FLUID_H
#define PP_TESTS_FLUID_H

#include "core/cost/cost.h"
#include "schedules/program/program.h"
#include "sim/engine/network.h"

struct fluid_options {
    bool is_buffered;
    int buffered; /* K of buffered:K, 0 = without bound */
    int replicas, steps;
    bool is_barrier_free;
    bool ring_flows;
    const struct pp_network *network; /* NULL: transfers take what the costs say */
    double sync_share;                /* of compute, lost while a collective runs */
    /* Durations of compute ops, SENDs and collectives, from when the last side is ready, or NULL:
     * [(step * instructions + i) * replicas + replica]. They replace those of costs and network.
     * With them, all times are counted in picoseconds instead of seconds, and are exact. */
    const int64_t *replay_ps;
    double quantum_s; /* transfers end at multiples of it, some late, some early; 0 = in time */
};

struct fluid_times { /* seconds; [(step * instructions + i) * replicas + replica] as in pp_times */
    double *start_s, *end_s, *posted_s;
    double *step_end_s; /* [step] */
    double makespan_s;
    bool is_stuck;   /* a deadlock: times of what never ended are NAN */
    int most_shared; /* transfers on one link at the same time, at most */
    int events;
};

struct fluid_times *fluid_run(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct fluid_options *options);

#endif
