/* Process 0 takes the others, each with what it is about to run, and tells all where they listen.
 */
#include "core/clock.h"
#include "core/process/process.h"
#include "exec/rendezvous/meeting.h"
#include "exec/rendezvous/sockets.h"
#include "exec/tcp/door.h"
#include "exec/tcp/tcp.h"

enum { LATE_S = 2 }; /* for late callers, to hear that the run fails */

void pp_tcp_keep(struct pp_tcp *t, int process, int fd)
{
    struct sockaddr_storage at = {0};

    pp_socket_patience(fd, 0);
    pp_socket_tune(fd);
    t->links[process].fd = fd;
    pp_socket_peer(fd, &at);
    pp_socket_name(&at, t->names[process]);
}

int pp_tcp_join_s(const struct pp_tcp *t)
{
    const int patience_s = t->m->options.meeting.patience_s;

    return patience_s > 0 ? patience_s : PP_RENDEZVOUS_S;
}

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
    pp_error_set(err, PP_EFAIL,
                 "after %d s these of %d processes have not called:", pp_tcp_join_s(t),
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
    pp_tcp_keep(t, caller->hello.process, caller->fd);
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
    const double until_s = pp_clock_s() + pp_tcp_join_s(t);

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

enum pp_status pp_tcp_host(struct pp_tcp *t, int listener, const struct pp_hello *own,
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
