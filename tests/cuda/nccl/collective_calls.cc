/* tests/cuda/nccl/collective_calls.cc — collectives by NCCL's names. */
#include "tests/cuda/nccl/stub.h"

static ncclResult_t issue(const char *name, const void *from, void *to, size_t count,
                          ncclDataType_t type, int root, ncclComm_t handle, cudaStream_t stream)
{
    return stub_issue(handle, [=](struct comm *comm) {
        return stub_collective(name, comm, from, to, count, type, root, stream);
    });
}

static ncclResult_t sum(const char *name, const void *from, void *to, size_t count,
                        ncclDataType_t type, ncclRedOp_t op, ncclComm_t handle, cudaStream_t stream,
                        int root = -1)
{
    if (op != ncclSum) {
        stub_say("%s: operation %d is not in the stub", name, (int)op);
        return stub_failed(ncclInvalidArgument);
    }
    return issue(name, from, to, count, type, root, handle, stream);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return sum("ncclAllReduce", from, to, count, type, op, comm, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return sum("ncclReduce", from, to, count, type, op, comm, stream, root);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    return issue("ncclBroadcast", from, to, count, type, root, comm, stream);
}
