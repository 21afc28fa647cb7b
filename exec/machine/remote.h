/* exec/machine/remote.h — what a transport needs of a machine: its state, and the calls by which a
 * transport reports what other processes have done. A transport includes no other header of this
 * folder. */
#pragma once

#include "exec/machine/transport.h"
#include "exec/machine/worker.h"

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
