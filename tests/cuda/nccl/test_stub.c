/* The stub of NCCL is as strict as NCCL may be. An operation that could hang does hang, and a send
 * does not end before its receive has begun. */
#define _GNU_SOURCE /* usleep */
#include "tests/cuda/nccl/stub_case.h"

enum { COMMS = 2, PATIENCE_MS = 300 };

static const struct pp_nccl_plan TWO = {.processes = 2}, THREE = {.processes = 3};

static void abort_both(ncclComm_t *comms)
{
    must_be(ncclSuccess, ncclGroupStart());
    for (int i = 0; i < COMMS; i++)
        must_be(ncclSuccess, ncclCommAbort(comms[i]));
    must_be(ncclSuccess, ncclGroupEnd());
    rig_cuda(cudaDeviceSynchronize());
}

/* ---- first uses ------------------------------------------------------------------------------ */

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

static void cross_later(struct rig *r)
{
    ncclComm_t comms[COMMS];
    void *memory = rig_memory(COUNT);
    cudaStream_t streams[COMMS] = {rig_stream(), rig_stream()};

    make(r, comms, COMMS, 0);
    must_be(ncclSuccess, ncclGroupStart());
    for (int i = 0; i < COMMS; i++)
        must_be(ncclSuccess, pass(r, comms[i], memory, streams[i]));
    must_be(ncclInProgress, ncclGroupEnd());
    for (int i = 0; i < COMMS; i++)
        rig_must(settled(comms[i], 20000) == ncclSuccess, "not connected");
    for (int i = 0; i < COMMS; i++) {
        const int k = r->plan.process == 0 ? i : COMMS - 1 - i;
        must_be(ncclInProgress, pass(r, comms[k], memory, streams[k]));
        rig_must(settled(comms[k], 20000) == ncclSuccess, "not issued");
    }
    rig_cuda(cudaDeviceSynchronize());
    abort_both(comms);
}

Test(nccl_stub, later_uses_may_have_any_order)
{
    rig_run(&TWO, cross_later, -1);
}

static ncclResult_t add_up(ncclComm_t comm, size_t count, cudaStream_t stream)
{
    void *memory = rig_memory(count * sizeof(float));

    rig_cuda(cudaMemset(memory, 0, count * sizeof(float)));
    return ncclAllReduce(memory, memory, count, ncclFloat32, ncclSum, comm, stream);
}

/* A small sum connects nothing for a large one. */
static void grow(struct rig *r, bool is_late)
{
    cudaStream_t stream = rig_stream();
    ncclComm_t comm;

    setenv("NCCL_RUNTIME_CONNECT", is_late ? "1" : "0", 1);
    make(r, &comm, 1, 0);
    must_be(ncclInProgress, add_up(comm, 1, stream));
    rig_must(settled(comm, 20000) == ncclSuccess, "not connected");
    if (r->plan.process == 0) {
        must_be(ncclInProgress, add_up(comm, COUNT, stream));
        rig_must((settled(comm, is_late ? PATIENCE_MS : 20000) == ncclInProgress) == is_late,
                 "the host does not wait for the others where it should, or does");
    }
    rig_meet(r, 2);
    if (r->plan.process == 1)
        must_be(ncclInProgress, add_up(comm, COUNT, stream));
    rig_must(settled(comm, 20000) == ncclSuccess, "not connected");
    rig_cuda(cudaDeviceSynchronize());
    must_be(ncclSuccess, ncclCommDestroy(comm));
}

static void grow_late(struct rig *r)
{
    grow(r, true);
}

static void grow_early(struct rig *r)
{
    grow(r, false);
}

Test(nccl_stub, a_large_sum_connects_anew)
{
    rig_run(&TWO, grow_late, -1);
}

Test(nccl_stub, or_all_is_connected_with_the_communicator)
{
    rig_run(&TWO, grow_early, -1);
}

/* ---- orders ---------------------------------------------------------------------------------- */

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

/* Both ways at once: each sends first, in a group or not. */
static void swap(struct rig *r, bool is_grouped)
{
    const int peer = 1 - r->plan.process;
    cudaStream_t streams[] = {rig_stream(), rig_stream()};
    void *memory = rig_memory(2 * COUNT);
    ncclComm_t comm;

    make(r, &comm, 1, 1);
    for (int turn = 0; turn < 2; turn++) {
        const bool has_group = is_grouped || turn == 0; /* the first use connects */
        if (has_group)
            must_be(ncclSuccess, ncclGroupStart());
        must_be(ncclSuccess, ncclSend(memory, COUNT, ncclUint8, peer, comm, streams[0]));
        must_be(ncclSuccess,
                ncclRecv((char *)memory + COUNT, COUNT, ncclUint8, peer, comm, streams[1]));
        if (has_group)
            must_be(ncclSuccess, ncclGroupEnd());
    }
    for (int i = 0; i < PATIENCE_MS && cudaStreamQuery(streams[0]) != cudaSuccess; i++)
        usleep(is_grouped ? 50000 : 1000);
    rig_must((cudaStreamQuery(streams[1]) == cudaSuccess) == is_grouped,
             "operations of a communicator run one after the other");
    must_be(ncclSuccess, ncclCommAbort(comm));
    rig_cuda(cudaDeviceSynchronize());
}

static void swap_in_group(struct rig *r)
{
    swap(r, true);
}

static void swap_one_by_one(struct rig *r)
{
    swap(r, false);
}

Test(nccl_stub, a_group_runs_together)
{
    rig_run(&TWO, swap_in_group, -1);
}

Test(nccl_stub, without_a_group_all_run_in_order)
{
    rig_run(&TWO, swap_one_by_one, -1);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void fill(int64_t *device, int count, int64_t first)
{
    int64_t values[64];

    for (int i = 0; i < count; i++)
        values[i] = first + i;
    rig_put(device, values, (size_t)count * sizeof *values);
}

static void check(const int64_t *device, int i, int64_t due)
{
    int64_t is;

    rig_cuda(cudaMemcpy(&is, device + i, sizeof is, cudaMemcpyDeviceToHost));
    rig_must(is == due, "element %d is %lld, not %lld", i, (long long)is, (long long)due);
}

/* All in one group and in place of nothing: process p gives 100 p, 100 p + 1, ... */
static void collect(struct rig *r)
{
    const int p = r->plan.process, n = r->plan.processes;
    cudaStream_t stream = rig_stream();
    int64_t *x = rig_memory(64 * sizeof *x), *y = rig_memory(64 * sizeof *y), none[64];
    ncclComm_t comm;

    make(r, &comm, 1, 1);
    fill(x, 6, 100 * p);
    memset(none, -1, sizeof none);
    rig_put(y, none, sizeof none);
    must_be(ncclSuccess, ncclGroupStart());
    must_be(ncclSuccess, ncclAllReduce(x, y, 2, ncclInt64, ncclSum, comm, stream));
    must_be(ncclSuccess, ncclReduceScatter(x, y + 2, 2, ncclInt64, ncclSum, comm, stream));
    must_be(ncclSuccess, ncclBroadcast(x, y + 4, 1, ncclInt64, 2, comm, stream));
    must_be(ncclSuccess, ncclAllGather(x + 5, y + 5, 1, ncclInt64, comm, stream));
    must_be(ncclSuccess, ncclReduce(x, y + 5 + n, 2, ncclInt64, ncclSum, 1, comm, stream));
    must_be(ncclSuccess, ncclGroupEnd());
    rig_cuda(cudaStreamSynchronize(stream));
    for (int i = 0; i < 2; i++) {
        check(y, i, 300 + n * i);
        check(y, 2 + i, 300 + n * (2 * p + i));
    }
    check(y, 4, 200);
    for (int q = 0; q < n; q++)
        check(y, 5 + q, 100 * q + 5);
    for (int i = 0; i < 2; i++)
        check(y, 5 + n + i, p == 1 ? 300 + n * i : -1);
    must_be(ncclSuccess, ncclCommDestroy(comm));
}

Test(nccl_stub, collectives_give_what_nccl_gives)
{
    rig_run(&THREE, collect, -1);
}
