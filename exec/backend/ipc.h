/* exec/backend/ipc.h — memory of GPUs that processes of one host map into each other (CUDA IPC), as
 * the module with CUDA offers it. No types of CUDA, for those who are built without.
 *
 * A process shows the block of its worker, and flags: words on its own GPU that others write and
 * for which its streams wait. Both are operations of a stream, so no host waits, and no kernel
 * holds a multiprocessor while it does. A flag only grows, by one for each time that it is waited
 * for: so nothing passes on what was written for an earlier step. */
#pragma once

#include "exec/backend/backend.h"

enum { PP_IPC_HANDLE_BYTES = 64 };

struct pp_ipc;
struct pp_ipc_handle {
    unsigned char bytes[PP_IPC_HANDLE_BYTES];
};
/* What a process shows to others. */
struct pp_ipc_card {
    struct pp_ipc_handle block, flags;
};

struct pp_ipc_calls {
    /* The first call: driver and GPU are there and can do it. PP_EFAIL says what is not. */
    enum pp_status (*check)(struct pp_error *err);
    /* Show `block`, which the device has given (options.is_mapped), and `flags` flags, all zero, to
     * at most `peers` processes. Lies in the arena, with the device. */
    enum pp_status (*show)(struct pp_arena *arena, struct pp_backend_device *device, void *block,
                           int flags, int peers, struct pp_ipc **ipc, struct pp_ipc_card *card,
                           struct pp_error *err);
    /* Map what a peer shows, which must be on this host; *block: its block, as seen here. */
    enum pp_status (*map)(struct pp_ipc *ipc, int peer, const struct pp_ipc_card *card,
                          void **block, struct pp_error *err);
    /* Called by running work, on its `stream`. The call tell writes a flag of a peer, after all
     * earlier work of the stream is visible to all processes. The call await blocks the stream
     * until an own flag has reached `value`. PP_EFAIL if refused or given up. */
    enum pp_status (*tell)(struct pp_ipc *ipc, int peer, int flag, uint32_t value, void *stream,
                           struct pp_error *err);
    enum pp_status (*await)(struct pp_ipc *ipc, int flag, uint32_t value, void *stream,
                            struct pp_error *err);
    /* No work is under way: nothing is mapped any more. A process may free what it has shown only
     * after all have done this. */
    enum pp_status (*unmap)(struct pp_ipc *ipc, struct pp_error *err);
    /* Of any thread: all that waits goes on, with no matter what in its buffers, and nothing can be
     * issued any more. What was shown ends with the process, as others may still have it mapped. */
    void (*give_up)(struct pp_ipc *ipc);
};
extern const struct pp_ipc_calls pp_cuda_ipc_calls; /* in the module */
