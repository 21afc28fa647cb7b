/* schedules/program/freeze_ops.c — checks and stores instructions one by one while freezing. */
#include "schedules/program/freeze.h"

static bool op_has_mb(const struct pp_op *op)
{
    return pp_op_kinds[op->kind == PP_WAIT ? op->aux : op->kind].has_mb;
}

/* Is true for a bucket of a collective, or its WAIT. */
static bool op_is_cut(const struct pp_op *op)
{
    const bool is_wait = op->kind == PP_WAIT;

    return op->granules > 1 && pp_op_has_buckets(is_wait ? op->aux : op->kind) &&
           !(is_wait ? op->last_stage != 0 : op->aux == PP_TIED);
}

static enum pp_status check_micro_batch(const struct pp_freeze *f, int i, const struct pp_op *op)
{
    const struct pp_program *p = f->p;
    const int ids = p->micro_batches * p->granules, granules = op->granules ? op->granules : 1;

    if (op->mb < 0 || op->mb > ids - granules)
        return pp_freeze_error(f, i, "micro-batch ids are 0 to %d", ids - 1);
    if (granules > 1 && op->mb / p->granules != (op->mb + granules - 1) / p->granules)
        return pp_freeze_error(f, i, "granules of different micro-batches (%d each)", p->granules);
    if (op->split >= p->splits)
        return pp_freeze_error(f, i, "sequence splits are 0 to %d", p->splits - 1);
    for (int id = op->mb + 1; id < op->mb + granules; id++)
        if (p->pipe_of[id] != p->pipe_of[op->mb])
            return pp_freeze_error(f, i, "granules of different pipelines");
    return PP_OK;
}

/* Is true if an op is marked outside of a pair: F marked first, then B marked second. */
static bool is_fused_badly(const struct pp_freeze *f, int rank, int at)
{
    const struct pp_op *list = f->lists->ops[rank], *op = &list[at];

    if (!pp_op_is_compute(op->kind) || op->aux == 0)
        return false;
    if (op->aux == PP_FUSED_FIRST)
        return op->kind != PP_F || at + 1 >= f->lists->count[rank] || list[at + 1].kind != PP_B ||
               list[at + 1].aux != PP_FUSED_SECOND;
    return op->aux != PP_FUSED_SECOND || op->kind != PP_B || at == 0 || list[at - 1].kind != PP_F ||
           list[at - 1].aux != PP_FUSED_FIRST;
}

static enum pp_status check_op(const struct pp_freeze *f, int rank, int at)
{
    const struct pp_op *op = &f->lists->ops[rank][at];
    const int i = f->p->begin[rank] + at;

    if (op->kind >= PP_OP_KINDS)
        return pp_freeze_error(f, i, "unknown kind %d", op->kind);
    if (op->kind == PP_WAIT && (op->aux >= PP_OP_KINDS || !pp_op_is_posted(op->aux)))
        return pp_freeze_error(f, i, "nothing to wait for");
    if (op->stage >= f->p->stages)
        return pp_freeze_error(f, i, "stages are 0 to %d", f->p->stages - 1);
    if (pp_op_has_purpose(op->kind) && op->purpose &&
        (op->purpose >= PP_PURPOSES || pp_purposes[op->purpose].kind != op->kind))
        return pp_freeze_error(f, i, "this kind has no such purpose");
    if (op_has_mb(op))
        PP_TRY(check_micro_batch(f, i, op));
    else if (op_is_cut(op) && op->split >= op->granules)
        return pp_freeze_error(f, i, "buckets are 0 to %d", op->granules - 1);
    else if (op->pipe >= f->p->pipelines)
        return pp_freeze_error(f, i, "pipelines are 0 to %d", f->p->pipelines - 1);
    if (is_fused_badly(f, rank, at))
        return pp_freeze_error(f, i,
                               "an overlapped pair is a forward directly before a full backward");
    return PP_OK;
}

/* The arrays of one rank. `restrict` keeps their stores independent. */
struct columns {
    uint8_t *restrict kind, *restrict aux, *restrict split, *restrict granule_count,
                                                                *restrict version;
    uint16_t *restrict stage, *restrict pipe, *restrict peer;
    int32_t *restrict mb, *restrict arg, *restrict slot;
};

static struct columns columns_of(const struct pp_program *p, int rank)
{
    const int begin = p->begin[rank];

    return (struct columns){p->kind + begin,          p->aux + begin,     p->split + begin,
                            p->granule_count + begin, p->version + begin, p->stage + begin,
                            p->pipe + begin,          p->peer + begin,    p->mb + begin,
                            p->arg + begin,           p->slot + begin};
}

/* Is true for most instructions, which need no check_op(): correct compute ops and posted messages
 * of one granule, and WAITs for such messages. */
static bool is_plain(const struct pp_program *p, const struct pp_op *op, int32_t ids)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    if (kind >= PP_OP_KINDS || op->granules > 1 || (uint32_t)op->mb >= (uint32_t)ids ||
        op->stage >= p->stages || op->split >= p->splits || !pp_op_kinds[kind].has_mb)
        return false;
    const enum pp_stream stream = pp_op_kinds[kind].stream;
    return stream == PP_STREAM_CHANNEL ||
           (stream == PP_STREAM_COMPUTE && op->kind != PP_WAIT && op->aux == 0);
}

static void store_op(const struct columns *c, int at, const struct pp_op *op,
                     const uint16_t *pipe_of)
{
    const bool has_mb = op_has_mb(op), is_cut = op_is_cut(op);
    const bool has_aux = op->kind == PP_WAIT || op->kind == PP_AR || pp_op_is_compute(op->kind);

    c->kind[at] = op->kind;
    c->aux[at] = has_aux ? op->aux : 0;
    c->split[at] = has_mb || is_cut ? op->split : 0;
    c->granule_count[at] = is_cut ? op->granules : !has_mb ? 0 : (op->granules ? op->granules : 1);
    c->version[at] = op->version;
    c->stage[at] = op->stage;
    c->pipe[at] = has_mb ? pipe_of[op->mb] : op->pipe;
    c->peer[at] = 0;
    c->mb[at] = has_mb ? op->mb : -1;
    c->arg[at] = -1;
    c->slot[at] = op->slot;
}

static void store_plain(const struct columns *c, int at, const struct pp_op *op,
                        const uint16_t *pipe_of)
{
    c->kind[at] = op->kind;
    c->aux[at] = op->kind == PP_WAIT ? op->aux : 0;
    c->split[at] = op->split;
    c->granule_count[at] = 1;
    c->version[at] = op->version;
    c->stage[at] = op->stage;
    c->pipe[at] = pipe_of[op->mb];
    c->peer[at] = 0;
    c->mb[at] = op->mb;
    c->arg[at] = -1;
    c->slot[at] = op->slot;
}

enum pp_status pp_freeze_ops(struct pp_freeze *f, int rank)
{
    const struct pp_program *p = f->p;
    const int begin = p->begin[rank], count = f->lists->count[rank];
    const int32_t ids = p->micro_batches * p->granules;
    const struct pp_op *ops = f->lists->ops[rank];
    const uint16_t *pipe_of = p->pipe_of;
    const struct columns c = columns_of(p, rank);
    int32_t *messages = f->messages.at, message_count = f->messages.begin[rank];
    int32_t *collectives = f->collectives.at, collective_count = f->collectives.begin[rank];

    for (int at = 0; at < count; at++) {
        const struct pp_op *op = &ops[at];

        if (is_plain(p, op, ids)) {
            store_plain(&c, at, op, pipe_of);
        } else {
            PP_TRY(check_op(f, rank, at));
            store_op(&c, at, op, pipe_of);
        }
        const enum pp_stream stream = pp_op_kinds[op->kind].stream;
        f->wait_count += op->kind == PP_WAIT;
        if (stream == PP_STREAM_CHANNEL)
            messages[message_count++] = begin + at;
        else if (stream == PP_STREAM_REDUCE)
            collectives[collective_count++] = begin + at;
        f->other_posts[rank] += stream == PP_STREAM_REDUCE || stream == PP_STREAM_COPY;
    }
    f->messages.begin[rank + 1] = message_count;
    f->collectives.begin[rank + 1] = collective_count;
    return PP_OK;
}
