/* What every process knows of itself, told to all by way of node 0. */
#include "exec/rendezvous/sockets.h"
#include "exec/tcp/tcp.h"

#include <string.h>

enum { PATIENCE_S = 60 };

static enum pp_status gone(const struct pp_tcp *t, int node, struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL, "process %d at %s has gone before all had begun", node,
                        t->names[node]);
}

static enum pp_status collect(struct pp_tcp *t, size_t bytes, char *all, struct pp_error *err)
{
    for (int node = 1; node < t->nodes; node++)
        if (!pp_socket_read(t->links[node].fd, all + (size_t)node * bytes, bytes))
            return gone(t, node, err);
    for (int node = 1; node < t->nodes; node++)
        if (!pp_socket_write(t->links[node].fd, all, (size_t)t->nodes * bytes))
            return gone(t, node, err);
    return PP_OK;
}

enum pp_status pp_tcp_gather(struct pp_tcp *t, const void *own, size_t bytes, char *all,
                             struct pp_error *err)
{
    enum pp_status status = PP_OK;

    for (int node = 0; node < t->nodes; node++)
        if (t->links[node].fd >= 0)
            pp_socket_patience(t->links[node].fd, PATIENCE_S);
    memcpy(all + (size_t)t->node * bytes, own, bytes);
    if (t->node == 0)
        status = collect(t, bytes, all, err);
    else if (!pp_socket_write(t->links[0].fd, own, bytes) ||
             !pp_socket_read(t->links[0].fd, all, (size_t)t->nodes * bytes))
        status = gone(t, 0, err);
    for (int node = 0; node < t->nodes; node++)
        if (t->links[node].fd >= 0)
            pp_socket_patience(t->links[node].fd, 0);
    return status;
}
