/* tests/cuda/nccl/wire.cc — sockets with abstract addresses: visible on this machine only, without
 * files. */
#include "tests/cuda/nccl/stub.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <unistd.h>

enum { LOOK_UP_MS = 5 };

wire::~wire(void)
{
    if (fd >= 0)
        close(fd);
}

static struct wire open_socket(void)
{
    return wire(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

struct wire wire_listen(struct place *at, int callers)
{
    struct sockaddr_un address = {};
    socklen_t length = sizeof address;
    struct wire wire = open_socket();

    /* No name given: the kernel draws one. */
    address.sun_family = AF_UNIX;
    if (bind(wire.fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        listen(wire.fd, callers) != 0 ||
        getsockname(wire.fd, (struct sockaddr *)&address, &length) != 0)
        pp_runtime_fail("NCCL: no socket to listen on");
    at->bytes = (uint32_t)(length - offsetof(struct sockaddr_un, sun_path));
    memcpy(at->name, address.sun_path, at->bytes);
    return wire;
}

struct wire wire_call(const struct place *at)
{
    struct sockaddr_un address = {};
    struct wire wire = open_socket();

    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, at->name, at->bytes);
    const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + at->bytes);
    if (connect(wire.fd, (struct sockaddr *)&address, length) != 0)
        return {};
    return wire;
}

static bool await(int fd, short events, const give_up &is_given_up)
{
    while (fd >= 0 && !is_given_up()) {
        struct pollfd poll_of = {fd, events, 0};
        if (poll(&poll_of, 1, LOOK_UP_MS) > 0)
            return true;
    }
    return false;
}

struct wire wire_answer(const struct wire &listener, const give_up &is_given_up)
{
    if (!await(listener.fd, POLLIN, is_given_up))
        return {};
    return wire(accept4(listener.fd, NULL, NULL, SOCK_CLOEXEC));
}

ssize_t wire_move(int fd, void *data, size_t bytes, bool is_write)
{
    const ssize_t moved = is_write ? send(fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL)
                                   : recv(fd, data, bytes, MSG_DONTWAIT);

    if (moved < 0 && errno == EAGAIN)
        return 0;
    return moved > 0 ? moved : -1;
}

static bool move_all(int fd, char *data, size_t bytes, bool is_write, const give_up &is_given_up)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t moved = await(fd, is_write ? POLLOUT : POLLIN, is_given_up)
                                  ? wire_move(fd, data + done, bytes - done, is_write)
                                  : -1;
        if (moved < 0)
            return false;
        done += (size_t)moved;
    }
    return true;
}

bool wire_read(const struct wire &wire, void *data, size_t bytes, const give_up &is_given_up)
{
    return move_all(wire.fd, (char *)data, bytes, false, is_given_up);
}

bool wire_write(const struct wire &wire, const void *data, size_t bytes, const give_up &is_given_up)
{
    return move_all(wire.fd, (char *)data, bytes, true, is_given_up);
}
