/* Operations on communicators: each is in its stream when the call returns. */
#include "exec/nccl/parts.h"

#include <assert.h>

/* Until NCCL has put it into the stream: before, whatever is issued next would come first. */
static enum pp_status accepted(struct pp_nccl *nccl, struct pp_nccl_comm *comm, ncclResult_t result,
                               void *stream, struct pp_error *err)
{
    PP_TRY(pp_nccl_judge(nccl, comm, result, err));
    comm->stream = stream;
    comm->issued++;
    return pp_nccl_settle_comm(nccl, comm, err);
}

struct operation {
    const void *from;
    void *to;
    size_t count;
    ncclDataType_t type;
    void *stream;
    const struct pp_nccl_piece *pieces; /* [count], in place of from, to */
};
typedef ncclResult_t start(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                           const struct operation *o);

static ncclResult_t start_send(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                               const struct operation *o)
{
    return l->Send(o->from, o->count, o->type, comm->peer, comm->handle, o->stream);
}

static ncclResult_t start_recv(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                               const struct operation *o)
{
    return l->Recv(o->to, o->count, o->type, comm->peer, comm->handle, o->stream);
}

static ncclResult_t start_sum(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                              const struct operation *o)
{
    return l->AllReduce(o->from, o->to, o->count, o->type, ncclSum, comm->handle, o->stream);
}

static enum pp_status issue(struct pp_nccl *nccl, struct pp_nccl_comm *comm, start *begin,
                            const struct operation *o, struct pp_error *err)
{
    pthread_mutex_lock(&nccl->mutex);
    const enum pp_status status =
        nccl->is_aborted ? pp_nccl_aborted(err)
                         : accepted(nccl, comm, begin(nccl->library, comm, o), o->stream, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}

enum pp_status pp_nccl_send(struct pp_nccl *nccl, int channel, const void *buffer, size_t bytes,
                            void *stream, struct pp_error *err)
{
    struct pp_nccl_comm *comm = &nccl->comms[channel];

    assert(channel < nccl->plan->channel_count && comm->own == 0);
    return issue(nccl, comm, start_send,
                 &(struct operation){buffer, NULL, bytes, ncclUint8, stream, NULL}, err);
}

enum pp_status pp_nccl_recv(struct pp_nccl *nccl, int channel, void *buffer, size_t bytes,
                            void *stream, struct pp_error *err)
{
    struct pp_nccl_comm *comm = &nccl->comms[channel];

    assert(channel < nccl->plan->channel_count && comm->own == 1);
    return issue(nccl, comm, start_recv,
                 &(struct operation){NULL, buffer, bytes, ncclUint8, stream, NULL}, err);
}

static const ncclDataType_t TYPES[] = {
    [PP_NCCL_INT64] = ncclInt64,
    [PP_NCCL_FLOAT] = ncclFloat32,
};

static struct pp_nccl_comm *group_at(struct pp_nccl *nccl, int group)
{
    struct pp_nccl_comm *comm = &nccl->comms[nccl->plan->channel_count + group];

    assert(group < nccl->plan->group_count && comm->own >= 0);
    return comm;
}

enum pp_status pp_nccl_sum(struct pp_nccl *nccl, int group, void *buffer, size_t count,
                           enum pp_nccl_type type, void *stream, struct pp_error *err)
{
    return issue(nccl, group_at(nccl, group), start_sum,
                 &(struct operation){buffer, buffer, count, TYPES[type], stream, NULL}, err);
}

/* ---- pieces -----------------------------------------------------------------------------------*/

typedef ncclResult_t start_piece(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                                 const struct operation *o, const struct pp_nccl_piece *piece);

/* A group of calls ends whatever is said within it, and says the first of it. */
static ncclResult_t start_all(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                              const struct operation *o, start_piece *begin)
{
    ncclResult_t result = l->GroupStart();

    if (result != ncclSuccess)
        return result;
    for (size_t i = 0; i < o->count && result == ncclSuccess; i++)
        result = begin(l, comm, o, &o->pieces[i]);
    const ncclResult_t end = l->GroupEnd();
    return result != ncclSuccess ? result : end;
}

static ncclResult_t reduce_piece(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                                 const struct operation *o, const struct pp_nccl_piece *piece)
{
    return l->Reduce(piece->at, piece->at, piece->count, o->type, ncclSum, piece->root,
                     comm->handle, o->stream);
}

static ncclResult_t broadcast_piece(const struct pp_nccl_library *l,
                                    const struct pp_nccl_comm *comm, const struct operation *o,
                                    const struct pp_nccl_piece *piece)
{
    return l->Broadcast(piece->at, piece->at, piece->count, o->type, piece->root, comm->handle,
                        o->stream);
}

static ncclResult_t start_reduce(const struct pp_nccl_library *l, const struct pp_nccl_comm *comm,
                                 const struct operation *o)
{
    return start_all(l, comm, o, reduce_piece);
}

static ncclResult_t start_broadcast(const struct pp_nccl_library *l,
                                    const struct pp_nccl_comm *comm, const struct operation *o)
{
    return start_all(l, comm, o, broadcast_piece);
}

enum pp_status pp_nccl_reduce(struct pp_nccl *nccl, int group, const struct pp_nccl_piece *pieces,
                              int count, enum pp_nccl_type type, void *stream, struct pp_error *err)
{
    return issue(nccl, group_at(nccl, group), start_reduce,
                 &(struct operation){NULL, NULL, (size_t)count, TYPES[type], stream, pieces}, err);
}

enum pp_status pp_nccl_broadcast(struct pp_nccl *nccl, int group,
                                 const struct pp_nccl_piece *pieces, int count, void *stream,
                                 struct pp_error *err)
{
    return issue(nccl, group_at(nccl, group), start_broadcast,
                 &(struct operation){NULL, NULL, (size_t)count, ncclUint8, stream, pieces}, err);
}
