/* tests/cuda/nccl/stub_case.h — for tests of NCCL's stub by its own calls. */
#ifndef PP_TESTS_CUDA_NCCL_STUB_CASE_H
#define PP_TESTS_CUDA_NCCL_STUB_CASE_H

#include "tests/exec/nccl_rig.h"

enum { COUNT = 1000 };

#define must_be(result, call)                                                                      \
    do {                                                                                           \
        const ncclResult_t result_ = (call);                                                       \
        rig_must(result_ == (result), "%s (%s)", ncclGetErrorString(result_),                      \
                 ncclGetLastError(NULL));                                                          \
    } while (0)

static inline ncclResult_t state_of(ncclComm_t comm)
{
    ncclResult_t state;

    must_be(ncclSuccess, ncclCommGetAsyncError(comm, &state));
    return state;
}

/* For so long, or until it is not busy any more. */
static inline ncclResult_t settled(ncclComm_t comm, int patience_ms)
{
    for (; patience_ms > 0 && state_of(comm) == ncclInProgress; patience_ms--)
        usleep(1000);
    return state_of(comm);
}

/* Of all processes; ids are those of process 0. */
static inline void make(struct rig *r, ncclComm_t *comms, int count, int is_blocking)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;

    config.blocking = is_blocking;
    pp_nccl_share_device(r->plan.process, true);
    for (int i = 0; i < count && r->plan.process == 0; i++) {
        must_be(ncclSuccess, ncclGetUniqueId(&id));
        memcpy(r->board->ids[i].bytes, &id, sizeof id);
    }
    rig_meet(r, 1);
    must_be(ncclSuccess, ncclGroupStart());
    for (int i = 0; i < count; i++) {
        memcpy(&id, r->board->ids[i].bytes, sizeof id);
        must_be(ncclSuccess,
                ncclCommInitRankConfig(&comms[i], r->plan.processes, id, r->plan.process, &config));
    }
    must_be(is_blocking ? ncclSuccess : ncclInProgress, ncclGroupEnd());
    for (int i = 0; i < count; i++)
        rig_must(settled(comms[i], 20000) == ncclSuccess, "%s", ncclGetLastError(comms[i]));
}

/* One message from process 0 to process 1. */
static inline ncclResult_t pass(const struct rig *r, ncclComm_t comm, void *memory,
                                cudaStream_t stream)
{
    return r->plan.process == 0 ? ncclSend(memory, COUNT, ncclUint8, 1, comm, stream)
                                : ncclRecv(memory, COUNT, ncclUint8, 0, comm, stream);
}

#endif
