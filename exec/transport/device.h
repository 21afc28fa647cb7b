/* exec/transport/device.h — where messages and sums are work of devices, which wait for each other:
 * what transports nccl and ipc share. */
#pragma once

#include "exec/machine/remote.h"

/* Unless all is well, the step fails. */
void pp_device_fail_if(struct pp_machine *m, enum pp_status status, struct pp_error *err);
/* Work of the message or sum that instruction i of the worker's list has posted, on the device once
 * the list has come to it. The argument of a message is the pp_machine_message. */
void pp_device_issue_message(struct pp_worker *w, int i, pp_backend_work work);
void pp_device_issue_sum(struct pp_worker *w, int i, pp_backend_work work, void *argument);
/* Sums of the same processes share a stream. They come in one order in all processes, one after the
 * other. A stream that waits for others occupies a queue of the device, of which there are few. */
void pp_device_join_sums(struct pp_machine *m);
