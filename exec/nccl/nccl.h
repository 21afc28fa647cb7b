/* exec/nccl/nccl.h — messages and sums by NCCL, between processes that have or share GPUs.
 *
 * Each channel of a program (source, destination, pipeline, kind) has a communicator with two
 * members, and so has each group of processes that sum. So operations of one communicator never
 * wait for those of another, in any order of streams. All communicators are made and used once
 * before any step. The first use connects two processes and blocks their hosts until both have
 * reached it. First uses in the order of a schedule could therefore deadlock.
 *
 * Operations are issued to streams of CUDA and are over when their stream has passed them. A
 * message is rendezvous: a send is not over before its receive has begun. Communicators are
 * blocking: others make NCCL start a thread for each operation. NCCL has no time limit. So calls
 * that wait for other processes run in a thread, and an abort ends them.
 *
 * Streams are `cudaStream_t`, buffers are device memory. The library is opened on demand. The
 * caller exchanges the ids of communicators between processes. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PP_NCCL_ID_BYTES = 128,
    PP_NCCL_SWAP_MEMBERS = 256,                       /* of a group that swaps, at most */
    PP_NCCL_SCRATCH_BYTES = 8 + PP_NCCL_SWAP_MEMBERS, /* on the device, for first uses */
    PP_NCCL_CHANNEL_CTAS = 2, /* multiprocessors of a channel at most; the rest computes */
};

struct pp_nccl;
struct pp_nccl_library;

/* Processes of a communicator: the source and the destination of a channel, or at least two that
 * sum, ascending. */
struct pp_nccl_group {
    const char *name; /* for messages: "0>1 F0", "stage 2" */
    const int *members;
    int count;
    bool has_swaps;
};
struct pp_nccl_id {
    int owner; /* process that makes it */
    unsigned char bytes[PP_NCCL_ID_BYTES];
};

/* Channels and groups, the same in all processes but for `process`. Kept by reference. */
struct pp_nccl_plan {
    int process, processes;
    const struct pp_nccl_group *groups; /* channels, then groups that sum */
    int channel_count, group_count;
    double timeout_s; /* limit of any wait for another process */
    /* Exchanges ids: in, own ones; out, all. All processes call it once. PP_EFAIL: one is gone. */
    enum pp_status (*spread)(void *closure, struct pp_nccl_id *ids, int count,
                             struct pp_error *err);
    void *closure;
};

/* GPU of a process: its host, as it was booted, and address on the bus. Both are the same for all
 * processes, whatever GPUs and numbers they see. */
struct pp_nccl_place {
    char host[64], gpu[32];
};
void pp_nccl_find_host(struct pp_nccl_place *place);
/* Sets the environment of this process for NCCL if any two processes share a GPU. Call it before
 * the first call of NCCL. Set variables stay, except the name of the host. `places` of all. */
void pp_nccl_prepare(const struct pp_nccl_place *places, int count, int process);
/* Sets it for a shared GPU; is_one_host: all processes are on one host. */
void pp_nccl_share_device(int process, bool is_one_host);

/* Makes NCCL connect each communicator fully when it is made, unless the environment forbids it. */
void pp_nccl_connect_early(void);

/* Opens the file in PIPEEXEC_NCCL_LIBRARY, else libnccl.so.2, and leaves it open. PP_EFAIL: it is
 * missing, too old, or no NCCL. */
enum pp_status pp_nccl_load(struct pp_arena *arena, const struct pp_nccl_library **library,
                            struct pp_error *err);

/* Loads the library, makes all communicators on the current device, uses each once on `stream`, and
 * waits until that is over. PP_EFAIL names the failed communicator; nothing is left then. */
enum pp_status pp_nccl_open(struct pp_arena *arena, const struct pp_nccl_plan *plan, void *stream,
                            void *scratch, struct pp_nccl **nccl, struct pp_error *err);
/* Closes communicators in all processes, after all operations. PP_EFAIL if one does not: abort. */
enum pp_status pp_nccl_close(struct pp_nccl *nccl, struct pp_error *err);

enum pp_nccl_kind {
    PP_NCCL_SEND, /* on a channel */
    PP_NCCL_RECV,
    PP_NCCL_SUM,       /* of a group, for all members */
    PP_NCCL_REDUCE,    /* each piece for its root; undefined at other members */
    PP_NCCL_BROADCAST, /* each piece from its root */
    PP_NCCL_GATHER,    /* of a group: `from` of all members, one after the other, to `at` */
    PP_NCCL_SCATTER,   /* the sum of `from` [members][count]; `at` is this member's share */
    PP_NCCL_SWAP,      /* each piece with its root: `from` goes there, and `at` comes from there */
    PP_NCCL_KINDS
};
enum pp_nccl_type { PP_NCCL_BYTES, PP_NCCL_INT64, PP_NCCL_FLOAT, PP_NCCL_BF16 };
struct pp_nccl_piece {
    void *at;
    size_t count;     /* elements; GATHER and SCATTER: of a member */
    int root;         /* index of the member; SWAP: of another one */
    const void *from; /* SUM, GATHER, SCATTER, SWAP; NULL: SUM in place */
};
struct pp_nccl_operation {
    enum pp_nccl_kind kind;
    int on; /* index of the channel, or of the group that sums */
    enum pp_nccl_type type;
    const struct pp_nccl_piece *pieces; /* disjoint; several of REDUCE, BROADCAST and SWAP only */
    int count;
};
/* Issues an operation into the stream, in place but for `from`; from any thread, one at a time per
 * communicator. NCCL orders additions: only int64 is exact. PP_EFAIL: refused, a process is gone,
 * or aborted. */
enum pp_status pp_nccl_issue(struct pp_nccl *nccl, const struct pp_nccl_operation *operation,
                             void *stream, struct pp_error *err);

/* PP_EFAIL names the first failed communicator and its processes. Never waits: PP_OK during another
 * call, which its limit of time or an abort ends. */
enum pp_status pp_nccl_check(struct pp_nccl *nccl, struct pp_error *err);
/* Waits for a stream while checking. PP_EFAIL also after timeout_s, with its last communicators. */
enum pp_status pp_nccl_finish(struct pp_nccl *nccl, void *stream, struct pp_error *err);
/* Callable from any thread. Ends all operations; their buffers are undefined. Waiting calls and all
 * later ones return PP_EFAIL; a second abort does nothing. */
void pp_nccl_abort(struct pp_nccl *nccl);

/* These calls as the CUDA module offers them, for a device of its backend and the work there. */
struct pp_backend_device;
struct pp_nccl_calls {
    /* Checks driver, GPU and library. PP_EFAIL says what is missing. */
    enum pp_status (*check)(struct pp_error *err);
    /* Place of this process. */
    enum pp_status (*place)(struct pp_backend_device *device, struct pp_nccl_place *place,
                            struct pp_error *err);
    /* Opens the plan, kept by reference, on a device that outlives it. Errors: pp_nccl_open(). */
    enum pp_status (*open)(struct pp_arena *arena, struct pp_backend_device *device,
                           const struct pp_nccl_plan *plan, const struct pp_nccl_place *places,
                           struct pp_nccl **nccl, struct pp_error *err);
    /* Called by running work, on its `stream`: see pp_nccl_issue(). */
    enum pp_status (*issue)(struct pp_nccl *nccl, const struct pp_nccl_operation *operation,
                            void *stream, struct pp_error *err);
    enum pp_status (*look)(struct pp_nccl *nccl, struct pp_error *err); /* pp_nccl_check() */
    enum pp_status (*close)(struct pp_nccl *nccl, struct pp_error *err);
    void (*give_up)(struct pp_nccl *nccl); /* pp_nccl_abort() */
    /* Before any work: multiplications then leave so many multiprocessors free. */
    void (*leave_free)(struct pp_backend_device *device, int multiprocessors);
};
extern const struct pp_nccl_calls pp_cuda_nccl_calls; /* in the module */
