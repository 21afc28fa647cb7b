/* The stub of NCCL refuses what is illegal; what two processes do not agree about ends the program.
 */
#define _GNU_SOURCE /* usleep */
#include "tests/cuda/nccl/stub_case.h"

static const struct pp_nccl_plan TWO = {.processes = 2};

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

Test(nccl_refusals, what_is_illegal_is_refused)
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

Test(nccl_refusals, sizes_that_differ_end_the_sender)
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

Test(nccl_refusals, a_group_that_uses_memory_twice_ends_the_program)
{
    rig_run(&TWO, sum_twice, 0);
}
