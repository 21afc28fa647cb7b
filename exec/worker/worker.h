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

#include "exec/worker/state.h"

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
    return m->tp * m->ep;
}
static inline int pp_group_index(const struct pp_worker *w)
{
    return w->tp_index * w->machine->ep + w->replica % w->machine->ep;
}
static inline struct pp_worker *pp_group_peer(const struct pp_worker *w, int index)
{
    const struct pp_machine *m = w->machine;

    return pp_worker_at(m, w->rank, w->replica - w->replica % m->ep + index % m->ep, index / m->ep);
}
/* The group has devices of --tp in each of the replicas that share experts. An exchange is among
 * one of both: its member `k` of the worker's group, and the worker itself. */
static inline int pp_group_of_member(const struct pp_worker *w, const struct pp_group_exchange *e,
                                     int k)
{
    const int ep = w->machine->ep;

    return pp_group_exchange_among(e) == PP_AMONG_EP ? w->tp_index * ep + k
                                                     : k * ep + w->replica % ep;
}
static inline int pp_group_members(const struct pp_machine *m, const struct pp_group_exchange *e)
{
    return pp_group_exchange_among(e) == PP_AMONG_EP ? m->ep : m->tp;
}
/* Number of the collective of an instruction. */
static inline int pp_collective_of(const struct pp_worker *w, int instruction)
{
    const struct pp_program *p = w->machine->p;

    return w->tp_index * p->collective_count + p->arg[instruction];
}
/* Place of an instruction's chunk. */
static inline int pp_chunk_of(const struct pp_machine *m, int instruction)
{
    return m->p->pipe[instruction] * m->stages + m->p->stage[instruction] % m->stages;
}
/* Stage of the program, and that of a place, as the worker has it. */
static inline const struct pp_stage *pp_program_stage_at(const struct pp_worker *w, int stage)
{
    const struct pp_machine *m = w->machine;

    return m->options.stages[pp_group_index(w) * m->p->stages + stage];
}
static inline const struct pp_stage *pp_stage_at(const struct pp_worker *w, int place)
{
    return pp_program_stage_at(w, place % w->machine->stages);
}
/* Tokens of a sample in m->ids. */
static inline int pp_sample_tokens(const struct pp_machine *m)
{
    return m->options.generation ? m->options.generation->of.prompt_tokens
                                 : m->options.stages[0]->net->seq;
}
/* Sums of squares of a place's blocks, and their stage. Blocks of which all replicas have the same
 * count with the first of those that share experts. */
static inline int pp_squares_number(const struct pp_worker *w, int place, enum pp_state_part part)
{
    const struct pp_machine *m = w->machine;
    const int index = part == PP_OF_ALL ? w->tp_index * m->ep : pp_group_index(w);

    return index * m->stages + place % m->stages;
}
static inline double *pp_squares_at(const struct pp_worker *w, int place, enum pp_state_part part)
{
    return w->machine->squares + w->machine->squares_of[pp_squares_number(w, place, part)];
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
/* Buffer of an instruction's slot; of its whole parameters or gradients, NULL if it has none. */
void *pp_worker_buffer(const struct pp_worker *w, int instruction);
void *pp_worker_whole(const struct pp_worker *w, enum pp_whole_class what, int instruction);
/* Is true if the host updates on a stream of its own. Gradients then stay until the next step. */
static inline bool pp_update_is_early(const struct pp_machine *m)
{
    return pp_state_has_host_stream(&m->p->state.spec);
}
/* Is true if state on another tier streams through an update of the device. */
static inline bool pp_update_is_streamed(const struct pp_machine *m)
{
    const struct pp_state_spec *spec = &m->p->state.spec;

    return !spec->is_cpu_update && pp_state_is_away(spec, PP_STATE_OPTIMIZER);
}
/* Duration of a compute instruction on the virtual clock, as measured. Bytes inside of an update
 * last as long as the costs say, or as they took if the device is a GPU. */
int64_t pp_update_ps(const struct pp_worker *w, int instruction, int64_t measured_ps);
/* State of a chunk as U finds it: with the part of the share that U updates. */
static inline struct pp_state pp_chunk_updated(const struct pp_chunk *chunk)
{
    const struct pp_machine *m = chunk->worker->machine;
    const bool is_cpu_update = m->p->state.spec.is_cpu_update,
               has_rest = pp_update_is_streamed(m) || pp_update_is_early(m);
    struct pp_state state = has_rest        ? chunk->by_device
                            : is_cpu_update ? chunk->by_host
                                            : chunk->state;

    if (chunk->updated && (!is_cpu_update || pp_update_is_early(m)))
        state.weights = chunk->updated;
    return state;
}
/* Where a chunk's gradients are complete on the device: in its state. If they live on another tier,
 * it is the buffer that the last part leaves. */
void *pp_complete_gradients(const struct pp_chunk *chunk);
/* Bytes of the whole gradients of a stage. */
static inline size_t pp_whole_grads_bytes(const struct pp_machine *m, int stage)
{
    return (size_t)m->options.stages[stage]->elements *
           (m->options.recipe->is_exact ? sizeof(int64_t) : m->options.kernels->gradient_bytes);
}
/* Stream of a copy of a worker. */
static inline pp_stream_id pp_copy_stream_of(const struct pp_worker *w, enum pp_copy_stream stream)
{
    return w->machine->first_copies + w->index * PP_COPY_STREAMS + (int)stream;
}
/* Address of a place on a tier of the worker; NULL in a file. */
static inline char *pp_tier_at(const struct pp_worker *w, struct pp_tier_place place)
{
    return place.tier == PP_TIER_DEVICE ? w->block + place.offset
           : place.tier == PP_TIER_HOST ? w->host + place.offset
                                        : NULL;
}
/* Graph id of a worker's last BAR. */
int pp_bar_graph_id(const struct pp_worker *w);
/* Length of a worker's list; place of an instruction in it. */
int pp_list_length(const struct pp_worker *w);
int pp_place_of(const struct pp_worker *w, int instruction);
int pp_graph_id(const struct pp_worker *w, int i);

/* ---- update.c -------------------------------------------------------------------------------- */
/* Work of an U, on the chunk: what the device updates, or all of it. Work of a MOVE.update, on the
 * chunk: what the host updates. The host does its part in the order of the stream. No
 * thread waits for it. */
void pp_update_run(const struct pp_kernels *k, void *stream, void *chunk);
void pp_update_run_host(const struct pp_kernels *k, void *stream, void *chunk);
/* update_file.c: the host's part where some of its vectors are in the worker's file. */
void pp_update_run_file(const struct pp_kernels *k, const struct pp_chunk *chunk);

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
