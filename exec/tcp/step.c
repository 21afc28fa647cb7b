/* Helpers of all files of exec/tcp; this one calls none of them. The state at the beginning of a
 * step, the size of its samples, the ends of a message, and legal times. */
#include "exec/tcp/tcp.h"

#include <string.h>

void pp_tcp_step_begin(struct pp_tcp *t)
{
    const struct pp_machine *m = t->m;
    const size_t workers = sizeof(int) * (size_t)m->worker_count;

    memset(t->posted, 0, workers);
    memset(t->parts, 0, workers);
    memset(t->has_ended, 0, sizeof(bool) * (size_t)m->worker_count);
    memset(t->has_come, 0, sizeof(bool) * (size_t)(m->p->message_count * m->replicas));
    for (int k = 0; k < m->worker_count; k++)
        t->last_post[k] = -1;
}

size_t pp_tcp_token_bytes(const struct pp_machine *m)
{
    return sizeof(int32_t) * (size_t)pp_batch_samples(m->options.batch) *
           (size_t)m->options.stages[0]->net->seq;
}

struct pp_tcp_ends pp_tcp_ends(const struct pp_machine *m, const struct pp_machine_message *message)
{
    const int send = message->send.row / m->replicas, recv = message->recv.row / m->replicas,
              replica = message->send.row % m->replicas;

    return (struct pp_tcp_ends){pp_worker_at(m, m->p->peer[recv], replica)->index,
                                pp_worker_at(m, m->p->peer[send], replica)->index};
}

bool pp_tcp_is_time(int64_t ps)
{
    const int64_t most_ps = INT64_MAX - ((int64_t)1 << 60), least_ps = -((int64_t)1 << 60);

    return ps >= least_ps && ps <= most_ps;
}
