/* Calls of the host in the order of a stream: CUDA makes them from a thread of its own. A slot is a
 * stream next to that one, so that a copy and a call of the host run at once. */
#include "exec/cuda/backend.h"

/* In a capture, a refusal is no failure of the device. */
static void note(struct cuda_stream *target, cudaError_t code)
{
    if (!target->is_capturing)
        pp_cuda_note(target->device, code);
    else if (code != cudaSuccess)
        target->refusal = code;
}

static struct host_lane *lane_of(struct cuda_stream *target, int slot)
{
    struct host_lane *b = &target->lanes[slot];

    if (!b->stream) {
        note(target, cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
        note(target, cudaEventCreateWithFlags(&b->from, cudaEventDisableTiming));
        note(target, cudaEventCreateWithFlags(&b->over, cudaEventDisableTiming));
    }
    return b;
}

void pp_cuda_call_host(void *stream, int slot, void (*call)(void *argument), void *argument)
{
    struct cuda_stream *target = stream;

    if (slot < 0) {
        note(target, cudaLaunchHostFunc(target->cuda.stream, call, argument));
        return;
    }
    struct host_lane *b = lane_of(target, slot);
    note(target, cudaEventRecord(b->from, target->cuda.stream));
    note(target, cudaStreamWaitEvent(b->stream, b->from, 0));
    note(target, cudaLaunchHostFunc(b->stream, call, argument));
    note(target, cudaEventRecord(b->over, b->stream));
}

void pp_cuda_join_host(void *stream, int slot)
{
    struct cuda_stream *target = stream;
    const struct host_lane *b = &target->lanes[slot];

    if (b->stream)
        note(target, cudaStreamWaitEvent(target->cuda.stream, b->over, 0));
}

void pp_cuda_host_free(struct cuda_stream *target)
{
    for (int slot = 0; slot < 2; slot++) {
        const struct host_lane *b = &target->lanes[slot];

        if (b->stream)
            cudaStreamDestroy(b->stream);
        if (b->from)
            cudaEventDestroy(b->from);
        if (b->over)
            cudaEventDestroy(b->over);
    }
}
