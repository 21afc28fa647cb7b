/* exec/machine/parts.h — inside of the machine: private to exec/machine*.c.
 *
 * A row is an instruction of the program in one replica, row = instruction * replicas + replica:
 * the layout of the evaluator's columns. A place is a chunk of a rank, place = pipeline * stages +
 * stage. Events: one for each row (a post has been reached, a rank has arrived), then one for each
 * message of each replica, each collective and each barrier (it is over). */
#ifndef PP_EXEC_MACHINE_PARTS_H
#define PP_EXEC_MACHINE_PARTS_H

#include "exec/backend/mirror.h"
#include "exec/machine/machine.h"
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
    struct pp_mirror mirror; /* of the states at its begin */
    struct pp_mirror losses;
    struct pp_chunk *chunks; /* [place] */
    double *squares;         /* scratch */
    int *status;             /* enum pp_fixed_status of its gradients */
    int sum_status;          /* of sums that its process has made, where that is another one */
    size_t touched_bytes;    /* likewise */
    pthread_t thread;        /* or */
    pid_t process;
    atomic_int at; /* instruction under way: what others may know of it at any time */
    atomic_llong
        passed;   /* likewise: launches of its device that are over, where it has one elsewhere */
    int fault_at; /* instruction before which something is injected, -1 = none */
    /* of the step under way */
    int64_t clock_ps;
    int64_t reduce_ps;         /* end of its last collective */
    int64_t inside_ns, cpu_ns; /* CPU time in ops; of the thread */
    int launches[2];           /* on its compute stream; on that of its weight lane */
    bool is_summing;           /* one is under way that another process owns */
    int32_t turn;              /* of its collectives: the next that may run */
    int32_t *collective_row;   /* [k] row of its k-th collective */
    int32_t collective_count;
    int32_t *due, due_count; /* collectives that this worker runs, itself or by its */
    struct pp_reducer reducer;
    int32_t barriers;     /* passed */
    int32_t *barrier_row; /* [k] row of its k-th BAR */
};

/* What both sides say of a message. */
struct pp_header {
    uint64_t program_hash, bytes;
    int32_t step, mb, sequence;
    uint16_t stage;
    uint8_t kind, split, granules;
};
struct pp_message_side {
    int32_t row;
    void *buffer;
    struct pp_header header;
};
struct pp_machine_message { /* of one replica */
    struct pp_message_side send, recv;
    atomic_int posts;  /* of this step */
    atomic_int landed; /* without shared memory: the match, the bytes */
    int32_t channel;   /* of this replica: in `channel_ps` */
    int32_t launch;    /* its number on the channel's stream */
    pp_event_id done;
    size_t bytes;
};

/* What a collective does with `pieces` of the vectors of its copies: adds gradients up, all copies
 * getting the sum (AR) or each what it needs of it (RS); gives all copies the weights that each has
 * changed (AG). */
struct pp_sum {
    const struct pp_sum_rule *rule;
    bool is_exact;
    size_t element_bytes;
    int copies;
    char **at;  /* [copies] first element */
    int *owner; /* [copies] worker */
    int pieces;
    struct pp_range piece[2]; /* elements */
    /* RS and AG; NULL with AR */
    struct pp_range *share; /* [copies] */
    struct pp_range *norm;  /* [copies] from its share on, what the norm needs */
    struct pp_range tied;   /* which all copies need, to add it to another matrix; often empty */
    int *status;
};
/* By kind of collective: the work, a pp_sum; elements that a copy gives and gets: how many ranges,
 * at most PP_SUM_RANGES. */
enum { PP_SUM_RANGES = 4 };
struct pp_sum_rule {
    pp_backend_work run;
    int (*given)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
    int (*got)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
};
extern const struct pp_sum_rule pp_sum_rules[]; /* [kind], exec/machine/shares.c */
void pp_sum_run(const struct pp_kernels *k, void *stream, void *sum); /* that of AR */
/* Gradients of one copy to those of another */
void pp_sum_add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                int to, struct pp_range range);

struct pp_machine_collective {
    struct pp_sum sum;
    int32_t *rows, row_count; /* of all members */
    int32_t *members;         /* [row_count] workers */
    int posts;
    int64_t ps; /* duration */
    pp_event_id done;
    int32_t line;         /* the collective on whose stream it runs, which is its own at first */
    int launch, launches; /* which launch of that stream it was in this step; how many `line` had */
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
    int *copies; /* [stage] that share its optimizer state out; 1 = each has all of it */
    struct pp_backend_device *device;
    const struct pp_backend *backend;

    struct pp_rank_layout *layout; /* [rank] */
    struct pp_worker *workers;     /* [replica * ranks + rank] */
    struct pp_bound_call *calls;   /* [row] */
    int32_t *same_as;              /* [row]: see machine_keep.c */
    bool is_kept[2], has_run;      /* work without and with marks; a step of this process */
    int32_t *ids, *targets;        /* [sample of the step][seq] */
    int *statuses;                 /* of workers, collectives and tied sums: see `status` there */

    struct pp_machine_message *messages; /* [message * replicas + replica] */
    int64_t *channel_ps;                 /* [channel * replicas + replica] end of the last one */

    struct pp_machine_collective *collectives;
    pthread_mutex_t collectives_mutex;
    struct pp_sum *tied; /* [tied_count]: copies of one rank that no collective sums */
    int *tied_worker, tied_count;
    int32_t *inside_of; /* [instruction]: see pp_program_posted_inside, -1 = none */
    int *inside_part, *inside_parts;

    int barrier_count;
    int64_t *arrived_ps;       /* [barrier * workers + worker] */
    int64_t *released_ps;      /* [barrier] virtual clock: the latest arrival */
    pp_stream_id conductor;    /* stream of pp_barriers_conduct */
    pp_stream_id weights;      /* the first of those that weight lanes have, one for each worker */
    pp_event_id first_release; /* of barrier 0 */

    /* times of the kept steps: [(slot * size + instruction) * replicas + replica] */
    int64_t *start_ps, *end_ps, *posted_ps, *matched_ps, *duration_ps;
    int64_t *nominal_ps; /* durations on devices of speed 1; duration_ps where all are */
    int64_t *step_begin_ps, *step_end_ps; /* [slot] */
    int32_t *launch_of;                   /* [row]: its number on the stream that computes it */
    int kept, slot;                       /* slot of the step under way */
    int steps_done, last_step;
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
    void (*hook)(void *closure, const struct pp_machine *machine, int step);
    void *hook_closure;
    struct pp_error error;   /* the first one */
    atomic_flag is_reported; /* somebody writes it */
    atomic_bool has_failed;  /* for good: gradients are neither those of a step nor zero */

    sem_t cores;
    bool has_cores; /* fewer cores than workers: a core is taken for each op */

    /* the workers: threads or processes */
    const struct pp_transport *transport;
    const struct pp_remote *remote; /* of the transport */
    struct pp_tcp *tcp;             /* of transports tcp, nccl and ipc */
    struct pp_nccl_run *nccl;       /* of transport nccl */
    struct pp_ipc_run *ipc;         /* of transport ipc */
    struct pp_machine_clock clock;
    int64_t clock_offset_ps;     /* from the clock of this machine to that of the first */
    atomic_llong clock_shift_ps; /* a fault to try: this clock has jumped */
    atomic_uint round;           /* steps started, and the end */
    atomic_uint running;         /* workers that still walk their lists */
    int started;                 /* workers */
    /* workers that walk their lists, of this process, unless all share this; with work that runs
     * later whoever conducts the step counts as one */
    atomic_uint walking;
    bool is_over;
    struct pp_error gone; /* what was seen of it; set before: */
    atomic_bool are_gone; /* the processes of the workers */
    pthread_t watchdog;
    atomic_uint is_watched;
};

static inline size_t pp_row(const struct pp_machine *m, int instruction, int replica)
{
    return (size_t)instruction * (size_t)m->replicas + (size_t)replica;
}
/* Of the columns, in the step under way. */
static inline size_t pp_cell(const struct pp_machine *m, size_t row)
{
    return (size_t)m->slot * (size_t)m->size * (size_t)m->replicas + row;
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
/* Remember the first error and stop all workers. */
void pp_machine_fail(struct pp_machine *m, const struct pp_error *err);

/* machine_bind.c: what each instruction runs, on what memory */
void pp_bind_calls(struct pp_machine *m);
void *pp_bind_buffer(const struct pp_machine *m, const struct pp_worker *w, int instruction,
                     const int8_t *class_of);

/* machine_check.c: PP_EPROGRAM, with rank and place, when gradients are not complete at the last
 * BAR, or used before */
enum pp_status pp_check_updates(const struct pp_program *program, struct pp_error *err);
/* That, and: sums that no WAIT names or that copies of a stage lack, a tied sum without a tied
 * model or the other way round, sequence splits computed again. */
enum pp_status pp_check_program(const struct pp_machine_options *options, struct pp_error *err);

/* machine_messages.c */
void pp_bind_messages(struct pp_machine *m, const int8_t *class_of);
void pp_messages_begin(struct pp_machine *m);
bool pp_message_post(struct pp_worker *w, int instruction);
bool pp_message_wait(struct pp_worker *w, int target);
/* What a worker that runs elsewhere has posted there. */
bool pp_message_post_of(struct pp_worker *w, int instruction, const struct pp_header *header,
                        int64_t posted_ps);
/* The bytes have gone, or have come. */
void pp_message_landed(struct pp_machine *m, struct pp_machine_message *message);

/* machine_place.c: blocks of all workers and what is shared. PP_EFAIL when the machine or the
 * device has not enough. Part of a worker's block, as the host sees it. */
enum pp_status pp_place_memory(struct pp_machine *m, struct pp_error *err);
struct pp_mirror pp_block_mirror(const struct pp_machine *m, struct pp_arena *arena,
                                 const struct pp_worker *w, size_t offset, size_t bytes);

/* machine_probes.c: what was marked in a step that has run */
void pp_probes_read(struct pp_machine *m);

/* machine_step.c: a step from its beginning, once its samples are there */
void pp_step_begin(struct pp_machine *m, int step, int64_t begin_ps);
/* machine_later.c: times of a step whose work has run later than it was issued: what the device of
 * this process says of its own workers; then, where the times of all are, those of the step */
void pp_step_time_here(struct pp_machine *m);
/* When an op, a message or a sum of a worker of this process has run in the step under way */
struct pp_span pp_span_of(const struct pp_machine *m, const struct pp_worker *w, int instruction);
enum pp_status pp_step_time_later(struct pp_machine *m, struct pp_error *err);
/* machine_read.c: what the device holds, for the host to see */
enum pp_status pp_states_fetch(const struct pp_machine *m, struct pp_error *err);

/* machine_sums.c */
void pp_bind_sums(struct pp_machine *m);
void pp_sums_begin(struct pp_machine *m);
void pp_collective_post(struct pp_worker *w, int instruction);
bool pp_collective_wait(struct pp_worker *w, int target);
void pp_collective_run(struct pp_machine *m, int32_t collective);

/* machine_reducer.c: in the worker's process. Give: false = there is none */
void pp_reducer_start(struct pp_worker *w);
bool pp_reducer_give(struct pp_worker *w, int32_t collective);
void pp_reducer_stop(struct pp_worker *w);

/* machine_update.c: BAR and U */
void pp_squares_run(const struct pp_kernels *k, void *stream, void *worker);
bool pp_barrier_meet(struct pp_worker *w, int instruction);
/* All barriers of a step, one after the other: when everybody has come, judge and let them go. */
void pp_barriers_conduct(struct pp_machine *m);
void pp_update_run(const struct pp_kernels *k, void *stream, void *chunk);

/* machine_workers.c: PP_EFAIL when the system gives no more; all workers' lists of a step; the end
 * of all. A worker's steps, one after the other, until that end */
enum pp_status pp_workers_start(struct pp_machine *m, struct pp_error *err);
void pp_workers_run(struct pp_machine *m);
void pp_workers_end(struct pp_machine *m);
void pp_worker_serve(struct pp_worker *w);

/* transport_local.c: the first `count` workers as threads of this process */
enum pp_status pp_threads_start(struct pp_machine *m, int count, struct pp_error *err);
void pp_threads_join(struct pp_machine *m);

/* processes.c: one for each worker, which runs `run` and does not return from it; PP_EFAIL when the
 * system gives no more. What a transport needs of them, see transport.h */
enum pp_status pp_processes_start(struct pp_machine *m, void (*run)(struct pp_worker *),
                                  struct pp_error *err);
enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err);
void pp_processes_kill(struct pp_machine *m);
void pp_processes_reap(struct pp_machine *m);

/* machine_workers.c: launches of this step that the device of this process has run; 0: not known */
int64_t pp_machine_passed(struct pp_machine *m);
/* machine_sums.c: where a collective runs. */
pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective);
/* watchdog.c: PP_EFAIL when the system gives no thread. Sees when a worker has died, when nobody
 * has got on for options.timeout_s, and that after an error all come to an end. */
enum pp_status pp_watchdog_start(struct pp_machine *m, struct pp_error *err);
void pp_watchdog_stop(struct pp_machine *m); /* also where it has not been started */
/* stall.c, all appended to *err: where a worker is; who waits for what from whom, but for one that
 * is dead (NULL = none); all of a standstill (sets *err) */
void pp_stall_place(const struct pp_worker *w, struct pp_error *err);
void pp_stall_waiters(const struct pp_machine *m, const struct pp_worker *dead,
                      struct pp_error *err);
void pp_stall_describe(const struct pp_machine *m, double idle_s, struct pp_error *err);

/* machine_run.c: one worker's list */
int64_t pp_given_ps(const struct pp_machine *m, int instruction); /* what the costs say of it */
void pp_worker_run(struct pp_worker *w);
/* Where instruction i of the worker computes, or what posts it. */
pp_stream_id pp_stream_of(const struct pp_worker *w, int instruction);
/* Behind what it waits for on the worker's other lane. */
bool pp_worker_order(struct pp_worker *w, int instruction);
/* What instruction i of a worker launches. */
struct pp_worker_launch {
    pp_backend_work work;
    void *argument;
};
struct pp_worker_launch pp_launch_of(const struct pp_worker *w, int i);
/* Work on the worker's compute stream, or on that of its weight lane, counted, which the device may
 * have kept as `id`. Returns its number there. */
int pp_worker_launch(struct pp_worker *w, bool is_beside, int id, struct pp_worker_launch launch);
void pp_worker_try(struct pp_worker *w, int instruction); /* a compute op, outside of any step */

/* machine_warm_up.c: whatever the ops of this process need of the device is there when it returns;
 * weights, moments and gradients are as they were. Before the first step. */
enum pp_status pp_machine_warm_up(struct pp_machine *m, struct pp_error *err);

/* machine_keep.c: which instructions do the same work; before a step, or at the end of one: the
 * device keeps what is the same in all steps; under which number it has that of an instruction, or
 * what a worker does at its last BAR */
void pp_bind_same(struct pp_machine *m);
void pp_machine_keep(struct pp_machine *m);
int pp_kept_id(const struct pp_worker *w, int i);
int pp_kept_bar_id(const struct pp_worker *w);

#endif
