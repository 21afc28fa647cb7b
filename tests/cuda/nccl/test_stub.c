/* The stub of NCCL is as strict as NCCL may be. An operation that could hang does hang, and a send
 * does not end before its receive has begun. */
#define _GNU_SOURCE /* usleep */
#include "tests/cuda/nccl/stub_case.h"

enum { COMMS = 2, PATIENCE_MS = 300 };

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
