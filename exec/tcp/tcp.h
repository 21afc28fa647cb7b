/* exec/tcp/tcp.h — workers in processes without shared memory: frames, connections and clocks. For
 * exec/tcp and the transports.
 *
 * Process 0 is the coordinator: it starts steps and collects results. Worker w runs in process
 * w + first_owner. Where process 0 has forked the others, workers begin at process 1; where a
 * launcher has started all, at process 0. Every process has a thread that reads and writes all
 * connections and executes frames; it never waits. */
#pragma once

#include "exec/machine/serve.h"

/* Kinds of frames: sender -> receiver, and the meaning or payload. 0 is process 0. */
enum pp_frame_kind {
    PP_FRAME_STEP,    /* 0 -> all: a step, the samples that the worker needs */
    PP_FRAME_READY,   /* -> 0: the step has begun on this process */
    PP_FRAME_GO,      /* 0 -> all: the step has begun on all processes */
    PP_FRAME_POST,    /* between the ends of a channel: a SEND or RECV has been posted */
    PP_FRAME_DATA,    /* to the receiver: the bytes */
    PP_FRAME_PART,    /* to the owner of a sum: a worker's part */
    PP_FRAME_SUM,     /* from the owner: the sum */
    PP_FRAME_ARRIVED, /* -> 0: at a barrier; at the last also loss, norm, gradients */
    PP_FRAME_RELEASE, /* 0 -> all: it may pass; at the last barrier also the verdict */
    PP_FRAME_END,     /* -> 0: clock and times of a worker's step */
    PP_FRAME_AT,      /* -> 0, now and then: a worker's instruction; in ps its finished launches, in
                       * flags whether it waits for its group */
    PP_FRAME_FETCH,   /* 0 -> all: send STATE, with these flags */
    PP_FRAME_STATE,   /* either way: state of a worker's chunks; in ps its touched bytes, in the
                       * header those of its caches */
    PP_FRAME_FAIL,    /* -> 0 -> all: the message */
    PP_FRAME_PING,    /* 0 -> all and back: the process's clock */
    PP_FRAME_OFFSET,  /* 0 -> all: the offset of that clock */
    PP_FRAME_LEAVE,   /* 0 -> all: no more steps; release memory of other processes */
    PP_FRAME_LEFT,    /* -> 0: it has been released */
    PP_FRAME_QUIT,    /* 0 -> all */
    PP_FRAME_ALIVE,   /* between 0 and all; in flags whether an answer is being prepared */
    PP_FRAME_ASK,     /* 0 -> all: a question; in id the bytes of an answer */
    PP_FRAME_ANSWER,  /* -> 0: the answer, or in flags a status and its message */
    PP_FRAME_MADE,    /* -> 0: tokens that F `id` has made, of its call number `flags` */
    PP_FRAME_GROUP,   /* between members of a group: at a meeting, with what the other reads */
    PP_FRAME_KINDS
};
struct pp_frame {
    uint32_t kind;
    int32_t worker, id, flags; /* id of an instruction, message, collective, barrier or step */
    int64_t ps;
    uint64_t bytes; /* of the payload that follows */
    struct pp_header header;
};

struct pp_arrival { /* a complete frame from a process */
    int process;
    const struct pp_frame *frame;
    char *payload; /* NULL without bytes */
};
struct pp_frame_out { /* a frame in the queue of a connection */
    struct pp_frame_out *next;
    struct pp_frame frame;
    const char *payload;
    char *owned;                        /* a payload to free after it is written */
    struct pp_machine_message *message; /* complete at the sender then, if not NULL */
};
struct pp_tcp_link { /* a connection to another process */
    int fd;          /* -1 = none */
    struct pp_frame_out *first, *last;
    size_t written;        /* bytes of the first frame that are written */
    struct pp_frame frame; /* the frame that is being read */
    char *payload, *owned;
    size_t read; /* bytes of that frame */
    atomic_bool is_closed;
    int64_t pid;             /* of that process on its host; 0 = unknown */
    _Atomic double silent_s; /* running time without a byte of it */
};

struct pp_tcp_clock {  /* the clock of a process, compared with that of process 0 */
    int64_t offset_ps; /* clock of process 0 - clock of the process */
    int64_t error_ps;  /* half of the shortest round trip */
    int64_t at_ps;     /* time of the comparison */
    bool is_known;
};

/* A question: in process 0 with the answers so far, in others until it is answered. */
struct pp_tcp_asked {
    struct pp_question question;
    char *bytes; /* malloc: the answers [process][answer_bytes], or the question */
    int failed;  /* the first process that has failed, at least 1; 0 = none */
    int failures;
    struct pp_error error; /* of that process */
    atomic_bool is_open;   /* process > 0: not answered yet */
};

struct pp_tcp {
    struct pp_machine *m;
    int process, processes, first_owner;
    uint64_t token;            /* of the run: a process with another one is refused */
    struct pp_tcp_link *links; /* [process] */
    int listener, port;        /* at which process 0 waits for the processes that it has forked */
    bool is_running;           /* whether the thread runs */
    int looks;                 /* checks since a connection has ended */
    char (*names)[64];         /* [process] address */
    int wake_fd;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the queues */
    atomic_uint changes;   /* a futex; it counts changes of the members below */
    atomic_int asked,
        answers; /* process 0: kind of the frames that it waits for; number received */
    atomic_bool *has_answered;  /* [process] */
    int64_t asked_ps;           /* time of the question about a clock */
    atomic_uint_fast64_t moved; /* bytes written and read */
    atomic_int step_under_way;  /* process > 0: 1 + the step that may run */
    atomic_bool is_quitting;    /* connections may end */
    int lost;          /* processes > 0: 1 + process whose connection closed, not reported yet */
    int64_t lost_ps;   /* time of that loss */
    atomic_int closed; /* process 0: 1 + process whose connection ended too early */
    int *posted;       /* [worker] number of sums posted on this process */
    int *parts;        /* [worker] number of its collectives whose parts have arrived */
    int *last_post;    /* [worker] the last instruction that it has reported */
    atomic_bool *has_ended;          /* [worker] its step has ended */
    bool *has_come;                  /* [message] its bytes have arrived */
    int64_t *sum_start_ps;           /* [collective] start at its owner */
    struct pp_tcp_clock *clocks;     /* [process] */
    struct pp_tcp_clock asked_clock; /* best comparison so far with the process that is asked */
    int64_t aligned_ps, aligning_ps; /* time of the last alignment; its duration */
    int last_at;
    bool was_meeting;
    int64_t last_passed;
    struct pp_tcp_asked asked_all;
    double alive_s, heard_s; /* times of the last ALIVE; of the last look for bytes */
    bool has_heard;          /* process > 0: a byte of process 0 has come to the thread */
    void *above;             /* state of a transport that is built on this one, NULL = none */
};
/* NULL before the transport has started. */
static inline struct pp_tcp *pp_tcp_of(const struct pp_machine *m)
{
    return m->transport_state;
}

static inline int pp_tcp_owner(const struct pp_tcp *t, int worker)
{
    return worker + t->first_owner;
}
static inline bool pp_tcp_is_here(const struct pp_tcp *t, int worker)
{
    return pp_tcp_owner(t, worker) == t->process;
}

/* ---- queue.c --------------------------------------------------------------------------------- */
/* Resets the state of a step: none of its frames has arrived. */
void pp_tcp_step_begin(struct pp_tcp *t);
bool pp_tcp_is_time(int64_t ps); /* two such times have an int64_t sum and difference */
struct pp_tcp_ends {             /* workers of a channel of a replica */
    int source, dest;
};
struct pp_tcp_ends pp_tcp_ends(const struct pp_machine *m, int channel);

/* Queues a frame. Takes `owned` (malloc), or refers to `payload` until it is written. */
void pp_tcp_send(struct pp_tcp *t, int process, const struct pp_frame *frame, const void *payload,
                 char *owned, struct pp_machine_message *message);
/* Queues a frame with an owned payload; without memory for it (NULL) the step fails. */
void pp_tcp_send_owned(struct pp_tcp *t, int process, const struct pp_frame *frame, char *owned);
/* Queue a frame with a copy of payload for one process, or for all others. */
void pp_tcp_send_copy(struct pp_tcp *t, int process, const struct pp_frame *frame,
                      const void *payload);
void pp_tcp_tell_all(struct pp_tcp *t, const struct pp_frame *frame, const void *payload);
void pp_tcp_wake(struct pp_tcp *t); /* wakes the thread */
/* Fails the step: other processes would wait in vain for a frame. */
void pp_tcp_fail_memory(struct pp_tcp *t);
struct pp_frame_out *pp_tcp_first(struct pp_tcp *t, struct pp_tcp_link *link); /* NULL: none */
void pp_tcp_drop_first(struct pp_tcp *t, struct pp_tcp_link *link);

/* ---- link.c: the thread ---------------------------------------------------------------------- */
enum pp_status pp_tcp_start_thread(struct pp_tcp *t, struct pp_error *err);
/* Ends the thread once all queued frames are written, or no peer reads them. */
void pp_tcp_stop_thread(struct pp_tcp *t);

/* Reads all that has arrived from a process; false = the connection is closed. */
bool pp_tcp_read(struct pp_tcp *t, int process);

/* ---- alive.c: signs of life -------------------------------------------------------------------
 */
static inline bool pp_tcp_is_open(const struct pp_tcp_link *link)
{
    return link->fd >= 0 && !link->is_closed;
}
/* Tells process 0, or process 0 all others, now and then that this process runs. */
void pp_tcp_tell_alive(struct pp_tcp *t);
void pp_tcp_count_silence(struct pp_tcp *t); /* of all other processes, since the last call */
/* True: fails the step, since process 0 has said nothing for options.timeout_s. */
bool pp_tcp_is_first_silent(struct pp_tcp *t);
/* Appends "its process 1234 at 10.0.0.2", with the number on its host. */
void pp_tcp_tell_process(const struct pp_tcp *t, int process, struct pp_error *err);
bool pp_tcp_tell_silent(const struct pp_worker *w, struct pp_error *err); /* see pp_transport */

/* ---- rules.c: which frames are accepted, before they are executed ---------------------------- */
bool pp_tcp_is_legal(const struct pp_tcp *t, int process, const struct pp_frame *frame);
bool pp_tcp_is_placed(const struct pp_tcp *t, int process,
                      const struct pp_frame *frame); /* legal, but for `bytes` */
/* Bytes that follow a placed frame. */
uint64_t pp_tcp_bytes(const struct pp_tcp *t, const struct pp_frame *frame);
void pp_tcp_refuse(struct pp_tcp *t, int process, const struct pp_frame *frame);

/* ---- frames.c: the thread executes frames that are legal by the rules ------------------------ */
/* False if these bytes have arrived before, or have no place yet. */
bool pp_tcp_is_new(struct pp_tcp *t, const struct pp_frame *frame);
/* Destination of the payload; NULL = new memory. */
char *pp_tcp_place(struct pp_tcp *t, const struct pp_frame *frame);
/* Executes a frame, which stays as it was. False: not possible now. */
bool pp_tcp_take(struct pp_tcp *t, const struct pp_arrival *arrival);

/* ---- sums.c: frames PART and SUM ------------------------------------------------------------- */
bool pp_tcp_is_sum(const struct pp_tcp *t, int process, const struct pp_frame *frame);
bool pp_tcp_take_sum(struct pp_tcp *t, const struct pp_arrival *a);
/* Bytes that the worker of a PART gives to its collective, or that of a SUM gets from it. */
uint64_t pp_tcp_sum_bytes(const struct pp_tcp *t, const struct pp_frame *frame);

/* ---- groups.c: frames GROUP; see pp_transport ------------------------------------------------ */
void pp_tcp_came(const struct pp_worker *w, const struct pp_worker *to, int meeting,
                 const void *piece, size_t bytes);
bool pp_tcp_is_group(const struct pp_tcp *t, int process, const struct pp_frame *frame);
uint64_t pp_tcp_group_bytes(const struct pp_tcp *t, const struct pp_frame *frame);
bool pp_tcp_take_group(struct pp_tcp *t, const struct pp_arrival *a);

/* ---- await.c: questions of process 0, and answers -----------------------------------------------
 */
enum { PP_TCP_ALL_NODES = -1 };
/* Expects answers of this kind, from every process or `process`. Call it before sending the
 * question. */
void pp_tcp_expect(struct pp_tcp *t, enum pp_frame_kind kind, int process);
/* Waits for answers. PP_EFAIL: a process has failed or is gone, or silence of options.timeout_s. */
enum pp_status pp_tcp_await(struct pp_tcp *t, int wanted, struct pp_error *err);
/* True if process 0 has asked for such a frame, and the process has not answered yet. */
bool pp_tcp_is_expected(struct pp_tcp *t, int process, enum pp_frame_kind kind);
/* True for the first answer of a process to the question of process 0. */
bool pp_tcp_is_answer(struct pp_tcp *t, const struct pp_arrival *a);
void pp_tcp_count_answer(struct pp_tcp *t);

/* ---- ask.c: questions for options.answer ----------------------------------------------------- */
enum pp_status pp_tcp_ask(struct pp_arena *arena, const struct pp_machine *m,
                          const struct pp_question *question, struct pp_answers *answers,
                          struct pp_error *err);
void pp_tcp_answer(struct pp_tcp *t); /* in the thread that serves: answers the open question */
bool pp_tcp_take_ask(struct pp_tcp *t, const struct pp_arrival *a);
bool pp_tcp_take_answer(struct pp_tcp *t, const struct pp_arrival *a);
enum { PP_TCP_ASK_BYTES = 1 << 24 }; /* of a question or an answer at most */

/* ---- clock.c --------------------------------------------------------------------------------- */
enum pp_status pp_tcp_align_clocks(struct pp_tcp *t, struct pp_error *err);
enum pp_status pp_tcp_align(struct pp_machine *m, bool is_last, struct pp_error *err);
bool pp_tcp_take_ping(struct pp_tcp *t, const struct pp_arrival *a);
bool pp_tcp_take_offset(struct pp_tcp *t, const struct pp_arrival *a);

/* ---- tell.c, summed in sums.c: see struct pp_remote and pp_transport ------------------------- */
enum pp_status pp_tcp_begin(struct pp_machine *m, struct pp_error *err);
void pp_tcp_posted(struct pp_worker *w, int instruction, const struct pp_header *header);
void pp_tcp_send_message(struct pp_machine *m, struct pp_machine_message *message);
void pp_tcp_summed(struct pp_worker *w, int instruction);
void pp_tcp_made(struct pp_worker *w, const struct pp_made *made, const char *report);
void pp_tcp_arrived(struct pp_worker *w, int barrier);
void pp_tcp_released(struct pp_machine *m, int barrier);
void pp_tcp_failed(struct pp_machine *m);
enum pp_status pp_tcp_fetch(const struct pp_machine *m, bool has_states, struct pp_error *err);

enum { PP_TCP_VERDICT = 3 }; /* loss, norm, scale */

/* ---- pack.c: a worker's payload of STEP, END, STATE, and ARRIVED at the last barrier --------- */
uint64_t pp_tcp_worker_bytes(const struct pp_tcp *t, const struct pp_frame *frame);
/* Sends a frame with its worker's payload. Without memory or data of the device the step fails. */
void pp_tcp_send_worker(struct pp_tcp *t, int process, struct pp_frame frame);
/* A STATE, with PP_TCP_HAS_STATES in `flags` or without states: its bytes, and their place here;
 * NULL: the step has failed. They are sent from the same place, where they stay until the next
 * step begins. */
enum { PP_TCP_HAS_STATES = 1 };
uint64_t pp_tcp_state_bytes(const struct pp_tcp *t, const struct pp_frame *frame);
char *pp_tcp_state_place(const struct pp_tcp *t, const struct pp_frame *frame);
void pp_tcp_send_state(struct pp_tcp *t, int process, struct pp_frame frame);
/* Unpack a payload of pp_tcp_worker_bytes(); false = a value is invalid. */
bool pp_tcp_take_samples(struct pp_worker *w, char *payload, uint64_t bytes);
bool pp_tcp_take_figures(struct pp_worker *w, bool has_gradients, char *payload);
bool pp_tcp_take_times(struct pp_worker *w, char *payload);

/* ---- join.c: connections of all processes
 * -------------------------------------------------------- */
/* Opens a listener on a host and port. */
enum pp_status pp_tcp_listen(const char *host, int port, int *listener, struct pp_error *err);
/* Connects all processes through host and port of process 0; closes `listener` unless it is -1.
 * Drops callers of other runs. PP_EFAIL: processes are missing, or run something else. */
enum pp_status pp_tcp_join(struct pp_tcp *t, const char *host, int port, int listener,
                           struct pp_error *err);
/* gather.c: gathers `bytes` of all processes in all[process][], before the thread starts. PP_EFAIL:
 * one is gone. */
enum pp_status pp_tcp_gather(struct pp_tcp *t, const void *own, size_t bytes, char *all,
                             struct pp_error *err);
