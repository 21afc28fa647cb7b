/* Helpers of all files of exec/tcp, and queues of frames for the thread of link.c to write. */
#include "exec/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- step, samples, ends of a message, legal times ------------------------------------------- */

void pp_tcp_step_begin(struct pp_tcp *t)
{
    const struct pp_machine *m = t->m;
    const size_t workers = sizeof(int) * (size_t)m->worker_count;

    memset(t->posted, 0, workers);
    memset(t->parts, 0, workers);
    memset(t->has_come, 0, sizeof(bool) * (size_t)(m->p->message_count * m->replicas * m->tp));
    for (int k = 0; k < m->worker_count; k++) {
        t->last_post[k] = -1;
        atomic_store(&t->has_ended[k], false);
    }
}

struct pp_tcp_ends pp_tcp_ends(const struct pp_machine *m, int channel)
{
    const int of_device = channel / m->replicas, replica = channel % m->replicas,
              tp_index = of_device / m->p->channel_count;
    const struct pp_channel *c = &m->p->channels[of_device % m->p->channel_count];

    return (struct pp_tcp_ends){pp_worker_at(m, c->source, replica, tp_index)->index,
                                pp_worker_at(m, c->dest, replica, tp_index)->index};
}

bool pp_tcp_is_time(int64_t ps)
{
    const int64_t most_ps = INT64_MAX - ((int64_t)1 << 60), least_ps = -((int64_t)1 << 60);

    return ps >= least_ps && ps <= most_ps;
}

/* ---- the queue ------------------------------------------------------------------------------- */

void pp_tcp_wake(struct pp_tcp *t)
{
    const uint64_t one = 1;

    if (write(t->wake_fd, &one, sizeof(one)) < 0)
        return; /* full: the thread is awake */
}

void pp_tcp_fail_memory(struct pp_tcp *t)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL, "step %d: no memory for what is to be sent to other processes",
                 t->m->step + 1);
    pp_machine_fail(t->m, &err);
}

void pp_tcp_send(struct pp_tcp *t, int process, const struct pp_frame *frame, const void *payload,
                 char *owned, struct pp_machine_message *message)
{
    struct pp_frame_out *out = malloc(sizeof(*out));
    struct pp_tcp_link *link = &t->links[process];

    if (!out) {
        free(owned);
        pp_tcp_fail_memory(t);
        return;
    }
    *out = (struct pp_frame_out){
        .frame = *frame, .payload = owned ? owned : payload, .owned = owned, .message = message};
    pthread_mutex_lock(&t->mutex);
    if (link->last)
        link->last->next = out;
    else
        link->first = out;
    link->last = out;
    pthread_mutex_unlock(&t->mutex);
    pp_tcp_wake(t);
}

void pp_tcp_send_owned(struct pp_tcp *t, int process, const struct pp_frame *frame, char *owned)
{
    if (owned)
        pp_tcp_send(t, process, frame, NULL, owned, NULL);
    else
        pp_tcp_fail_memory(t);
}

void pp_tcp_send_copy(struct pp_tcp *t, int process, const struct pp_frame *frame,
                      const void *payload)
{
    char *copy = malloc(frame->bytes + 1);

    if (copy && frame->bytes > 0)
        memcpy(copy, payload, frame->bytes);
    pp_tcp_send_owned(t, process, frame, copy);
}

void pp_tcp_tell_all(struct pp_tcp *t, const struct pp_frame *frame, const void *payload)
{
    for (int process = 0; process < t->processes; process++)
        if (process != t->process && t->links[process].fd >= 0)
            pp_tcp_send_copy(t, process, frame, payload);
}

void pp_tcp_drop_first(struct pp_tcp *t, struct pp_tcp_link *link)
{
    struct pp_frame_out *out = link->first;

    pthread_mutex_lock(&t->mutex);
    link->first = out->next;
    if (!link->first)
        link->last = NULL;
    pthread_mutex_unlock(&t->mutex);
    link->written = 0;
    free(out->owned);
    free(out);
}

struct pp_frame_out *pp_tcp_first(struct pp_tcp *t, struct pp_tcp_link *link)
{
    pthread_mutex_lock(&t->mutex);
    struct pp_frame_out *out = link->first;
    pthread_mutex_unlock(&t->mutex);
    return out;
}
