/* exec/machine/machine.h — executes a lowered program: the same lists that engines simulate.
 *
 * A worker is a rank of a replica. Before the first step everything is bound: every instruction
 * knows its work and its memory, every message its two buffers, every collective its members. A
 * step then only walks the lists; nothing is allocated.
 *
 * Semantics: docs/architecture.md, "What a program means". Messages carry a header that is checked
 * when they are matched. With the virtual clock, a worker's clock advances by the CPU time of its
 * ops. A wait moves it to a later end on another worker's clock. So any number of ranks can share a
 * few cores. Transfers and gradient sums take what the costs say. With the wall clock everything is
 * stamped as it happens. */
#pragma once

#include "core/cost/cost.h"
#include "exec/backend/backend.h"
#include "exec/data/text.h"
#include "exec/machine/inject.h"
#include "exec/program/memory.h"
#include "exec/rendezvous/meeting.h"
#include "exec/stage/batch.h"
#include "exec/stage/state.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"

struct pp_transport;
struct pp_nccl_calls;
struct pp_ipc_calls;
enum pp_clock_kind { PP_CLOCK_VIRTUAL, PP_CLOCK_WALL };

struct pp_machine_options {
    const struct pp_program *program;     /* lowered, verified */
    const struct pp_stage *const *stages; /* [stages] */
    const struct pp_batch *batch;
    const struct pp_recipe *recipe;
    const struct pp_kernels *kernels;
    const struct pp_backend *backend;
    /* All but local need work that is immediate, or a launcher and a transport for memory that is
     * apart. */
    const struct pp_transport *transport;
    const struct pp_nccl_calls *nccl; /* of transport nccl */
    const struct pp_ipc_calls *ipc;   /* of transport ipc */
    /* Wires and sums of the virtual clock: p2p, AR. Compute entries are read if has_durations. */
    const struct pp_costs *costs;
    enum pp_clock_kind clock;
    bool has_durations; /* virtual clock: ops take what `costs` say, whatever the CPU takes */
    const double *slow; /* [rank * replicas + replica] factor on the speed of compute; NULL = all 1.
                         * Wall clock: at most 1, and the rank sleeps */
    double timeout_s;   /* a step fails when no worker has made progress for so long; 0 = never */
    /* Called by the watchdog when the step has failed and a thread of this process does not return
     * from its op. That thread cannot be joined, nor its memory freed, so this must end the
     * process. NULL: the thread is waited for. */
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *stuck_closure;
    struct pp_inject inject;
    struct pp_meeting meeting; /* of processes that a launcher has started; count 0 or 1 = none */
    int cores;                 /* compute ops at a time; 0 = those of the machine */
    int kept_steps;            /* of which times are kept: the last ones */
    bool is_poisoned;          /* fill memory with a pattern first, see memory.h */
    size_t
        reserved_bytes; /* that the caller will take in addition: counted when memory is checked */
    size_t reserved_staging_bytes; /* likewise of the host's, where the backend's memory is apart */
    uint64_t seed;                 /* of the backend's orders */
    enum pp_device_mode mode;      /* of a device that workers share */
    bool uses_graphs; /* capture work that is the same in every step, where the backend can */
};

/* Whether workers slow each other down on the wall clock. True on one device where each worker has
 * a stream but no part of its own. A step then differs from one with a device for each worker. */
static inline bool pp_machine_is_contended(const struct pp_machine_options *options)
{
    return options->mode == PP_DEVICE_STREAMS && options->clock == PP_CLOCK_WALL &&
           options->meeting.count <= 1 && options->program->ranks * options->batch->replicas > 1;
}

struct pp_machine;
/* Takes all memory and starts the workers. PP_EFAIL when memory is more than the machine has: a
 * table by rank. PP_EPROGRAM when the ranks do not meet as often, or gradients are not complete
 * when they meet last, or a tensor has no slot. */
enum pp_status pp_machine_create(struct pp_arena *arena, const struct pp_machine_options *options,
                                 struct pp_machine **machine, struct pp_error *err);
void pp_machine_destroy(struct pp_machine *machine); /* accepts NULL; ends all workers */

/* True in all processes that a launcher has started, except the first one: they conduct no steps,
 * and take part by pp_machine_serve. It returns when the first process has no more steps. PP_EFAIL
 * with what went wrong, here or elsewhere. */
bool pp_machine_is_member(const struct pp_machine *machine);
enum pp_status pp_machine_serve(struct pp_machine *machine, struct pp_error *err);
/* Clocks of workers in other processes are compared to that of the first process before the run,
 * now and then, and after it. This is the last comparison, between steps. PP_EFAIL: a process has
 * failed or is gone. */
struct pp_machine_clock {
    double error_s; /* how far the stamps of two workers may be apart: 0 on one clock, and on
                       virtual ones */
    /* The largest jump seen, 0 = none: clocks that are only slewed cannot differ so much. */
    double jump_s;
    int jump_rank, jump_replica, jump_step; /* seen after so many steps of the training */
};
enum pp_status pp_machine_clock(struct pp_machine *machine, struct pp_machine_clock *clock,
                                struct pp_error *err);

/* What the device of this process keeps, see backend.h; nothing where it cannot. Texts lie in the
 * arena. */
void pp_machine_graphs(struct pp_arena *arena, const struct pp_machine *machine,
                       struct pp_graph_stats *stats);

struct pp_step_result {
    double loss, grad_norm; /* the norm is that before clipping */
    double step_s;          /* by the clock */
    double wall_s, cpu_s;   /* of all threads together: inside ops and outside */
    double outside_s;       /* CPU time outside ops: the pipeline machinery */
    /* Where work runs later than it is issued: what the host has taken to issue the ops of this
     * process, and their number */
    double issue_s;
    int64_t issued;
    int64_t instructions;
};
/* One step: forward, backward, sums, update. With `probes`, seconds of the parts of each op are
 * kept (pp_machine_probe). PP_EFAIL: a loss that is not finite, an overflow, a message that is not
 * the one expected; names step, rank and op. After that every further step fails
 * with the same error. */
enum pp_status pp_machine_step(struct pp_machine *machine, const struct pp_text *text, int step,
                               struct pp_step_result *result, struct pp_error *err);
/* Called after the gradients of a step are summed and before the first update, for --check. The
 * caller of the step calls it while all workers wait. NULL = none. */
typedef void (*pp_gradient_hook)(void *closure, const struct pp_machine *machine, int step);
void pp_machine_on_gradients(struct pp_machine *machine, pp_gradient_hook hook, void *closure);

/* Between steps: bring here what workers of other processes hold, once a step; before
 * pp_machine_touched(). PP_EFAIL when one of them has failed or is gone: what is here then is of an
 * older step, or of none. */
enum pp_status pp_machine_fetch(const struct pp_machine *machine, struct pp_error *err);
/* State of a chunk in a replica, by reference. Errors: pp_machine_fetch(), between steps; none
 * while gradients are shown (above). */
enum pp_status pp_machine_state(const struct pp_machine *machine, int replica, int pipe, int stage,
                                struct pp_state *state, struct pp_error *err);
/* Between steps: the caller has changed states. PP_EFAIL when the device does not take them. */
enum pp_status pp_machine_changed(const struct pp_machine *machine, struct pp_error *err);
/* Times of the kept steps, oldest first, in the layout of the evaluator: step k begins when the one
 * before has ended everywhere. */
const struct pp_times *pp_machine_times(const struct pp_machine *machine);
/* How many steps are kept by now. */
int pp_machine_kept(const struct pp_machine *machine);
/* Kept step k as it was stamped, by row = instruction * replicas + replica: see pp_times. */
struct pp_step_times {
    int replicas;
    int64_t begin_ps;
    const int64_t *start_ps, *end_ps, *posted_ps, *matched_ps;
    const int64_t *duration_ps, *nominal_ps; /* of compute instructions; on devices of speed 1 */
};
struct pp_step_times pp_machine_step_times(const struct pp_machine *machine, int k);
/* Parts of the last step's call of a compute instruction; NULL when probes are off. */
const struct pp_probe *pp_machine_probe(const struct pp_machine *machine, int instruction,
                                        int replica);
void pp_machine_probes(struct pp_machine *machine, bool on);
/* Layout by rank (the prediction), and bytes touched of a worker's block (poisoned only). Places
 * that one call at a time uses count whole: scratch, one tensor's gradient, the `saved` of an F
 * whose R fills it again. Each is as large as the largest of several calls needs it. */
const struct pp_rank_layout *pp_machine_layout(const struct pp_machine *machine);
size_t pp_machine_touched(const struct pp_machine *machine, int rank, int replica);
