/* exec/worker/worker.h — the part of a machine that transports use: the state that all threads
 * share, and calls that report events of other processes. A transport includes no other header of
 * this folder.
 *
 * A row is an instruction of the program in one replica: row = instruction * replicas + replica,
 * the layout of the evaluator's columns. Each device of a tensor-parallel group has all rows, after
 * those of the device before, and so it is with messages and collectives. A place is a chunk of a
 * rank: place = pipeline * stages + stage. Events are numbered: first one for each row (a post is
 * reached, a rank has arrived). Then come the ends of each message of each replica, each collective
 * and each barrier. */
#pragma once

#include "exec/backend/staging.h"
#include "exec/worker/options.h"
#include "exec/worker/transfer.h"
#include "exec/worker/transport.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

/* Work of a compute instruction: `run` for each granule. */
struct pp_bound_call {
    pp_stage_call run;
    enum pp_stage_call_kind kind; /* of `run` */
    struct pp_stage_work *works;  /* [count] */
    int count;
    void *cleared; /* gradients or figures to zero before the call; NULL: none */
    size_t cleared_bytes;
    struct pp_probe part, probe; /* of one granule; of all granules of the last call */
    struct pp_segment *segments; /* [segment_count] see group.c; NULL without a group */
    int segment_count;
};

/* One copy of a chunk's weights. */
struct pp_worker;
struct pp_chunk {
    struct pp_worker *worker; /* NULL: not on this worker */
    const struct pp_stage *stage;
    struct pp_state state;
    bool owns_squares; /* its gradients, or its share of them, count in the norm */
};

/* Collectives for which its worker was the last member to post, and a thread that runs them. */
struct pp_reducer {
    pthread_t thread;
    bool is_there;  /* else the worker runs them itself */
    int32_t *queue; /* [capacity] a ring */
    unsigned capacity, taken;
    atomic_uint given, changes; /* collectives queued so far; a futex */
    atomic_bool is_over;
};

struct pp_worker {
    struct pp_machine *machine;
    int rank, replica, tp_index, index;
    char *block;
    struct pp_staging staging;  /* of the states at the block's begin */
    struct pp_staging figures;  /* losses, and tokens of experts */
    bool has_states, has_parts; /* on_host of `staging` has memory: until a step begins; always */
    uint64_t drawn;             /* hash of its initial weights */
    struct pp_chunk *chunks;    /* [place] */
    double *squares;            /* scratch */
    int *status;                /* enum pp_fixed_status of its gradients */
    int sum_status;             /* status of its process's sums, if that is another process */
    size_t touched_bytes;       /* of its block, if it is in another process */
    struct pp_fallbacks fallbacks; /* of its process, in the last step; the first worker has them */
    pthread_t thread;              /* if it is a thread */
    atomic_int at;                 /* current instruction, which others may read at any time */
    atomic_llong passed;           /* finished launches of its device, if that is elsewhere */
    /* State of the step under way. */
    int64_t clock_ps;
    int64_t reduce_ps;         /* end of its last collective */
    int64_t inside_ns, cpu_ns; /* time in ops, by now_ns(); CPU time of the thread */
    int meets;                 /* meetings with its group */
    atomic_bool is_meeting;    /* waits for its group, which others may read at any time */
    int64_t met_ps[2];         /* when it came to the last two meetings: see group.c */
    int64_t exchanged_ps;      /* time of the exchanges in its op */
    int64_t moved_bytes;       /* rows of experts from other replicas */
    int launches[2];           /* on its compute stream; on its weight-gradient stream */
    bool is_summing;           /* waits for a collective that another process owns */
    int32_t turn;              /* next of its collectives that may run */
    int32_t *collective_row;   /* [k] row of its k-th collective */
    int32_t collective_count;
    struct pp_reducer reducer;
    int32_t barriers;     /* barriers passed */
    int32_t *barrier_row; /* [k] row of its k-th BAR */
};

struct pp_machine_read {
    const struct pp_times *times;
    int steps_done;  /* steps done when `times` were read */
    int fetched_at;  /* steps done when states were brought here; -1: they are not here */
    bool is_changed; /* by the caller, since the last step */
};

struct pp_machine {
    struct pp_arena *arena;
    struct pp_machine_options options;
    const struct pp_program *p;
    uint64_t program_hash;
    int size, replicas, tp, ep, worker_count, stages, places;
    /* Index of the one worker that runs in this process; worker_count: none; -1: all. */
    int own_worker;
    const int8_t *class_of; /* [instruction] enum pp_slot_class */
    struct pp_cuts *cuts;   /* [stage] */
    struct pp_wholes *wholes;
    struct pp_backend_device *device;
    const struct pp_backend *backend;

    struct pp_rank_layout *layout; /* [rank] */
    struct pp_worker *workers;     /* [(replica * tp + tp_index) * ranks + rank] */
    struct pp_bound_call *calls;   /* [row] */
    int32_t *same_as;              /* [row] see graphs.c */
    bool has_graphs[2],
        has_run; /* captured graphs without and with timing events; whether a step has run here */
    int32_t *ids, *targets; /* [sample of the step][seq] */
    int *statuses;          /* enum pp_fixed_status of workers, collectives and tied sums */

    struct pp_machine_message *messages; /* [message * replicas + replica], device by device */
    int64_t *channel_ps; /* [channel * replicas + replica] end of the last message; likewise */

    struct pp_machine_collective *collectives; /* [tp_index * collectives + collective] */
    int collective_count;                      /* of all devices of a group */
    pthread_mutex_t collectives_mutex;
    struct pp_sum *tied; /* [tied_count] copies of one rank that no collective sums */
    int tied_count;

    int barrier_count;
    int64_t *arrived_ps;       /* [barrier * workers + worker] */
    int64_t *released_ps;      /* [barrier] latest arrival, on the virtual clock */
    pp_stream_id conductor;    /* stream of pp_barriers_conduct */
    pp_stream_id weights;      /* first weight-gradient stream; each worker has one */
    pp_event_id first_release; /* event of barrier 0 */
    pp_event_id *first_meet;   /* [rank * replicas + replica] first event of its group */
    struct pp_meeting_point *meeting_points; /* likewise: see group.c */

    /* Times of the kept steps: [(slot * size + instruction) * replicas + replica]. */
    int64_t *start_ps, *end_ps, *posted_ps, *matched_ps, *duration_ps;
    int64_t *nominal_ps;   /* durations on devices of speed 1; duration_ps if all are */
    int64_t *exchanged_ps; /* of compute, in exchanges of its group; NULL: not measured */
    int64_t *step_begin_ps, *step_end_ps; /* [slot] */
    int32_t *launch_of;                   /* [row] number on its compute stream */
    int kept, slot; /* slot of the step under way; `kept`: of forwards alone */
    int steps_done;
    bool has_probes;
    struct pp_machine_read *read;  /* result of the last pp_machine_times */
    int64_t begin_ps, last_end_ps; /* of this step; of the step before */
    int64_t device_begin_ps;       /* wall clock: origin of the device's spans */

    /* State of the step under way. */
    int step;
    bool is_forward;     /* only forwards run: pp_machine_forward() */
    double *squares;     /* [square_count] sums of squares by block */
    int64_t *squares_of; /* [(tp_index * ep + ep_index) * stages + stage] first of `squares` */
    struct pp_squares_part *square_parts; /* [ep] scratch */
    int64_t square_count;
    double *layer_squares;       /* [layers + 2] */
    double *expert_tokens;       /* [pp_net_expert_tokens()] of the step */
    struct pp_adamw_step *adamw; /* shared with the device */
    double grad_norm, loss;
    pp_gradient_hook hook;
    void *hook_closure;
    struct pp_error error;   /* first error */
    atomic_flag is_reported; /* a process has claimed the right to write `error` */
    atomic_bool has_failed;  /* forever: gradients are neither those of a step nor zero */

    sem_t cores;
    bool has_cores; /* fewer cores than workers: each op takes a core */
    bool may_spin;  /* at least as many cores as workers */

    /* The workers: threads or processes. */
    const struct pp_transport *transport;
    const struct pp_remote *remote; /* that of the transport */
    const char *transport_note;     /* see struct pp_machine_way */
    int left_free, gpus;            /* likewise */
    void *transport_state;          /* NULL until the transport starts */
    struct pp_machine_clock clock;
    int64_t clock_offset_ps;     /* added to this machine's clock, to get that of the first */
    atomic_llong clock_shift_ps; /* injected jump of this clock */
    atomic_uint round;           /* number of started steps; also changed at the end */
    atomic_uint running;         /* workers that have not finished this step */
    int started;                 /* number of started workers */
    pid_t *processes;            /* [worker] if this process has forked them; else NULL */
    /* Workers that walk their lists now, of all processes that share this memory. With an
     * asynchronous backend the coordinator's thread counts as one. */
    atomic_uint walking;
    bool is_over;
    struct pp_error gone; /* the watchdog's error; set before are_gone */
    atomic_bool are_gone; /* worker processes are gone */
    pthread_t watchdog;
    atomic_uint is_watched;
};

/* ---- indices and clocks ---------------------------------------------------------------------- */
static inline int32_t pp_row(const struct pp_worker *w, int instruction)
{
    const struct pp_machine *m = w->machine;

    return (w->tp_index * m->size + instruction) * m->replicas + w->replica;
}
/* Instruction of a row. */
static inline int pp_instruction_at(const struct pp_machine *m, int32_t row)
{
    return row / m->replicas % m->size;
}
/* Number of rows. */
static inline size_t pp_rows(const struct pp_machine *m)
{
    return (size_t)m->tp * (size_t)m->size * (size_t)m->replicas;
}
/* Index into the columns of the current step. */
static inline size_t pp_cell(const struct pp_machine *m, int32_t row)
{
    return (size_t)m->slot * pp_rows(m) + (size_t)row;
}
static inline size_t pp_cell_at(const struct pp_worker *w, int instruction)
{
    return pp_cell(w->machine, pp_row(w, instruction));
}
/* Message of a SEND or RECV. */
static inline struct pp_machine_message *pp_message_at(const struct pp_worker *w, int instruction)
{
    const struct pp_machine *m = w->machine;

    return &m->messages[(w->tp_index * m->p->message_count + m->p->arg[instruction]) * m->replicas +
                        w->replica];
}
static inline struct pp_worker *pp_worker_at(const struct pp_machine *m, int rank, int replica,
                                             int tp_index)
{
    return &m->workers[(replica * m->tp + tp_index) * m->p->ranks + rank];
}
/* Workers that walk a list together: devices of a tensor-parallel group, or replicas that share
 * experts. Their number; which of them a worker is; another one. */
static inline int pp_group_size(const struct pp_machine *m)
{
    return m->tp * m->ep; /* one of them is 1 */
}
static inline int pp_group_index(const struct pp_worker *w)
{
    return w->machine->ep > 1 ? w->replica % w->machine->ep : w->tp_index;
}
static inline struct pp_worker *pp_group_peer(const struct pp_worker *w, int index)
{
    const struct pp_machine *m = w->machine;

    return m->ep > 1
               ? pp_worker_at(m, w->rank, w->replica - w->replica % m->ep + index, w->tp_index)
               : pp_worker_at(m, w->rank, w->replica, index);
}
/* Number of the collective of an instruction. */
static inline int pp_collective_of(const struct pp_worker *w, int instruction)
{
    const struct pp_program *p = w->machine->p;

    return w->tp_index * p->collective_count + p->arg[instruction];
}
/* Stage of a place, as the worker has it. */
static inline const struct pp_stage *pp_stage_at(const struct pp_worker *w, int place)
{
    const struct pp_machine *m = w->machine;

    return m->options.stages[pp_group_index(w) * m->stages + place % m->stages];
}
/* Sums of squares of a place's blocks. */
static inline double *pp_squares_at(const struct pp_worker *w, int place)
{
    const struct pp_machine *m = w->machine;

    return m->squares + m->squares_of[pp_group_index(w) * m->stages + place % m->stages];
}
static inline bool pp_is_virtual(const struct pp_machine *m)
{
    return m->options.clock == PP_CLOCK_VIRTUAL;
}
/* True if the worker runs in a process that shares no memory with this one. Its block here has
 * addresses, and memory for its states while they are read. */
static inline bool pp_is_elsewhere(const struct pp_machine *m, const struct pp_worker *w)
{
    return m->own_worker >= 0 && m->own_worker != w->index;
}
/* Speed of a worker's device. */
static inline double pp_speed(const struct pp_machine *m, int rank, int replica)
{
    return m->options.slow ? m->options.slow[rank * m->replicas + replica] : 1;
}
int64_t pp_wall_ps(void); /* since the first call, which precedes any fork */
/* Time on the clock of this process; on the clock that all workers share. */
static inline int64_t pp_own_ps(const struct pp_machine *m)
{
    return pp_wall_ps() + atomic_load_explicit(&m->clock_shift_ps, memory_order_relaxed);
}
static inline int64_t pp_now_ps(const struct pp_machine *m)
{
    return pp_own_ps(m) + m->clock_offset_ps;
}

/* ---- worker.c -------------------------------------------------------------------------------- */
/* Keeps the first error and cancels the step. Lock-free: another reporter may have been killed. */
void pp_machine_fail(struct pp_machine *m, const struct pp_error *err);
/* Fails with *err unless `status` is PP_OK; returns whether it is. */
bool pp_machine_try(struct pp_machine *m, enum pp_status status, const struct pp_error *err);
/* Number of launches of this step that this process's device has finished; 0: unknown. */
int64_t pp_machine_passed(struct pp_machine *m);
/* Stream on which the worker computes instruction i, or from which it posts it. */
pp_stream_id pp_stream_of(const struct pp_worker *w, int instruction);
/* Begin and end of an op, message or sum of a worker of this process in the current step. */
struct pp_span pp_span_of(const struct pp_worker *w, int instruction);
/* Duration of an op, or of both of a fused pair, by the costs. */
int64_t pp_given_ps(const struct pp_machine *m, int instruction);
/* Whether the worker runs instruction i in the step under way. */
bool pp_worker_has(const struct pp_worker *w, int instruction);
/* Makes instruction i wait for the op on the worker's other compute stream that must come first. */
bool pp_worker_order(struct pp_worker *w, int instruction);
/* Work that instruction i of a worker launches. */
struct pp_worker_launch {
    pp_backend_work work;
    void *argument;
};
struct pp_worker_launch pp_launch_of(const struct pp_worker *w, int i);
/* Launches work on the worker's compute stream, or on its weight-gradient stream. The device may
 * have captured it as graph `id`. Returns its number on that stream. */
int pp_worker_launch(struct pp_worker *w, bool on_weights, int id, struct pp_worker_launch launch);
/* Launches compute instruction i and notes its number. */
void pp_worker_issue(struct pp_worker *w, int instruction);

/* Call it before the first work of a call: it zeroes gradients and forgets timings. */
void pp_call_begin(const struct pp_kernels *k, void *stream, struct pp_bound_call *call);
/* Adds the times of one work to those of its call. */
void pp_probe_add(struct pp_bound_call *call, int work);
/* Clock of durations: CPU time, or the wall clock if ops are only issued. */
int64_t pp_machine_now_ns(const struct pp_machine *m);
/* Graph id of a worker's last BAR. */
int pp_bar_graph_id(const struct pp_worker *w);
/* Length of a worker's list; place of an instruction in it. */
int pp_list_length(const struct pp_worker *w);
int pp_place_of(const struct pp_worker *w, int instruction);
int pp_graph_id(const struct pp_worker *w, int i);

/* ---- stall.c, watchdog.c --------------------------------------------------------------------- */
/* Append the current instruction of a worker; waiting workers without `dead` (NULL = none) and
 * their causes. */
void pp_stall_instruction(const struct pp_worker *w, struct pp_error *err);
void pp_stall_waiters(const struct pp_machine *m, const struct pp_worker *dead,
                      struct pp_error *err);
/* PP_EFAIL: where a worker was whose process has ended, how it has, and who waits. */
enum pp_status pp_stall_ended(const struct pp_worker *w, const siginfo_t *info,
                              struct pp_error *err);
/* Starts a thread that fails the step if a worker dies, or if none makes progress for
 * options.timeout_s. After an error it ends all workers. PP_EFAIL: the system gives no thread. */
enum pp_status pp_watchdog_start(struct pp_machine *m, struct pp_error *err);
void pp_watchdog_stop(struct pp_machine *m); /* no effect if it was not started */

/* Sets *err to the places of stuck workers, and what the others wait for. */
void pp_stall_describe(const struct pp_machine *m, double idle_s, struct pp_error *err);
