/* Issues messages and sums as work of devices. */
#define _GNU_SOURCE /* usleep */
#include "exec/transport/parts.h"

#include "core/clock.h"

#include <string.h>
#include <unistd.h>

enum { LOOK_US = 1000 };
static const double GONE_S = 1;

/* An operation may be refused because a process is gone, before its connection has ended. Waits for
 * the watchdog, which sees the connection and names that process. */
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

static void issue(struct pp_worker *w, int i, pp_stream_id stream, pp_backend_work work,
                  void *argument, pp_event_id done)
{
    const struct pp_machine *m = w->machine;

    if (!m->backend->wait(m->device, stream, pp_row(w, i)))
        return;
    m->backend->launch(m->device, stream, work, argument);
    m->backend->record(m->device, stream, done);
}

void pp_device_issue_message(struct pp_worker *w, int i, pp_backend_work work)
{
    struct pp_machine_message *message = pp_message_at(w, i);

    issue(w, i, w->machine->worker_count + message->channel, work, message, message->done);
}

static bool has_same_members(const struct pp_machine_collective *a,
                             const struct pp_machine_collective *b)
{
    return a->row_count == b->row_count &&
           memcmp(a->members, b->members, sizeof(*a->members) * (size_t)a->row_count) == 0;
}

void pp_device_join_sums(struct pp_machine *m)
{
    for (int32_t c = 0; c < m->collective_count; c++) {
        int32_t first = 0;

        while (!has_same_members(&m->collectives[first], &m->collectives[c]))
            first++;
        m->collectives[c].stream_of = first;
    }
}

void pp_device_issue_sum(struct pp_worker *w, int i, pp_backend_work work)
{
    struct pp_machine *m = w->machine;
    const int32_t of = pp_collective_of(w, i);
    struct pp_machine_collective *c = &m->collectives[of];

    c->launch = m->collectives[c->stream_of].launches++;
    for (int k = 0; k < c->row_count; k++)
        if (c->members[k] == w->index && c->before[k] >= 0 &&
            !m->backend->wait(m->device, pp_sum_stream(m, of), m->collectives[c->before[k]].done))
            return;
    issue(w, i, pp_sum_stream(m, of), work, c, c->done);
}
