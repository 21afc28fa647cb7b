/* Communicators from their beginning to their end: ids, a group that makes all of them, a group
 * that uses each once.
 *
 * A group makes its communicators side by side, and connects them side by side, so no order of
 * theirs can wait for another. On the stream the first uses run one after the other: in the order
 * of the plan, which all processes share, so none waits for one that stands behind it. */
#include "exec/nccl/parts.h"

#include <assert.h>
#include <string.h>

_Static_assert(PP_NCCL_ID_BYTES == NCCL_UNIQUE_ID_BYTES, "an id");

/* One of a channel copies on few multiprocessors: the rest is for whoever computes. */
enum { CHANNEL_CTAS = 2, WARM_UP_BYTES = PP_NCCL_SCRATCH_BYTES / 2 };

/* ---- lines ----------------------------------------------------------------------------------- */

static void draw_channel(struct pp_arena *arena, const struct pp_nccl_plan *plan,
                         const struct pp_nccl_channel *c, struct pp_nccl_line *line)
{
    assert(c->source != c->dest && c->source >= 0 && c->dest >= 0 && c->source < plan->processes &&
           c->dest < plan->processes);
    line->name = pp_arena_printf(arena, "%d>%d %c%d", c->source, c->dest, c->kind, c->pipe);
    line->text = pp_arena_printf(arena, "channel %s (process %d to process %d)", line->name,
                                 c->source, c->dest);
    line->count = 2;
    line->own = plan->process == c->source ? 0 : plan->process == c->dest ? 1 : -1;
    line->peer = 1 - line->own;
}

static void draw_group(struct pp_arena *arena, const struct pp_nccl_plan *plan,
                       const struct pp_nccl_group *g, struct pp_nccl_line *line)
{
    char *members = "";

    assert(g->count >= 2);
    line->own = -1;
    for (int i = 0; i < g->count; i++) {
        assert(g->members[i] < plan->processes && (i == 0 || g->members[i] > g->members[i - 1]));
        members = pp_arena_printf(arena, "%s%s%d", members, i ? ", " : "", g->members[i]);
        if (g->members[i] == plan->process)
            line->own = i;
    }
    line->name = g->name;
    line->text = pp_arena_printf(arena, "sum of %s (processes %s)", g->name, members);
    line->count = g->count;
}

void pp_nccl_draw_lines(struct pp_arena *arena, struct pp_nccl *nccl)
{
    const struct pp_nccl_plan *plan = nccl->plan;

    nccl->line_count = plan->channel_count + plan->group_count;
    nccl->lines = PP_ARRAY(arena, struct pp_nccl_line, nccl->line_count + 1);
    for (int i = 0; i < plan->channel_count; i++)
        draw_channel(arena, plan, &plan->channels[i], &nccl->lines[i]);
    for (int i = 0; i < plan->group_count; i++)
        draw_group(arena, plan, &plan->groups[i], &nccl->lines[plan->channel_count + i]);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static int owner_of(const struct pp_nccl_plan *plan, int line)
{
    return line < plan->channel_count ? plan->channels[line].source
                                      : plan->groups[line - plan->channel_count].members[0];
}

static enum pp_status spread_ids(struct pp_arena *arena, struct pp_nccl *nccl,
                                 struct pp_nccl_id **ids, struct pp_error *err)
{
    const struct pp_nccl_plan *plan = nccl->plan;

    *ids = PP_ARRAY(arena, struct pp_nccl_id, nccl->line_count + 1);
    for (int i = 0; i < nccl->line_count; i++) {
        ncclUniqueId id;
        (*ids)[i].owner = owner_of(plan, i);
        if ((*ids)[i].owner != plan->process)
            continue;
        PP_TRY(pp_nccl_judge(nccl, &nccl->lines[i], nccl->library->GetUniqueId(&id), err));
        memcpy((*ids)[i].bytes, &id, sizeof id);
    }
    return plan->spread(plan->closure, *ids, nccl->line_count, err);
}

static enum pp_status make(struct pp_nccl *nccl, int i, const struct pp_nccl_id *from,
                           struct pp_error *err)
{
    struct pp_nccl_line *line = &nccl->lines[i];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId id;

    memcpy(&id, from->bytes, sizeof id);
    config.blocking = 0;
    config.commName = line->name;
    if (i < nccl->plan->channel_count)
        config.maxCTAs = CHANNEL_CTAS;
    return pp_nccl_judge(
        nccl, line,
        nccl->library->CommInitRankConfig(&line->comm, line->count, id, line->own, &config), err);
}

/* `each` for all lines of this process, as one group; then until none is busy. */
static enum pp_status for_all(struct pp_nccl *nccl, const void *closure,
                              enum pp_status (*each)(struct pp_nccl *nccl, int line,
                                                     const void *closure, struct pp_error *err),
                              struct pp_error *err)
{
    enum pp_status status = pp_nccl_judge(nccl, NULL, nccl->library->GroupStart(), err);

    if (status != PP_OK)
        return status;
    for (int i = 0; i < nccl->line_count && status == PP_OK; i++)
        if (nccl->lines[i].own >= 0)
            status = each(nccl, i, closure, err);
    const ncclResult_t end = nccl->library->GroupEnd();
    PP_TRY(status);
    PP_TRY(pp_nccl_judge(nccl, NULL, end, err));
    return pp_nccl_settle(nccl, err);
}

static enum pp_status make_line(struct pp_nccl *nccl, int i, const void *closure,
                                struct pp_error *err)
{
    const struct pp_nccl_id *ids = closure;
    return make(nccl, i, &ids[i], err);
}

struct first_use {
    void *stream;
    char *scratch;
};

static enum pp_status use_line(struct pp_nccl *nccl, int i, const void *closure,
                               struct pp_error *err)
{
    const struct first_use *use = closure;
    const struct pp_nccl_library *l = nccl->library;
    struct pp_nccl_line *line = &nccl->lines[i];
    char *to = use->scratch + WARM_UP_BYTES;

    line->stream = use->stream;
    line->issued++;
    if (i >= nccl->plan->channel_count)
        return pp_nccl_judge(
            nccl, line, l->AllReduce(to, to, 1, ncclInt64, ncclSum, line->comm, use->stream), err);
    return pp_nccl_judge(
        nccl, line,
        line->own == 0
            ? l->Send(use->scratch, WARM_UP_BYTES, ncclUint8, line->peer, line->comm, use->stream)
            : l->Recv(to, WARM_UP_BYTES, ncclUint8, line->peer, line->comm, use->stream),
        err);
}

static enum pp_status connect(struct pp_arena *arena, struct pp_nccl *nccl,
                              const struct first_use *use, struct pp_error *err)
{
    struct pp_nccl_id *ids;

    PP_TRY(spread_ids(arena, nccl, &ids, err));
    PP_TRY(for_all(nccl, ids, make_line, err));
    return for_all(nccl, use, use_line, err);
}

enum pp_status pp_nccl_open(struct pp_arena *arena, const struct pp_nccl_library *library,
                            const struct pp_nccl_plan *plan, void *stream, void *scratch,
                            struct pp_nccl **nccl, struct pp_error *err)
{
    struct pp_nccl *n = PP_NEW(arena, struct pp_nccl);
    const struct first_use use = {stream, scratch};

    pp_nccl_connect_early();
    n->library = library;
    n->plan = plan;
    pthread_mutex_init(&n->mutex, NULL);
    pp_nccl_draw_lines(arena, n);
    pthread_mutex_lock(&n->mutex);
    enum pp_status status = connect(arena, n, &use, err);
    pthread_mutex_unlock(&n->mutex);
    if (status == PP_OK)
        status = pp_nccl_finish(n, stream, err);
    if (status != PP_OK)
        pp_nccl_abort(n);
    *nccl = n;
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

static enum pp_status close_all(struct pp_nccl *nccl, struct pp_error *err)
{
    const struct pp_nccl_library *l = nccl->library;

    for (int i = 0; i < nccl->line_count; i++)
        if (nccl->lines[i].comm)
            PP_TRY(pp_nccl_judge(nccl, &nccl->lines[i], l->CommFinalize(nccl->lines[i].comm), err));
    PP_TRY(pp_nccl_settle(nccl, err));
    for (int i = 0; i < nccl->line_count; i++) {
        struct pp_nccl_line *line = &nccl->lines[i];
        ncclComm_t comm = line->comm;
        line->comm = NULL;
        if (comm)
            PP_TRY(pp_nccl_judge(nccl, line, l->CommDestroy(comm), err));
    }
    return PP_OK;
}

enum pp_status pp_nccl_close(struct pp_nccl *nccl, struct pp_error *err)
{
    pthread_mutex_lock(&nccl->mutex);
    const enum pp_status status = close_all(nccl, err);
    pthread_mutex_unlock(&nccl->mutex);
    return status;
}
