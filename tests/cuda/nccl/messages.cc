/* tests/cuda/nccl/messages.cc — sends and receives: the receiver says how many bytes it takes, and
 * only then they come. */
#include "tests/cuda/nccl/stub.h"

#include <inttypes.h>

typedef std::shared_ptr<uint64_t> size_ref;

static operation_ref begin(struct comm *comm, enum role role, size_t count, ncclDataType_t type,
                           int peer, cudaStream_t stream)
{
    if (stub_type_bytes(type) == 0 || peer < 0 || peer >= comm->ranks || peer == comm->rank) {
        stub_say("a message of %zu elements of type %d between ranks %d and %d of %d", count, type,
                 comm->rank, peer, comm->ranks);
        return nullptr;
    }
    struct operation o = {role, peer, stream, {}, {}, false};
    return std::make_shared<struct operation>(std::move(o));
}

static int fd_of(const struct comm *comm, enum role role, int peer)
{
    return comm->peers[(size_t)peer][role].wire.fd;
}

static void check(const struct comm *comm, int peer, size_t sent, uint64_t taken)
{
    if (sent != taken)
        pp_runtime_fail("NCCL: rank %d of '%s' sends %zu bytes, rank %d receives %" PRIu64,
                        comm->rank, comm->name.c_str(), sent, peer, taken);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t handle, cudaStream_t stream)
{
    return stub_issue(handle, [=](struct comm *comm) {
        const operation_ref o = begin(comm, ROLE_SEND, count, type, peer, stream);
        const size_t bytes = count * stub_type_bytes(type);
        const size_ref taken = std::make_shared<uint64_t>();
        if (!o)
            return o;
        pp_need_device_memory("ncclSend", from, bytes, comm->device);
        o->uses.push_back({(const char *)from, bytes, false});
        const int fd = fd_of(comm, ROLE_SEND, peer);
        o->phases.push_back({{{{fd, false, (char *)taken.get(), sizeof *taken}}},
                             [=] { check(comm, peer, bytes, *taken); }});
        o->phases.push_back({{{{fd, true, (char *)from, bytes}}}, nullptr});
        return o;
    });
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer, ncclComm_t handle,
                      cudaStream_t stream)
{
    return stub_issue(handle, [=](struct comm *comm) {
        const operation_ref o = begin(comm, ROLE_RECV, count, type, peer, stream);
        const size_t bytes = count * stub_type_bytes(type);
        const size_ref taken = std::make_shared<uint64_t>(bytes);
        if (!o)
            return o;
        pp_need_device_memory("ncclRecv", to, bytes, comm->device);
        o->uses.push_back({(const char *)to, bytes, true});
        const int fd = fd_of(comm, ROLE_RECV, peer);
        o->phases.push_back(
            {{{{fd, true, (char *)taken.get(), sizeof *taken}, {fd, false, (char *)to, bytes}}},
             [taken] {}});
        return o;
    });
}
