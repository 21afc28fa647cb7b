/* One thread reads and writes all connections of a process when ready, and sleeps in poll. */
#include "core/clock.h"
#include "exec/host/futex.h"
#include "exec/tcp/tcp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const int64_t MOURNING_PS = 500000000000;
enum { BEAT_MS = 50, LEAVE_S = 2, HEAD_BYTES = sizeof(struct pp_frame) };

/* ---- writing --------------------------------------------------------------------------------- */

static void close_link(struct pp_tcp *t, int process)
{
    struct pp_tcp_link *link = &t->links[process];

    link->is_closed = true;
    shutdown(link->fd, SHUT_RDWR);
    while (pp_tcp_first(t, link))
        pp_tcp_drop_first(t, link);
    if (t->process > 0 && process > 0) {
        t->lost_ps = t->lost ? t->lost_ps : pp_wall_ps();
        t->lost = t->lost ? t->lost : 1 + process;
    } else if (!atomic_load(&t->is_quitting) && atomic_load(&t->closed) == 0) {
        atomic_store(&t->closed, 1 + process);
    }
    pp_futex_change(&t->changes);
}

/* Writes the rest of a frame: its head, then its payload. */
static ssize_t write_some(const struct pp_tcp_link *link, const struct pp_frame_out *out)
{
    const size_t head = link->written < HEAD_BYTES ? HEAD_BYTES - link->written : 0,
                 done = link->written > HEAD_BYTES ? link->written - HEAD_BYTES : 0;
    struct iovec parts[2] = {{(char *)(uintptr_t)&out->frame + (HEAD_BYTES - head), head},
                             {(char *)(uintptr_t)out->payload + done, out->frame.bytes - done}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    return sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void write_link(struct pp_tcp *t, int process)
{
    struct pp_tcp_link *link = &t->links[process];

    for (struct pp_frame_out *out; (out = pp_tcp_first(t, link));) {
        const ssize_t count = write_some(link, out);

        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return;
        if (count < 0) {
            close_link(t, process);
            return;
        }
        link->written += (size_t)count;
        if (out->frame.kind != PP_FRAME_ALIVE) /* no progress of the run */
            atomic_fetch_add(&t->moved, (uint64_t)count);
        if (link->written < HEAD_BYTES + out->frame.bytes)
            continue;
        if (out->message)
            pp_message_landed(t->m, out->message);
        pp_tcp_drop_first(t, link);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static ssize_t read_some(struct pp_tcp_link *link)
{
    if (link->read < HEAD_BYTES)
        return recv(link->fd, (char *)&link->frame + link->read, HEAD_BYTES - link->read,
                    MSG_DONTWAIT);
    const size_t done = link->read - HEAD_BYTES;
    return recv(link->fd, link->payload + done, link->frame.bytes - done, MSG_DONTWAIT);
}

/* A head is complete: chooses the place of its payload. False = the frame is not legal here. */
static bool begin_payload(struct pp_tcp *t, int process)
{
    struct pp_tcp_link *link = &t->links[process];

    link->owned = NULL;
    link->payload = NULL;
    if (!pp_tcp_is_legal(t, process, &link->frame) || !pp_tcp_is_new(t, &link->frame)) {
        pp_tcp_refuse(t, process, &link->frame);
        return false;
    }
    if (link->frame.bytes == 0)
        return true;
    link->payload = pp_tcp_place(t, &link->frame);
    if (!link->payload)
        link->payload = link->owned = malloc(link->frame.bytes);
    if (!link->payload)
        pp_tcp_fail_memory(t);
    return link->payload;
}

static bool end_payload(struct pp_tcp *t, int process)
{
    struct pp_tcp_link *link = &t->links[process];
    const bool is_taken =
        pp_tcp_take(t, &(struct pp_arrival){process, &link->frame, link->payload});

    if (!is_taken)
        pp_tcp_refuse(t, process, &link->frame);
    free(link->owned);
    link->owned = NULL;
    link->read = 0;
    return is_taken;
}

/* True for a sign of life that is no progress of the run. */
static bool is_idle_sign(const struct pp_tcp_link *link)
{
    return link->read == HEAD_BYTES && link->frame.kind == PP_FRAME_ALIVE && !link->frame.flags;
}

bool pp_tcp_read(struct pp_tcp *t, int process)
{
    struct pp_tcp_link *link = &t->links[process];

    for (;;) {
        const ssize_t count = read_some(link);

        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
            return true;
        link->read += count > 0 ? (size_t)count : 0;
        link->silent_s = 0;
        t->has_heard = t->has_heard || process == 0;
        if (count > 0 && !is_idle_sign(link))
            atomic_fetch_add(&t->moved, (uint64_t)count);
        if (count <= 0 || (link->read == HEAD_BYTES && !begin_payload(t, process)))
            break;
        if (link->read >= HEAD_BYTES && link->read == HEAD_BYTES + link->frame.bytes &&
            !end_payload(t, process))
            break;
    }
    close_link(t, process);
    return false;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static bool is_empty(struct pp_tcp *t)
{
    for (int process = 0; process < t->processes; process++)
        if (pp_tcp_is_open(&t->links[process]) && pp_tcp_first(t, &t->links[process]))
            return false;
    return true;
}

/* Reports the progress of this process's worker and device to process 0. */
static void beat(struct pp_tcp *t)
{
    const int k = t->process - t->first_owner;

    if (t->process == 0 || k < 0 || k >= t->m->worker_count)
        return;
    const int at = atomic_load_explicit(&t->m->workers[k].at, memory_order_relaxed);
    const bool has_begun = at > 0; /* a first step */
    const int64_t passed = has_begun && at == t->last_at ? pp_machine_passed(t->m) : t->last_passed;
    const bool is_meeting =
        atomic_load_explicit(&t->m->workers[k].is_meeting, memory_order_relaxed);
    const struct pp_frame frame = {
        .kind = PP_FRAME_AT, .worker = k, .id = at, .flags = is_meeting, .ps = passed};
    if ((at != t->last_at || passed != t->last_passed || is_meeting != t->was_meeting) &&
        pp_tcp_is_open(&t->links[0]))
        pp_tcp_send(t, 0, &frame, NULL, NULL, NULL);
    t->last_at = at;
    t->last_passed = passed;
    t->was_meeting = is_meeting;
}

/* Process 0 reports dead processes. If it reports none for a while, only the connection is gone. */
static void mourn(struct pp_tcp *t)
{
    struct pp_error err = {0};

    if (!t->lost || t->m->has_failed || atomic_load(&t->is_quitting) ||
        pp_wall_ps() - t->lost_ps < MOURNING_PS)
        return;
    pp_error_set(&err, PP_EFAIL, "step %d: ", t->m->step + 1);
    pp_stall_instruction(&t->m->workers[t->process - t->first_owner], &err);
    pp_error_append(&err, ": its connection to process %d at %s was closed", t->lost - 1,
                    t->names[t->lost - 1]);
    pp_machine_fail(t->m, &err);
}

static void poll_once(struct pp_tcp *t, struct pollfd *fds)
{
    for (int process = 0; process < t->processes; process++) {
        struct pp_tcp_link *link = &t->links[process];

        fds[process] =
            (struct pollfd){.fd = pp_tcp_is_open(link) ? link->fd : -1, .events = POLLIN};
        if (pp_tcp_is_open(link) && pp_tcp_first(t, link))
            fds[process].events |= POLLOUT;
    }
    fds[t->processes] = (struct pollfd){.fd = t->wake_fd, .events = POLLIN};
    poll(fds, (nfds_t)t->processes + 1, BEAT_MS);
    uint64_t woken;
    if ((fds[t->processes].revents & POLLIN) && read(t->wake_fd, &woken, sizeof(woken)) < 0)
        return;
    for (int process = 0; process < t->processes; process++) {
        if (fds[process].fd >= 0 && (fds[process].revents & (POLLIN | POLLHUP | POLLERR)))
            pp_tcp_read(t, process);
        if (pp_tcp_is_open(&t->links[process]) && pp_tcp_first(t, &t->links[process]))
            write_link(t, process);
    }
}

struct leaving { /* time since the last byte was moved */
    double since_s;
    uint_fast64_t moved;
};

/* Queued frames are sent first, unless no peer reads them. */
static bool may_end(struct pp_tcp *t, struct leaving *leaving)
{
    const uint_fast64_t moved = atomic_load(&t->moved);

    if (!atomic_load(&t->is_quitting))
        return false;
    if (leaving->since_s == 0 || moved != leaving->moved)
        *leaving = (struct leaving){pp_clock_s(), moved};
    return is_empty(t) || pp_clock_s() - leaving->since_s > LEAVE_S;
}

static void *thread_main(void *argument)
{
    struct pp_tcp *t = argument;
    struct pollfd *fds = calloc((size_t)t->processes + 1, sizeof(*fds));
    struct leaving leaving = {0};

    while (fds && !may_end(t, &leaving)) {
        poll_once(t, fds);
        beat(t);
        pp_tcp_tell_alive(t);
        pp_tcp_count_silence(t);
        if (pp_tcp_is_first_silent(t))
            close_link(t, 0);
        mourn(t);
    }
    free(fds);
    return NULL;
}

enum pp_status pp_tcp_start_thread(struct pp_tcp *t, struct pp_error *err)
{
    t->heard_s = pp_clock_s();
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->wake_fd >= 0 && pthread_create(&t->thread, NULL, thread_main, t) == 0)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "cannot start the thread that talks to other processes: %s",
                        strerror(errno));
}

void pp_tcp_stop_thread(struct pp_tcp *t)
{
    atomic_store(&t->is_quitting, true);
    pp_tcp_wake(t);
    pthread_join(t->thread, NULL);
    for (int process = 0; process < t->processes; process++) {
        while (t->links[process].first)
            pp_tcp_drop_first(t, &t->links[process]);
        free(t->links[process].owned);
        if (t->links[process].fd >= 0)
            close(t->links[process].fd);
        t->links[process].fd = -1;
    }
    close(t->wake_fd);
}
