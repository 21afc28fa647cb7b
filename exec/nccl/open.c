/* Makes and closes communicators: ids, a group that makes all of them, a group that uses each once.
 *
 * A group makes and connects its communicators concurrently, so no two processes can wait for each
 * other because of their order. On the stream the first uses run one after the other. Their order
 * is that of the plan, or in later versions that of hashes of the ids. All processes share it, so
 * no use waits for a later one. */
#include "exec/nccl/parts.h"

#include <assert.h>
#include <string.h>

_Static_assert(PP_NCCL_ID_BYTES == NCCL_UNIQUE_ID_BYTES, "an id");

enum { WARM_UP_BYTES = 8 };
_Static_assert(PP_NCCL_SCRATCH_BYTES - WARM_UP_BYTES >= PP_NCCL_SWAP_MEMBERS, "a byte for each");

/* ---- communicators --------------------------------------------------------------------------- */

static void name_comm(struct pp_arena *arena, const struct pp_nccl_plan *plan, int i,
                      struct pp_nccl_comm *comm)
{
    const struct pp_nccl_group *g = &plan->groups[i];
    const bool is_channel = i < plan->channel_count;
    char *members = "";

    assert(g->count >= 2 && g->members[0] != g->members[1]);
    comm->own = -1;
    for (int k = 0; k < g->count; k++) {
        assert(g->members[k] >= 0 && g->members[k] < plan->processes &&
               (k == 0 || is_channel || g->members[k] > g->members[k - 1]));
        members = pp_arena_printf(arena, "%s%s%d", members,
                                  k == 0       ? ""
                                  : is_channel ? " to process "
                                               : ", ",
                                  g->members[k]);
        if (g->members[k] == plan->process)
            comm->own = k;
    }
    comm->peer = 1 - comm->own;
    comm->text =
        pp_arena_printf(arena, is_channel ? "channel %s (process %s)" : "sum of %s (processes %s)",
                        g->name, members);
}

/* Sets texts, members and roles of the plan's communicators. */
static void name_comms(struct pp_arena *arena, struct pp_nccl *nccl)
{
    nccl->comm_count = nccl->plan->channel_count + nccl->plan->group_count;
    nccl->comms = PP_ARRAY(arena, struct pp_nccl_comm, nccl->comm_count + 1);
    for (int i = 0; i < nccl->comm_count; i++)
        name_comm(arena, nccl->plan, i, &nccl->comms[i]);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static enum pp_status spread_ids(struct pp_arena *arena, struct pp_nccl *nccl,
                                 struct pp_nccl_id **ids, struct pp_error *err)
{
    const struct pp_nccl_plan *plan = nccl->plan;

    *ids = PP_ARRAY(arena, struct pp_nccl_id, nccl->comm_count + 1);
    for (int i = 0; i < nccl->comm_count; i++) {
        ncclUniqueId id;
        (*ids)[i].owner = plan->groups[i].members[0];
        if ((*ids)[i].owner != plan->process)
            continue;
        PP_TRY(pp_nccl_judge(nccl, &nccl->comms[i], nccl->library->GetUniqueId(&id), err));
        memcpy((*ids)[i].bytes, &id, sizeof id);
    }
    return plan->spread(plan->closure, *ids, nccl->comm_count, err);
}

struct beginning {
    struct pp_nccl_id *ids;
    void *stream; /* of the first uses */
    char *scratch;
};

static enum pp_status make_comm(struct pp_nccl *nccl, int i, const void *closure,
                                struct pp_error *err)
{
    const struct pp_nccl_id *ids = ((const struct beginning *)closure)->ids;
    const struct pp_nccl_group *group = &nccl->plan->groups[i];
    struct pp_nccl_comm *comm = &nccl->comms[i];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;

    memcpy(&id, ids[i].bytes, sizeof id);
    config.blocking = 1; /* else NCCL starts a thread for each operation */
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
    config.commName = group->name;
#endif
    if (i < nccl->plan->channel_count)
        config.maxCTAs = PP_NCCL_CHANNEL_CTAS;
    return pp_nccl_judge(
        nccl, comm,
        nccl->library->CommInitRankConfig(&comm->handle, group->count, id, comm->own, &config),
        err);
}

/* Calls `each` for all communicators of this process, as one group, which waits for the others. */
static enum pp_status for_all(struct pp_nccl *nccl, const void *closure,
                              enum pp_status (*each)(struct pp_nccl *nccl, int comm,
                                                     const void *closure, struct pp_error *err),
                              struct pp_error *err)
{
    enum pp_status status = pp_nccl_judge(nccl, NULL, nccl->library->GroupStart(), err);

    if (status != PP_OK)
        return status;
    for (int i = 0; i < nccl->comm_count && status == PP_OK; i++)
        if (nccl->comms[i].own >= 0)
            status = each(nccl, i, closure, err);
    const ncclResult_t end = nccl->library->GroupEnd();
    if (nccl->is_aborted) /* the abort destroys the handles */
        return pp_nccl_aborted(err);
    PP_TRY(status);
    PP_TRY(pp_nccl_look(nccl, err)); /* names the one that has failed */
    return pp_nccl_judge(nccl, NULL, end, err);
}

static enum pp_status use_comm(struct pp_nccl *nccl, int i, const void *closure,
                               struct pp_error *err)
{
    const struct beginning *use = closure;
    const struct pp_nccl_library *l = nccl->library;
    struct pp_nccl_comm *comm = &nccl->comms[i];
    char *to = use->scratch + WARM_UP_BYTES;

    comm->stream = use->stream;
    comm->issued++;
    if (i >= nccl->plan->channel_count)
        return pp_nccl_judge(nccl, comm,
                             l->AllReduce(to, to, 1, ncclInt64, ncclSum, comm->handle, use->stream),
                             err);
    return pp_nccl_judge(
        nccl, comm,
        comm->own == 0
            ? l->Send(use->scratch, WARM_UP_BYTES, ncclUint8, comm->peer, comm->handle, use->stream)
            : l->Recv(to, WARM_UP_BYTES, ncclUint8, comm->peer, comm->handle, use->stream),
        err);
}

/* Swaps a byte with each other member. */
static enum pp_status use_swaps(struct pp_nccl *nccl, int i, const void *closure,
                                struct pp_error *err)
{
    const struct beginning *use = closure;
    const struct pp_nccl_library *l = nccl->library;
    const struct pp_nccl_group *group = &nccl->plan->groups[i];
    struct pp_nccl_comm *comm = &nccl->comms[i];
    char *to = use->scratch + WARM_UP_BYTES;

    assert(!group->has_swaps || group->count <= PP_NCCL_SWAP_MEMBERS);
    for (int k = 0; group->has_swaps && k < group->count; k++) {
        if (k == comm->own)
            continue;
        PP_TRY(pp_nccl_judge(
            nccl, comm, l->Send(use->scratch, 1, ncclUint8, k, comm->handle, use->stream), err));
        PP_TRY(pp_nccl_judge(nccl, comm,
                             l->Recv(to + k, 1, ncclUint8, k, comm->handle, use->stream), err));
    }
    return PP_OK;
}

static bool has_swaps(const struct pp_nccl *nccl)
{
    for (int i = 0; i < nccl->comm_count; i++)
        if (nccl->plan->groups[i].has_swaps && nccl->comms[i].own >= 0)
            return true;
    return false;
}

static enum pp_status connect(struct pp_nccl *nccl, const void *closure, struct pp_error *err)
{
    PP_TRY(for_all(nccl, closure, make_comm, err));
    PP_TRY(for_all(nccl, closure, use_comm, err));
    return has_swaps(nccl) ? for_all(nccl, closure, use_swaps, err) : PP_OK;
}

static enum pp_status begin(struct pp_arena *arena, struct pp_nccl *nccl, void *stream,
                            void *scratch, struct pp_error *err)
{
    struct beginning *beginning = PP_NEW(arena, struct beginning);

    *beginning = (struct beginning){.stream = stream, .scratch = scratch};
    PP_TRY(spread_ids(arena, nccl, &beginning->ids, err));
    PP_TRY(pp_nccl_call(nccl, connect, beginning, err));
    return pp_nccl_finish(nccl, stream, err);
}

static void release(void *context)
{
    struct pp_nccl *nccl = context;

    if (!nccl->is_left)
        pp_arena_destroy(nccl->arena);
}

enum pp_status pp_nccl_open(struct pp_arena *arena, const struct pp_nccl_plan *plan, void *stream,
                            void *scratch, struct pp_nccl **nccl, struct pp_error *err)
{
    struct pp_arena *own = pp_arena_create();
    struct pp_nccl *n = PP_NEW(own, struct pp_nccl);

    n->arena = own;
    pp_arena_defer(arena, release, n);
    PP_TRY(pp_nccl_load(own, &n->library, err));
    pp_nccl_connect_early();
    n->plan = plan;
    pthread_mutex_init(&n->mutex, NULL);
    name_comms(own, n);
    const enum pp_status status = begin(own, n, stream, scratch, err);
    if (status != PP_OK)
        pp_nccl_abort(n);
    *nccl = n;
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

static enum pp_status close_all(struct pp_nccl *nccl, const void *closure, struct pp_error *err)
{
    const struct pp_nccl_library *l = nccl->library;

    (void)closure;
    for (int i = 0; i < nccl->comm_count && !nccl->is_aborted; i++) {
        if (!nccl->comms[i].handle)
            continue;
        const ncclResult_t result = l->CommFinalize(nccl->comms[i].handle);
        if (!nccl->is_aborted) /* the abort destroys the handles */
            PP_TRY(pp_nccl_judge(nccl, &nccl->comms[i], result, err));
    }
    for (int i = 0; i < nccl->comm_count; i++) {
        if (nccl->is_aborted)
            return pp_nccl_aborted(err);
        struct pp_nccl_comm *comm = &nccl->comms[i];
        ncclComm_t handle = comm->handle;
        comm->handle = NULL;
        if (handle)
            PP_TRY(pp_nccl_judge(nccl, comm, l->CommDestroy(handle), err));
    }
    return PP_OK;
}

enum pp_status pp_nccl_close(struct pp_nccl *nccl, struct pp_error *err)
{
    return pp_nccl_call(nccl, close_all, NULL, err);
}
