/* tests/cuda/nccl/transfer.cc — operations on the device: what the operations of a group with one
 * communicator do, once all their streams have come to them. */
#include "tests/cuda/nccl/stub.h"

#include <algorithm>
#include <stdlib.h>
#include <string.h>

static std::atomic<int> works; /* that are not forgotten */

struct work {
    work(void)
    {
        works++;
    }
    ~work(void)
    {
        works--;
    }
    comm_ref comm;
    uint64_t number; /* within the communicator */
    std::vector<operation_ref> operations;
    std::vector<bool> has_come; /* [stream] */
    bool is_over = false;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

/* False: the other side is gone. */
static bool move(struct step *s)
{
    while (s->done < s->bytes) {
        const ssize_t moved = wire_move(s->fd, s->data + s->done, s->bytes - s->done, s->is_write);
        if (moved <= 0)
            return moved == 0;
        s->done += (size_t)moved;
    }
    return true;
}

static bool get_on(struct comm *comm, std::vector<struct step> *lane)
{
    while (!lane->empty()) {
        struct step &first = lane->front();
        if (!move(&first)) {
            comm->fail(ncclRemoteError, "the connection of rank %d with a peer is closed",
                       comm->rank);
            return false;
        }
        if (first.done < first.bytes)
            return true;
        lane->erase(lane->begin());
    }
    return true;
}

static void get_on(struct comm *comm, struct operation *o)
{
    while (!o->phases.empty()) {
        struct phase &phase = o->phases.front();
        bool is_over = true;
        for (auto &lane : phase.lanes) {
            if (!get_on(comm, &lane))
                return;
            is_over = is_over && lane.empty();
        }
        if (!is_over)
            return;
        if (phase.next)
            phase.next();
        o->phases.pop_front();
    }
}

/* ---- work ------------------------------------------------------------------------------------ */

static bool uses_same(const struct operation &a, const struct operation &b)
{
    return a.role == b.role && a.peer == b.peer;
}

/* Advances all operations that have no unfinished earlier operation with the same peer. */
static bool get_on(struct work *w)
{
    const auto &all = w->operations;
    bool is_over = true;

    for (size_t i = 0; i < all.size(); i++) {
        const bool is_first = std::none_of(all.begin(), all.begin() + (long)i, [&](const auto &o) {
            return !o->phases.empty() && uses_same(*o, *all[i]);
        });
        if (is_first)
            get_on(w->comm.get(), all[i].get());
        is_over = is_over && all[i]->phases.empty();
    }
    return is_over;
}

/* PP_STUB_NCCL_HANG */
static bool is_hung(const struct work &w)
{
    static const char *const fault = getenv("PP_STUB_NCCL_HANG");
    const char *colon = fault ? strrchr(fault, ':') : NULL;

    return colon && w.comm->name == std::string(fault, colon) &&
           w.number >= strtoull(colon + 1, NULL, 10);
}

/* As the stream `k` of the work sees it. */
static bool attempt(struct work *w, size_t k)
{
    struct comm *comm = w->comm.get();

    if (comm->is_aborted || w->is_over)
        return true;
    w->has_come[k] = true;
    if (w->number != comm->over + 1 || is_hung(*w) ||
        std::count(w->has_come.begin(), w->has_come.end(), false) > 0)
        return false;
    pp_open_memory();
    w->is_over = get_on(w);
    comm->over += w->is_over;
    return w->is_over;
}

static bool overlap(const struct use_of_memory &a, const struct use_of_memory &b)
{
    return a.bytes > 0 && b.bytes > 0 && a.at < b.at + b.bytes && b.at < a.at + a.bytes;
}

static void check_pair(const struct comm &comm, const struct operation &a,
                       const struct operation &b)
{
    for (const struct use_of_memory &x : a.uses)
        for (const struct use_of_memory &y : b.uses)
            if ((x.is_write || y.is_write) && overlap(x, y))
                pp_runtime_fail("NCCL: rank %d of '%s': two operations of a group use the same "
                                "memory, and one writes it",
                                comm.rank, comm.name.c_str());
}

void stub_check_memory(const struct comm &comm, const std::vector<operation_ref> &operations)
{
    for (size_t a = 0; a < operations.size(); a++)
        for (size_t b = 0; b < a; b++)
            check_pair(comm, *operations[a], *operations[b]);
}

void stub_enqueue(const comm_ref &comm, const std::vector<operation_ref> &operations)
{
    auto w = std::make_shared<struct work>();
    std::vector<cudaStream_t> streams;

    for (const operation_ref &o : operations)
        if (std::count(streams.begin(), streams.end(), o->stream) == 0)
            streams.push_back(o->stream);
    w->comm = comm;
    w->number = ++comm->issued;
    w->operations = operations;
    w->has_come.resize(streams.size());
    for (size_t k = 0; k < streams.size(); k++)
        pp_issue_attempt(streams[k], [w, k] { return attempt(w.get(), k); });
}

/* ---- the device ------------------------------------------------------------------------------ */

static bool has_work(void)
{
    return works > 0;
}

void stub_turn_on(void)
{
    pp_turn_on(has_work);
}
