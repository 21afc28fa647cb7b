/* exec/nccl/calls.h — NCCL as the module with CUDA offers it: exec/nccl/nccl.h on a device of its
 * backend and on the streams that work gets there. No types of CUDA, for those who are built
 * without. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/nccl/nccl.h"

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
