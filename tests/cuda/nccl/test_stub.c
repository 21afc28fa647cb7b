/* The stub of NCCL is as strict as NCCL may be. An operation that could hang does hang, and a send
 * does not end before its receive has begun. What is illegal is refused, and what two processes do
 * not agree about ends the program. */
#define _GNU_SOURCE /* usleep */
#include "tests/exec/nccl_rig.h"

enum { COUNT = 1000, COMMS = 2, PATIENCE_MS = 300 };

#define must_be(result, call)                                                                      \
    do {                                                                                           \
        const ncclResult_t result_ = (call);                                                       \
        rig_must(result_ == (result), "%s (%s)", ncclGetErrorString(result_),                      \
                 ncclGetLastError(NULL));                                                          \
    } while (0)

static ncclResult_t state_of(ncclComm_t comm)
{
    ncclResult_t state;

    must_be(ncclSuccess, ncclCommGetAsyncError(comm, &state));
    return state;
}

/* For so long, or until it is not busy any more. */
static ncclResult_t settled(ncclComm_t comm, int patience_ms)
{
    for (; patience_ms > 0 && state_of(comm) == ncclInProgress; patience_ms--)
        usleep(1000);
    return state_of(comm);
}

/* Of all processes; ids are those of process 0. */
static void make(struct rig *r, ncclComm_t *comms, int count, int is_blocking)
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
static ncclResult_t pass(const struct rig *r, ncclComm_t comm, void *memory, cudaStream_t stream)
{
    return r->plan.process == 0 ? ncclSend(memory, COUNT, ncclUint8, 1, comm, stream)
                                : ncclRecv(memory, COUNT, ncclUint8, 0, comm, stream);
}

static const struct pp_nccl_plan TWO = {.processes = 2};

static void abort_both(ncclComm_t *comms)
{
    must_be(ncclSuccess, ncclGroupStart());
    for (int i = 0; i < COMMS; i++)
        must_be(ncclSuccess, ncclCommAbort(comms[i]));
    must_be(ncclSuccess, ncclGroupEnd());
    rig_cuda(cudaDeviceSynchronize());
}

static void cross(struct rig *r)
{
    ncclComm_t comms[COMMS];
    void *memory = rig_memory(COUNT);

    make(r, comms, COMMS, 0);
    const int first = r->plan.process; /* the one begins with this one, the other with that one */
    must_be(ncclInProgress, pass(r, comms[first], memory, rig_stream()));
    rig_must(settled(comms[first], PATIENCE_MS) == ncclInProgress, "connected alone");
    must_be(ncclInvalidArgument, pass(r, comms[first], memory, rig_stream()));
    rig_meet(r, 2);
    abort_both(comms);
}

Test(nccl_stub, first_uses_in_different_orders_wait_for_each_other)
{
    rig_run(&TWO, cross, -1);
}

static ncclResult_t add_up(ncclComm_t comm, size_t count, cudaStream_t stream)
{
    void *memory = rig_memory(count * sizeof(float));

    rig_cuda(cudaMemset(memory, 0, count * sizeof(float)));
    return ncclAllReduce(memory, memory, count, ncclFloat32, ncclSum, comm, stream);
}

/* A small sum connects nothing for a large one. */
static void grow(struct rig *r)
{
    cudaStream_t stream = rig_stream();
    ncclComm_t comm;

    setenv("NCCL_RUNTIME_CONNECT", "1", 1);
    make(r, &comm, 1, 0);
    must_be(ncclInProgress, add_up(comm, 1, stream));
    rig_must(settled(comm, 20000) == ncclSuccess, "not connected");
    if (r->plan.process == 0) {
        must_be(ncclInProgress, add_up(comm, COUNT, stream));
        rig_must(settled(comm, PATIENCE_MS) == ncclInProgress, "connected alone");
    }
    rig_meet(r, 2);
    if (r->plan.process == 1)
        must_be(ncclInProgress, add_up(comm, COUNT, stream));
    rig_must(settled(comm, 20000) == ncclSuccess, "not connected");
    rig_cuda(cudaDeviceSynchronize());
    must_be(ncclSuccess, ncclCommDestroy(comm));
}

Test(nccl_stub, a_large_sum_connects_anew)
{
    rig_run(&TWO, grow, -1);
}

/* The first message has connected both; the second is sent long before it is received. */
static void meet_late(struct rig *r)
{
    ncclComm_t comm;
    cudaStream_t stream = rig_stream();
    void *memory = rig_memory(COUNT);

    make(r, &comm, 1, 1);
    must_be(ncclSuccess, pass(r, comm, memory, stream));
    rig_cuda(cudaStreamSynchronize(stream));
    if (r->plan.process == 0) {
        must_be(ncclSuccess, pass(r, comm, memory, stream));
        for (int i = 0; i < PATIENCE_MS; i++) {
            rig_must(cudaStreamQuery(stream) == cudaErrorNotReady, "a send is over by itself");
            usleep(100);
        }
    }
    rig_meet(r, 2);
    if (r->plan.process == 1)
        must_be(ncclSuccess, pass(r, comm, memory, stream));
    rig_cuda(cudaStreamSynchronize(stream));
    must_be(ncclSuccess, ncclCommDestroy(comm));
}

Test(nccl_stub, a_send_waits_for_its_receive)
{
    rig_run(&TWO, meet_late, -1);
}

/* Both ways at once without a group: each sends first, so neither receives. */
static void swap(struct rig *r)
{
    const int peer = 1 - r->plan.process;
    cudaStream_t streams[] = {rig_stream(), rig_stream()};
    void *memory = rig_memory(2 * COUNT);
    ncclComm_t comm;

    make(r, &comm, 1, 1);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0) /* the first use connects */
            must_be(ncclSuccess, ncclGroupStart());
        must_be(ncclSuccess, ncclSend(memory, COUNT, ncclUint8, peer, comm, streams[0]));
        must_be(ncclSuccess,
                ncclRecv((char *)memory + COUNT, COUNT, ncclUint8, peer, comm, streams[1]));
        if (turn == 0)
            must_be(ncclSuccess, ncclGroupEnd());
    }
    for (int i = 0; i < PATIENCE_MS && cudaStreamQuery(streams[0]) != cudaSuccess; i++)
        usleep(1000);
    rig_must(cudaStreamQuery(streams[1]) != cudaSuccess,
             "operations of a communicator run one after the other");
    must_be(ncclSuccess, ncclCommAbort(comm));
    rig_cuda(cudaDeviceSynchronize());
}

Test(nccl_stub, without_a_group_all_run_in_order)
{
    rig_run(&TWO, swap, -1);
}

/* ---- what is illegal ------------------------------------------------------------------------- */

static void misuse(struct rig *r)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    cudaStream_t stream = rig_stream();
    void *memory = rig_memory(COUNT);
    ncclComm_t comm, other;
    ncclUniqueId id;

    make(r, &comm, 1, 1);
    must_be(ncclSuccess, ncclGetUniqueId(&id));
    config.maxCTAs = 0;
    must_be(ncclInvalidArgument, ncclCommInitRankConfig(&other, 2, id, 0, &config));
    must_be(ncclInvalidArgument, ncclCommInitRank(&other, 2, id, 2));
    must_be(ncclInvalidArgument, ncclSend(memory, COUNT, ncclUint8, 2, comm, stream));
    must_be(ncclInvalidArgument,
            ncclAllReduce(memory, memory, 1, ncclUint8, ncclSum, comm, stream));
    must_be(ncclInvalidUsage, ncclGroupEnd());
    must_be(ncclSuccess, ncclGroupStart());
    must_be(ncclSuccess, ncclCommInitRank(&other, 2, id, r->plan.process));
    must_be(ncclSuccess, pass(r, comm, memory, stream));
    must_be(ncclInvalidUsage, ncclGroupEnd());
    must_be(ncclSuccess, ncclCommDestroy(comm));
    must_be(ncclInvalidArgument, ncclCommDestroy(comm));
}

Test(nccl_stub, what_is_illegal_is_refused)
{
    rig_run(&TWO, misuse, -1);
}

/* ---- what is not agreed about ---------------------------------------------------------------- */

/* Who sees it ends; the other one has lost its peer, and is not over before it is aborted. */
static void disagree(struct rig *r, ncclComm_t comm, cudaStream_t stream)
{
    if (r->plan.process == 0)
        cudaStreamSynchronize(stream);
    for (int i = 0; i < 20000 && state_of(comm) == ncclSuccess; i++) {
        rig_must(cudaStreamQuery(stream) == cudaErrorNotReady, "it is over");
        usleep(1000);
    }
    must_be(ncclRemoteError, state_of(comm));
    rig_must(cudaStreamQuery(stream) == cudaErrorNotReady, "over by itself");
    must_be(ncclRemoteError, ncclSend(NULL, 0, ncclUint8, 0, comm, stream));
    must_be(ncclSuccess, ncclCommAbort(comm));
    rig_cuda(cudaStreamSynchronize(stream));
}

static void send_too_much(struct rig *r)
{
    cudaStream_t stream = rig_stream();
    char *memory = rig_memory(COUNT);
    ncclComm_t comm;

    make(r, &comm, 1, 1);
    must_be(ncclSuccess, r->plan.process == 0
                             ? ncclSend(memory, COUNT, ncclUint8, 1, comm, stream)
                             : ncclRecv(memory, COUNT - 1, ncclUint8, 0, comm, stream));
    disagree(r, comm, stream);
}

Test(nccl_stub, sizes_that_differ_end_the_sender)
{
    rig_run(&TWO, send_too_much, 0);
}

static void sum_twice(struct rig *r)
{
    cudaStream_t stream = rig_stream();
    int64_t *memory = rig_memory(COUNT);
    ncclComm_t comm;

    make(r, &comm, 1, 1);
    if (r->plan.process == 1)
        _exit(0);
    ncclGroupStart();
    for (int k = 0; k < 2; k++) /* the last of one is the first of the other */
        ncclReduce(memory + 7 * k, memory + 7 * k, 8, ncclInt64, ncclSum, 0, comm, stream);
    ncclGroupEnd();
}

Test(nccl_stub, a_group_that_uses_memory_twice_ends_the_program)
{
    rig_run(&TWO, sum_twice, 0);
}
