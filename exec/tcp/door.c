/* Accepts connections, and keeps those that begin as a process of this run. */
#define _GNU_SOURCE /* accept4 */
#include "exec/tcp/door.h"

#include "core/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LOOK_MS = 100, SHORT_MS = 10 };
static const double HELLO_S = 5, CROWDED_S = 0.25;

void pp_door_open(struct pp_door *door, int listener, uint64_t token)
{
    *door = (struct pp_door){
        .listener = listener, .token = token, .hello_s = HELLO_S, .crowded_s = CROWDED_S};
}

void pp_door_close(struct pp_door *door)
{
    while (door->count > 0)
        close(door->callers[--door->count].fd);
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

/* The last caller takes the place. */
static void give_place(struct pp_door *door, struct pp_caller *caller)
{
    *caller = door->callers[--door->count];
}

static void leave(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    close(caller->fd);
    give_place(door, caller);
}

static void leave_the_silent(struct pp_door *door, double now_s)
{
    for (int k = door->count - 1; k >= 0; k--)
        if (now_s >= door->callers[k].since_s + door->hello_s)
            leave(door, &door->callers[k]);
}

static void refuse_other_run(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    pp_door_refuse(caller->fd, PP_EFAIL,
                   "another run of pipeexec listens there: give each run its own MASTER_PORT (or "
                   "all processes of a run the same PIPEEXEC_RUN_ID)");
    give_place(door, caller);
}

/* ---- callers --------------------------------------------------------------------------------- */

static void let_in(struct pp_door *door, double now_s)
{
    struct pp_caller caller = {.since_s = now_s};
    socklen_t length = sizeof(caller.from);

    caller.fd = accept4(door->listener, (struct sockaddr *)&caller.from, &length, SOCK_CLOEXEC);
    door->cannot = caller.fd < 0 ? errno : 0; /* no descriptors left, or the caller is gone */
    if (caller.fd < 0)
        poll(NULL, 0, SHORT_MS);
    else
        door->callers[door->count++] = caller;
}

static bool is_out_of_descriptors(const struct pp_door *door)
{
    return door->cannot == EMFILE || door->cannot == ENFILE;
}

/* Puts out the oldest caller for one that waits outside. */
static void make_room(struct pp_door *door, double now_s)
{
    struct pollfd outside = {.fd = door->listener, .events = POLLIN};
    struct pp_caller *oldest = door->callers;

    if ((door->count < PP_DOOR_PLACES && !is_out_of_descriptors(door)) || door->count == 0 ||
        poll(&outside, 1, 0) <= 0)
        return;
    for (int k = 1; k < door->count; k++)
        if (door->callers[k].since_s < oldest->since_s)
            oldest = &door->callers[k];
    if (now_s >= oldest->since_s + door->crowded_s)
        leave(door, oldest);
}

/* Reads more of a hello. True: it is complete and of this run; else the caller may have left. */
static bool listen_to(struct pp_door *door, struct pp_caller *caller)
{
    const ssize_t count = recv(caller->fd, (char *)&caller->hello + caller->bytes,
                               sizeof(caller->hello) - caller->bytes, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    caller->bytes += count > 0 ? (size_t)count : 0;
    if (count <= 0 && caller->bytes == 0) { /* a test whether a process listens */
        close(caller->fd);
        give_place(door, caller);
    } else if (count <= 0 || (caller->bytes >= sizeof(caller->hello.magic) &&
                              caller->hello.magic != PP_HELLO_MAGIC)) {
        leave(door, caller);
    } else if (caller->bytes == sizeof(caller->hello)) {
        caller->hello.words[sizeof(caller->hello.words) - 1] = '\0';
        if (caller->hello.token == door->token)
            return true;
        refuse_other_run(door, caller);
    }
    return false;
}

/* Hears callers once, the last ones first, as they take the places of others. Returns one with a
 * complete hello. Without a free place, new ones wait. */
static struct pp_caller *hear(struct pp_door *door, int wait_ms)
{
    struct pollfd fds[PP_DOOR_PLACES + 1];
    struct pp_caller *ready = NULL;

    make_room(door, pp_clock_s());
    const int outside = door->count; /* poll allows no more places than open descriptors */
    const bool has_room = outside < PP_DOOR_PLACES;
    for (int k = 0; k < outside; k++)
        fds[k] = (struct pollfd){.fd = door->callers[k].fd, .events = POLLIN};
    fds[outside] = (struct pollfd){.fd = door->listener, .events = POLLIN};
    if (poll(fds, (nfds_t)(outside + has_room), has_room ? wait_ms : SHORT_MS) <= 0)
        return NULL;
    for (int k = outside - 1; k >= 0 && !ready; k--)
        if (fds[k].revents && listen_to(door, &door->callers[k]))
            ready = &door->callers[k];
    if (has_room && fds[outside].revents)
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
            give_place(door, ready);
            return PP_OK;
        }
        leave_the_silent(door, now_s);
        if (door->count == 0 && is_out_of_descriptors(door))
            return pp_error_set(err, PP_EFAIL,
                                "no connection to another process can be taken: %s (ulimit -n)",
                                strerror(door->cannot));
        if (door->look)
            PP_TRY(door->look(door->closure, err));
    }
    return pp_error_set(err, PP_EFAIL, "no process has connected");
}
