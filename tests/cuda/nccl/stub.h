/* tests/cuda/nccl/stub.h — NCCL between processes of one machine, over Unix sockets, on the
 * emulated runtime (tests/cuda/runtime.h): a shared library with the symbols of include/nccl.h.
 * Private to tests/cuda/nccl/.
 *
 * As strict as NCCL may be:
 *   - a send ends only once the receive of its peer has begun
 *   - the first use of a direction between two ranks connects them: the host (for communicators
 *     that are not blocking: the group) waits until the other side uses it too
 *   - so does the first use of each algorithm of collectives (one for small sums, another for all
 *     else), unless NCCL_RUNTIME_CONNECT=0 has them connected with the communicator
 *   - the operations of a communicator run one after the other, whatever their streams; those of
 *     one group together, but one after the other with the same peer
 *   - operations of a group may run concurrently: one that writes what another one of them
 *     reads or writes ends the program
 *   - a group makes communicators or uses them, never both; all are blocking or none is
 *   - a communicator that is not blocking is busy from the end of a group until GetAsyncError says
 *     ncclSuccess: before, nothing may be called with it, and nothing is in a stream yet
 *   - two ranks on one device, by its address on the bus, with the same host id are refused; the id
 *     is that of the environment at the first call that draws an id or makes a communicator
 *   - an operation that has lost its peer never ends by itself: GetAsyncError reports the loss, and
 *     CommAbort ends the operation
 *   - what cannot be right (sizes that differ, another collective) ends the program with a message
 *
 * Environment, read when the first communicator is made:
 *   PP_STUB_NCCL_FAIL=N       the N-th call that can fail ends with ncclSystemError
 *   PP_STUB_NCCL_HANG=NAME:N  the N-th group of operations, from 1, and all after it, of the
 *                             communicator of this name (ncclConfig_t.commName) make no progress
 *   PP_STUB_NCCL_VERSION=N    what ncclGetVersion says
 *
 * While operations are pending, a thread of the stub runs ready work of the device, slowly. So a
 * host that waits for another host does not block its own device. */
#ifndef PP_TESTS_CUDA_NCCL_STUB_H
#define PP_TESTS_CUDA_NCCL_STUB_H

#include "tests/cuda/include/nccl.h"
#include "tests/cuda/runtime.h"

#include <array>
#include <atomic>
#include <string>
#include <utility>

/* ---- sockets (wire.cc): every wait ends when `is_given_up` says so ----------------------- */

typedef std::function<bool()> give_up;
struct place { /* an abstract Unix address: it has no file, and ends with its socket */
    uint32_t bytes;
    char name[100];
};

/* A socket of its own that closes with its owner. */
struct wire {
    int fd = -1;
    wire(void) = default;
    explicit wire(int of) : fd(of)
    {
    }
    wire(wire &&other) : fd(std::exchange(other.fd, -1))
    {
    }
    wire &operator=(wire &&other)
    {
        std::swap(fd, other.fd);
        return *this;
    }
    ~wire(void);
};
struct wire wire_listen(struct place *at, int callers);
struct wire wire_call(const struct place *at); /* fd -1: the address has no listener any more */
struct wire wire_answer(const struct wire &listener, const give_up &is_given_up); /* -1: given up */
/* Part of it, without waiting. Returns 0 if nothing moves now, and -1 if the other side is gone. */
ssize_t wire_move(int fd, void *data, size_t bytes, bool is_write);
/* All of it; false: given up, or the other side is gone. */
bool wire_read(const struct wire &wire, void *data, size_t bytes, const give_up &is_given_up);
bool wire_write(const struct wire &wire, const void *data, size_t bytes,
                const give_up &is_given_up);

/* ---- communicators (meet.cc) ----------------------------------------------------------------- */

/* What a connection between two ranks is for; a ring is greeted, its bytes go by the other one. */
enum role { ROLE_SEND, ROLE_RECV, ROLE_COLLECTIVE, ROLE_RING, ROLES };
struct connection {
    struct wire wire;
    bool is_greeted = false; /* used once, by both sides */
};

struct comm {
    int rank, ranks, device;
    bool is_blocking;
    std::string name;
    std::vector<std::array<struct connection, ROLES>>
        peers; /* collectives: to rank 0 and from it */
    std::atomic<bool> is_aborted{false};
    std::atomic<int> jobs{0};      /* groups that are not over */
    uint64_t issued = 0, over = 0; /* groups of operations, under the lock of the runtime */

    ncclResult_t fail(ncclResult_t error, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    ncclResult_t error(std::string *text);

  private:
    std::mutex mutex;
    ncclResult_t failure = ncclSuccess;
    std::string message;
};
typedef std::shared_ptr<struct comm> comm_ref;
struct ncclComm {
    comm_ref comm;
};

/* Meet all others at the place in `id`, and connect to them. Waits for them. */
ncclResult_t stub_meet(const comm_ref &comm, const ncclUniqueId &id);

/* ---- operations ------------------------------------------------------------------------------ */

/* Bytes that go one way on one connection. */
struct step {
    int fd;
    bool is_write;
    char *data;
    size_t bytes, done = 0;
};
/* Lanes run independently, the steps of a lane one after the other. `next` is called after all of
 * them. */
struct phase {
    std::vector<std::vector<struct step>> lanes;
    std::function<void()> next;
};
/* Memory that an operation reads or writes. */
struct use_of_memory {
    const char *at;
    size_t bytes;
    bool is_write;
};
struct operation {
    enum role role;
    int peer; /* collectives: -1, all others */
    cudaStream_t stream;
    std::deque<struct phase> phases; /* what is left */
    std::vector<struct use_of_memory> uses;
    bool has_ring = false; /* of collectives: the algorithm of all that is no small sum */
};
typedef std::shared_ptr<struct operation> operation_ref;

/* Issue one, at the end of its group; NULL `comm`: not a communicator that can be used. */
ncclResult_t stub_issue(ncclComm_t comm, const std::function<operation_ref(struct comm *)> &make);
/* The operations of a group with one communicator as one piece of work (transfer.cc); under the
 * lock of the runtime. */
void stub_enqueue(const comm_ref &comm, const std::vector<operation_ref> &operations);
/* Before: no two of them may use memory that one of them writes. */
void stub_check_memory(const struct comm &comm, const std::vector<operation_ref> &operations);
/* From now on the device runs its work without a synchronising host. */
void stub_turn_on(void);
size_t stub_type_bytes(ncclDataType_t type); /* 0: no type of the stub's */

/* ---- groups (group.cc) ----------------------------------------------------------------------- */

/* The group of this call, if there is one, fails as well. Returns `error`. */
ncclResult_t stub_failed(ncclResult_t error);
/* The end of its group makes it. */
ncclResult_t stub_make(const comm_ref &comm, const ncclUniqueId &id);
/* The end of its group forgets it, and waits for its jobs. */
ncclResult_t stub_bury(ncclComm_t handle);
/* Run a job of communicators that are busy meanwhile: here where they are blocking, else in a
 * thread of its own, and ncclInProgress. */
ncclResult_t stub_run(const std::vector<comm_ref> &comms, const std::function<void()> &job);

/* ---- calls (calls.cc) ------------------------------------------------------------------------ */

/* What every call that can fail begins with; not ncclSuccess: it is to fail. */
ncclResult_t stub_called(void);
/* Begins a call with a communicator, if it is one and may be used now. */
ncclResult_t stub_find(ncclComm_t handle, comm_ref *comm);
/* Wait for the jobs of one that is aborted, then end it. */
void stub_reclaim(ncclComm_t handle);
/* For ncclGetLastError, of this thread. */
void stub_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
