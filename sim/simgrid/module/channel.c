/* Sends and receives bytes between the child and its parent. */
#include "sim/simgrid/module/probe.h"

#include <errno.h>
#include <sys/socket.h>

bool pp_probe_send(int channel, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        const ssize_t sent = send(channel, at, bytes, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

bool pp_probe_receive(int channel, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        const ssize_t got = recv(channel, at, bytes, MSG_WAITALL);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}
