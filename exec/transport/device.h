/* exec/transport/device.h — where messages and sums are work of devices, which wait for each other:
 * what transports nccl and ipc share. */
#pragma once

#include "exec/machine/remote.h"

/* Unless all is well, the step fails. */
void pp_device_fail_if(struct pp_machine *m, enum pp_status status, struct pp_error *err);
/* Work of a message or sum, on the device once the list of its worker has come to `row`. */
void pp_device_issue(struct pp_machine *m, pp_stream_id stream, size_t row, pp_backend_work work,
                     void *argument, pp_event_id done);
/* Sums of the same processes share a stream. They come in one order in all processes, one after the
 * other. A stream that waits for others occupies a queue of the device, of which there are few. */
void pp_device_join_sums(struct pp_machine *m);
/* As pp_device_issue, of a sum that instruction i of the worker's list has posted. */
void pp_device_issue_sum(struct pp_worker *w, int i, pp_backend_work work, void *argument);
