/* tests/cuda/nccl/meet.cc — how the ranks of a communicator find each other.
 *
 * A unique id is the address of a listening thread in the process that made it. Every rank connects
 * there, and sends its rank and its own address. It receives the addresses of all other ranks, or
 * the reason why there is no communicator. Then each connects to those of lower rank, once for each
 * role. */
#include "tests/cuda/nccl/stub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <unistd.h>

struct caller {
    int32_t rank, ranks;
    char bus[16];  /* of the device */
    char host[64]; /* NCCL_HOSTID, or the name of the host */
    struct place at;
};
struct verdict {
    int32_t result;
    char text[160];
};
struct meeting {
    std::vector<struct wire> wires; /* [rank] */
    std::vector<struct caller> callers;
};

static_assert(sizeof(struct place) <= sizeof(ncclUniqueId), "an id is a place");

static bool never(void)
{
    return false;
}

/* ---- the place ------------------------------------------------------------------------------- */

static bool is_shared(const struct caller &a, const struct caller &b)
{
    return strcmp(a.bus, b.bus) == 0 && strcmp(a.host, b.host) == 0;
}

static struct verdict judge(const struct meeting &m)
{
    struct verdict v = {ncclSuccess, ""};

    for (size_t a = 0; a < m.callers.size(); a++)
        for (size_t b = 0; b < a; b++)
            if (is_shared(m.callers[a], m.callers[b])) {
                v.result = ncclInvalidUsage;
                snprintf(v.text, sizeof v.text,
                         "Duplicate GPU detected : rank %zu and rank %zu both on CUDA device %s", b,
                         a, m.callers[a].bus);
            }
    return v;
}

/* False: the caller is gone, or comes to another meeting. */
static bool welcome(const struct wire &listener, struct meeting *m)
{
    struct wire wire = wire_answer(listener, never);
    struct caller c;

    if (!wire_read(wire, &c, sizeof c, never))
        return false;
    if (m->callers.empty()) {
        m->callers.resize((size_t)c.ranks);
        m->wires.resize((size_t)c.ranks);
    }
    if (c.ranks != (int32_t)m->callers.size() || m->wires[(size_t)c.rank].fd >= 0)
        return false;
    m->callers[(size_t)c.rank] = c;
    m->wires[(size_t)c.rank] = std::move(wire);
    return true;
}

static void tell(const struct meeting &m, const struct verdict &v)
{
    for (const struct wire &wire : m.wires) {
        wire_write(wire, &v, sizeof v, never);
        if (v.result == ncclSuccess)
            wire_write(wire, m.callers.data(), m.callers.size() * sizeof(struct caller), never);
    }
}

/* Connections that are closed without a verdict tell that there is none. */
static void hold_meeting(struct wire listener)
{
    struct meeting m;
    size_t present = 0;

    do {
        if (!welcome(listener, &m))
            return;
    } while (++present < m.callers.size());
    tell(m, judge(m));
}

/* Of the process from its first call on, however its environment changes then. */
static const std::string &host_id(void)
{
    static const std::string id = [] {
        char name[64] = "";
        const char *given = getenv("NCCL_HOSTID");
        gethostname(name, sizeof name - 1);
        return std::string(given ? given : name);
    }();
    return id;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    const ncclResult_t called = stub_called();
    struct place at = {};

    host_id();
    if (called != ncclSuccess)
        return called;
    std::thread(hold_meeting, wire_listen(&at, 64)).detach();
    memset(id, 0, sizeof *id);
    memcpy(id, &at, sizeof at);
    return ncclSuccess;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

static struct caller describe(const struct comm &comm)
{
    struct caller c = {comm.rank, comm.ranks, "", "", {}};

    cudaDeviceGetPCIBusId(c.bus, sizeof c.bus, comm.device);
    snprintf(c.host, sizeof c.host, "%s", host_id().c_str());
    return c;
}

/* What this rank is to do on a connection that is for `role` by the words of who called. */
static enum role mirrored(enum role role)
{
    static const enum role other[] = {ROLE_RECV, ROLE_SEND, ROLE_COLLECTIVE, ROLE_RING};
    return other[role];
}

static bool has_role(const struct comm &comm, int peer, int role)
{
    return role < ROLE_COLLECTIVE || comm.rank == 0 || peer == 0;
}

struct introduction {
    int32_t rank, role;
};

static bool call_peer(struct comm *comm, int peer, const struct place *at, const give_up &stop)
{
    for (int role = 0; role < ROLES; role++) {
        const struct introduction who = {comm->rank, role};
        if (!has_role(*comm, peer, role))
            continue;
        struct wire wire = wire_call(at);
        if (wire.fd < 0 || !wire_write(wire, &who, sizeof who, stop))
            return false;
        comm->peers[(size_t)peer][(size_t)role].wire = std::move(wire);
    }
    return true;
}

static bool answer_peers(struct comm *comm, const struct wire &listener, const give_up &stop)
{
    int calls = 0;

    for (int peer = comm->rank + 1; peer < comm->ranks; peer++)
        for (int role = 0; role < ROLES; role++)
            calls += has_role(*comm, peer, role);
    for (; calls > 0; calls--) {
        struct wire wire = wire_answer(listener, stop);
        struct introduction who;
        if (!wire_read(wire, &who, sizeof who, stop))
            return false;
        comm->peers[(size_t)who.rank][mirrored((enum role)who.role)].wire = std::move(wire);
    }
    return true;
}

static ncclResult_t ask(const comm_ref &comm, const ncclUniqueId &id, const struct caller &self,
                        std::vector<struct caller> *all, const give_up &stop)
{
    struct place place;
    struct verdict v;

    memcpy(&place, &id, sizeof place);
    const struct wire wire = wire_call(&place);
    if (wire.fd < 0 || !wire_write(wire, &self, sizeof self, stop) ||
        !wire_read(wire, &v, sizeof v, stop))
        return comm->fail(ncclSystemError, "no process answers at the place of the unique id");
    if (v.result != ncclSuccess)
        return comm->fail((ncclResult_t)v.result, "%s", v.text);
    all->resize((size_t)comm->ranks);
    return wire_read(wire, all->data(), all->size() * sizeof self, stop)
               ? ncclSuccess
               : comm->fail(ncclSystemError, "the place of the unique id is gone");
}

ncclResult_t stub_meet(const comm_ref &comm, const ncclUniqueId &id)
{
    const give_up stop = [&] { return comm->is_aborted.load(); };
    std::vector<struct caller> all;
    struct caller self = describe(*comm);
    const struct wire listener = wire_listen(&self.at, ROLES * comm->ranks);

    comm->peers.resize((size_t)comm->ranks);
    const ncclResult_t asked = ask(comm, id, self, &all, stop);
    if (asked != ncclSuccess)
        return asked;
    for (int peer = 0; peer < comm->rank; peer++)
        if (!call_peer(comm.get(), peer, &all[(size_t)peer].at, stop))
            return comm->fail(ncclRemoteError, "rank %d is gone", peer);
    if (!answer_peers(comm.get(), listener, stop))
        return comm->fail(ncclRemoteError, "a rank is gone");
    return ncclSuccess;
}
