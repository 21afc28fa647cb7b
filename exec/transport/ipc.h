/* exec/transport/ipc.h — what a process knows of its part in messages and sums over memory that
 * processes map: private to the files ipc*.c. */
#pragma once

#include "exec/backend/ipc.h"
#include "exec/transport/tcp.h"

/* Flags of a channel of a replica: bytes are there, for the receiver; bytes are taken, for the
 * sender. Each flag is in the memory of the process that waits for it. */
enum { IPC_THERE, IPC_TAKEN, IPC_CHANNEL_FLAGS };

struct ipc_channel {
    int peer;      /* the other process */
    int flag;      /* the first of its flags, in every process */
    uint32_t uses; /* messages that have been issued here */
    bool is_send;  /* else this process receives */
    bool is_here;  /* it does either */
};
struct ipc_message {
    struct pp_machine *m;
    const struct pp_machine_message *message;
    struct ipc_channel *channel;
    const void *from; /* of a receiver: what the sender has, as seen here */
};
/* The process with the first copy owns the sum and adds all copies up. Flags: one for each member
 * at the owner (it has come), and `flag` itself at the others (the sum is there). */
struct ipc_sum {
    struct pp_machine *m;
    const struct pp_machine_collective *collective;
    struct pp_sum all; /* of the owner: all copies, as seen here */
    int owner;         /* process */
    int own;           /* this process among the members; -1: none of them */
    int flag;
    uint32_t uses;
};

struct pp_ipc_run {
    const struct pp_ipc_calls *calls;
    struct pp_ipc *ipc; /* NULL: nothing is shown */
    bool has_left;
    struct ipc_channel *channels; /* [channel of a replica] */
    struct ipc_message *messages; /* [message * replicas + replica], of this process */
    struct ipc_sum *sums;         /* [collective] */
    int flag_count;
    bool *is_peer; /* [process] something goes to it, or comes from it */
    void **blocks; /* [process] as seen here; NULL: not mapped */
};

/* NULL before all processes have met. */
static inline struct pp_ipc_run *ipc_of(const struct pp_machine *m)
{
    return pp_tcp_above(m);
}
