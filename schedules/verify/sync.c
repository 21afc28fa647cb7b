/* schedules/verify/sync.c — gradient collectives after the last backward, the optimizer after the
 * collectives, barriers on all ranks. */
#include "schedules/verify/parts.h"

#include <string.h>

/* Places of a chunk's instructions, by pipeline * stages + stage; -1 = none. For a sum in buckets:
 * its first post and last WAIT. The sum and gather of a stage are noted once for a rank. */
struct chunk {
    int last_backward, sync, sync_wait, update, gather;
    int unwaited; /* posts of the sum without a WAIT so far */
    bool is_dropped;
};

struct sync {
    struct chunk *chunks;
    int *tied, *tied_wait; /* [rank] */
    int syncs, updates;
};

/* Kinds of instructions, or of targets of WAITs, that note() reads. */
static const bool matters[PP_OP_KINDS] = {
    [PP_B] = true,  [PP_W] = true,  [PP_U] = true,  [PP_AG] = true,
    [PP_RS] = true, [PP_AR] = true, [PP_BC] = true, [PP_DROP] = true};

static enum pp_status set_once(struct pp_verify *v, int *place, int i)
{
    if (*place >= 0)
        return pp_verify_fail_twice(v, *place, i);
    *place = i;
    return PP_OK;
}

/* Returns the chunk that notes the sum of a stage: a rank posts one for all its pipelines. */
static struct chunk *summed_with(const struct pp_program *p, const struct sync *s, int pipe,
                                 int stage)
{
    const int rank = pp_program_rank_of(p, pipe, stage);

    for (int first = 0; first < pipe; first++)
        if (pp_program_rank_of(p, first, stage) == rank)
            return &s->chunks[first * p->stages + stage];
    return &s->chunks[pipe * p->stages + stage];
}

static enum pp_status note_sum(struct pp_verify *v, struct sync *s, struct chunk *sum, int i)
{
    s->syncs++;
    sum->unwaited++;
    return v->p->bucket[i] > 0 ? PP_OK : set_once(v, &sum->sync, i); /* freezing has counted them */
}

static void note_sum_wait(struct chunk *sum, int i)
{
    sum->unwaited--;
    sum->sync_wait = i;
}

static void note_gather(struct chunk *sum, int i)
{
    if (sum->gather < 0) /* the first one of the step */
        sum->gather = i;
}

static enum pp_status note(struct pp_verify *v, struct sync *s, int rank, int i)
{
    const struct pp_program *p = v->p;
    const bool is_wait = p->kind[i] == PP_WAIT;
    const int target = is_wait ? p->begin[rank] + p->arg[i] : i, kind = p->kind[target];
    struct chunk *c = &s->chunks[p->pipe[target] * p->stages + p->stage[target]];

    if (pp_op_has_buckets(kind) && p->purpose[target] != PP_FOR_STEP)
        return PP_OK; /* pp_verify_gathers() checks them */
    if (is_wait && kind == PP_AR && p->aux[target] == PP_TIED)
        s->tied_wait[rank] = i;
    else if (is_wait && (kind == PP_AR || kind == PP_RS))
        note_sum_wait(summed_with(p, s, p->pipe[target], p->stage[target]), i);
    else if (is_wait || kind == PP_BAR)
        return PP_OK;
    else if (kind == PP_AR && p->aux[i] == PP_TIED)
        return set_once(v, &s->tied[rank], i);
    else if (kind == PP_B || kind == PP_W)
        c->last_backward = i;
    else if (kind == PP_U)
        return s->updates++, set_once(v, &c->update, i);
    else if (kind == PP_DROP)
        c->is_dropped = true;
    else if (pp_op_is_collective(kind) && kind != PP_A2A &&
             pp_program_rank_of(p, p->pipe[i], p->stage[i]) != rank)
        return pp_verify_fail_elsewhere(v, i);
    else if (kind == PP_AR || kind == PP_RS)
        return note_sum(v, s, summed_with(p, s, p->pipe[i], p->stage[i]), i);
    else if (kind == PP_AG)
        note_gather(summed_with(p, s, p->pipe[i], p->stage[i]), i);
    return PP_OK;
}

static enum pp_status check_after(struct pp_verify *v, int i, int needed)
{
    return i < 0 || needed < i ? PP_OK : pp_verify_fail_before(v, i, needed);
}

static enum pp_status check_update(struct pp_verify *v, int update, int post, int wait)
{
    if (update < 0 || post < 0)
        return PP_OK;
    const char *text = wait < 0 ? pp_verify_text(v, post) : NULL;
    return text ? pp_verify_refuse(v, update, "uses the sum of %s, but (%s)WAIT is missing", text,
                                   text)
                : check_after(v, update, wait);
}

/* Returns the first post of the sum at `sum` that no WAIT names. */
static int find_unwaited(const struct pp_verify *v, const struct chunk *sum)
{
    const struct pp_program *p = v->p;
    const int end = p->begin[pp_program_rank_at(p, sum->sync) + 1];

    for (int i = sum->sync; i < end; i++)
        if (p->kind[i] == p->kind[sum->sync] && p->stage[i] == p->stage[sum->sync] &&
            p->aux[i] != PP_TIED && p->purpose[i] == PP_FOR_STEP && !v->is_waited[i])
            return i;
    return sum->sync;
}

static enum pp_status check_sum(struct pp_verify *v, const struct chunk *c, const struct chunk *sum)
{
    PP_TRY(check_after(v, sum->sync, c->last_backward));
    if (c->update >= 0 && sum->sync >= 0 && sum->unwaited > 0)
        return check_update(v, c->update, find_unwaited(v, sum), -1);
    return check_update(v, c->update, sum->sync, sum->sync_wait);
}

/* Checks the gathers of weights: each copy updates its share of what RS has left. */
static enum pp_status check_gather(struct pp_verify *v, const struct chunk *c,
                                   const struct chunk *sum)
{
    const struct pp_program *p = v->p;

    if (c->update < 0 || c->is_dropped)
        return PP_OK;
    if (sum->gather >= 0 && sum->gather < c->update)
        return pp_verify_refuse(v, sum->gather, "gathers weights that %s has not updated yet%s",
                                pp_verify_text(v, c->update),
                                pp_verify_fix(v, c->update, sum->gather));
    if (sum->sync >= 0 && p->kind[sum->sync] == PP_RS && sum->gather < 0)
        return pp_verify_refuse(v, c->update,
                                "updates the share of the weights that %s leaves, and no AG "
                                "gathers them",
                                pp_verify_text(v, sum->sync));
    return PP_OK;
}

static enum pp_status check_chunk(struct pp_verify *v, const struct sync *s, int pipe, int stage)
{
    const struct pp_program *p = v->p;
    const struct chunk *c = &s->chunks[pipe * p->stages + stage];
    const struct chunk *sum = summed_with(p, s, pipe, stage);
    const int rank = pp_program_rank_of(p, pipe, stage);

    if (s->syncs && sum->sync < 0)
        return pp_verify_fail_rank(v, rank,
                                   "stage %d of pipeline %d has no gradient collective, "
                                   "other stages have",
                                   stage, pipe);
    if (s->updates && c->update < 0)
        return pp_verify_fail_rank(v, rank, "stage %d of pipeline %d has no U, other stages have",
                                   stage, pipe);
    PP_TRY(check_after(v, c->update, c->last_backward));
    PP_TRY(check_sum(v, c, sum));
    if (stage == 0 || stage == p->stages - 1) {
        PP_TRY(check_after(v, s->tied[rank], c->last_backward));
        PP_TRY(check_update(v, c->update, s->tied[rank], s->tied_wait[rank]));
    }
    return check_gather(v, c, sum);
}

static enum pp_status check_barriers(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    int first_bars = 0;

    for (int rank = 0; rank < p->ranks; rank++) {
        int bars = 0;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            bars += p->kind[i] == PP_BAR;
        if (rank == 0)
            first_bars = bars;
        else if (bars != first_bars)
            return pp_verify_fail_rank(v, rank, "%d BAR, but rank 0 has %d", bars, first_bars);
    }
    return PP_OK;
}

enum pp_status pp_verify_sync(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    const size_t chunks = (size_t)p->pipelines * (size_t)p->stages;
    struct sync s = {.chunks = PP_ARRAY(v->arena, struct chunk, chunks),
                     .tied = PP_ARRAY(v->arena, int, p->ranks),
                     .tied_wait = PP_ARRAY(v->arena, int, p->ranks)};

    PP_TRY(check_barriers(v));
    if (p->versions > 1) /* asynchronous: many updates, each with its own gradients */
        return PP_OK;
    for (size_t k = 0; k < chunks; k++)
        s.chunks[k] = (struct chunk){-1, -1, -1, -1, -1, 0, false};
    memset(s.tied, 0xff, sizeof(int) * (size_t)p->ranks);
    memset(s.tied_wait, 0xff, sizeof(int) * (size_t)p->ranks);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            if (matters[p->kind[i] == PP_WAIT ? p->aux[i] : p->kind[i]])
                PP_TRY(note(v, &s, rank, i));
    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int stage = 0; stage < p->stages; stage++)
            PP_TRY(check_chunk(v, &s, pipe, stage));
    return PP_OK;
}
