/* exec/backend/ipc.h — GPU memory that processes of one host map into each other (CUDA IPC), as the
 * CUDA module offers it. No types of CUDA, for builds without it.
 *
 * A process shows the block of its worker, and flags: words on its own GPU that others write and
 * for which its streams wait. Both are operations of a stream, so no host and no multiprocessor
 * waits. A flag grows by one for each wait, so no wait ends by a write of an earlier step. */
#pragma once

#include "exec/backend/backend.h"

enum { PP_IPC_HANDLE_BYTES = 64 };

struct pp_ipc;
struct pp_ipc_handle {
    unsigned char bytes[PP_IPC_HANDLE_BYTES];
};
/* Handles that a process shows to others. */
struct pp_ipc_card {
    struct pp_ipc_handle block, flags;
};

struct pp_ipc_calls {
    /* Called first: checks driver and GPU. PP_EFAIL says what is missing. */
    enum pp_status (*check)(struct pp_error *err);
    /* True if each of the first GPUs reaches the memory of all others. */
    bool (*do_reach)(int gpus);
    /* Shows `block`, from alloc with options.is_mapped, and `flags` flags, all zero, to at most
     * `peers` processes. Lives in the arena, with the device. */
    enum pp_status (*show)(struct pp_arena *arena, struct pp_backend_device *device, void *block,
                           int flags, int peers, struct pp_ipc **ipc, struct pp_ipc_card *card,
                           struct pp_error *err);
    /* Maps what a peer on this host shows; *block is its block, as mapped here. */
    enum pp_status (*map)(struct pp_ipc *ipc, int peer, const struct pp_ipc_card *card,
                          void **block, struct pp_error *err);
    /* Called by running work, on its `stream`. The call tell writes a flag of a peer, after all
     * earlier work of the stream is visible to all processes. The call await blocks the stream
     * until an own flag has reached `value`. PP_EFAIL if refused or given up. */
    enum pp_status (*tell)(struct pp_ipc *ipc, int peer, int flag, uint32_t value, void *stream,
                           struct pp_error *err);
    enum pp_status (*await)(struct pp_ipc *ipc, int flag, uint32_t value, void *stream,
                            struct pp_error *err);
    /* Unmaps all, with no work under way. Shown memory may be freed only after all have done so. */
    enum pp_status (*unmap)(struct pp_ipc *ipc, struct pp_error *err);
    /* Callable from any thread. Ends all waits; their buffers are undefined, and nothing can be
     * issued any more. Shown memory stays until the process ends, as others may have mapped it. */
    void (*give_up)(struct pp_ipc *ipc);
};
extern const struct pp_ipc_calls pp_cuda_ipc_calls; /* in the module */
