/* exec/transport/ipc.h — memory that processes map into each other: channels, sums and groups.
 * Private to ipc*.c. */
#pragma once

#include "exec/transport/gpu.h"

/* Flags of a channel of a replica: bytes are there, for the receiver; bytes are taken, for the
 * sender. Each flag is in the memory of the process that waits for it. */
enum { IPC_THERE, IPC_TAKEN, IPC_CHANNEL_FLAGS };

struct ipc_channel {
    int peer;      /* the other process */
    int flag;      /* its first flag, in every process */
    uint32_t uses; /* messages issued here */
    bool is_send;  /* else this process receives, if it is an end */
};
/* Sum of an owner, the process with the first copy, which adds up all copies. Flags: one per member
 * at the owner (it has come), and `flag` at the others (the sum is there). */
struct ipc_sum {
    struct pp_sum all; /* at the owner: all copies, as mapped here */
    int owner;         /* its process */
    int own;           /* this process's member; -1: none */
    int flag;
    uint32_t uses;
};

/* Meetings of a group use sets of flags in turn, so that the 32 bits of a flag last for 2^38
 * meetings. A set has a flag for each member, at each of the others. */
enum { PP_IPC_SETS = 64 };

/* Its part in a run. */
struct pp_ipc_run {
    struct pp_ipc *ipc; /* NULL: not shown */
    bool has_left;
    struct ipc_channel *channels; /* [channel of a replica] */
    struct ipc_sum *sums;         /* [collective] */
    int group_flag;               /* first flag of meetings of the group */
    uint64_t group_meetings;      /* so far */
    int flag_count;
    bool *is_peer; /* [process] shares messages, sums or exchanges with this one */
    void **blocks; /* [process] as mapped here; NULL: not mapped */
};

static inline int pp_ipc_own(const struct pp_machine *m)
{
    return m->options.meeting.index;
}

/* ipc.c: address here of `at` in a worker's block. Every process has all blocks, in the same
 * layout. */
char *pp_ipc_seen(const struct pp_machine *m, const struct pp_ipc_run *run, int worker, void *at);
/* Write a flag of a peer, and wait for an own one, as operations of the stream. PP_EFAIL if refused
 * or given up. */
enum pp_status pp_ipc_tell(const struct pp_machine *m, int peer, int flag, uint32_t value,
                           void *stream, struct pp_error *err);
enum pp_status pp_ipc_await(const struct pp_machine *m, int flag, uint32_t value, void *stream,
                            struct pp_error *err);
