/* exec/transport/parts.h — private to exec/transport: functions that several transports share. For
 * functions of the same names, see struct pp_transport and struct pp_remote. */
#pragma once

#include "exec/tcp/tcp.h"

/* Starts all workers as threads; without shared memory, the first. PP_EFAIL: no more threads. */
enum pp_status pp_threads_start(struct pp_machine *m, struct pp_error *err);
void pp_threads_join(struct pp_machine *m);

/* Forks a process per worker to call `run`, which does not return. PP_EFAIL: no more processes. */
enum pp_status pp_processes_start(struct pp_machine *m, void (*run)(struct pp_worker *),
                                  struct pp_error *err);
enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err);
void pp_processes_kill(struct pp_machine *m);
void pp_processes_reap(struct pp_machine *m);

struct pp_tcp *pp_tcp_create(struct pp_machine *m);
enum pp_status pp_tcp_start(struct pp_machine *m, struct pp_error *err);
enum pp_status pp_tcp_check(struct pp_machine *m, struct pp_error *err);
void pp_tcp_kill(struct pp_machine *m);
/* Makes all others leave; called by the process that conducts, before stop. */
enum pp_status pp_tcp_leave(struct pp_machine *m, struct pp_error *err);
void pp_tcp_stop(struct pp_machine *m);
extern const struct pp_remote pp_tcp_remote;

/* Fails the step unless `status` is PP_OK. */
void pp_device_fail_if(struct pp_machine *m, enum pp_status status, struct pp_error *err);
/* Issue the message or sum that the worker has posted by instruction i, to run once the device has
 * come to it. The argument of a message is its pp_machine_message. */
void pp_device_issue_message(struct pp_worker *w, int i, pp_backend_work work);
void pp_device_issue_sum(struct pp_worker *w, int i, pp_backend_work work);
/* Gives all sums of the same processes one stream; their order is the same in all processes. A
 * stream that waits for others occupies one of the device's few queues. */
void pp_device_join_sums(struct pp_machine *m);
