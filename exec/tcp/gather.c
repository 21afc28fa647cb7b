/* Gathers what all processes have found, through process 0, before their threads start. */
#include "exec/rendezvous/sockets.h"
#include "exec/tcp/tcp.h"

#include <string.h>

enum { PATIENCE_S = 60 };

static enum pp_status gone(const struct pp_tcp *t, int process, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "process %d at %s has gone before all had begun", process,
                        t->names[process]);
}

static enum pp_status collect(struct pp_tcp *t, size_t bytes, char *all, struct pp_error *err)
{
    for (int process = 1; process < t->processes; process++)
        if (!pp_socket_read(t->links[process].fd, all + (size_t)process * bytes, bytes))
            return gone(t, process, err);
    for (int process = 1; process < t->processes; process++)
        if (!pp_socket_write(t->links[process].fd, all, (size_t)t->processes * bytes))
            return gone(t, process, err);
    return PP_OK;
}

static void set_patience(const struct pp_tcp *t, int patience_s)
{
    for (int process = 0; process < t->processes; process++)
        if (t->links[process].fd >= 0)
            pp_socket_patience(t->links[process].fd, patience_s);
}

enum pp_status pp_tcp_gather(struct pp_tcp *t, const void *own, size_t bytes, char *all,
                             struct pp_error *err)
{
    enum pp_status status = PP_OK;

    set_patience(t, PATIENCE_S);
    memcpy(all + (size_t)t->process * bytes, own, bytes);
    if (t->process == 0)
        status = collect(t, bytes, all, err);
    else if (!pp_socket_write(t->links[0].fd, own, bytes) ||
             !pp_socket_read(t->links[0].fd, all, (size_t)t->processes * bytes))
        status = gone(t, 0, err);
    set_patience(t, 0);
    return status;
}
