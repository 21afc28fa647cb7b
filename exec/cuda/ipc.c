/* CUDA IPC on the streams of the CUDA backend. */
#include "exec/backend/ipc.h"
#include "exec/cuda/backend.h"

#include <cuda.h>
#include <string.h>

_Static_assert(PP_IPC_HANDLE_BYTES == sizeof(cudaIpcMemHandle_t), "a handle");

/* A flag: streams wait for its 64 bits; others write the lower half, its owner the upper. So a
 * released flag stays released, whatever comes late. */
struct flag {
    uint32_t told, is_released;
};
_Static_assert(sizeof(struct flag) == sizeof(uint64_t), "one word");

struct peer {
    void *block, *flags; /* NULL: not mapped */
};
typedef CUresult (*wait_fn)(CUstream, CUdeviceptr, uint64_t, unsigned);
typedef CUresult (*write_fn)(CUstream, CUdeviceptr, unsigned, unsigned);
struct pp_ipc {
    struct pp_backend_device *device;
    wait_fn wait;
    write_fn write;
    unsigned wait_flags;
    void *flags; /* own, in device memory */
    int flag_count;
    struct peer *peers;
    int peer_count;
    cudaStream_t rescue; /* of give_up, without waiting work */
    atomic_bool is_given_up;
};

static CUdeviceptr word(void *flags, int flag, size_t half)
{
    return (CUdeviceptr)(uintptr_t)((struct flag *)flags + flag) + half;
}

static CUdeviceptr told(void *flags, int flag)
{
    return word(flags, flag, offsetof(struct flag, told));
}

static enum pp_status try_driver(CUresult code, const char *what, struct pp_error *err)
{
    if (code == CUDA_SUCCESS)
        return PP_OK;
    if (code == CUDA_ERROR_NOT_SUPPORTED)
        return pp_error_set(err, PP_EFAIL,
                            "--transport ipc: the GPU's streams cannot wait for words of memory "
                            "(stream memory operations); use --transport nccl");
    return pp_error_set(err, PP_EFAIL, "cannot %s: error %d of the driver (%s)", what, (int)code,
                        cudaGetErrorString((cudaError_t)code));
}

/* ---- support --------------------------------------------------------------------------------- */

static enum pp_status find_calls(wait_fn *wait, write_fn *write, struct pp_error *err)
{
    enum { SINCE = 11070 }; /* the second version, which every driver allows */
    static const char WHO[] = "--transport ipc", OTHERWISE[] = "use --transport nccl";

    PP_TRY(pp_cuda_find_call("cuStreamWaitValue64", SINCE, wait, WHO, OTHERWISE, err));
    return pp_cuda_find_call("cuStreamWriteValue32", SINCE, write, WHO, OTHERWISE, err);
}

static enum pp_status ipc_check(struct pp_error *err)
{
    wait_fn wait;
    write_fn write;

    PP_TRY(pp_cuda_check(err));
    return find_calls(&wait, &write, err);
}

static bool ipc_do_reach(int gpus)
{
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < gpus; b++) {
            int can = 0;

            if (a != b && (cudaDeviceCanAccessPeer(&can, a, b) != cudaSuccess || !can))
                return false;
        }
    return true;
}

static enum pp_status check_gpu(int gpu, struct pp_error *err)
{
    int can_share = 0;

    PP_TRY(pp_cuda_try(cudaDeviceGetAttribute(&can_share, cudaDevAttrUnifiedAddressing, gpu),
                       "ask what the GPU can do", err));
    return can_share
               ? PP_OK
               : pp_error_set(err, PP_EFAIL,
                              "--transport ipc: the GPU has no unified addresses, without which "
                              "processes cannot map its memory; use --transport nccl");
}

/* ---- beginning ------------------------------------------------------------------------------- */

static enum pp_status show_memory(void *memory, const char *what, struct pp_ipc_handle *to,
                                  struct pp_error *err)
{
    cudaIpcMemHandle_t handle;
    const cudaError_t code = cudaIpcGetMemHandle(&handle, memory);

    cudaGetLastError(); /* a failure is told here */
    memcpy(to->bytes, &handle, sizeof(handle));
    if (code == cudaErrorNotSupported)
        return pp_error_set(
            err, PP_EFAIL,
            "--transport ipc: CUDA does not let processes share memory of the GPU "
            "here (%s), as in some containers and virtual machines; use --transport "
            "nccl",
            cudaGetErrorName(code));
    return pp_cuda_try(code, what, err);
}

/* Tests flags: a wait that is over at once, because of a write before it. */
static enum pp_status try_flags(struct pp_ipc *ipc, struct pp_error *err)
{
    const CUdeviceptr first = told(ipc->flags, 0);

    PP_TRY(pp_cuda_try(
        cudaMemsetAsync(ipc->flags, 0, sizeof(struct flag) * (size_t)ipc->flag_count, ipc->rescue),
        "clear flags", err));
    PP_TRY(try_driver(ipc->write(ipc->rescue, first, 1, CU_STREAM_WRITE_VALUE_DEFAULT),
                      "write a flag", err));
    PP_TRY(try_driver(ipc->wait(ipc->rescue, first, 1, ipc->wait_flags), "wait for a flag", err));
    PP_TRY(try_driver(ipc->write(ipc->rescue, first, 0, CU_STREAM_WRITE_VALUE_DEFAULT),
                      "write a flag", err));
    return pp_cuda_try(cudaStreamSynchronize(ipc->rescue), "write and wait for flags", err);
}

/* Makes the rescue stream, whose highest priority shares no queue with the lower ones of others. */
static enum pp_status make_rescue(struct pp_ipc *ipc, struct pp_error *err)
{
    int least, greatest;

    PP_TRY(pp_cuda_try(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                       "ask for priorities of streams", err));
    return pp_cuda_try(cudaStreamCreateWithPriority(&ipc->rescue, cudaStreamNonBlocking, greatest),
                       "make a CUDA stream", err);
}

/* Writes of other GPUs arrive in order, if the device can be told to wait for them. */
static enum pp_status choose_wait(struct pp_ipc *ipc, struct pp_error *err)
{
    int can_flush = 0;

    PP_TRY(pp_cuda_try(
        cudaDeviceGetAttribute(&can_flush, cudaDevAttrCanFlushRemoteWrites, ipc->device->gpu),
        "ask what the GPU can do", err));
    ipc->wait_flags = CU_STREAM_WAIT_VALUE_GEQ | (can_flush ? CU_STREAM_WAIT_VALUE_FLUSH : 0);
    return PP_OK;
}

static enum pp_status ipc_show(struct pp_arena *arena, struct pp_backend_device *d, void *block,
                               int flags, int peers, struct pp_ipc **ipc, struct pp_ipc_card *card,
                               struct pp_error *err)
{
    struct pp_ipc *made = PP_NEW(arena, struct pp_ipc);

    made->device = d;
    made->flag_count = flags + 1; /* one for the test */
    made->peer_count = peers;
    made->peers = PP_ARRAY(arena, struct peer, peers);
    pp_cuda_use(d);
    PP_TRY(check_gpu(d->gpu, err));
    PP_TRY(find_calls(&made->wait, &made->write, err));
    PP_TRY(choose_wait(made, err));
    PP_TRY(pp_cuda_alloc(d, sizeof(struct flag) * (size_t)made->flag_count, &made->flags, err));
    PP_TRY(make_rescue(made, err));
    PP_TRY(try_flags(made, err));
    PP_TRY(show_memory(block, "show a block to other processes", &card->block, err));
    PP_TRY(show_memory(made->flags, "show flags to other processes", &card->flags, err));
    *ipc = made;
    return PP_OK;
}

static enum pp_status map_memory(const struct pp_ipc_handle *from, int peer, void **memory,
                                 struct pp_error *err)
{
    cudaIpcMemHandle_t handle;

    memcpy(&handle, from->bytes, sizeof(handle));
    const cudaError_t code = cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess);
    if (code == cudaSuccess)
        return PP_OK;
    cudaGetLastError(); /* a failure is told here */
    return pp_error_set(err, PP_EFAIL,
                        "--transport ipc: this GPU cannot reach what process %d has on its own: %s "
                        "(%s); nvidia-smi topo -p2p r says which GPUs reach each other; use "
                        "--transport nccl",
                        peer, cudaGetErrorName(code), cudaGetErrorString(code));
}

static enum pp_status ipc_map(struct pp_ipc *ipc, int peer, const struct pp_ipc_card *card,
                              void **block, struct pp_error *err)
{
    struct peer *p = &ipc->peers[peer];

    pp_cuda_use(ipc->device);
    PP_TRY(map_memory(&card->flags, peer, &p->flags, err));
    PP_TRY(map_memory(&card->block, peer, &p->block, err));
    *block = p->block;
    return PP_OK;
}

/* ---- flags ----------------------------------------------------------------------------------- */

/* Only 2^32 messages of a channel would exhaust the values. */
static enum pp_status check_value(const struct pp_ipc *ipc, uint32_t value, struct pp_error *err)
{
    if (ipc->is_given_up)
        return pp_error_set(err, PP_EFAIL, "given up");
    return value > 0 ? PP_OK
                     : pp_error_set(err, PP_EFAIL, "--transport ipc: a flag has no more numbers");
}

/* A system-wide fence orders the write after all earlier writes of the stream, on any device
 * (cuStreamWriteValue32 in the driver API). A process that sees the flag sees the sum. */
static enum pp_status ipc_tell(struct pp_ipc *ipc, int peer, int flag, uint32_t value, void *stream,
                               struct pp_error *err)
{
    PP_TRY(check_value(ipc, value, err));
    return try_driver(ipc->write(pp_cuda_work_stream(stream), told(ipc->peers[peer].flags, flag),
                                 value, CU_STREAM_WRITE_VALUE_DEFAULT),
                      "write a flag", err);
}

static enum pp_status ipc_await(struct pp_ipc *ipc, int flag, uint32_t value, void *stream,
                                struct pp_error *err)
{
    PP_TRY(check_value(ipc, value, err));
    return try_driver(
        ipc->wait(pp_cuda_work_stream(stream), told(ipc->flags, flag), value, ipc->wait_flags),
        "wait for a flag", err);
}

/* ---- the end --------------------------------------------------------------------------------- */

static enum pp_status unmap_memory(void **memory, struct pp_error *err)
{
    void *mapped = *memory;

    *memory = NULL;
    return mapped ? pp_cuda_try(cudaIpcCloseMemHandle(mapped), "close memory of a process", err)
                  : PP_OK;
}

static enum pp_status ipc_unmap(struct pp_ipc *ipc, struct pp_error *err)
{
    pp_cuda_use(ipc->device);
    for (int k = 0; k < ipc->peer_count; k++) {
        PP_TRY(unmap_memory(&ipc->peers[k].block, err));
        PP_TRY(unmap_memory(&ipc->peers[k].flags, err));
    }
    cudaStreamDestroy(ipc->rescue);
    ipc->rescue = NULL;
    return PP_OK;
}

static void ipc_give_up(struct pp_ipc *ipc)
{
    ipc->is_given_up = true;
    atomic_store(&ipc->device->keeps_blocks, true);
    pp_cuda_use(ipc->device);
    for (int k = 0; k < ipc->flag_count && ipc->rescue; k++)
        ipc->write(ipc->rescue, word(ipc->flags, k, offsetof(struct flag, is_released)), 1,
                   CU_STREAM_WRITE_VALUE_DEFAULT);
}

const struct pp_ipc_calls pp_cuda_ipc_calls = {
    .check = ipc_check,
    .do_reach = ipc_do_reach,
    .show = ipc_show,
    .map = ipc_map,
    .tell = ipc_tell,
    .await = ipc_await,
    .unmap = ipc_unmap,
    .give_up = ipc_give_up,
};
