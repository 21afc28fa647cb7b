/* Operations on communicators: each is in its stream when the call returns. */
#include "exec/nccl/parts.h"

#include <assert.h>

typedef ncclResult_t start_piece(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                                 const struct pp_nccl_piece *p, ncclDataType_t type,
                                 cudaStream_t stream);

#define START(name, call)                                                                          \
    static ncclResult_t name(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,     \
                             const struct pp_nccl_piece *p, ncclDataType_t type,                   \
                             cudaStream_t stream)                                                  \
    {                                                                                              \
        return l->call;                                                                            \
    }
START(send, Send(p->at, p->count, type, comm->peer, comm->handle, stream))
START(recv, Recv(p->at, p->count, type, comm->peer, comm->handle, stream))
START(sum,
      AllReduce(p->from ? p->from : p->at, p->at, p->count, type, ncclSum, comm->handle, stream))
START(reduce, Reduce(p->at, p->at, p->count, type, ncclSum, p->root, comm->handle, stream))
START(broadcast, Broadcast(p->at, p->at, p->count, type, p->root, comm->handle, stream))
START(gather, AllGather(p->from, p->at, p->count, type, comm->handle, stream))
START(scatter, ReduceScatter(p->from, p->at, p->count, type, ncclSum, comm->handle, stream))

static ncclResult_t swap(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                         const struct pp_nccl_piece *p, ncclDataType_t type, cudaStream_t stream)
{
    const ncclResult_t result = l->Send(p->from, p->count, type, p->root, comm->handle, stream);

    return result != ncclSuccess ? result
                                 : l->Recv(p->at, p->count, type, p->root, comm->handle, stream);
}

static const struct {
    start_piece *start;
    bool is_message; /* else of a group */
    bool is_in_pieces;
} KINDS[PP_NCCL_KINDS] = {
    [PP_NCCL_SEND] = {send, .is_message = true},
    [PP_NCCL_RECV] = {recv, .is_message = true},
    [PP_NCCL_SUM] = {sum},
    [PP_NCCL_REDUCE] = {reduce, .is_in_pieces = true},
    [PP_NCCL_BROADCAST] = {broadcast, .is_in_pieces = true},
    [PP_NCCL_GATHER] = {gather},
    [PP_NCCL_SCATTER] = {scatter},
    [PP_NCCL_SWAP] = {swap, .is_in_pieces = true},
};
/* ncclBfloat16, which headers before NCCL 2.19 have for C++ alone. */
#define NCCL_BF16 ((ncclDataType_t)9)
static const ncclDataType_t TYPES[] = {
    [PP_NCCL_BYTES] = ncclUint8,
    [PP_NCCL_INT64] = ncclInt64,
    [PP_NCCL_FLOAT] = ncclFloat32,
    [PP_NCCL_BF16] = NCCL_BF16,
};

/* Returns the first error of a group of calls, which is ended in any case. */
static ncclResult_t start(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                          const struct pp_nccl_operation *o, cudaStream_t stream)
{
    start_piece *const begin = KINDS[o->kind].start;

    if (!KINDS[o->kind].is_in_pieces)
        return begin(l, comm, o->pieces, TYPES[o->type], stream);
    ncclResult_t result = l->GroupStart();
    if (result != ncclSuccess)
        return result;
    for (int i = 0; i < o->count && result == ncclSuccess; i++)
        result = begin(l, comm, &o->pieces[i], TYPES[o->type], stream);
    const ncclResult_t end = l->GroupEnd();
    return result != ncclSuccess ? result : end;
}

/* Communicators are blocking: the operation is in the stream on return. */
static enum pp_status issue(struct pp_nccl *nccl, struct pp_nccl_comm *comm,
                            const struct pp_nccl_operation *o, void *stream, struct pp_error *err)
{
    if (nccl->is_aborted)
        return pp_nccl_aborted(err);
    const ncclResult_t result = start(nccl->library, comm, o, stream);
    if (nccl->is_aborted) /* meanwhile: the communicator is gone */
        return pp_nccl_aborted(err);
    comm->stream = stream;
    comm->issued++;
    return pp_nccl_judge(nccl, comm, result, err);
}

enum pp_status pp_nccl_issue(struct pp_nccl *nccl, const struct pp_nccl_operation *o, void *stream,
                             struct pp_error *err)
{
    const bool is_message = KINDS[o->kind].is_message;
    const int first = is_message ? 0 : nccl->plan->channel_count;
    struct pp_nccl_comm *comm = &nccl->comms[first + o->on];

    assert(o->on < (is_message ? nccl->plan->channel_count : nccl->plan->group_count));
    assert(is_message ? comm->own == (o->kind == PP_NCCL_RECV) : comm->own >= 0);
    pthread_mutex_lock(&nccl->mutex);
    const enum pp_status status = issue(nccl, comm, o, stream, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}
