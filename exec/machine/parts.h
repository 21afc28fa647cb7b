/* exec/machine/parts.h — private to exec/machine: functions that its files share. */
#pragma once

#include "exec/machine/serve.h"

void pp_bind_calls(struct pp_machine *m);
void pp_bind_messages(struct pp_machine *m);
void pp_messages_begin(struct pp_machine *m);

/* True if this process conducts the steps, and reads the states of all workers. */
static inline bool pp_is_conductor(const struct pp_machine *m)
{
    return m->options.meeting.count <= 1 || m->options.meeting.index == 0;
}
/* room.c: PP_EFAIL with what would help when the machine or the device has too little memory. */
enum pp_status pp_check_memory(const struct pp_machine *m, struct pp_error *err);
/* True if other processes have the other workers. */
static inline bool pp_is_alone(const struct pp_machine *m)
{
    return m->own_worker >= 0 && m->own_worker < m->worker_count;
}
/* room_help.c: appends legal options that lower what the fullest rank of this process needs. */
void pp_room_help(const struct pp_machine *m, double needed_bytes, int rank, struct pp_error *err);
/* The same; places the memory of all workers, or their addresses. */
enum pp_status pp_place_memory(struct pp_machine *m, struct pp_error *err);
/* Staging buffer for a part of a worker's block. */
struct pp_staging pp_block_staging(const struct pp_machine *m, struct pp_arena *arena,
                                   const struct pp_worker *w, size_t offset, size_t bytes);
/* States of a worker are not in one piece of the host's memory: its staging is a copy of them. */
bool pp_has_copies_of_states(const struct pp_worker *w);
/* Bytes of the state of a chunk. */
size_t pp_chunk_bytes(const struct pp_machine *m, int place);
/* Draws the initial weights of a worker of this process; of all others, before their first step. */
enum pp_status pp_states_draw(struct pp_worker *w, struct pp_error *err);
enum pp_status pp_states_draw_others(const struct pp_machine *m, struct pp_error *err);
/* PP_EFAIL: the host has no memory, or no addresses, for bytes of a worker. */
enum pp_status pp_states_refuse(const struct pp_machine *m, const char *what,
                                const struct pp_worker *w, size_t bytes, struct pp_error *err);
/* Gives back the memory of all copies of states. */
void pp_states_close(struct pp_machine *m);

void pp_probes_read(struct pp_machine *m);

enum pp_status pp_step_time_all(struct pp_machine *m, struct pp_error *err);

void pp_bind_sums(struct pp_machine *m);
void pp_sums_begin(struct pp_machine *m);
/* sum_copies.c: an empty sum of a kind of collective. `has_own`: copies have parts of vectors. */
struct pp_sum pp_sum_make(struct pp_machine *m, int kind, bool has_own, int *status);
/* Adds a copy's vector from element `offset` on: weights of a gather, else gradients. A share of
 * them is `own`; its buffer is found when a worker's post is bound. */
void pp_sum_add_copy(struct pp_sum *sum, const struct pp_chunk *chunk, enum pp_state_part part,
                     int64_t offset);
/* Adds the copies of a collective over one device of the tensor-parallel groups, with the share of
 * each if the copies share a state. */
void pp_sum_bind_copies(struct pp_machine *m, const struct pp_collective *c, int tp_index,
                        enum pp_state_part part, struct pp_sum *sum);
/* Sums the copies of a tied matrix end by end, if gradients on the device were summed so. */
void pp_sum_by_ends(struct pp_machine *m, struct pp_sum *sum);
bool pp_sum_is_of_sharers(const struct pp_machine *m, const struct pp_collective *c);
struct pp_chunk *pp_sum_chunk_at(const struct pp_machine *m, int replica, int tp_index, int pipe,
                                 int stage);
void pp_collective_post(struct pp_worker *w, int instruction);
bool pp_collective_wait(struct pp_worker *w, int target);
/* Starts the thread that runs a worker's sums, in the worker's process. */
void pp_reducer_start(struct pp_worker *w);
void pp_reducer_stop(struct pp_worker *w);

void pp_squares_run(const struct pp_kernels *k, void *stream, void *worker);
bool pp_barrier_meet(struct pp_worker *w, int instruction);
/* Conducts all barriers of a step, in order. Judges the step at the last one. */
void pp_barriers_conduct(struct pp_machine *m);

/* PP_EFAIL when the system gives no more threads or processes. */
enum pp_status pp_workers_start(struct pp_machine *m, struct pp_error *err);
void pp_workers_end(struct pp_machine *m);

/* A part of a call up to the next exchange of its group, and that exchange. */
struct pp_group_segment {
    struct pp_bound_call *call;
    int work, number;            /* number in the call of this work */
    int launch, exchange_launch; /* numbers on the worker's stream, in this step */
    int timings_end;             /* of the timings of the call */
    bool is_last;                /* of this work: no exchange follows */
    bool is_second;              /* it has no work: the second round of an exchange, see apart.c */
    struct pp_group_exchange exchange;
    const void **from; /* [members] */
    int members;
    struct pp_worker_exchange apart; /* the exchange, if other processes have the others */
};
/* segment.c: work of a segment, and of the exchange after it. */
void pp_segment_run(const struct pp_kernels *k, void *stream, void *segment);
void pp_segment_exchange(const struct pp_kernels *k, void *stream, void *segment);
/* Runs both without a group, to load their kernels. */
void pp_segments_try(struct pp_worker *w, int instruction);
/* Time of the exchange, by the costs; 0 = there is none. */
int64_t pp_segment_exchange_ps(const struct pp_machine *m, const struct pp_group_segment *segment);
/* End of the exchange after a segment that ended at from_ps. The one before it in the op has ended
 * at before_ps, which may be later. */
int64_t pp_segment_added_ps(const struct pp_machine *m, const struct pp_group_segment *segment,
                            int64_t from_ps, int64_t before_ps);
/* Graph of a segment of an instruction; captures those of all its segments. */
int pp_segment_graph(const struct pp_worker *w, int instruction,
                     const struct pp_group_segment *segment);
void pp_segments_capture(const struct pp_machine *m, const struct pp_worker *w, int instruction);

/* Reads what instruction i, or a fused pair, reads and writes, if CPU time is its duration. */
void pp_worker_warm(struct pp_worker *w, int instruction, bool is_fused);

/* Where a group meets, if work runs at once. */
struct pp_meeting_point {
    _Alignas(64) atomic_int here[2]; /* crews that have come to this meeting, or to the next */
    atomic_uint met;                 /* meetings so far */
    int64_t met_ps;                  /* when all had come to the last one */
    int most;                        /* in a step */
};
static inline int pp_group_of(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    return w->rank * m->replicas + w->replica - w->replica % m->ep;
}
/* group.c: number of events of all groups. segment.c: binds the segments of their calls. */
int pp_group_events(struct pp_machine *m);
void pp_bind_groups(struct pp_machine *m);
/* Runs compute instruction i of a worker with its group. Adds to its spent_ps and exchanged_ps, on
 * the virtual clock the same for all devices of a tensor-parallel group. False: a worker has
 * failed. */
bool pp_group_run(struct pp_worker *w, int instruction);
/* segment.c, on an asynchronous backend: duration of such an instruction. Time of its exchanges
 * among one pp_exchange_among, from the moment at which the last worker has come. */
int64_t pp_group_ps(const struct pp_worker *w, int instruction);
int64_t pp_group_exchanged_ps(const struct pp_worker *w, int instruction, int among);
/* Where processes have told the times of their own workers: those of a group become one. */
void pp_groups_join_times(struct pp_machine *m);

/* Members of a group that one thread runs, segment by segment: that of the member that comes last.
 * The others sleep until it has run the op. So the members wait for each other once an op and not
 * once an exchange, and keep their operands in the caches of one core. One member: every worker has
 * a core, or a device, or runs on the wall clock. */
struct pp_crew {
    _Alignas(64) atomic_int here; /* members that have come to their next op */
    struct pp_worker **members;   /* [size] neighbours in their group */
    int size;
};
/* meet.c: the fewest members in a crew, so that each crew has a core; else the whole group. */
int pp_crew_size(const struct pp_machine *m, int cores);
void pp_bind_crews(struct pp_machine *m);
/* True for the last member: it runs the op. Else the worker waits until that has been done; false:
 * a worker has failed. */
bool pp_crew_come(struct pp_worker *w);
bool pp_crew_wait(struct pp_worker *w, int instruction);
void pp_crew_go_on(const struct pp_worker *w, int instruction); /* lets the others go on */

/* meet.c: counts a worker that comes to a meeting. True for the last one: the others may go on.
 * They wait with the number of meetings that they saw before they came; false: a worker has failed.
 */
bool pp_group_come(struct pp_worker *w, int meeting);
bool pp_group_wait(struct pp_worker *w, unsigned met, int meeting);
pp_event_id pp_meeting_event(const struct pp_worker *w, int meeting); /* the first one */
/* With fewer cores than crews: waits for a core; lets another worker have it. */
void pp_core_take(struct pp_machine *m);
void pp_core_give(struct pp_machine *m);

/* apart.c: makes m->inbox, if groups need one, and begins a step; its bytes in a process. */
void pp_inbox_make(struct pp_machine *m);
void pp_inbox_begin(struct pp_machine *m);
size_t pp_inbox_bytes(const struct pp_machine *m);
/* Most rounds of an exchange of devices of --tp. */
int pp_inbox_rounds(const struct pp_machine *m);
/* Tells the others that the worker comes to a meeting, with its part of an exchange; NULL: none. */
void pp_inbox_tell(const struct pp_worker *w, int meeting, const struct pp_group_exchange *e);
/* After the meeting: finds the parts of the others. False: the step has failed. */
bool pp_inbox_read(const struct pp_worker *w, int meeting, const struct pp_group_exchange *e,
                   const void **from);

/* Finds instructions that do the same work. */
void pp_bind_same(struct pp_machine *m);
/* Captures work that is the same in all steps. Call it before a step, or at its end. */
void pp_machine_capture(struct pp_machine *m);

/* bind.c: whether ops of a kind call a stage, and how. */
bool pp_bind_kind(int op_kind, enum pp_stage_call_kind *kind);
