/* TCP sockets: addresses, connections, reads and writes with a time limit. */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "exec/rendezvous/sockets.h"

#include "core/arena.h"
#include "core/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_NS = 20 * 1000 * 1000, PORT_BYTES = 8, LOOPBACK_NET = 127 };

/* ---- addresses ------------------------------------------------------------------------------- */

static bool is_localhost(const char *host)
{
    return strcmp(host, "localhost") == 0;
}

enum pp_status pp_socket_find(const char *host, int port, struct sockaddr_storage *at,
                              struct pp_error *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char text[PORT_BYTES];

    snprintf(text, sizeof(text), "%d", port);
    /* localhost needs no table of hosts (RFC 6761, section 6.3) */
    const int failure = getaddrinfo(is_localhost(host) ? "127.0.0.1" : host, text, &hints, &found);
    if (failure != 0)
        return pp_error_set(err, PP_EFAIL, "cannot find host %.100s: %s", host,
                            gai_strerror(failure));
    *at = (struct sockaddr_storage){0};
    memcpy(at, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return PP_OK;
}

bool pp_socket_is_exact(const char *host)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found;

    if (is_localhost(host))
        return true;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    freeaddrinfo(found);
    return true;
}

static socklen_t length_of(const struct sockaddr_storage *at)
{
    return at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool pp_socket_is_loopback(const struct sockaddr_storage *at)
{
    if (at->ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == LOOPBACK_NET;
}

void pp_socket_set_port(struct sockaddr_storage *at, int port)
{
    if (at->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)at)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)at)->sin_port = htons((uint16_t)port);
}

int pp_socket_port_in(const struct sockaddr_storage *at)
{
    return ntohs(at->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)at)->sin6_port
                                           : ((const struct sockaddr_in *)at)->sin_port);
}

void pp_socket_name(const struct sockaddr_storage *at, char name[static PP_ADDRESS_BYTES])
{
    if (getnameinfo((const struct sockaddr *)at, length_of(at), name, PP_ADDRESS_BYTES, NULL, 0,
                    NI_NUMERICHOST) != 0)
        snprintf(name, PP_ADDRESS_BYTES, "an unknown host");
}

/* ---- listening and calling ------------------------------------------------------------------- */

static int close_failed(int fd)
{
    const int reason = errno;

    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

static int listen_at(const struct sockaddr_storage *at)
{
    const int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (fd >= 0 && bind(fd, (const struct sockaddr *)at, length_of(at)) == 0 &&
        listen(fd, SOMAXCONN) == 0)
        return fd;
    return close_failed(fd);
}

int pp_socket_listen(const struct sockaddr_storage *at, bool is_any)
{
    struct sockaddr_storage any = {.ss_family = at->ss_family};
    const int fd = is_any ? -1 : listen_at(at);

    if (fd >= 0 || (!is_any && errno != EADDRNOTAVAIL))
        return fd;
    pp_socket_set_port(&any, pp_socket_port_in(at));
    return listen_at(&any);
}

int pp_socket_call(const struct sockaddr_storage *at, int patience_s)
{
    const struct timespec pause = {0, RETRY_NS};
    const double until_s = pp_clock_s() + patience_s;

    for (;;) {
        const int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        pp_socket_patience(fd, 1 + (int)(until_s - pp_clock_s())); /* if no process answers */
        if (fd >= 0 && connect(fd, (const struct sockaddr *)at, length_of(at)) == 0) {
            pp_socket_patience(fd, 0);
            return fd;
        }
        close_failed(fd);
        if (fd < 0 || pp_clock_s() >= until_s)
            return -1;
        nanosleep(&pause, NULL);
    }
}

bool pp_socket_own(int fd, struct sockaddr_storage *at)
{
    socklen_t length = sizeof(*at);

    return getsockname(fd, (struct sockaddr *)at, &length) == 0;
}

bool pp_socket_peer(int fd, struct sockaddr_storage *at)
{
    socklen_t length = sizeof(*at);

    return getpeername(fd, (struct sockaddr *)at, &length) == 0;
}

int pp_socket_port(int fd)
{
    struct sockaddr_storage at;

    return pp_socket_own(fd, &at) ? pp_socket_port_in(&at) : -1;
}

/* ---- records --------------------------------------------------------------------------------- */

void pp_socket_patience(int fd, int patience_s)
{
    const struct timeval patience = {.tv_sec = patience_s};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* A silent peer is probed several times; sent data must be acknowledged within the same time. */
void pp_socket_tune(int fd)
{
    enum { ASKED = 4, PAUSE_S = 10 };
    static const struct {
        int level, name, value;
    } OPTIONS[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, PP_SILENCE_S - ASKED * PAUSE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, PAUSE_S},
        {IPPROTO_TCP, TCP_KEEPCNT, ASKED},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, PP_SILENCE_S * 1000},
    };

    for (size_t i = 0; i < PP_COUNT(OPTIONS); i++)
        setsockopt(fd, OPTIONS[i].level, OPTIONS[i].name, &OPTIONS[i].value, sizeof(int));
}

bool pp_socket_read(int fd, void *data, size_t bytes)
{
    return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

bool pp_socket_write(int fd, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t count = send(fd, (const char *)data + at, bytes - at, MSG_NOSIGNAL);

        if (count <= 0)
            return false;
        at += (size_t)count;
    }
    return true;
}
