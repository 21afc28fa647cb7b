/* exec/transport/processes.h — workers as threads or as forked processes of this one. */
#pragma once

#include "exec/machine/remote.h"

/* ---- local.c: the first `count` workers as threads; PP_EFAIL when the system gives no more ----
 */
enum pp_status pp_threads_start(struct pp_machine *m, int count, struct pp_error *err);
void pp_threads_join(struct pp_machine *m);

/* ---- processes.c: see struct pp_transport ---- */
/* One process for each worker. It calls `run`, which does not return. PP_EFAIL when the system
 * gives no more. */
enum pp_status pp_processes_start(struct pp_machine *m, void (*run)(struct pp_worker *),
                                  struct pp_error *err);
enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err);
void pp_processes_kill(struct pp_machine *m);
void pp_processes_reap(struct pp_machine *m);
