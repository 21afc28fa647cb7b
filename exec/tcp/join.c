/* All processes connect. Each connects to process 0 and states what it is about to run. Process 0
 * tells all where the others listen (admit.c). Then each connects to the processes before it. */
#include "core/clock.h"
#include "exec/rendezvous/meeting.h"
#include "exec/rendezvous/sockets.h"
#include "exec/tcp/door.h"
#include "exec/tcp/tcp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_S = 20 }; /* for the answer of process 0 or a peer */

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

    pp_socket_patience(fd, pp_tcp_join_s(t) + ANSWER_S);
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
    pp_tcp_keep(t, process, fd);
    return PP_OK;
}

static enum pp_status take_peers(struct pp_tcp *t, struct pp_door *door, const struct pp_hello *own,
                                 struct pp_error *err)
{
    const double until_s = pp_clock_s() + pp_tcp_join_s(t);

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
        pp_tcp_keep(t, caller.hello.process, caller.fd);
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
            pp_tcp_join_s(t));
    return PP_EFAIL;
}

static enum pp_status join_first(struct pp_tcp *t, const char *host, int port, struct pp_hello *own,
                                 struct sockaddr_storage *at, struct pp_error *err)
{
    struct pp_door door;

    PP_TRY(pp_socket_find(host, port, &at[0], err));
    const int fd = pp_socket_call(&at[0], pp_tcp_join_s(t));
    if (fd < 0)
        return cannot_reach_first(t, host, port, err);
    pp_tcp_keep(t, 0, fd);
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
    return pp_tcp_host(t, bound, &own, at, err);
}
