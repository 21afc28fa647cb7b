/* Processes that share nothing, on one host or many. The machine of every process has all workers
 * and runs its own; frames report what the others do. */
#define _GNU_SOURCE /* see core/process/process.h */
#include "exec/host/futex.h"
#include "exec/rendezvous/meeting.h"
#include "exec/rendezvous/sockets.h"
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOOK_NS = 100 * 1000 * 1000, GRACE_LOOKS = 10 };

static const char HERE[] = "127.0.0.1";

static bool is_launched(const struct pp_machine *m)
{
    return m->options.meeting.count > 1;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Finishes issued work, whose times are known then. */
static void end_work(struct pp_machine *m)
{
    struct pp_error err = {0};

    if (m->backend->is_immediate || m->has_failed)
        return;
    if (m->backend->finish(m->device, &err) == PP_OK) {
        pp_step_time_here(m);
        return;
    }
    pp_error_prefix(&err, "step %d: ", m->step + 1);
    pp_machine_fail(m, &err);
}

static void run_step(struct pp_tcp *t)
{
    struct pp_worker *w = &t->m->workers[t->process - t->first_owner];

    pp_worker_run(w);
    end_work(t->m);
    pp_tcp_send_worker(t, 0, (struct pp_frame){.kind = PP_FRAME_END, .worker = w->index});
}

static enum pp_status gone(const struct pp_tcp *t, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "process 0 at %s is gone: its connection was closed",
                        t->names[0]);
}

static enum pp_status serve(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = pp_tcp_of(m);

    while (!atomic_load(&t->is_quitting) && !atomic_load(&t->closed)) {
        const unsigned seen = atomic_load(&t->changes);

        if (atomic_exchange(&t->step_under_way, 0) != 0)
            run_step(t);
        else if (atomic_load(&t->asked_all.is_open))
            pp_tcp_answer(t);
        else
            pp_futex_wait(&t->changes, seen, LOOK_NS);
    }
    if (m->has_failed)
        return pp_error_set(err, PP_EFAIL, "%s", m->error.message);
    return atomic_load(&t->is_quitting) ? PP_OK : gone(t, err);
}

static void drop(struct pp_machine *m)
{
    struct pp_tcp *t = pp_tcp_of(m);

    for (int process = 1; process < t->processes; process++)
        if (t->links[process].fd >= 0)
            shutdown(t->links[process].fd, SHUT_RDWR);
}

static int process_of(const struct pp_machine *m)
{
    return pp_tcp_of(m)->process;
}

static bool is_gone(const struct pp_machine *m, int process)
{
    return !pp_tcp_is_open(&pp_tcp_of(m)->links[process]);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

struct pp_tcp *pp_tcp_create(struct pp_machine *m)
{
    struct pp_tcp *t = PP_NEW(m->arena, struct pp_tcp);
    const struct pp_meeting *meeting = &m->options.meeting;

    t->m = m;
    t->first_owner = is_launched(m) ? 0 : 1;
    t->processes = m->worker_count + t->first_owner;
    t->process = is_launched(m) ? meeting->index : 0;
    t->token = meeting->token;
    t->links = PP_ARRAY(m->arena, struct pp_tcp_link, t->processes);
    t->names = pp_arena_alloc(m->arena, sizeof(*t->names) * (size_t)t->processes);
    t->posted = PP_ARRAY(m->arena, int, m->worker_count);
    t->parts = PP_ARRAY(m->arena, int, m->worker_count);
    t->last_post = PP_ARRAY(m->arena, int, m->worker_count);
    t->has_ended = PP_ARRAY(m->arena, atomic_bool, m->worker_count);
    t->has_come = PP_ARRAY(m->arena, bool, m->p->message_count * m->replicas * m->tp + 1);
    t->has_answered = PP_ARRAY(m->arena, atomic_bool, t->processes);
    t->clocks = PP_ARRAY(m->arena, struct pp_tcp_clock, t->processes);
    t->sum_start_ps = PP_ARRAY(m->arena, int64_t, m->collective_count + 1);
    for (int process = 0; process < t->processes; process++)
        t->links[process].fd = -1;
    pthread_mutex_init(&t->mutex, NULL);
    return t;
}

static enum pp_status meet(struct pp_tcp *t, const char *host, int port, int listener,
                           struct pp_error *err)
{
    PP_TRY(pp_tcp_join(t, host, port, listener, err));
    if (t->m->transport->met)
        PP_TRY(t->m->transport->met(t->m, err));
    PP_TRY(pp_tcp_start_thread(t, err));
    t->is_running = true;
    return t->process > 0 ? PP_OK : pp_tcp_align_clocks(t, err);
}

static void child_main(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;
    struct pp_error err = {0};
    struct pp_tcp *t = pp_tcp_of(m);

    close(t->listener);
    t->process = pp_tcp_owner(t, w->index);
    enum pp_status status = pp_worker_take(w, &err);
    if (status == PP_OK)
        status = meet(t, HERE, t->port, -1, &err);
    if (status == PP_OK)
        status = serve(m, &err);
    if (t->is_running)
        pp_tcp_stop_thread(t);
    _exit(status);
}

/* PP_EFAIL names a process that this one has started and that has ended. After an error others that
 * it has started by its command line end as well, but none by a signal. */
static enum pp_status find_dead(struct pp_machine *m, bool is_after_error, struct pp_error *err)
{
    const struct pp_meeting *meeting = &m->options.meeting;
    siginfo_t info;

    if (!is_launched(m))
        return pp_processes_check(m, err);
    const int ended = meeting->look ? meeting->look(meeting->closure, &info) : 0;
    return ended && !(is_after_error && info.si_code == CLD_EXITED)
               ? pp_stall_ended(&m->workers[ended - pp_tcp_of(m)->first_owner], &info, err)
               : PP_OK;
}

/* Waits for the kernel to report the dead process, whose connection ends a moment before. */
static enum pp_status name_the_dead(struct pp_tcp *t, enum pp_status status, struct pp_error *err)
{
    const struct pp_error first = *err;

    for (int look = 0; look < GRACE_LOOKS; look++) {
        if (find_dead(t->m, true, err) != PP_OK)
            return strcmp(err->message, first.message) == 0
                       ? PP_EFAIL
                       : pp_error_append(err, "\n  %s", first.message);
        usleep(LOOK_NS / 1000 / GRACE_LOOKS);
    }
    return status;
}

static enum pp_status fork_all(struct pp_tcp *t, struct pp_error *err)
{
    if (getrandom(&t->token, sizeof(t->token), 0) != sizeof(t->token))
        return pp_error_set(err, PP_EFAIL, "no random number for this run: %s", strerror(errno));
    PP_TRY(pp_tcp_listen(HERE, 0, &t->listener, err));
    t->port = pp_socket_port(t->listener);
    PP_TRY(pp_processes_start(t->m, child_main, err));
    const enum pp_status status = meet(t, HERE, t->port, t->listener, err);

    return status == PP_OK ? PP_OK : name_the_dead(t, status, err);
}

/* Duplicates the listener, which the door closes: another program of the run may meet there. */
static int listener_of(const struct pp_meeting *meeting)
{
    return meeting->is_listening ? fcntl(meeting->listener, F_DUPFD_CLOEXEC, 0) : -1;
}

static enum pp_status launch_all(struct pp_tcp *t, struct pp_error *err)
{
    const struct pp_meeting *meeting = &t->m->options.meeting;

    if (meeting->count != t->m->worker_count)
        return pp_error_set(err, PP_EINVAL,
                            "the launcher has started %d processes (%s), the layout has %d ranks: "
                            "leave out --np, or start as many",
                            meeting->count, meeting->source, t->m->worker_count);
    const enum pp_status status = meet(t, meeting->host, meeting->port, listener_of(meeting), err);
    if (status != PP_OK)
        return t->process == 0 ? name_the_dead(t, status, err) : status;
    pp_rendezvous_done(meeting);
    return t->process == 0 ? pp_threads_start(t->m, err) : PP_OK;
}

enum pp_status pp_tcp_start(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = pp_tcp_create(m);

    m->transport_state = t;
    return is_launched(m) ? launch_all(t, err) : fork_all(t, err);
}

/* A dead process's connection ends a moment before the kernel reports its end. */
enum pp_status pp_tcp_check(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = pp_tcp_of(m);
    const int closed = atomic_load(&t->closed);

    if (closed || !is_launched(m))
        PP_TRY(find_dead(m, false, err));
    if (!closed || ++t->looks < GRACE_LOOKS)
        return PP_OK;
    if (t->process > 0)
        return gone(t, err);
    pp_error_set(err, PP_EFAIL, "step %d: ", m->step + 1);
    const struct pp_worker *dead = &m->workers[closed - 1 - t->first_owner];
    pp_stall_instruction(dead, err);
    pp_error_append(err, " is gone: the connection to ");
    pp_tcp_tell_process(t, closed - 1, err);
    pp_error_append(err, " was closed");
    pp_stall_waiters(m, dead, err);
    if (!is_launched(m))
        pp_processes_kill(m);
    return PP_EFAIL;
}

void pp_tcp_kill(struct pp_machine *m)
{
    if (!is_launched(m))
        pp_processes_kill(m);
}

enum pp_status pp_tcp_leave(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_frame leave = {.kind = PP_FRAME_LEAVE};
    struct pp_tcp *t = pp_tcp_of(m);

    if (!t || t->process != 0)
        return PP_OK;
    if (!t->is_running)
        return pp_error_set(err, PP_EFAIL, "not all processes have begun");
    pp_tcp_expect(t, PP_FRAME_LEFT, PP_TCP_ALL_NODES);
    pp_tcp_tell_all(t, &leave, NULL);
    return pp_tcp_await(t, t->processes - 1, err);
}

void pp_tcp_stop(struct pp_machine *m)
{
    const struct pp_frame quit = {.kind = PP_FRAME_QUIT};
    struct pp_tcp *t = pp_tcp_of(m);

    if (!t)
        return;
    if (t->is_running && t->process == 0)
        pp_tcp_tell_all(t, &quit, NULL);
    if (t->is_running)
        pp_tcp_stop_thread(t);
    else
        for (int process = 0; process < t->processes; process++)
            if (t->links[process].fd >= 0)
                close(t->links[process].fd);
    if (is_launched(m))
        pp_threads_join(m);
    else if (!t->is_running)
        pp_processes_kill(m);
    else
        pp_processes_reap(m);
    free(t->asked_all.bytes);
    pthread_mutex_destroy(&t->mutex);
}

const struct pp_remote pp_tcp_remote = {
    .begin = pp_tcp_begin,
    .arrived = pp_tcp_arrived,
    .made = pp_tcp_made,
    .released = pp_tcp_released,
    .fetch = pp_tcp_fetch,
    .ask = pp_tcp_ask,
    .align = pp_tcp_align,
    .drop = drop,
    .process = process_of,
    .is_gone = is_gone,
    .serve = serve,
};

const struct pp_transport pp_transport_tcp = {
    .name = "tcp",
    .remote = &pp_tcp_remote,
    .posted = pp_tcp_posted,
    .summed = pp_tcp_summed,
    .came = pp_tcp_came,
    .send = pp_tcp_send_message,
    .failed = pp_tcp_failed,
    .start = pp_tcp_start,
    .check = pp_tcp_check,
    .tell_silent = pp_tcp_tell_silent,
    .kill = pp_tcp_kill,
    .stop = pp_tcp_stop,
};
