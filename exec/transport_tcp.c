/* Processes that share nothing, on one host or many. The machine of every process knows all workers
 * and runs its own; what the others do it is told. */
#define _GNU_SOURCE /* see core/process.h */
#include "exec/futex.h"
#include "exec/tcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PINGS = 32, LOOK_NS = 100 * 1000 * 1000, GRACE_LOOKS = 10 };

static const char HERE[] = "127.0.0.1";

static bool is_launched(const struct pp_machine *m)
{
    return m->options.meeting.count > 1;
}

/* ---- waiting --------------------------------------------------------------------------------*/

enum { EVERYBODY = -1 };

/* Before frames are sent that are answered by such: one by every node, or by one. */
static void expect(struct pp_tcp *t, enum pp_frame_kind kind, int node)
{
    atomic_store(&t->asked, PP_FRAME_STEP); /* which no answer is */
    for (int k = 0; k < t->nodes; k++)
        atomic_store(&t->has_answered[k], node != EVERYBODY && node != k);
    atomic_store(&t->answers, 0);
    atomic_store(&t->asked, kind);
}

/* False when somebody has failed or is gone. */
static bool wait_for_answers(struct pp_tcp *t, int wanted)
{
    for (;;) {
        const unsigned seen = atomic_load(&t->changes);

        if (atomic_load(&t->answers) >= wanted)
            return true;
        if (t->m->has_failed || t->m->are_gone || atomic_load(&t->closed))
            return false;
        pp_futex_wait(&t->changes, seen, LOOK_NS);
    }
}

/* The watchdog finds out who was the first: it may take a moment longer. */
static enum pp_status tell_why_not(struct pp_tcp *t, struct pp_error *err)
{
    struct pp_machine *m = t->m;

    for (int look = 0; !m->has_failed && look < GRACE_LOOKS; look++)
        usleep(LOOK_NS / 1000);
    pp_error_set(err, PP_EFAIL, "step %d: other processes do not answer", m->step + 1);
    if (!m->has_failed)
        pp_machine_fail(m, err);
    return m->has_failed ? pp_error_set(err, m->error.status, "%s", m->error.message) : err->status;
}

/* ---- what is told ---------------------------------------------------------------------------*/

/* Everybody begins with the weights that node 0 has, whoever made them. */
static void push_state(struct pp_tcp *t)
{
    for (int k = 0; k < t->m->worker_count; k++) {
        struct pp_frame frame = {.kind = PP_FRAME_STATE, .worker = k};

        if (pp_tcp_is_here(t, k))
            continue;
        char *copy = pp_tcp_pack_state(&t->m->workers[k], &frame.bytes);
        pp_tcp_send_owned(t, pp_tcp_owner(t, k), &frame, copy);
    }
}

size_t pp_tcp_token_bytes(const struct pp_machine *m)
{
    return sizeof(int32_t) * (size_t)pp_batch_samples(m->options.batch) *
           (size_t)m->options.stages[0]->net->seq;
}

static bool tell_step(struct pp_tcp *t)
{
    const struct pp_machine *m = t->m;
    const size_t bytes = pp_tcp_token_bytes(m);
    const struct pp_frame frame = {.kind = PP_FRAME_STEP,
                                   .id = m->step,
                                   .flags = (m->has_probes ? 1 : 0) | (m->hook ? 2 : 0),
                                   .ps = m->begin_ps,
                                   .bytes = 2 * bytes};
    char *payload = malloc(frame.bytes);

    t->wants_gradients = m->hook;
    if (!payload)
        return false;
    memcpy(payload, m->ids, bytes);
    memcpy(payload + bytes, m->targets, bytes);
    pp_tcp_tell_all(t, &frame, payload);
    free(payload);
    return true;
}

static enum pp_status tcp_begin(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_frame go = {.kind = PP_FRAME_GO, .id = m->step};
    struct pp_tcp *t = m->tcp;

    if (m->steps_done == 0)
        push_state(t);
    pp_tcp_step_begin(t);
    expect(t, PP_FRAME_READY, EVERYBODY);
    if (!tell_step(t))
        return pp_error_set(err, PP_EFAIL, "step %d: no memory for its samples", m->step + 1);
    if (!wait_for_answers(t, t->nodes - 1))
        return tell_why_not(t, err);
    pp_tcp_tell_all(t, &go, NULL);
    return PP_OK;
}

static void tcp_posted(struct pp_worker *w, int i, const struct pp_header *header)
{
    const struct pp_machine *m = w->machine;
    const int peer = pp_worker_at(m, m->p->peer[i], w->replica)->index;
    const struct pp_frame frame = {.kind = PP_FRAME_POST,
                                   .worker = w->index,
                                   .id = i,
                                   .ps = m->posted_ps[pp_cell(m, pp_row(m, i, w->replica))],
                                   .header = *header};

    pp_tcp_send(m->tcp, pp_tcp_owner(m->tcp, peer), &frame, NULL, NULL, NULL);
}

struct pp_tcp_ends pp_tcp_ends(const struct pp_machine *m, const struct pp_machine_message *message)
{
    const int send = message->send.row / m->replicas, recv = message->recv.row / m->replicas,
              replica = message->send.row % m->replicas;

    return (struct pp_tcp_ends){pp_worker_at(m, m->p->peer[recv], replica)->index,
                                pp_worker_at(m, m->p->peer[send], replica)->index};
}

static void tcp_send(struct pp_machine *m, struct pp_machine_message *message)
{
    const struct pp_tcp_ends ends = pp_tcp_ends(m, message);
    const struct pp_frame frame = {.kind = PP_FRAME_DATA,
                                   .worker = ends.source,
                                   .id = (int32_t)(message - m->messages),
                                   .bytes = message->bytes};

    if (pp_tcp_is_here(m->tcp, ends.source))
        pp_tcp_send(m->tcp, pp_tcp_owner(m->tcp, ends.dest), &frame, message->send.buffer, NULL,
                    message);
}

static void tcp_summed(struct pp_worker *w)
{
    pp_tcp_sum_next(w->machine->tcp, w);
}

static void tcp_arrived(struct pp_worker *w, int barrier)
{
    const struct pp_machine *m = w->machine;
    struct pp_frame frame = {.kind = PP_FRAME_ARRIVED,
                             .worker = w->index,
                             .id = barrier,
                             .ps = m->arrived_ps[barrier * m->worker_count + w->index]};

    if (m->tcp->node == 0)
        return;
    if (barrier < m->barrier_count - 1) {
        pp_tcp_send(m->tcp, 0, &frame, NULL, NULL, NULL);
        return;
    }
    char *copy = pp_tcp_pack_figures(w, m->tcp->wants_gradients, &frame.bytes);
    pp_tcp_send_owned(m->tcp, 0, &frame, copy);
}

static void tcp_released(struct pp_machine *m, int barrier)
{
    const double verdict[PP_TCP_VERDICT] = {m->loss, m->grad_norm, m->grad_scale};
    const bool is_last = barrier == m->barrier_count - 1;
    const struct pp_frame frame = {.kind = PP_FRAME_RELEASE,
                                   .id = barrier,
                                   .ps = m->released_ps[barrier],
                                   .bytes = is_last ? sizeof(verdict) : 0};

    pp_tcp_tell_all(m->tcp, &frame, verdict);
}

static void tcp_failed(struct pp_machine *m)
{
    const char *text = m->error.message;
    struct pp_tcp *t = m->tcp;
    const struct pp_frame frame = {.kind = PP_FRAME_FAIL, .bytes = strlen(text) + 1};

    if (!t)
        return;
    if (t->node == 0)
        pp_tcp_tell_all(t, &frame, text);
    else
        pp_tcp_send_owned(t, 0, &frame, strdup(text));
}

static enum pp_status tcp_fetch(const struct pp_machine *m, struct pp_error *err)
{
    const struct pp_frame frame = {.kind = PP_FRAME_FETCH};
    struct pp_tcp *t = m->tcp;

    if (t->node != 0 || m->steps_done == 0)
        return PP_OK;
    expect(t, PP_FRAME_STATE, EVERYBODY);
    pp_tcp_tell_all(t, &frame, NULL);
    return wait_for_answers(t, t->nodes - 1) ? PP_OK : tell_why_not(t, err);
}

/* ---- clocks ---------------------------------------------------------------------------------*/

/* Of several answers the one that came soonest says most (Cristian 1989). */
static bool ask_clock(struct pp_tcp *t, int node)
{
    t->error_ps = INT64_MAX;
    for (int k = 0; k < PINGS; k++) {
        const struct pp_frame ping = {.kind = PP_FRAME_PING, .id = k};

        t->asked_ps = pp_wall_ps();
        expect(t, PP_FRAME_PING, node);
        pp_tcp_send(t, node, &ping, NULL, NULL, NULL);
        if (!wait_for_answers(t, 1))
            return false;
    }
    return true;
}

static bool align_clocks(struct pp_tcp *t)
{
    for (int node = 1; node < t->nodes; node++) {
        struct pp_frame offset = {.kind = PP_FRAME_OFFSET};

        if (!ask_clock(t, node))
            return false;
        offset.ps = t->offset_ps;
        if (t->error_ps > t->m->clock_error_ps)
            t->m->clock_error_ps = t->error_ps;
        pp_tcp_send(t, node, &offset, NULL, NULL, NULL);
    }
    return true;
}

/* ---- members --------------------------------------------------------------------------------*/

static void run_step(struct pp_tcp *t)
{
    struct pp_worker *w = &t->m->workers[t->node - t->first_owner];
    struct pp_frame frame = {.kind = PP_FRAME_END, .worker = w->index};

    pp_worker_run(w);
    char *copy = pp_tcp_pack_times(w, &frame.bytes);
    pp_tcp_send_owned(t, 0, &frame, copy);
}

static enum pp_status gone(const struct pp_tcp *t, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "process 0 at %s is gone: its connection was closed",
                        t->names[0]);
}

static enum pp_status tcp_serve(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = m->tcp;

    while (!atomic_load(&t->is_quitting) && !atomic_load(&t->closed)) {
        const unsigned seen = atomic_load(&t->changes);

        if (atomic_exchange(&t->step_under_way, 0) != 0)
            run_step(t);
        else
            pp_futex_wait(&t->changes, seen, LOOK_NS);
    }
    if (m->has_failed)
        return pp_error_set(err, PP_EFAIL, "%s", m->error.message);
    return atomic_load(&t->is_quitting) ? PP_OK : gone(t, err);
}

static void tcp_drop(struct pp_machine *m)
{
    struct pp_tcp *t = m->tcp;

    for (int node = 1; node < t->nodes; node++)
        if (t->links[node].fd >= 0)
            shutdown(t->links[node].fd, SHUT_RDWR);
}

static bool tcp_is_member(const struct pp_machine *m)
{
    return m->tcp->node > 0;
}

/* ---- beginning and end ----------------------------------------------------------------------*/

struct pp_tcp *pp_tcp_create(struct pp_machine *m)
{
    struct pp_tcp *t = PP_NEW(m->arena, struct pp_tcp);
    const struct pp_meeting *meeting = &m->options.meeting;

    t->m = m;
    t->first_owner = is_launched(m) ? 0 : 1;
    t->nodes = m->worker_count + t->first_owner;
    t->node = is_launched(m) ? meeting->index : 0;
    t->token = meeting->token;
    t->links = PP_ARRAY(m->arena, struct pp_link, t->nodes);
    t->names = pp_arena_alloc(m->arena, sizeof(*t->names) * (size_t)t->nodes);
    t->posted = PP_ARRAY(m->arena, int, m->worker_count);
    t->parts = PP_ARRAY(m->arena, int, m->worker_count);
    t->last_post = PP_ARRAY(m->arena, int, m->worker_count);
    t->has_ended = PP_ARRAY(m->arena, bool, m->worker_count);
    t->has_come = PP_ARRAY(m->arena, bool, (size_t)m->p->message_count * (size_t)m->replicas + 1);
    t->has_answered = PP_ARRAY(m->arena, atomic_bool, t->nodes);
    t->sum_start_ps = PP_ARRAY(m->arena, int64_t, m->p->collective_count + 1);
    for (int node = 0; node < t->nodes; node++)
        t->links[node].fd = -1;
    pthread_mutex_init(&t->mutex, NULL);
    return t;
}

static enum pp_status meet(struct pp_tcp *t, const char *host, int port, int listener,
                           struct pp_error *err)
{
    PP_TRY(pp_tcp_join(t, host, port, listener, err));
    PP_TRY(pp_tcp_start_thread(t, err));
    t->is_running = true;
    if (t->node > 0 || align_clocks(t))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "a process has gone before the first step");
}

static void child_main(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;
    struct pp_error err = {0};
    struct pp_tcp *t = m->tcp;

    close(t->listener);
    t->node = pp_tcp_owner(t, w->index);
    enum pp_status status = meet(t, HERE, t->port, -1, &err);
    if (status == PP_OK)
        status = tcp_serve(m, &err);
    if (t->is_running)
        pp_tcp_stop_thread(t);
    _exit(status);
}

/* Its connection ends a moment before the kernel tells of a process. */
static enum pp_status name_the_dead(struct pp_tcp *t, enum pp_status status, struct pp_error *err)
{
    for (int look = 0; look < GRACE_LOOKS; look++) {
        if (pp_processes_check(t->m, err) != PP_OK)
            return PP_EFAIL;
        usleep(LOOK_NS / 1000 / GRACE_LOOKS);
    }
    return status;
}

static enum pp_status fork_all(struct pp_tcp *t, struct pp_error *err)
{
    if (getrandom(&t->token, sizeof(t->token), 0) != sizeof(t->token))
        return pp_error_set(err, PP_EFAIL, "no random number for this run: %s", strerror(errno));
    PP_TRY(pp_tcp_listen(HERE, 0, &t->listener, &t->port, err));
    PP_TRY(pp_processes_start(t->m, child_main, err));
    const enum pp_status status = meet(t, HERE, t->port, t->listener, err);

    return status == PP_OK ? PP_OK : name_the_dead(t, status, err);
}

static enum pp_status launch_all(struct pp_tcp *t, struct pp_error *err)
{
    const struct pp_meeting *meeting = &t->m->options.meeting;

    if (meeting->count != t->m->worker_count)
        return pp_error_set(err, PP_EINVAL,
                            "the launcher has started %d processes (%s), the layout has %d ranks: "
                            "leave out --np, or start as many",
                            meeting->count, meeting->source, t->m->worker_count);
    PP_TRY(meet(t, meeting->host, meeting->port, -1, err));
    return t->node == 0 ? pp_threads_start(t->m, 1, err) : PP_OK;
}

static enum pp_status tcp_start(struct pp_machine *m, struct pp_error *err)
{
    m->tcp = pp_tcp_create(m);
    return is_launched(m) ? launch_all(m->tcp, err) : fork_all(m->tcp, err);
}

/* A process that is gone is seen by the kernel first, by its connection next. */
static enum pp_status tcp_check(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = m->tcp;
    const int closed = atomic_load(&t->closed);

    if (!is_launched(m))
        PP_TRY(pp_processes_check(m, err));
    if (!closed || ++t->looks < GRACE_LOOKS)
        return PP_OK;
    if (t->node > 0)
        return gone(t, err);
    pp_error_set(err, PP_EFAIL, "step %d: ", m->step + 1);
    const struct pp_worker *dead = &m->workers[closed - 1 - t->first_owner];
    pp_stall_place(dead, err);
    pp_error_append(err, " is gone: the connection to its process at %s was closed",
                    t->names[closed - 1]);
    pp_stall_waiters(m, dead, err);
    if (!is_launched(m))
        pp_processes_kill(m);
    return PP_EFAIL;
}

static void tcp_kill(struct pp_machine *m)
{
    if (!is_launched(m))
        pp_processes_kill(m);
}

static void tcp_stop(struct pp_machine *m)
{
    const struct pp_frame quit = {.kind = PP_FRAME_QUIT};
    struct pp_tcp *t = m->tcp;

    if (!t)
        return;
    if (t->is_running && t->node == 0)
        pp_tcp_tell_all(t, &quit, NULL);
    if (t->is_running)
        pp_tcp_stop_thread(t);
    else
        for (int node = 0; node < t->nodes; node++)
            if (t->links[node].fd >= 0)
                close(t->links[node].fd);
    if (is_launched(m))
        pp_threads_join(m);
    else if (!t->is_running)
        pp_processes_kill(m);
    else
        pp_processes_reap(m);
    pthread_mutex_destroy(&t->mutex);
}

static const struct pp_remote remote = {
    .begin = tcp_begin,
    .posted = tcp_posted,
    .summed = tcp_summed,
    .arrived = tcp_arrived,
    .send = tcp_send,
    .released = tcp_released,
    .failed = tcp_failed,
    .fetch = tcp_fetch,
    .drop = tcp_drop,
    .is_member = tcp_is_member,
    .serve = tcp_serve,
};

const struct pp_transport pp_transport_tcp = {
    .name = "tcp",
    .summary = "processes on any hosts, over TCP",
    .worker = "process",
    .workers = "processes",
    .remote = &remote,
    .start = tcp_start,
    .check = tcp_check,
    .kill = tcp_kill,
    .stop = tcp_stop,
};
