/* What is to be sent, in order, until the thread of link.c has written it. */
#include "exec/host/futex.h"
#include "exec/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pp_tcp_changed(struct pp_tcp *t)
{
    atomic_fetch_add(&t->changes, 1);
    pp_futex_wake(&t->changes);
}

void pp_tcp_wake(struct pp_tcp *t)
{
    const uint64_t one = 1;

    if (write(t->wake_fd, &one, sizeof(one)) < 0)
        return; /* full: it is awake */
}

void pp_tcp_fail_memory(struct pp_tcp *t)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL, "step %d: no memory for what is to be sent to other processes",
                 t->m->step + 1);
    pp_machine_fail(t->m, &err);
}

void pp_tcp_send(struct pp_tcp *t, int node, const struct pp_frame *frame, const void *payload,
                 char *owned, struct pp_machine_message *message)
{
    struct pp_frame_out *out = malloc(sizeof(*out));
    struct pp_tcp_link *link = &t->links[node];

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

void pp_tcp_send_owned(struct pp_tcp *t, int node, const struct pp_frame *frame, char *owned)
{
    if (owned)
        pp_tcp_send(t, node, frame, NULL, owned, NULL);
    else
        pp_tcp_fail_memory(t);
}

void pp_tcp_tell_all(struct pp_tcp *t, const struct pp_frame *frame, const void *payload)
{
    for (int node = 0; node < t->nodes; node++) {
        if (node == t->node || t->links[node].fd < 0)
            continue;
        char *copy = malloc(frame->bytes + 1);
        if (copy && frame->bytes > 0)
            memcpy(copy, payload, frame->bytes);
        pp_tcp_send_owned(t, node, frame, copy);
    }
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
