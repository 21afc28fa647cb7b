/* exec/machine/serve.h — what transports call: to run workers, and to report events of other
 * processes. */
#pragma once

#include "exec/machine/machine.h"
#include "exec/worker/worker.h"

/* ---- messages: messages.c -------------------------------------------------------------------- */
/* Posts the worker's side. The second post matches both sides and moves the bytes. False: the
 * headers differ, or the step was cancelled. */
bool pp_message_post(struct pp_worker *w, int instruction);
bool pp_message_wait(struct pp_worker *w, int target);
/* Posts the side of a worker in another process, with that process's header and time. */
bool pp_message_post_of(struct pp_worker *w, int instruction, const struct pp_header *header,
                        int64_t posted_ps);
/* Without shared memory: notes the match, or the last byte. The second call ends the message. */
void pp_message_landed(struct pp_machine *m, struct pp_machine_message *message);

/* ---- groups whose workers share no memory: apart.c ------------------------------------------- */
/* Is true if a worker of another process may come to a meeting of this process's worker now. */
bool pp_group_may_come(const struct pp_worker *w, int meeting);
/* Room for the piece that it then brings, and the most bytes of one. */
char *pp_group_room(const struct pp_worker *w, int meeting);
uint64_t pp_group_room_bytes(const struct pp_machine *m);
/* The worker has come to its next meeting, and its piece is in its room. */
void pp_group_came(struct pp_worker *w, int64_t came_ps, uint64_t bytes);

/* ---- memory of workers: place.c -------------------------------------------------------------- */
/* In a forked process: the worker runs here from now on, and has its initial weights. */
enum pp_status pp_worker_take(struct pp_worker *w, struct pp_error *err);

/* ---- states of workers on the host: states.c ------------------------------------------------- */
/* Hash of the initial weights that this process would draw for the worker. */
uint64_t pp_states_drawn(const struct pp_worker *w);
/* Gives the host memory for a worker's states, until the next step begins; for good, to receive
 * parts of sums from another process. PP_EFAIL: there is not enough. */
enum pp_status pp_states_open(struct pp_worker *w, struct pp_error *err);
enum pp_status pp_states_open_parts(struct pp_worker *w, struct pp_error *err);
/* Copies states of this process's workers from the device to the host, or back. */
enum pp_status pp_states_fetch(const struct pp_machine *m, struct pp_error *err);
/* The same within a step: of gradients alone, if updates are under way. */
enum pp_status pp_states_fetch_gradients(const struct pp_machine *m, struct pp_error *err);
enum pp_status pp_states_push(const struct pp_machine *m, struct pp_error *err);

/* ---- a step ---------------------------------------------------------------------------------- */
/* Runs all steps of a worker until the machine ends. */
void pp_worker_serve(struct pp_worker *w);
/* Runs one step of a worker: its list. */
void pp_worker_run(struct pp_worker *w);

/* Begins a step whose samples are in m->ids and m->targets. */
void pp_step_begin(struct pp_machine *m, int step, int64_t begin_ps);
/* With an asynchronous backend: reads the times of this process's workers after the step. */
void pp_step_time_here(struct pp_machine *m);
/* Runs each kind of op of this process, and the kernels of sums, before the first step, to load
 * them; states are unchanged. */
enum pp_status pp_machine_warm_up(struct pp_machine *m, struct pp_error *err);
