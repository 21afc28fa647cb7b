/* exec/transport/parts.h — private to exec/transport: what several transports run on. See struct
 * pp_transport and struct pp_remote for what functions of these names do. */
#pragma once

#include "exec/tcp/tcp.h"

/* ---- local.c ---- */
/* All workers as threads; where they share no memory, the first one. PP_EFAIL when the system gives
 * no more. */
enum pp_status pp_threads_start(struct pp_machine *m, struct pp_error *err);
void pp_threads_join(struct pp_machine *m);

/* ---- shm.c ---- */
/* One process for each worker. It calls `run`, which does not return. PP_EFAIL when the system
 * gives no more. */
enum pp_status pp_processes_start(struct pp_machine *m, void (*run)(struct pp_worker *),
                                  struct pp_error *err);
enum pp_status pp_processes_check(struct pp_machine *m, struct pp_error *err);
void pp_processes_kill(struct pp_machine *m);
void pp_processes_reap(struct pp_machine *m);

/* ---- tcp.c: processes over TCP, on which nccl and ipc are built ---- */
struct pp_tcp *pp_tcp_create(struct pp_machine *m);
enum pp_status pp_tcp_start(struct pp_machine *m, struct pp_error *err);
enum pp_status pp_tcp_check(struct pp_machine *m, struct pp_error *err);
void pp_tcp_kill(struct pp_machine *m);
/* Before stop, by the process that conducts: all others leave. */
enum pp_status pp_tcp_leave(struct pp_machine *m, struct pp_error *err);
void pp_tcp_stop(struct pp_machine *m);
bool pp_tcp_is_member(const struct pp_machine *m);
extern const struct pp_remote pp_tcp_remote;

/* ---- device.c: messages and sums as work of devices, which wait for each other ---- */
/* Unless all is well, the step fails. */
void pp_device_fail_if(struct pp_machine *m, enum pp_status status, struct pp_error *err);
/* Work of the message or sum that instruction i of the worker's list has posted, on the device once
 * the list has come to it. The argument of a message is the pp_machine_message. */
void pp_device_issue_message(struct pp_worker *w, int i, pp_backend_work work);
void pp_device_issue_sum(struct pp_worker *w, int i, pp_backend_work work, void *argument);
/* Sums of the same processes share a stream. They come in one order in all processes, one after the
 * other. A stream that waits for others occupies a queue of the device, of which there are few. */
void pp_device_join_sums(struct pp_machine *m);
