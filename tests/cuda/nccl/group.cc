/* tests/cuda/nccl/group.cc — groups: nothing happens before their end, and then all at once. */
#include "tests/cuda/nccl/stub.h"

#include <algorithm>
#include <stdlib.h>
#include <string.h>
#include <thread>

struct birth {
    comm_ref comm;
    ncclUniqueId id;
};
struct use {
    comm_ref comm;
    std::vector<operation_ref> operations;
};
struct group {
    int depth = 0;
    ncclResult_t error = ncclSuccess; /* of a call within it */
    std::vector<struct birth> births;
    std::vector<struct use> uses;
    std::vector<ncclComm_t> deaths; /* aborted */
};
static thread_local struct group group;

/* ---- jobs ------------------------------------------------------------------------------------ */

static ncclResult_t first_error(const std::vector<comm_ref> &comms)
{
    for (const comm_ref &comm : comms)
        if (comm->error(NULL) != ncclSuccess)
            return comm->error(NULL);
    return ncclSuccess;
}

ncclResult_t stub_run(const std::vector<comm_ref> &comms, const std::function<void()> &job)
{
    const auto run = [=] {
        job();
        for (const comm_ref &comm : comms)
            comm->jobs--;
    };

    for (const comm_ref &comm : comms)
        comm->jobs++;
    if (comms[0]->is_blocking) {
        run();
        return first_error(comms);
    }
    std::thread(run).detach();
    return ncclInProgress;
}

static void make_all(const std::vector<struct birth> &births)
{
    std::vector<std::thread> threads;

    for (const struct birth &b : births)
        threads.emplace_back([&b] { stub_meet(b.comm, b.id); });
    for (std::thread &t : threads)
        t.join();
}

/* ---- first use ------------------------------------------------------------------------------- */

struct greeting {
    struct comm *comm;
    struct connection *connection;
};

static void note(struct comm *comm, struct connection *c, std::vector<struct greeting> *all)
{
    const bool is_noted =
        std::any_of(all->begin(), all->end(), [c](const auto &g) { return g.connection == c; });

    if (!c->is_greeted && !is_noted)
        all->push_back({comm, c});
}

static bool connects_late(void)
{
    static const char *const text = getenv("NCCL_RUNTIME_CONNECT");
    return !text || strcmp(text, "0") != 0;
}

static void note_all(const struct use &u, std::vector<struct greeting> *all)
{
    struct comm *comm = u.comm.get();

    for (const operation_ref &o : u.operations)
        if (o->peer >= 0)
            note(comm, &comm->peers[(size_t)o->peer][o->role], all);
        else
            for (auto &peer : comm->peers)
                for (int role = ROLE_COLLECTIVE;
                     role <= (o->has_ring && connects_late() ? ROLE_RING : ROLE_COLLECTIVE); role++)
                    if (peer[(size_t)role].wire.fd >= 0)
                        note(comm, &peer[(size_t)role], all);
}

/* Greet everybody, then wait until everybody has greeted. */
static bool connect_all(const std::vector<struct use> &uses)
{
    std::vector<struct greeting> all;
    char word = 'h';

    for (const struct use &u : uses)
        note_all(u, &all);
    for (const struct greeting &g : all)
        wire_write(g.connection->wire, &word, 1, [] { return false; });
    for (const struct greeting &g : all) {
        const give_up stop = [&g] { return g.comm->is_aborted.load(); };
        if (!wire_read(g.connection->wire, &word, 1, stop)) {
            g.comm->fail(ncclRemoteError, "no connection with a peer of rank %d", g.comm->rank);
            return false;
        }
        g.connection->is_greeted = true;
    }
    return true;
}

static void use_all(const std::vector<struct use> &uses)
{
    for (const struct use &u : uses)
        stub_check_memory(*u.comm, u.operations);
    if (!connect_all(uses))
        return;
    const cudaError_t error = pp_call([&](auto &) {
        for (const struct use &u : uses)
            stub_enqueue(u.comm, u.operations);
        return cudaSuccess;
    });
    if (error != cudaSuccess)
        for (const struct use &u : uses)
            u.comm->fail(ncclUnhandledCudaError, "%s", cudaGetErrorString(error));
}

/* ---- the end --------------------------------------------------------------------------------- */

static ncclResult_t refuse(const char *why)
{
    stub_say("%s", why);
    return ncclInvalidUsage;
}

static ncclResult_t launch(const struct group &g)
{
    std::vector<comm_ref> comms;

    for (ncclComm_t handle : g.deaths)
        stub_reclaim(handle);
    if (!g.births.empty() && !g.uses.empty())
        return refuse("a group makes communicators or uses them, never both");
    for (const struct birth &b : g.births)
        comms.push_back(b.comm);
    for (const struct use &u : g.uses)
        comms.push_back(u.comm);
    if (comms.empty())
        return ncclSuccess;
    for (const comm_ref &comm : comms)
        if (comm->is_blocking != comms[0]->is_blocking)
            return refuse("a group has communicators that are blocking and others that are not");
    return stub_run(comms, [g] {
        if (g.uses.empty())
            make_all(g.births);
        else
            use_all(g.uses);
    });
}

ncclResult_t ncclGroupStart(void)
{
    const ncclResult_t called = stub_called();

    if (called == ncclSuccess)
        group.depth++;
    return called;
}

ncclResult_t ncclGroupEnd(void)
{
    const ncclResult_t called = stub_called();

    if (group.depth == 0)
        return refuse("ncclGroupEnd: not in a group call");
    if (called != ncclSuccess)
        group.error = called;
    if (--group.depth > 0)
        return group.error;
    const struct group ended = std::exchange(group, {});
    return ended.error != ncclSuccess ? ended.error : launch(ended);
}

/* A group of its own where there is none. */
static ncclResult_t grouped(const std::function<void()> &add)
{
    add();
    return group.depth > 0 ? ncclSuccess : launch(std::exchange(group, {}));
}

ncclResult_t stub_make(const comm_ref &comm, const ncclUniqueId &id)
{
    return grouped([&] { group.births.push_back({comm, id}); });
}

ncclResult_t stub_bury(ncclComm_t handle)
{
    return grouped([&] { group.deaths.push_back(handle); });
}

static struct use *use_of(const comm_ref &comm)
{
    for (struct use &u : group.uses)
        if (u.comm == comm)
            return &u;
    group.uses.push_back({comm, {}});
    return &group.uses.back();
}

ncclResult_t stub_failed(ncclResult_t error)
{
    if (group.depth > 0)
        group.error = error;
    return error;
}

ncclResult_t stub_issue(ncclComm_t handle, const std::function<operation_ref(struct comm *)> &make)
{
    operation_ref o;
    comm_ref comm;
    const ncclResult_t found = stub_find(handle, &comm);

    if (found != ncclSuccess)
        return stub_failed(found);
    const cudaError_t error = pp_call([&](auto &) {
        o = make(comm.get());
        if (o)
            o->stream = pp_find_stream(o->stream);
        return o && !o->stream ? cudaErrorInvalidResourceHandle : cudaSuccess;
    });
    if (error != cudaSuccess || !o)
        return stub_failed(error != cudaSuccess ? ncclUnhandledCudaError : ncclInvalidArgument);
    return grouped([&] { use_of(comm)->operations.push_back(o); });
}
