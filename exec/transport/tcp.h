/* exec/transport/tcp.h — processes over TCP, as transports use them that are built on top: nccl and
 * ipc. See struct pp_transport and struct pp_remote for what each function does. */
#pragma once

#include "exec/tcp/tcp.h"

struct pp_tcp *pp_tcp_create(struct pp_machine *m);
enum pp_status pp_tcp_start(struct pp_machine *m, struct pp_error *err);
enum pp_status pp_tcp_check(struct pp_machine *m, struct pp_error *err);
void pp_tcp_kill(struct pp_machine *m);
/* Before stop, by the process that conducts: all others leave. */
enum pp_status pp_tcp_leave(struct pp_machine *m, struct pp_error *err);
void pp_tcp_stop(struct pp_machine *m);
bool pp_tcp_is_member(const struct pp_machine *m);
extern const struct pp_remote pp_tcp_remote;
