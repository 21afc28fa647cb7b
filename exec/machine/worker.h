/* exec/machine/worker.h — what a transport needs of a machine: the state that all threads of its
 * workers share, and calls that report what other processes did. A transport includes no other
 * header of this folder.
 *
 * A row is an instruction of the program in one replica: row = instruction * replicas + replica,
 * the layout of the evaluator's columns. A place is a chunk of a rank: place = pipeline * stages +
 * stage. Events are numbered: first one for each row (a post is reached, a rank has arrived). Then
 * come the ends of each message of each replica, each collective and each barrier. */
#pragma once

#include "exec/backend/staging.h"
#include "exec/machine/machine.h"
#include "exec/machine/message.h"
#include "exec/machine/sum.h"
#include "exec/machine/transport.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* What a compute instruction runs: `run` for each granule. */
typedef void (*pp_stage_call)(const struct pp_kernels *, void *, const struct pp_stage_work *);
struct pp_bound_call {
    pp_stage_call run;
    struct pp_stage_work *works; /* [count] */
    int count;
    struct pp_probe part, probe; /* of one granule; of all of the last call */
};

/* One copy of a chunk's weights. */
struct pp_worker;
struct pp_chunk {
    struct pp_worker *worker; /* NULL: not on this one */
    const struct pp_stage *stage;
    struct pp_state state;
    bool owns_squares; /* has gradients that count in the norm: one copy, or each its share */
};

/* A thread that runs the collectives that its worker has posted last. */
struct pp_reducer {
    pthread_t thread;
    bool is_there;
    int32_t *queue; /* [capacity], a ring */
    unsigned capacity;
    atomic_uint given, changes; /* so far; a word to sleep on */
    atomic_bool is_over;
};

struct pp_worker {
    struct pp_machine *machine;
    int rank, replica, index;
    char *block;
    struct pp_staging staging; /* of the states at its begin */
    struct pp_staging losses;
    struct pp_chunk *chunks; /* [place] */
    double *squares;         /* scratch */
    int *status;             /* enum pp_fixed_status of its gradients */
    int sum_status;          /* of sums that its process has made, where that is another one */
    size_t touched_bytes;    /* likewise */
    pthread_t thread;        /* or: */
    pid_t process;
    atomic_int at; /* instruction under way: what others may know of it at any time */
    atomic_llong
        passed; /* likewise: launches of its device that are over, where it has one elsewhere */
    /* of the step under way */
    int64_t clock_ps;
    int64_t reduce_ps;         /* end of its last collective */
    int64_t inside_ns, cpu_ns; /* CPU time in ops; of the thread */
    int launches[2];           /* on its compute stream; on its weight-gradient stream */
    bool is_summing;           /* one is under way that another process owns */
    int32_t turn;              /* of its collectives: the next that may run */
    int32_t *collective_row;   /* [k] row of its k-th collective */
    int32_t collective_count;
    int32_t *due, due_count; /* collectives that this worker runs, itself or by its reducer */
    struct pp_reducer reducer;
    int32_t barriers;     /* passed */
    int32_t *barrier_row; /* [k] row of its k-th BAR */
};

struct pp_machine_read {
    const struct pp_times *times;
    int steps_done; /* by then */
    int fetched_at; /* steps done when the state of other processes was brought here */
};

struct pp_machine {
    struct pp_arena *arena;
    struct pp_machine_options options;
    const struct pp_program *p;
    uint64_t program_hash;
    int size, replicas, worker_count, stages, places;
    const int8_t *class_of; /* [instruction] enum pp_slot_class of its slot */
    int *copies;            /* [stage] that share its optimizer state out; 1 = each has all of it */
    struct pp_backend_device *device;
    const struct pp_backend *backend;

    struct pp_rank_layout *layout; /* [rank] */
    struct pp_worker *workers;     /* [replica * ranks + rank] */
    struct pp_bound_call *calls;   /* [row] */
    int32_t *same_as;              /* [row]: see graphs.c */
    bool has_graphs[2], has_run;   /* work without and with events; a step of this process */
    int32_t *ids, *targets;        /* [sample of the step][seq] */
    int *statuses;                 /* of workers, collectives and tied sums: see `status` there */

    struct pp_machine_message *messages; /* [message * replicas + replica] */
    int64_t *channel_ps;                 /* [channel * replicas + replica] end of the last one */

    struct pp_machine_collective *collectives;
    pthread_mutex_t collectives_mutex;
    struct pp_sum *tied; /* [tied_count]: copies of one rank that no collective sums */
    int tied_count;

    int barrier_count;
    int64_t *arrived_ps;       /* [barrier * workers + worker] */
    int64_t *released_ps;      /* [barrier] virtual clock: the latest arrival */
    pp_stream_id conductor;    /* stream of pp_barriers_conduct */
    pp_stream_id weights;      /* the first weight-gradient stream; there is one for each worker */
    pp_event_id first_release; /* of barrier 0 */

    /* times of the kept steps: [(slot * size + instruction) * replicas + replica] */
    int64_t *start_ps, *end_ps, *posted_ps, *matched_ps, *duration_ps;
    int64_t *nominal_ps; /* durations on devices of speed 1; duration_ps where all are */
    int64_t *step_begin_ps, *step_end_ps; /* [slot] */
    int32_t *launch_of;                   /* [row]: its number on the stream that computes it */
    int kept, slot;                       /* slot of the step under way */
    int steps_done;
    bool has_probes;
    struct pp_machine_read *read;  /* what pp_machine_times has made last */
    int64_t begin_ps, last_end_ps; /* of the step under way; of the one before */
    int64_t device_begin_ps;       /* wall clock: where spans of the device count from */

    /* of the step under way */
    int step;
    double *squares;     /* sums of squares by block, [square_count] */
    int64_t *squares_of; /* [stage] its first one */
    int64_t square_count;
    double *layer_squares;       /* [layers + 2] */
    struct pp_adamw_step *adamw; /* shared with the device */
    double grad_norm, loss;
    pp_gradient_hook hook;
    void *hook_closure;
    struct pp_error error;   /* the first one */
    atomic_flag is_reported; /* a process has claimed the right to write it */
    atomic_bool has_failed;  /* for good: gradients are neither those of a step nor zero */

    sem_t cores;
    bool has_cores; /* fewer cores than workers: a core is taken for each op */

    /* the workers: threads or processes */
    const struct pp_transport *transport;
    const struct pp_remote *remote; /* of the transport */
    void *transport_state;          /* of the transport, NULL until it starts */
    struct pp_machine_clock clock;
    int64_t clock_offset_ps;     /* from the clock of this machine to that of the first */
    atomic_llong clock_shift_ps; /* a fault to try: this clock has jumped */
    atomic_uint round;           /* steps started, and the end */
    atomic_uint running;         /* workers that still walk their lists */
    int started;                 /* workers */
    /* workers of this process that walk their lists, or of all processes that share this. With work
     * that runs later, the coordinator's thread counts as one */
    atomic_uint walking;
    bool is_over;
    struct pp_error gone; /* what was seen of it; set before: */
    atomic_bool are_gone; /* the processes of the workers */
    pthread_t watchdog;
    atomic_uint is_watched;
};

/* ---- indices and clocks ---- */
static inline int32_t pp_row(const struct pp_worker *w, int instruction)
{
    return instruction * w->machine->replicas + w->replica;
}
/* Of the columns, in the step under way. */
static inline size_t pp_cell(const struct pp_machine *m, int32_t row)
{
    return (size_t)m->slot * (size_t)m->size * (size_t)m->replicas + (size_t)row;
}
static inline size_t pp_cell_at(const struct pp_worker *w, int instruction)
{
    return pp_cell(w->machine, pp_row(w, instruction));
}
/* The message of a SEND or RECV. */
static inline struct pp_machine_message *pp_message_at(const struct pp_worker *w, int instruction)
{
    const struct pp_machine *m = w->machine;

    return &m->messages[m->p->arg[instruction] * m->replicas + w->replica];
}
static inline struct pp_worker *pp_worker_at(const struct pp_machine *m, int rank, int replica)
{
    return &m->workers[replica * m->p->ranks + rank];
}
static inline bool pp_is_virtual(const struct pp_machine *m)
{
    return m->options.clock == PP_CLOCK_VIRTUAL;
}
/* A launcher has started its process: here is host memory for what is told of it, no more. */
static inline bool pp_is_elsewhere(const struct pp_machine *m, const struct pp_worker *w)
{
    return m->options.meeting.count > 1 && m->options.meeting.index != w->index;
}
/* Speed of a worker's device. */
static inline double pp_speed(const struct pp_machine *m, int rank, int replica)
{
    return m->options.slow ? m->options.slow[rank * m->replicas + replica] : 1;
}
static inline int64_t pp_later_ps(int64_t a_ps, int64_t b_ps)
{
    return a_ps > b_ps ? a_ps : b_ps;
}
int64_t pp_wall_ps(void); /* since this was asked first, before any process was forked */
/* On the clock of this process; on the one that all workers share. */
static inline int64_t pp_own_ps(const struct pp_machine *m)
{
    return pp_wall_ps() + atomic_load_explicit(&m->clock_shift_ps, memory_order_relaxed);
}
static inline int64_t pp_now_ps(const struct pp_machine *m)
{
    return pp_own_ps(m) + m->clock_offset_ps;
}

/* ---- worker.c: what several parts of a machine call, and what calls none of them ---- */
/* Keep the first error and cancel the step. Lock-free: the process that reported first may have
 * been killed. */
void pp_machine_fail(struct pp_machine *m, const struct pp_error *err);
/* Launches of this step that the device of this process has run; 0: not known. */
int64_t pp_machine_passed(struct pp_machine *m);
/* The stream on which instruction i of the worker computes, or from which it is posted. */
pp_stream_id pp_stream_of(const struct pp_worker *w, int instruction);
/* When an op, a message or a sum of a worker of this process ran in the step under way. */
struct pp_span pp_span_of(const struct pp_worker *w, int instruction);

/* ---- a step ---- */
/* All steps of a worker, one after the other, until the machine ends. */
void pp_worker_serve(struct pp_worker *w);
/* One step of a worker: its list. */
void pp_worker_run(struct pp_worker *w);

/* Begin a step whose samples are in m->ids and m->targets. */
void pp_step_begin(struct pp_machine *m, int step, int64_t begin_ps);
/* Where work runs later than it is issued: read the times of the workers of this process, once the
 * step is over. */
void pp_step_time_here(struct pp_machine *m);
/* Load everything that the ops of this process need on the device. Weights, moments and gradients
 * are unchanged. Before the first step. */
enum pp_status pp_machine_warm_up(struct pp_machine *m, struct pp_error *err);

/* Both append to *err: where a worker is; which workers wait, for what and for which worker. `dead`
 * is left out (NULL = none). */
void pp_stall_place(const struct pp_worker *w, struct pp_error *err);
void pp_stall_waiters(const struct pp_machine *m, const struct pp_worker *dead,
                      struct pp_error *err);
