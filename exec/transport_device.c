#define _GNU_SOURCE /* usleep */
#include "exec/transport_device.h"

#include "core/clock.h"

#include <unistd.h>

enum { LOOK_US = 1000 };
static const double GONE_S = 1;

/* An operation may be refused because a process is gone, before its connection has ended: whoever
 * looks after that names it. */
void pp_device_fail_if(struct pp_machine *m, enum pp_status status, struct pp_error *err)
{
    const double until_s = pp_clock_s() + GONE_S;

    if (status == PP_OK)
        return;
    while (!m->has_failed && pp_clock_s() < until_s)
        usleep(LOOK_US);
    pp_error_prefix(err, "step %d: ", m->step + 1);
    pp_machine_fail(m, err);
}

void pp_device_issue(struct pp_machine *m, pp_stream_id stream, size_t row, pp_work work,
                     void *argument, pp_event_id done)
{
    if (!m->backend->wait(m->device, stream, (pp_event_id)row))
        return;
    m->backend->launch(m->device, stream, work, argument);
    m->backend->record(m->device, stream, done);
}
