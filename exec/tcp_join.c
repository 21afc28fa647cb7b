/* Who is where: everybody calls at node 0 and says what it is about to run; node 0 tells all where
 * the others listen; then each calls at those before it. */
#define _GNU_SOURCE /* accept4 */
#include "exec/tcp.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MAGIC = 0x70697065,
    JOIN_S = 60,   /* for all to come */
    ANSWER_S = 20, /* of somebody who has */
    LATE_S = 2,    /* to hear that it is in vain */
    RETRY_NS = 20 * 1000 * 1000,
    PORT_BYTES = 8
};

struct hello {
    uint32_t magic, frame_bytes;
    int32_t node, nodes;
    uint64_t program_hash, run_hash;
    uint32_t port; /* where it listens */
};
struct answer { /* of node 0; behind it, when it is ok, the address of every node */
    int32_t status;
    char text[256];
};

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return hash;
}

/* Of all that must be alike beside the program. */
static uint64_t run_hash(const struct pp_machine *m)
{
    const struct pp_recipe *r = m->options.recipe;
    const struct pp_net *n = m->options.stages[0]->net;
    const struct pp_batch *b = m->options.batch;
    const double numbers[] = {(double)r->seed, r->is_exact, r->rate, r->end_rate, r->warmup_steps,
                              r->steps, r->beta1, r->beta2, r->epsilon, r->decay, r->clip, n->layers,
                              n->hidden, n->heads, n->kv_heads, n->ffn, n->vocab, n->seq,
                              n->has_positions, n->is_gated, n->is_tied, n->is_rms, b->replicas,
                              b->micro_batches, b->mbs, b->granules, b->splits,
                              (double)m->options.kernels->element_bytes, m->options.clock, m->options.has_durations};

    return mix(14695981039346656037u, numbers, sizeof(numbers));
}

/* ---- sockets --------------------------------------------------------------------------------*/

static void tune(int fd)
{
    const int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void set_patience(int fd, int seconds)
{
    const struct timeval patience = {.tv_sec = seconds};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static bool read_all(int fd, void *data, size_t bytes)
{
    return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t count = send(fd, (const char *)data + at, bytes - at, MSG_NOSIGNAL);

        if (count <= 0)
            return false;
        at += (size_t)count;
    }
    return true;
}

static enum pp_status find_address(const char *host, int port, struct addrinfo **found,
                                   struct pp_error *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    char text[PORT_BYTES];

    snprintf(text, sizeof(text), "%d", port);
    const int failure = getaddrinfo(host, text, &hints, found);
    if (failure != 0)
        return pp_error_set(err, PP_EFAIL, "cannot find host %.100s: %s", host,
                            gai_strerror(failure));
    return PP_OK;
}

static int port_of(int fd)
{
    struct sockaddr_storage at;
    socklen_t length = sizeof(at);

    if (getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        return -1;
    return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
                                          : ((struct sockaddr_in *)&at)->sin_port);
}

static void set_port(struct sockaddr_storage *at, int port)
{
    if (at->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)at)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)at)->sin_port = htons((uint16_t)port);
}

/* On all addresses of the family, as a launcher's name for this host may not be one of its own. */
static int listen_any(int family, int port)
{
    struct sockaddr_storage at = {.ss_family = (sa_family_t)family};
    const socklen_t length =
        family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    set_port(&at, port);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, length) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    const int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

enum pp_status pp_tcp_listen(const char *host, int port, int *listener, int *bound_port,
                             struct pp_error *err)
{
    struct addrinfo *found;

    PP_TRY(find_address(host, port, &found, err));
    *listener = listen_any(found->ai_family, port);
    freeaddrinfo(found);
    if (*listener < 0)
        return pp_error_set(err, PP_EFAIL, "cannot listen at port %d: %s (MASTER_PORT)", port,
                            strerror(errno));
    *bound_port = port_of(*listener);
    return PP_OK;
}

/* Again and again: whoever listens may come later. */
static int call(const struct sockaddr *at, socklen_t length, int patience_s)
{
    const struct timespec pause = {0, RETRY_NS};
    const time_t until = time(NULL) + patience_s;

    for (;;) {
        const int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd >= 0 && connect(fd, at, length) == 0)
            return fd;
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        errno = reason;
        if (fd < 0 || time(NULL) >= until)
            return -1;
        nanosleep(&pause, NULL);
    }
}

static int wait_for_caller(int listener, struct sockaddr_storage *from, int patience_s)
{
    struct pollfd fds = {.fd = listener, .events = POLLIN};
    socklen_t length = sizeof(*from);

    if (poll(&fds, 1, patience_s * 1000) != 1)
        return -1;
    return accept4(listener, (struct sockaddr *)from, &length, SOCK_CLOEXEC);
}

static void keep(struct pp_tcp *t, int node, int fd)
{
    struct sockaddr_storage at;
    socklen_t length = sizeof(at);

    set_patience(fd, 0);
    tune(fd);
    t->links[node].fd = fd;
    if (getpeername(fd, (struct sockaddr *)&at, &length) != 0 ||
        getnameinfo((struct sockaddr *)&at, length, t->names[node], sizeof(t->names[node]), NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(t->names[node], sizeof(t->names[node]), "an unknown host");
}

/* ---- node 0 ---------------------------------------------------------------------------------*/

static enum pp_status check_hello(const struct pp_tcp *t, const struct hello *own,
                                  const struct hello *h, struct pp_error *err)
{
    if (h->magic != MAGIC || h->frame_bytes != own->frame_bytes)
        return pp_error_set(err, PP_EFAIL, "a caller is no pipeexec of this version");
    if (h->nodes != own->nodes)
        return pp_error_set(err, PP_EFAIL, "process %d says that there are %d processes, the first %d",
                            h->node, h->nodes, own->nodes);
    if (h->node <= 0 || h->node >= t->nodes || t->links[h->node].fd >= 0)
        return pp_error_set(err, PP_EFAIL, "there are two processes %d, or none should be", h->node);
    if (h->program_hash != own->program_hash)
        return pp_error_set(err, PP_EFAIL,
                            "process %d runs program %016llx, process 0 runs %016llx: give all the "
                            "same schedule and layout",
                            h->node, (unsigned long long)h->program_hash,
                            (unsigned long long)own->program_hash);
    if (h->run_hash != own->run_hash)
        return pp_error_set(err, PP_EFAIL,
                            "process %d runs the same program with another model, batch, recipe or "
                            "clock than process 0: give all the same options",
                            h->node);
    return PP_OK;
}

static void refuse(int fd, const struct answer *answer)
{
    struct hello hello;

    set_patience(fd, LATE_S);
    if (read_all(fd, &hello, sizeof(hello)))
        write_all(fd, answer, sizeof(*answer));
    close(fd);
}

/* Whoever has called or is about to gets the reason, instead of waiting. */
static void refuse_all(struct pp_tcp *t, int listener, int callers, const struct pp_error *err)
{
    struct answer answer = {.status = err->status};
    struct sockaddr_storage from;

    snprintf(answer.text, sizeof(answer.text), "%.255s", err->message);
    for (int node = 1; node < t->nodes; node++)
        if (t->links[node].fd >= 0)
            write_all(t->links[node].fd, &answer, sizeof(answer));
    for (int fd; callers < t->nodes - 1 && (fd = wait_for_caller(listener, &from, LATE_S)) >= 0;
         callers++)
        refuse(fd, &answer);
}

static enum pp_status missing(const struct pp_tcp *t, struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "after %d s these of %d processes have not called:", JOIN_S,
                 t->nodes);
    for (int node = 1, told = 0; node < t->nodes && told < 8; node++)
        if (t->links[node].fd < 0 && ++told)
            pp_error_append(err, " %d", node);
    return PP_EFAIL;
}

static enum pp_status take_caller(struct pp_tcp *t, int listener, const struct hello *own,
                                  struct sockaddr_storage *at, struct pp_error *err)
{
    struct sockaddr_storage from;
    struct hello hello = {0};
    const int fd = wait_for_caller(listener, &from, JOIN_S);

    if (fd < 0)
        return missing(t, err);
    set_patience(fd, ANSWER_S);
    if (!read_all(fd, &hello, sizeof(hello)))
        hello.magic = 0;
    const enum pp_status status = check_hello(t, own, &hello, err);
    if (status != PP_OK) {
        struct answer answer = {.status = status};
        snprintf(answer.text, sizeof(answer.text), "%.255s", err->message);
        write_all(fd, &answer, sizeof(answer));
        close(fd);
        return status;
    }
    set_port(&from, (int)hello.port);
    at[hello.node] = from;
    keep(t, hello.node, fd);
    return PP_OK;
}

static enum pp_status host_all(struct pp_tcp *t, int listener, const struct hello *own,
                               struct sockaddr_storage *at, struct pp_error *err)
{
    const struct answer answer = {.status = PP_OK};

    for (int k = 1; k < t->nodes; k++) {
        const enum pp_status status = take_caller(t, listener, own, at, err);

        if (status != PP_OK) {
            refuse_all(t, listener, k, err);
            return status;
        }
    }
    for (int node = 1; node < t->nodes; node++)
        if (!write_all(t->links[node].fd, &answer, sizeof(answer)) ||
            !write_all(t->links[node].fd, at, sizeof(*at) * (size_t)t->nodes))
            return pp_error_set(err, PP_EFAIL, "process %d at %s has gone", node, t->names[node]);
    return PP_OK;
}

/* ---- all others -----------------------------------------------------------------------------*/

static enum pp_status call_first(struct pp_tcp *t, const char *host, int port,
                                 const struct hello *own, struct sockaddr_storage *at,
                                 struct pp_error *err)
{
    struct answer answer;
    struct addrinfo *found;

    PP_TRY(find_address(host, port, &found, err));
    const int fd = call(found->ai_addr, found->ai_addrlen, JOIN_S);
    freeaddrinfo(found);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "process %d cannot reach process 0 at %.100s port %d: %s",
                            t->node, host, port, strerror(errno));
    keep(t, 0, fd);
    set_patience(fd, JOIN_S + ANSWER_S);
    if (!write_all(fd, own, sizeof(*own)) || !read_all(fd, &answer, sizeof(answer)))
        return pp_error_set(err, PP_EFAIL, "process 0 at %.100s has gone before all had come", host);
    answer.text[sizeof(answer.text) - 1] = '\0';
    if (answer.status != PP_OK)
        return pp_error_set(err, PP_EFAIL, "%s", answer.text);
    if (!read_all(fd, at, sizeof(*at) * (size_t)t->nodes))
        return pp_error_set(err, PP_EFAIL, "process 0 at %.100s has gone", host);
    set_patience(fd, 0);
    return PP_OK;
}

static enum pp_status call_peer(struct pp_tcp *t, int node, const struct hello *own,
                                const struct sockaddr_storage *at, struct pp_error *err)
{
    const int fd = call((const struct sockaddr *)at,
                        at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                  : sizeof(struct sockaddr_in),
                        ANSWER_S);

    if (fd < 0 || !write_all(fd, own, sizeof(*own)))
        return pp_error_set(err, PP_EFAIL, "process %d cannot reach process %d: %s", t->node, node,
                            strerror(errno));
    keep(t, node, fd);
    return PP_OK;
}

static enum pp_status meet_peers(struct pp_tcp *t, int listener, const struct hello *own,
                                 const struct sockaddr_storage *at, struct pp_error *err)
{
    struct sockaddr_storage from;
    struct hello hello;

    for (int node = 1; node < t->node; node++)
        PP_TRY(call_peer(t, node, own, &at[node], err));
    for (int k = t->node + 1; k < t->nodes; k++) {
        const int fd = wait_for_caller(listener, &from, JOIN_S);

        if (fd >= 0)
            set_patience(fd, ANSWER_S);
        if (fd < 0 || !read_all(fd, &hello, sizeof(hello)) || check_hello(t, own, &hello, err) != PP_OK)
            return pp_error_set(err, PP_EFAIL, "process %d waits in vain for one behind it", t->node);
        keep(t, hello.node, fd);
    }
    return PP_OK;
}

/* What node 0 is heard at all others are heard at, on some port of their own. */
static enum pp_status join(struct pp_tcp *t, const char *host, int port, int listener,
                           struct hello *own, struct sockaddr_storage *at, struct pp_error *err)
{
    if (t->node == 0)
        return host_all(t, listener, own, at, err);
    own->port = (uint32_t)port_of(listener);
    PP_TRY(call_first(t, host, port, own, at, err));
    return meet_peers(t, listener, own, at, err);
}

enum pp_status pp_tcp_join(struct pp_tcp *t, const char *host, int port, int listener,
                           struct pp_error *err)
{
    struct hello own = {.magic = MAGIC,
                        .frame_bytes = sizeof(struct pp_frame),
                        .node = t->node,
                        .nodes = t->nodes,
                        .program_hash = t->m->program_hash,
                        .run_hash = run_hash(t->m)};
    int bound = listener, ignored;

    if (bound < 0)
        PP_TRY(pp_tcp_listen(host, t->node == 0 ? port : 0, &bound, &ignored, err));
    struct sockaddr_storage *at = PP_ARRAY(t->m->arena, struct sockaddr_storage, t->nodes);
    const enum pp_status status = join(t, host, port, bound, &own, at, err);
    close(bound);
    return status;
}
