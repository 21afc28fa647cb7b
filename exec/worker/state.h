/* exec/worker/state.h — the state that all threads of a machine share: workers, their work, and
 * what they wait for. Through exec/worker/worker.h. */
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
    struct pp_cleared { /* gradients or figures to zero before the call; NULL: none */
        void *memory;
        size_t bytes;
    } cleared[2];
    struct pp_probe part, probe;       /* of one granule; of all granules of the last call */
    struct pp_group_segment *segments; /* [segment_count] see group.c; NULL without a group */
    int segment_count, first_segment;  /* the latter: among those of its worker's list */
    int launches_more;                 /* of a group: from its first launch to its last segment */
    /* In a generating program: work before all of `works`, and after each; NULL: none. Ids that
     * come in several messages; tokens that the head makes. */
    pp_backend_work before, after;
    struct pp_fed *fed;
    struct pp_made *made; /* [count] */
};

/* One copy of a chunk's weights. */
struct pp_worker;
struct pp_chunk {
    struct pp_worker *worker; /* NULL: not on this worker */
    const struct pp_stage *stage;
    struct pp_state state;  /* where classes live; addresses in a file may not be accessed */
    struct pp_state staged; /* in `on_host` of the worker's staging, see there */
    void *updated; /* its parameters while U updates them, if they live elsewhere; else NULL */
    bool is_cleared_before; /* a MOVE.params zeroes `updated`, which it fills before U */
    struct pp_state by_host, by_device; /* parts of its share, as the host or device updates them */
    struct pp_chunk_bucket *buckets; /* [bucket_count] of state that streams through its update */
    int bucket_count;
    int64_t update_ns; /* of its last update, without copies */
    bool is_changed;   /* the host's copy of its weights may not be used: see exec/copy/updates.c */
    /* its gradients of a part, or its share of them, count in the norm */
    bool owns_squares[PP_STATE_PARTS];
};

/* Bytes of a copy: on the device, and on the other tier, in memory or from `offset` in a file. */
struct pp_copy_piece {
    char *device, *away; /* away: NULL in a file */
    size_t offset, bytes;
    bool is_here; /* `away` is on the device, too: what a share leaves there */
};
struct pp_chunk_bucket;
/* A copy between memory tiers, or work of the host: a COPY or MOVE of one worker, see exec/copy. */
struct pp_bound_copy {
    struct pp_worker *worker;
    int instruction;
    int after; /* copy of another stream that is over before; -1: none */
    pp_event_id done;
    pp_backend_work run;          /* its argument is this copy; NULL: there is nothing to do */
    pp_backend_work before;       /* work on the compute stream before the post; NULL: none */
    enum pp_tier tier;            /* of `away` */
    struct pp_copy_piece *pieces; /* [count] */
    int count;
    size_t bytes; /* of all pieces that leave the device, or come back */
    int64_t ps;   /* duration by the costs */
    int launch;   /* number on its stream in this step */
};
/* Part of a chunk's share, in a buffer of the device while it is updated. */
struct pp_chunk_bucket {
    struct pp_state state;
    struct pp_bound_copy fetch, store;
};
/* Copies that a worker has posted on a stream, and the thread that runs them. If the backend calls
 * the host: calls of this step that read or write the worker's file, and two buffers for them in
 * host memory. */
struct pp_copier {
    struct pp_worker *worker;
    struct pp_file_call *calls; /* [call_count] */
    int call_count, called;
    char *buffers; /* [2][buffer_bytes] */
    size_t buffer_bytes;
    pthread_t thread;
    bool is_there;  /* else the worker runs them itself */
    int32_t *queue; /* [capacity] instructions; a ring */
    unsigned capacity, taken;
    atomic_uint given, changes; /* copies queued so far; a futex */
    atomic_bool is_over;
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
    struct pp_tier_budget budget;
    char *block;
    char *host;                 /* its block in host memory; NULL: it has none */
    struct pp_tier_file *file;  /* its block on NVMe, likewise */
    char *file_at;              /* addresses in place of the file's bytes, without memory */
    struct pp_staging staging;  /* of all states: at the block's begin, or scattered over tiers */
    struct pp_staging figures;  /* losses, and tokens of experts */
    struct pp_chooser *chooser; /* of a generating program; else NULL */
    bool has_states, has_parts; /* on_host of `staging` has memory: until a step begins; always */
    uint64_t drawn;             /* hash of its initial weights */
    struct pp_chunk *chunks;    /* [place] */
    double *squares;            /* scratch */
    int *status;                /* enum pp_fixed_status of its gradients */
    int *sum_on_host_status;    /* the same of what the host adds up */
    int sum_status;             /* status of its process's sums, if that is another process */
    /* of its block, and of its caches, if it is in another process */
    size_t touched_bytes, cache_touched_bytes;
    struct pp_fallbacks fallbacks; /* of its process, in the last step; the first worker has them */
    pthread_t thread;              /* if it is a thread */
    atomic_int at;                 /* current instruction, which others may read at any time */
    atomic_llong passed;           /* finished launches of its device, if that is elsewhere */
    /* State of the step under way. */
    int64_t clock_ps;
    int64_t reduce_ps; /* end of its last collective */
    /* Time of its ops, by now_ns(), on any thread; CPU time of its thread, less warm_ns. */
    int64_t inside_ns, cpu_ns;
    int64_t warm_ns;                /* CPU time in which its operands were read: see warm.c */
    int meets;                      /* meetings with its group */
    int short_waits;                /* waits in a row in which spinning pays: see meet.c */
    struct pp_crew *crew;           /* of its group: see exec/machine/parts.h */
    atomic_bool is_meeting;         /* waits for its group, which others may read at any time */
    int64_t met_ps[2];              /* when it came to the last two meetings: see group.c */
    int64_t spent_ps;               /* in its op so far: see group.c */
    int64_t added_ps;               /* likewise: when the last exchange of its op has ended */
    int64_t exchanged_ps[PP_AMONG]; /* time of the exchanges in its op */
    int launches[2];                /* on its compute stream; on its weight-gradient stream */
    bool is_summing;                /* waits for a collective that another process owns */
    int32_t turn;                   /* next of its collectives that may run */
    int32_t *collective_row;        /* [k] row of its k-th collective */
    int32_t collective_count;
    struct pp_reducer reducer;
    struct pp_copier copiers[PP_COPY_STREAMS];
    int64_t copied_ps[PP_COPY_STREAMS]; /* end of the last copy of each stream */
    int copies_launched[PP_COPY_STREAMS];
    /* Bytes that copies of this step have moved, down and up, by class. */
    atomic_ullong copied_bytes[PP_MOVE_CAUSES][2];
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
    /* stages: of the model, which a generating program passes several times */
    int size, replicas, tp, ep, worker_count, stages, places;
    /* Index of the one worker that runs in this process; worker_count: none; -1: all. */
    int own_worker;
    const int8_t *class_of; /* [instruction] enum pp_slot_class */
    struct pp_cuts *cuts;   /* [stage] */
    struct pp_wholes *wholes;
    struct pp_away *away;
    struct pp_bound_copy **copies; /* [row] NULL: no copy */
    bool has_copies;
    pp_stream_id first_copies; /* first copy stream; each worker has PP_COPY_STREAMS */
    pp_event_id first_copied;  /* event of the end of the copy of row 0 */
    struct pp_backend_device *device;
    const struct pp_backend *backend;

    struct pp_rank_layout *layout; /* [rank] */
    struct pp_worker *workers;     /* [(replica * tp + tp_index) * ranks + rank] */
    struct pp_bound_call *calls;   /* [row] */
    int32_t *same_as;              /* [row] see graphs.c */
    bool has_graphs[2],
        has_run; /* captured graphs without and with timing events; whether a step has run here */
    int32_t *ids, *targets;           /* [sample of the step][seq] */
    struct pp_generating *generating; /* NULL: the program trains */
    int *statuses; /* enum pp_fixed_status of workers, collectives and tied sums */

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
    struct pp_inbox *inbox; /* of groups whose workers share no memory: see apart.c; else NULL */

    /* Times of the kept steps: [(slot * size + instruction) * replicas + replica]. */
    int64_t *start_ps, *end_ps, *posted_ps, *matched_ps, *duration_ps;
    int64_t *nominal_ps;             /* durations on devices of speed 1; duration_ps if all are */
    int64_t *exchanged_ps[PP_AMONG]; /* of compute, in exchanges; NULL: not measured */
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
    bool wants_gradients;    /* of the step: a hook, perhaps of another process, reads them */
    struct pp_error error;   /* first error */
    atomic_flag is_reported; /* a process has claimed the right to write `error` */
    atomic_bool has_failed;  /* forever: gradients are neither those of a step nor zero */

    sem_t cores;
    int crew_size;  /* members of a group that one thread runs */
    bool has_cores; /* fewer cores than crews, of whole groups: each op takes a core */
    bool may_spin;  /* at least as many cores as crews */

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
