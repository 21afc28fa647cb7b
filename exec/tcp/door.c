/* Accepts connections, and keeps those that begin as a process of this run. */
#define _GNU_SOURCE /* accept4 */
#include "exec/tcp/door.h"

#include "core/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HELLO_S = 5, LOOK_MS = 100, SHORT_MS = 10 };

void pp_door_open(struct pp_door *door, int listener, uint64_t token)
{
    *door = (struct pp_door){.listener = listener, .token = token};
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        door->callers[k].fd = -1;
}

void pp_door_close(struct pp_door *door)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0)
            close(door->callers[k].fd);
    close(door->listener);
}

void pp_door_refuse(int fd, enum pp_status status, const char *text)
{
    struct pp_answer answer = {.status = (int32_t)status};

    snprintf(answer.text, sizeof(answer.text), "%s", text);
    pp_socket_patience(fd, 1);
    pp_socket_write(fd, &answer, sizeof(answer));
    close(fd);
}

/* ---- callers of no run
 * ------------------------------------------------------------------------------*/

static void note_stranger(struct pp_door *door, const struct pp_caller *caller)
{
    door->strangers++;
    pp_socket_name(&caller->from, door->last);
}

static void leave(struct pp_door *door, struct pp_caller *caller)
{
    note_stranger(door, caller);
    close(caller->fd);
    caller->fd = -1;
}

static void leave_the_silent(struct pp_door *door, double now_s)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0 && now_s >= door->callers[k].until_s)
            leave(door, &door->callers[k]);
}

static void refuse_other_run(struct pp_door *door, struct pp_caller *caller)
{
    note_stranger(door, caller);
    pp_door_refuse(
        caller->fd, PP_EFAIL,
        "what listens there belongs to another run of pipeexec: give each run a MASTER_PORT "
        "of its own (or all processes of a run the same PIPEEXEC_RUN_ID)");
    caller->fd = -1;
}

/* ---- callers --------------------------------------------------------------------------------*/

static struct pp_caller *free_place(struct pp_door *door)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd < 0)
            return &door->callers[k];
    return NULL;
}

static void let_in(struct pp_door *door, double now_s)
{
    struct pp_caller *place = free_place(door);
    socklen_t length = sizeof(place->from);

    if (!place)
        return;
    *place = (struct pp_caller){.until_s = now_s + HELLO_S};
    place->fd = accept4(door->listener, (struct sockaddr *)&place->from, &length, SOCK_CLOEXEC);
    door->cannot = place->fd < 0 ? errno : 0; /* no descriptors left, or the caller is gone */
    if (place->fd < 0)
        poll(NULL, 0, SHORT_MS);
}

static bool is_full(const struct pp_door *door)
{
    bool has_callers = false;

    for (int k = 0; k < PP_DOOR_PLACES; k++)
        has_callers = has_callers || door->callers[k].fd >= 0;
    return !has_callers && (door->cannot == EMFILE || door->cannot == ENFILE);
}

/* Some more of its hello. True: that was the last of it, and it belongs here. */
static bool listen_to(struct pp_door *door, struct pp_caller *caller)
{
    const ssize_t count = recv(caller->fd, (char *)&caller->hello + caller->bytes,
                               sizeof(caller->hello) - caller->bytes, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    caller->bytes += count > 0 ? (size_t)count : 0;
    if (count <= 0 && caller->bytes == 0) { /* it only tested whether a process listens */
        close(caller->fd);
        caller->fd = -1;
        return false;
    }
    if (count <= 0 ||
        (caller->bytes >= sizeof(caller->hello.magic) && caller->hello.magic != PP_HELLO_MAGIC))
        leave(door, caller);
    else if (caller->bytes == sizeof(caller->hello) && caller->hello.token != door->token)
        refuse_other_run(door, caller);
    return caller->fd >= 0 && caller->bytes == sizeof(caller->hello);
}

/* Those who are heard in one round; where no place is free, new ones wait outside. */
static struct pp_caller *hear(struct pp_door *door, int wait_ms)
{
    struct pollfd fds[PP_DOOR_PLACES + 1];
    struct pp_caller *callers[PP_DOOR_PLACES], *ready = NULL;
    nfds_t count = 0;

    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0) {
            callers[count] = &door->callers[k];
            fds[count++] = (struct pollfd){.fd = door->callers[k].fd, .events = POLLIN};
        }
    const nfds_t outside = count; /* poll takes no more places than descriptors may be open */
    if (free_place(door))
        fds[count++] = (struct pollfd){.fd = door->listener, .events = POLLIN};
    if (poll(fds, count, wait_ms) <= 0)
        return NULL;
    for (nfds_t k = 0; k < outside && !ready; k++)
        if (fds[k].revents && listen_to(door, callers[k]))
            ready = callers[k];
    if (count > outside && fds[outside].revents)
        let_in(door, pp_clock_s());
    return ready;
}

enum pp_status pp_door_next(struct pp_door *door, double until_s, struct pp_caller *caller,
                            struct pp_error *err)
{
    for (double now_s, left_s; (left_s = until_s - (now_s = pp_clock_s())) > 0;) {
        struct pp_caller *ready = hear(door, left_s > 1e-3 * LOOK_MS ? LOOK_MS : SHORT_MS);

        if (ready) {
            *caller = *ready;
            ready->fd = -1;
            return PP_OK;
        }
        leave_the_silent(door, now_s);
        if (is_full(door))
            return pp_error_set(err, PP_EFAIL,
                                "no connection to another process can be taken: %s (ulimit -n)",
                                strerror(door->cannot));
        if (door->look)
            PP_TRY(door->look(door->closure, err));
    }
    return pp_error_set(err, PP_EFAIL, "no process has connected");
}
