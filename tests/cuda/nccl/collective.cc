/* tests/cuda/nccl/collective.cc — collectives. All ranks send their inputs to rank 0. Rank 0 adds
 * them in the order of ranks, and sends each rank its result. */
#include "tests/cuda/include/cuda_bf16.h"
#include "tests/cuda/nccl/stub.h"

#include <algorithm>
#include <string.h>

enum { SMALL_BYTES = 64 }; /* of a sum */

struct head {
    char name[16];
    int32_t type, root;
    uint64_t count;
};
typedef std::vector<char> bytes;

/* One on one rank. */
struct collective {
    struct comm *comm;
    const struct kind *kind;
    struct head head;
    char *to;
    std::vector<struct head> heads; /* [rank], rank 0 only */
    std::vector<bytes> given, due;  /* [rank], rank 0 only */
};
typedef std::shared_ptr<struct collective> collective_ref;

/* ---- what there is --------------------------------------------------------------------------- */

template <class T> static void add(char *sum, const char *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((T *)sum)[i] = (T)(((const T *)sum)[i] + ((const T *)more)[i]);
}

static const struct type {
    size_t bytes;
    void (*add)(char *sum, const char *more, size_t count);
} types[] = {
    /* [ncclDataType_t] */
    {}, {1, NULL}, {}, {}, {8, add<int64_t>}, {}, {}, {4, add<float>}, {}, {2, add<__nv_bfloat16>},
};

size_t stub_type_bytes(ncclDataType_t type)
{
    return (size_t)type < sizeof types / sizeof *types ? types[type].bytes : 0;
}

static bytes sum_of(const struct collective &c)
{
    const struct type *t = &types[c.head.type];
    bytes sum = c.given[0];

    for (size_t rank = 1; rank < c.given.size(); rank++)
        t->add(sum.data(), c.given[rank].data(), sum.size() / t->bytes);
    return sum;
}

static void share_sum(struct collective *c)
{
    c->due.assign(c->given.size(), sum_of(*c));
}

static void sum_at_root(struct collective *c)
{
    c->due.resize(c->given.size());
    c->due[(size_t)c->head.root] = sum_of(*c);
}

static void broadcast(struct collective *c)
{
    c->due.assign(c->given.size(), c->given[(size_t)c->head.root]);
}

static void gather(struct collective *c)
{
    bytes all;

    for (const bytes &given : c->given)
        all.insert(all.end(), given.begin(), given.end());
    c->due.assign(c->given.size(), all);
}

static void scatter(struct collective *c)
{
    const bytes sum = sum_of(*c);
    const size_t share = sum.size() / c->given.size();

    for (auto at = sum.begin(); at != sum.end(); at += (long)share)
        c->due.push_back(bytes(at, at + (long)share));
    c->due.resize(c->given.size());
}

/* Each rank gives and gets `count`, or only the root does; or it gives or gets `count` of each. */
struct kind {
    const char *name;
    bool is_sum, is_from_root, is_for_root, gives_to_each, gets_of_each;
    void (*combine)(struct collective *c);
};
static const struct kind ALL_REDUCE = {"ncclAllReduce", true,  false,    false,
                                       false,           false, share_sum};
static const struct kind REDUCE = {"ncclReduce", true, false, true, false, false, sum_at_root};
static const struct kind BROADCAST = {"ncclBroadcast", false, true, false, false, false, broadcast};
static const struct kind ALL_GATHER = {"ncclAllGather", false, false, false, false, true, gather};
static const struct kind REDUCE_SCATTER = {
    "ncclReduceScatter", true, false, false, true, false, scatter};

static size_t bytes_of(const struct collective &c)
{
    return (size_t)c.head.count * stub_type_bytes((ncclDataType_t)c.head.type);
}

static size_t given_bytes(const struct collective &c, int rank)
{
    const size_t shares = c.kind->gives_to_each ? (size_t)c.comm->ranks : 1;

    return c.kind->is_from_root && c.head.root != rank ? 0 : shares * bytes_of(c);
}

static size_t due_bytes(const struct collective &c, int rank)
{
    const size_t shares = c.kind->gets_of_each ? (size_t)c.comm->ranks : 1;

    return c.kind->is_for_root && c.head.root != rank ? 0 : shares * bytes_of(c);
}

/* ---- on rank 0 ------------------------------------------------------------------------------- */

static int fd_of(const struct comm *comm, int peer)
{
    return comm->peers[(size_t)peer][ROLE_COLLECTIVE].wire.fd;
}

static void check_heads(const struct collective &c)
{
    for (int rank = 1; rank < c.comm->ranks; rank++)
        if (memcmp(&c.heads[(size_t)rank], &c.head, sizeof c.head) != 0)
            pp_runtime_fail("NCCL: rank 0 of '%s' calls %s of %zu elements of type %d, rank %d %s "
                            "of %zu of type %d",
                            c.comm->name.c_str(), c.head.name, (size_t)c.head.count, c.head.type,
                            rank, c.heads[(size_t)rank].name, (size_t)c.heads[(size_t)rank].count,
                            c.heads[(size_t)rank].type);
}

static struct phase take_heads(const collective_ref &c)
{
    struct phase phase;

    c->heads.resize((size_t)c->comm->ranks);
    for (int rank = 1; rank < c->comm->ranks; rank++)
        phase.lanes.push_back(
            {{fd_of(c->comm, rank), false, (char *)&c->heads[(size_t)rank], sizeof c->head}});
    phase.next = [c] { check_heads(*c); };
    return phase;
}

/* What rank 0 gives itself is read when all others have given. */
static struct phase take_all(const collective_ref &c, const char *from)
{
    struct phase phase;

    c->given.resize((size_t)c->comm->ranks);
    for (int rank = 0; rank < c->comm->ranks; rank++)
        c->given[(size_t)rank].resize(given_bytes(*c, rank));
    for (int rank = 1; rank < c->comm->ranks; rank++) {
        bytes &to = c->given[(size_t)rank];
        phase.lanes.push_back({{fd_of(c->comm, rank), false, to.data(), to.size()}});
    }
    phase.next = [c, from] {
        std::copy_n(from, c->given[0].size(), c->given[0].begin());
        c->kind->combine(c.get());
        std::copy(c->due[0].begin(), c->due[0].end(), c->to);
    };
    return phase;
}

/* The bytes that are due exist once the phase before is over. */
static void hand_out(const collective_ref &c, struct operation *o)
{
    struct phase &last = o->phases.back();

    for (int rank = 1; rank < c->comm->ranks; rank++)
        last.lanes.push_back({{fd_of(c->comm, rank), true, c->due[(size_t)rank].data(),
                               c->due[(size_t)rank].size()}});
}

static void conduct(const collective_ref &c, const char *from, struct operation *o)
{
    struct phase take = take_all(c, from);
    const std::function<void()> combine = take.next;

    take.next = [=] {
        combine();
        hand_out(c, o);
    };
    o->phases.push_back(take_heads(c));
    o->phases.push_back(take);
    o->phases.push_back({{}, [c] {}});
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static void take_part(const collective_ref &c, const char *from, struct operation *o)
{
    const int fd = fd_of(c->comm, 0);

    o->phases.push_back({{{{fd, true, (char *)&c->head, sizeof c->head},
                           {fd, true, (char *)from, given_bytes(*c, c->comm->rank)},
                           {fd, false, c->to, due_bytes(*c, c->comm->rank)}}},
                         [c] {}});
}

static operation_ref make(const struct kind *kind, struct comm *comm, const void *from, void *to,
                          size_t count, ncclDataType_t type, int root, cudaStream_t stream)
{
    auto c = std::make_shared<struct collective>();

    if (stub_type_bytes(type) == 0 || (kind->is_sum && !types[type].add) || root >= comm->ranks ||
        root < 0) {
        stub_say("%s of %zu elements of type %d: not in the stub", kind->name, count, type);
        return nullptr;
    }
    c->comm = comm;
    c->kind = kind;
    strcpy(c->head.name, kind->name + strlen("nccl"));
    c->head.type = type;
    c->head.root = root;
    c->head.count = count;
    c->to = (char *)to;
    const size_t given = given_bytes(*c, comm->rank), due = due_bytes(*c, comm->rank);
    pp_need_device_memory(kind->name, from, given, comm->device);
    pp_need_device_memory(kind->name, to, due, comm->device);
    struct operation o = {ROLE_COLLECTIVE, -1, stream, {}, {}, false};
    o.uses.push_back({(const char *)from, given, false});
    o.uses.push_back({(const char *)to, due, true});
    o.has_ring = kind != &ALL_REDUCE || given > SMALL_BYTES;
    const operation_ref made = std::make_shared<struct operation>(std::move(o));
    if (comm->rank == 0)
        conduct(c, (const char *)from, made.get());
    else
        take_part(c, (const char *)from, made.get());
    return made;
}

/* ---- by NCCL's names ------------------------------------------------------------------------- */

static ncclResult_t issue(const struct kind *kind, const void *from, void *to, size_t count,
                          ncclDataType_t type, ncclRedOp_t op, int root, ncclComm_t handle,
                          cudaStream_t stream)
{
    if (op != ncclSum) {
        stub_say("%s: operation %d is not in the stub", kind->name, (int)op);
        return stub_failed(ncclInvalidArgument);
    }
    return stub_issue(handle, [=](struct comm *comm) {
        return make(kind, comm, from, to, count, type, root, stream);
    });
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return issue(&ALL_REDUCE, from, to, count, type, op, 0, comm, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    return issue(&REDUCE, from, to, count, type, op, root, comm, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    return issue(&BROADCAST, from, to, count, type, ncclSum, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    return issue(&ALL_GATHER, from, to, count, type, ncclSum, 0, comm, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return issue(&REDUCE_SCATTER, from, to, count, type, op, 0, comm, stream);
}
