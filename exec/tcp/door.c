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
static const double CROWDED_S = 0.25; /* for a hello, while another caller waits for a place */

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
    struct pp_answer answer = {.magic = PP_HELLO_MAGIC, .status = (int32_t)status};

    snprintf(answer.text, sizeof(answer.text), "%s", text);
    pp_socket_patience(fd, 1);
    pp_socket_write(fd, &answer, sizeof(answer));
    close(fd);
}

/* ---- unknown callers ------------------------------------------------------------------------- */

static void note_unknown(struct pp_door *door, const struct pp_caller *caller)
{
    door->refused++;
    pp_socket_name(&caller->from, door->last);
}

static void leave(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    close(caller->fd);
    caller->fd = -1;
}

static void leave_the_silent(struct pp_door *door, double now_s)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0 && now_s >= door->callers[k].since_s + HELLO_S)
            leave(door, &door->callers[k]);
}

static void refuse_other_run(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    pp_door_refuse(caller->fd, PP_EFAIL,
                   "another run of pipeexec listens there: give each run its own MASTER_PORT (or "
                   "all processes of a run the same PIPEEXEC_RUN_ID)");
    caller->fd = -1;
}

/* ---- callers --------------------------------------------------------------------------------- */

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
    *place = (struct pp_caller){.since_s = now_s};
    place->fd = accept4(door->listener, (struct sockaddr *)&place->from, &length, SOCK_CLOEXEC);
    door->cannot = place->fd < 0 ? errno : 0; /* no descriptors left, or the caller is gone */
    if (place->fd < 0)
        poll(NULL, 0, SHORT_MS);
}

static bool is_out_of_descriptors(const struct pp_door *door)
{
    return door->cannot == EMFILE || door->cannot == ENFILE;
}

/* Puts out the oldest caller for one that waits outside. */
static void make_room(struct pp_door *door, double now_s)
{
    struct pollfd outside = {.fd = door->listener, .events = POLLIN};
    struct pp_caller *oldest = NULL;

    if ((free_place(door) && !is_out_of_descriptors(door)) || poll(&outside, 1, 0) <= 0)
        return;
    for (int k = 0; k < PP_DOOR_PLACES; k++) {
        struct pp_caller *caller = &door->callers[k];
        if (caller->fd >= 0 && (!oldest || caller->since_s < oldest->since_s))
            oldest = caller;
    }
    if (oldest && now_s >= oldest->since_s + CROWDED_S)
        leave(door, oldest);
}

static bool is_full(const struct pp_door *door)
{
    bool has_callers = false;

    for (int k = 0; k < PP_DOOR_PLACES; k++)
        has_callers = has_callers || door->callers[k].fd >= 0;
    return !has_callers && is_out_of_descriptors(door);
}

/* Reads more of a hello. True: it is complete and of this run. */
static bool listen_to(struct pp_door *door, struct pp_caller *caller)
{
    const ssize_t count = recv(caller->fd, (char *)&caller->hello + caller->bytes,
                               sizeof(caller->hello) - caller->bytes, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    caller->bytes += count > 0 ? (size_t)count : 0;
    if (count <= 0 && caller->bytes == 0) { /* a test whether a process listens */
        close(caller->fd);
        caller->fd = -1;
        return false;
    }
    if (count <= 0 ||
        (caller->bytes >= sizeof(caller->hello.magic) && caller->hello.magic != PP_HELLO_MAGIC))
        leave(door, caller);
    else if (caller->bytes == sizeof(caller->hello) && caller->hello.token != door->token)
        refuse_other_run(door, caller);
    caller->hello.words[sizeof(caller->hello.words) - 1] = '\0';
    return caller->fd >= 0 && caller->bytes == sizeof(caller->hello);
}

/* Hears callers once; returns one with a complete hello. Without a free place, new ones wait. */
static struct pp_caller *hear(struct pp_door *door, int wait_ms)
{
    struct pollfd fds[PP_DOOR_PLACES + 1];
    struct pp_caller *callers[PP_DOOR_PLACES], *ready = NULL;
    nfds_t count = 0;

    make_room(door, pp_clock_s());
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0) {
            callers[count] = &door->callers[k];
            fds[count++] = (struct pollfd){.fd = door->callers[k].fd, .events = POLLIN};
        }
    const nfds_t outside = count; /* poll allows no more places than open descriptors */
    if (free_place(door))
        fds[count++] = (struct pollfd){.fd = door->listener, .events = POLLIN};
    if (poll(fds, count, count > outside ? wait_ms : SHORT_MS) <= 0)
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
