/* exec/nccl/nccl.h — messages and sums between processes that have a GPU each, or share one, by
 * NCCL.
 *
 * Each channel of a program (source, destination, pipeline, kind) has a communicator with two
 * members, and so has each group of processes that sum. So operations of one communicator never
 * wait for those of another, in any order of streams. All communicators are made and used once
 * before any step. The first use connects two processes and holds up their hosts until both have
 * reached it. First uses in the order of a schedule could therefore wait for each other for ever.
 *
 * Operations are issued to streams of CUDA and are over when their stream has passed them. A
 * message is rendezvous: a send is not over before its receive has begun. Communicators are
 * nonblocking, so an operation that hangs is seen and can be aborted; NCCL itself has no time
 * limit.
 *
 * Streams are `cudaStream_t`, buffers memory of the device. The library is opened when it is
 * needed; how the ids of communicators get from one process to another is the caller's business. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PP_NCCL_ID_BYTES = 128,
    PP_NCCL_SCRATCH_BYTES = 16, /* of a device, for the first uses */
};

struct pp_nccl;
struct pp_nccl_library;

/* Process `source` to process `dest`, one way. */
struct pp_nccl_channel {
    int source, dest, pipe;
    char kind; /* 'F' or 'B': forward, backward */
};
/* Processes that sum: at least two, ascending. */
struct pp_nccl_group {
    const char *name; /* for messages: "stage 2" */
    const int *members;
    int count;
};
struct pp_nccl_id {
    int owner; /* process that makes it */
    unsigned char bytes[PP_NCCL_ID_BYTES];
};

/* The same in all processes but for `process`; kept by reference. */
struct pp_nccl_plan {
    int process, processes;
    const struct pp_nccl_channel *channels;
    const struct pp_nccl_group *groups;
    int channel_count, group_count;
    double timeout_s; /* of whatever needs another process */
    /* Give each process the ids of all others: in, those that this one owns; out, all. Called once,
     * by all processes. PP_EFAIL when a process is gone. */
    enum pp_status (*spread)(void *closure, struct pp_nccl_id *ids, int count,
                             struct pp_error *err);
    void *closure;
};

/* Which GPU a process has: a machine as it was booted, an address on its bus. Whatever a process
 * sees of a host's GPUs, and by whatever number, that is the same for all. */
struct pp_nccl_place {
    char host[64], gpu[32];
};
void pp_nccl_find_host(struct pp_nccl_place *place);
/* Sets the environment of this process for NCCL if any two processes share a GPU. Call it before
 * the first call of NCCL. Variables that are set stay, except the name of the host. `places` of
 * all. */
void pp_nccl_prepare(const struct pp_nccl_place *places, int count, int process);
/* The same; is_one_host: all processes are on one host. */
void pp_nccl_share_device(int process, bool is_one_host);

/* NCCL is to connect all that a communicator may use when it is made, unless the environment says
 * otherwise. */
void pp_nccl_connect_early(void);

/* Open the file that the environment names (PIPEEXEC_NCCL_LIBRARY), else libnccl.so.2. PP_EFAIL: it
 * is missing, too old, or no NCCL. Stays open. */
enum pp_status pp_nccl_load(struct pp_arena *arena, const struct pp_nccl_library **library,
                            struct pp_error *err);

/* Make all communicators on the current device, use each once on `stream`, and wait until that is
 * over. PP_EFAIL says which communicator failed; nothing is left then. */
enum pp_status pp_nccl_open(struct pp_arena *arena, const struct pp_nccl_library *library,
                            const struct pp_nccl_plan *plan, void *stream, void *scratch,
                            struct pp_nccl **nccl, struct pp_error *err);
/* All is over that was issued; all processes close. PP_EFAIL when one does not: then abort. */
enum pp_status pp_nccl_close(struct pp_nccl *nccl, struct pp_error *err);

enum pp_nccl_kind {
    PP_NCCL_SEND, /* on a channel */
    PP_NCCL_RECV,
    PP_NCCL_SUM,       /* of a group, for all members */
    PP_NCCL_REDUCE,    /* each piece for its root; what others hold of it has no value then */
    PP_NCCL_BROADCAST, /* of each piece all have what its root has */
};
enum pp_nccl_type { PP_NCCL_BYTES, PP_NCCL_INT64, PP_NCCL_FLOAT };
struct pp_nccl_piece {
    void *at;
    size_t count; /* elements */
    int root;     /* a member's place in the group */
};
struct pp_nccl_operation {
    enum pp_nccl_kind kind;
    int on; /* number of the channel or group in the plan */
    enum pp_nccl_type type;
    const struct pp_nccl_piece *pieces; /* that do not overlap; one of the first three kinds */
    int count;
};
/* Issue an operation; on return it stands in the stream. Of any thread, of one communicator by one
 * thread at a time. It is in place, and additions have an order of NCCL's: exact for int64 alone.
 * PP_EFAIL: refused, a process is gone, or aborted. */
enum pp_status pp_nccl_issue(struct pp_nccl *nccl, const struct pp_nccl_operation *operation,
                             void *stream, struct pp_error *err);

/* PP_EFAIL names the first communicator that has failed, and its processes. Never waits: PP_OK
 * while another call is under way, which checks by itself. */
enum pp_status pp_nccl_check(struct pp_nccl *nccl, struct pp_error *err);
/* Wait for a stream while checking. PP_EFAIL as well when that takes longer than the plan allows:
 * names the communicators that were last used on it. */
enum pp_status pp_nccl_finish(struct pp_nccl *nccl, void *stream, struct pp_error *err);
/* End whatever is under way, of any thread: streams go on, with no matter what in their buffers.
 * Calls that wait return PP_EFAIL, and so does every one after; a second abort does nothing. */
void pp_nccl_abort(struct pp_nccl *nccl);

/* The same as the module with CUDA offers it: on a device of its backend, and on the streams that
 * work gets there. */
struct pp_backend_device;
struct pp_nccl_calls {
    /* Driver, GPU and library are there. PP_EFAIL says what is not. */
    enum pp_status (*check)(struct pp_error *err);
    /* Where this process is. */
    enum pp_status (*place)(struct pp_backend_device *device, struct pp_nccl_place *place,
                            struct pp_error *err);
    /* All communicators of the plan, on the device, which stays open for longer; the plan is kept
     * by reference. `places` of all processes. Errors: pp_nccl_open(). */
    enum pp_status (*open)(struct pp_arena *arena, struct pp_backend_device *device,
                           const struct pp_nccl_plan *plan, const struct pp_nccl_place *places,
                           struct pp_nccl **nccl, struct pp_error *err);
    /* By work under way, on its `stream`: see pp_nccl_issue(). */
    enum pp_status (*issue)(struct pp_nccl *nccl, const struct pp_nccl_operation *operation,
                            void *stream, struct pp_error *err);
    enum pp_status (*look)(struct pp_nccl *nccl, struct pp_error *err); /* pp_nccl_check() */
    enum pp_status (*close)(struct pp_nccl *nccl, struct pp_error *err);
    void (*give_up)(struct pp_nccl *nccl); /* pp_nccl_abort() */
};
extern const struct pp_nccl_calls pp_cuda_nccl_calls; /* in the module */
