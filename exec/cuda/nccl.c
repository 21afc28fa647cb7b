/* NCCL on the streams of the CUDA backend. */
#include "exec/nccl/nccl.h"
#include "exec/cuda/backend.h"

static enum pp_status nccl_check(struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_nccl_library *library;

    PP_TRY(pp_cuda_check(err));
    return pp_nccl_load(scratch, &library, err);
}

static enum pp_status nccl_place(struct pp_backend_device *d, struct pp_nccl_place *place,
                                 struct pp_error *err)
{
    *place = (struct pp_nccl_place){.host = ""};
    pp_nccl_find_host(place);
    return pp_cuda_try(cudaDeviceGetPCIBusId(place->gpu, sizeof place->gpu, d->gpu),
                       "ask where the GPU is", err);
}

static enum pp_status nccl_open(struct pp_arena *arena, struct pp_backend_device *d,
                                const struct pp_nccl_plan *plan, const struct pp_nccl_place *places,
                                struct pp_nccl **nccl, struct pp_error *err)
{
    void *scratch;

    pp_nccl_prepare(places, plan->processes, plan->process);
    pp_cuda_use(d);
    PP_TRY(pp_cuda_alloc(d, PP_NCCL_SCRATCH_BYTES, &scratch, err));
    return pp_nccl_open(arena, plan, d->copies, scratch, nccl, err);
}

static enum pp_status nccl_issue(struct pp_nccl *nccl, const struct pp_nccl_operation *operation,
                                 void *stream, struct pp_error *err)
{
    return pp_nccl_issue(nccl, operation, pp_cuda_work_stream(stream), err);
}

const struct pp_nccl_calls pp_cuda_nccl_calls = {
    .check = nccl_check,
    .place = nccl_place,
    .open = nccl_open,
    .issue = nccl_issue,
    .look = pp_nccl_check,
    .close = pp_nccl_close,
    .give_up = pp_nccl_abort,
    .leave_free = pp_cuda_leave_free,
};
