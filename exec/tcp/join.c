/* All processes connect. Each connects to process 0 and states what it is about to run. Process 0
 * tells all where the others listen. Then each connects to the processes before it. */
#include "core/clock.h"
#include "core/process/process.h"
#include "exec/rendezvous/meeting.h"
#include "exec/rendezvous/sockets.h"
#include "exec/tcp/door.h"
#include "exec/tcp/tcp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    ANSWER_S = 20, /* for the answer of process 0 or a peer */
    LATE_S = 2     /* to hear that the run fails */
};

static void keep(struct pp_tcp *t, int process, int fd)
{
    struct sockaddr_storage at = {0};

    pp_socket_patience(fd, 0);
    pp_socket_tune(fd);
    t->links[process].fd = fd;
    pp_socket_peer(fd, &at);
    pp_socket_name(&at, t->names[process]);
}

/* Seconds to wait for all processes. */
static int join_s(const struct pp_tcp *t)
{
    const int patience_s = t->m->options.meeting.patience_s;

    return patience_s > 0 ? patience_s : PP_RENDEZVOUS_S;
}

/* ---- process 0 ----------------------------------------------------------------------------------
 */

/* Sends the reason to processes that have called or are about to, so that they do not wait. */
static void refuse_all(struct pp_tcp *t, struct pp_door *door, int callers,
                       const struct pp_error *err)
{
    struct pp_caller caller;
    struct pp_error ignored;

    for (int process = 1; process < t->processes; process++)
        if (t->links[process].fd >= 0) {
            pp_door_refuse(t->links[process].fd, err->status, err->message);
            t->links[process].fd = -1;
        }
    door->look = NULL;
    while (callers++ < t->processes - 1 &&
           pp_door_next(door, pp_clock_s() + LATE_S, &caller, &ignored) == PP_OK)
        pp_door_refuse(caller.fd, err->status, err->message);
}

static enum pp_status missing(const struct pp_tcp *t, const struct pp_door *door,
                              struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "after %d s these of %d processes have not called:", join_s(t),
                 t->processes);
    for (int process = 1, told = 0; process < t->processes && told < 8; process++)
        if (t->links[process].fd < 0 && ++told)
            pp_error_append(err, " %d", process);
    if (door->refused > 0)
        pp_error_append(err, "; %d others have who do not belong to this run, the last from %s",
                        door->refused, door->last);
    return pp_error_append(
        err,
        "\n  one that has ended says why; one that still waits calls elsewhere than "
        "at port %d of this host, or cannot reach it",
        pp_socket_port(door->listener));
}

static enum pp_status take_caller(struct pp_tcp *t, const struct pp_hello *own,
                                  struct pp_caller *caller, struct sockaddr_storage *at,
                                  struct pp_error *err)
{
    const enum pp_status status = pp_tcp_check_hello(t, own, &caller->hello, err);

    if (status != PP_OK) {
        pp_door_refuse(caller->fd, status, err->message);
        return status;
    }
    pp_socket_set_port(&caller->from, (int)caller->hello.port);
    at[caller->hello.process] = caller->from;
    keep(t, caller->hello.process, caller->fd);
    t->links[caller->hello.process].pid = caller->hello.pid;
    return PP_OK;
}

/* Finds dead processes that were forked or started here. */
static enum pp_status look(void *closure, struct pp_error *err)
{
    struct pp_tcp *t = closure;
    const struct pp_meeting *meeting = &t->m->options.meeting;

    siginfo_t info;
    const int ended = meeting->look ? meeting->look(meeting->closure, &info) : 0;

    if (ended) {
        pp_error_set(err, PP_EFAIL, "process %d (pid %d) ", ended, (int)info.si_pid);
        pp_process_tell_end(&info, err);
        return pp_error_append(err, " before all had come");
    }
    return t->m->transport->check(t->m, err);
}

static enum pp_status take_all(struct pp_tcp *t, struct pp_door *door, const struct pp_hello *own,
                               struct sockaddr_storage *at, struct pp_error *err)
{
    const double until_s = pp_clock_s() + join_s(t);

    for (int k = 1; k < t->processes; k++) {
        struct pp_caller caller;
        enum pp_status status = pp_door_next(door, until_s, &caller, err);

        if (status == PP_OK)
            status = take_caller(t, own, &caller, at, err);
        else if (pp_clock_s() >= until_s)
            status = missing(t, door, err);
        if (status == PP_OK)
            continue;
        refuse_all(t, door, k, err);
        return status;
    }
    return PP_OK;
}

static enum pp_status host_all(struct pp_tcp *t, int listener, const struct pp_hello *own,
                               struct sockaddr_storage *at, struct pp_error *err)
{
    const struct pp_answer answer = {.magic = PP_HELLO_MAGIC, .status = PP_OK};
    struct pp_door door;

    pp_door_open(&door, listener, own->token);
    door.look = look;
    door.closure = t;
    const enum pp_status status = take_all(t, &door, own, at, err);
    pp_door_close(&door);
    PP_TRY(status);
    for (int process = 1; process < t->processes; process++)
        if (!pp_socket_write(t->links[process].fd, &answer, sizeof(answer)) ||
            !pp_socket_write(t->links[process].fd, at, sizeof(*at) * (size_t)t->processes))
            return pp_error_set(err, PP_EFAIL, "process %d at %s has gone", process,
                                t->names[process]);
    return PP_OK;
}

/* ---- all others ------------------------------------------------------------------------------ */

/* Listens at this host's address on the way to process 0. If that is loopback, by a name that other
 * hosts may resolve otherwise, listens at all addresses. */
static int listen_for_peers(struct pp_tcp *t, const char *host)
{
    struct sockaddr_storage at;

    if (!pp_socket_own(t->links[0].fd, &at))
        return -1;
    pp_socket_set_port(&at, 0);
    return pp_socket_listen(&at, pp_socket_is_loopback(&at) && !pp_socket_is_exact(host));
}

static enum pp_status introduce(struct pp_tcp *t, const char *host, const struct pp_hello *own,
                                struct sockaddr_storage *at, struct pp_error *err)
{
    const int fd = t->links[0].fd;
    struct pp_answer answer;

    pp_socket_patience(fd, join_s(t) + ANSWER_S);
    if (!pp_socket_write(fd, own, sizeof(*own)) || !pp_socket_read(fd, &answer, sizeof(answer)) ||
        answer.magic != PP_HELLO_MAGIC)
        return pp_error_set(
            err, PP_EFAIL,
            "process 0 at %.100s port %d has gone before all had come, or who listens "
            "there is no pipeexec",
            host, pp_socket_port_in(at));
    answer.text[sizeof(answer.text) - 1] = '\0';
    if (answer.status != PP_OK)
        return pp_error_set(err, PP_EFAIL, "%s", answer.text);
    if (!pp_socket_read(fd, at, sizeof(*at) * (size_t)t->processes))
        return pp_error_set(err, PP_EFAIL, "process 0 at %.100s has gone", host);
    pp_socket_patience(fd, 0);
    return PP_OK;
}

/* Replaces a loopback address, at which process 0 has seen a process of its host, by process 0's
 * own. */
static void see_from_here(const struct pp_tcp *t, struct sockaddr_storage *at)
{
    const int port = pp_socket_port_in(at);
    struct sockaddr_storage first;

    if (!pp_socket_is_loopback(at) || !pp_socket_peer(t->links[0].fd, &first) ||
        pp_socket_is_loopback(&first))
        return;
    *at = first;
    pp_socket_set_port(at, port);
}

static enum pp_status call_peer(struct pp_tcp *t, int process, const struct pp_hello *own,
                                struct sockaddr_storage *at, struct pp_error *err)
{
    see_from_here(t, at);
    const int fd = pp_socket_call(at, ANSWER_S);

    if (fd < 0 || !pp_socket_write(fd, own, sizeof(*own)))
        return pp_error_set(err, PP_EFAIL, "process %d cannot reach process %d: %s", t->process,
                            process, strerror(errno));
    keep(t, process, fd);
    return PP_OK;
}

static enum pp_status take_peers(struct pp_tcp *t, struct pp_door *door, const struct pp_hello *own,
                                 struct pp_error *err)
{
    const double until_s = pp_clock_s() + join_s(t);

    for (int k = t->process + 1; k < t->processes; k++) {
        struct pp_caller caller;

        if (pp_door_next(door, until_s, &caller, err) != PP_OK)
            return pp_error_set(err, PP_EFAIL, "process %d waits in vain for a later one",
                                t->process);
        const enum pp_status status = pp_tcp_check_hello(t, own, &caller.hello, err);
        if (status != PP_OK) {
            close(caller.fd);
            return status;
        }
        keep(t, caller.hello.process, caller.fd);
    }
    return PP_OK;
}

static enum pp_status meet_peers(struct pp_tcp *t, struct pp_door *door, const char *host,
                                 struct pp_hello *own, struct sockaddr_storage *at,
                                 struct pp_error *err)
{
    own->port = (uint64_t)pp_socket_port(door->listener);
    PP_TRY(introduce(t, host, own, at, err));
    for (int process = 1; process < t->process; process++)
        PP_TRY(call_peer(t, process, own, &at[process], err));
    return take_peers(t, door, own, err);
}

static enum pp_status cannot_reach_first(const struct pp_tcp *t, const char *host, int port,
                                         struct pp_error *err)
{
    const bool is_refused = errno == ECONNREFUSED;

    pp_error_set(err, PP_EFAIL, "process %d cannot reach process 0 at %.100s port %d: %s",
                 t->process, host, port, strerror(errno));
    if (is_refused)
        pp_error_append(
            err,
            "\n  no process has listened there for %d s: process 0 has not been started, has "
            "ended (then it says why), or is elsewhere",
            join_s(t));
    return PP_EFAIL;
}

static enum pp_status join_first(struct pp_tcp *t, const char *host, int port, struct pp_hello *own,
                                 struct sockaddr_storage *at, struct pp_error *err)
{
    struct pp_door door;

    PP_TRY(pp_socket_find(host, port, &at[0], err));
    const int fd = pp_socket_call(&at[0], join_s(t));
    if (fd < 0)
        return cannot_reach_first(t, host, port, err);
    keep(t, 0, fd);
    const int listener = listen_for_peers(t, host);
    if (listener < 0)
        return pp_error_set(err, PP_EFAIL, "process %d cannot listen: %s", t->process,
                            strerror(errno));
    pp_door_open(&door, listener, own->token);
    const enum pp_status status = meet_peers(t, &door, host, own, at, err);
    pp_door_close(&door);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum pp_status pp_tcp_listen(const char *host, int port, int *listener, struct pp_error *err)
{
    struct sockaddr_storage at;

    PP_TRY(pp_socket_find(host, port, &at, err));
    *listener = pp_socket_listen(&at, !pp_socket_is_exact(host));
    if (*listener >= 0)
        return PP_OK;
    const bool is_taken = errno == EADDRINUSE;
    pp_error_set(err, PP_EFAIL, "cannot listen at port %d: %s (MASTER_PORT)", port,
                 strerror(errno));
    return is_taken ? pp_error_append(err, "\n  another run listens there, or two processes say "
                                           "that they are process 0")
                    : PP_EFAIL;
}

enum pp_status pp_tcp_join(struct pp_tcp *t, const char *host, int port, int listener,
                           struct pp_error *err)
{
    struct pp_hello own = pp_tcp_hello(t);
    struct sockaddr_storage *at = PP_ARRAY(t->m->arena, struct sockaddr_storage, t->processes);
    int bound = listener;

    if (t->process > 0)
        return join_first(t, host, port, &own, at, err);
    if (bound < 0)
        PP_TRY(pp_tcp_listen(host, port, &bound, err));
    return host_all(t, bound, &own, at, err);
}

/* ---- gather through process 0 -------------------------------------------------------------------
 */

enum { PATIENCE_S = 60 };

static enum pp_status gone(const struct pp_tcp *t, int process, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "process %d at %s has gone before all had begun", process,
                        t->names[process]);
}

static enum pp_status collect(struct pp_tcp *t, size_t bytes, char *all, struct pp_error *err)
{
    for (int process = 1; process < t->processes; process++)
        if (!pp_socket_read(t->links[process].fd, all + (size_t)process * bytes, bytes))
            return gone(t, process, err);
    for (int process = 1; process < t->processes; process++)
        if (!pp_socket_write(t->links[process].fd, all, (size_t)t->processes * bytes))
            return gone(t, process, err);
    return PP_OK;
}

static void set_patience(const struct pp_tcp *t, int patience_s)
{
    for (int process = 0; process < t->processes; process++)
        if (t->links[process].fd >= 0)
            pp_socket_patience(t->links[process].fd, patience_s);
}

enum pp_status pp_tcp_gather(struct pp_tcp *t, const void *own, size_t bytes, char *all,
                             struct pp_error *err)
{
    enum pp_status status = PP_OK;

    set_patience(t, PATIENCE_S);
    memcpy(all + (size_t)t->process * bytes, own, bytes);
    if (t->process == 0)
        status = collect(t, bytes, all, err);
    else if (!pp_socket_write(t->links[0].fd, own, bytes) ||
             !pp_socket_read(t->links[0].fd, all, (size_t)t->processes * bytes))
        status = gone(t, 0, err);
    set_patience(t, 0);
    return status;
}
