/* Compute ops: inputs, outputs and the buffers that they take. */
#include "tests/property/judge_parts.h"

#include <string.h>

int judge_take(struct machine *m, int rank, int class, const struct pp_op *op)
{
    if (op->slot < 0)
        return 0;
    for (int k = 0; k < m->buffer_count; k++) {
        const struct buffer *b = &m->buffers[k];
        if (b->rank == rank && b->class == class && b->slot == op->slot && b->used)
            return judge_complain(m, op, rank, "its buffer is still in use");
    }
    m->buffers[m->buffer_count++] =
        (struct buffer){rank, class, op->slot, ((uint64_t)1 << op->granules) - 1, *op};
    return 0;
}

static bool has_granule(const struct buffer *b, int rank, int stage, int granule, int split)
{
    return b->rank == rank && b->owner.stage == stage && b->owner.split == split &&
           b->owner.mb <= granule && granule < b->owner.mb + b->owner.granules;
}

static void leave(struct buffer *b, int granule)
{
    b->used &= ~((uint64_t)1 << (granule - b->owner.mb));
}

/* One granule of the buffer's content is not needed any more. */
void judge_leave(struct machine *m, int rank, int class, int stage, int granule, int split)
{
    for (int k = 0; k < m->buffer_count; k++)
        if (m->buffers[k].class == class &&
            has_granule(&m->buffers[k], rank, stage, granule, split))
            leave(&m->buffers[k], granule);
}

/* What F has saved, or COPY.up has brought back, has moved away. */
void judge_leave_saved(struct machine *m, int rank, const struct pp_op *op)
{
    for (int k = 0; k < m->buffer_count; k++)
        for (int g = op->mb; g < op->mb + op->granules; g++)
            if ((m->buffers[k].owner.kind == PP_F || m->buffers[k].owner.kind == PP_COPY) &&
                has_granule(&m->buffers[k], rank, op->stage, g, op->split))
                leave(&m->buffers[k], g);
}

/* ---- compute --------------------------------------------------------------------------------- */

static bool has_inputs(const struct machine *m, int rank, const struct pp_op *op, int g)
{
    const int s = op->stage, q = op->split;

    switch (op->kind) {
    case PP_F:
        return (s == 0 || judge_has(m, 'A', rank, s - 1, g, q)) &&
               (q == 0 || judge_has(m, 'K', rank, s, g, q - 1));
    case PP_R:
    case PP_Q:
    case PP_DQ:
        return judge_has(m, 'S', rank, s, g, q);
    case PP_W:
        return judge_has(m, 'G', rank, s, g, q) && judge_has(m, 'S', rank, s, g, q);
    default:
        return judge_has(m, 'S', rank, s, g, q) &&
               (s == m->head->stages - 1 || judge_has(m, 'G', rank, s + 1, g, q)) &&
               (q == m->head->splits - 1 || judge_has(m, 'k', rank, s, g, q + 1)) &&
               (judge_has(m, 'R', rank, s, g, q) || !judge_is_listed(m, PP_R, s, g, q));
    }
}

static void put_outputs(struct machine *m, int rank, const struct pp_op *op, int g)
{
    const int s = op->stage, q = op->split, kind = op->kind;

    if (kind == PP_F) {
        judge_put(m, 'A', rank, s, g, q), judge_put(m, 'S', rank, s, g, q),
            judge_put(m, 'K', rank, s, g, q);
        judge_leave(m, rank, PP_RECV_F, s, g, q);
    }
    if (kind == PP_R)
        judge_put(m, 'R', rank, s, g, q);
    if (kind == PP_B || kind == PP_I) {
        judge_put(m, 'G', rank, s, g, q), judge_put(m, 'k', rank, s, g, q);
        judge_leave(m, rank, PP_RECV_B, s, g, q);
    }
    if (kind == PP_B || kind == PP_W) {
        judge_put(m, 'D', rank, s, g, q);
        judge_leave(m, rank, PP_F, s, g, q), judge_leave(m, rank, KEPT, s, g, q);
    }
}

/* The SEND of an op's output takes its buffer when the op starts to write into it. */
static int take_output(struct machine *m, int rank, const struct pp_op *op, int granule)
{
    const int kind = op->kind == PP_F ? PP_SEND_F : PP_SEND_B;

    if (op->kind != PP_F && op->kind != PP_B && op->kind != PP_I)
        return 0;
    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *send = &m->lists->ops[rank][i];
        bool is_taken = false;
        if (send->kind != kind || send->stage != op->stage || send->split != op->split ||
            granule < send->mb || granule >= send->mb + send->granules)
            continue;
        for (int k = 0; k < m->buffer_count; k++)
            is_taken |= m->buffers[k].rank == rank && m->buffers[k].class == kind &&
                        m->buffers[k].owner.stage == send->stage &&
                        m->buffers[k].owner.mb == send->mb &&
                        m->buffers[k].owner.split == send->split;
        if (!is_taken && judge_take(m, rank, kind, send) < 0)
            return -1;
    }
    return 0;
}

/* What the backward needs of an op: F, where all of it is recomputed, only keeps what R reads. */
static int saved_class(const struct machine *m, const struct pp_op *op)
{
    for (int g = 0; g < op->granules; g++)
        if (op->kind == PP_R || !judge_is_listed(m, PP_R, op->stage, op->mb + g, op->split))
            return PP_F;
    return KEPT;
}

/* The slot of what F has saved, R has made again, or COPY.up brings back. */
int judge_take_saved(struct machine *m, int rank, const struct pp_op *op)
{
    return judge_is_lowered(m) && m->head->mode == PP_MODE_TRAIN
               ? judge_take(m, rank, saved_class(m, op), op)
               : 0;
}

/* Returns 1 if it ran, 0 if it must wait, -1 for nonsense. Both halves of a pair start before
 * either ends. */
int judge_compute(struct machine *m, int rank, const struct pp_op *op, int count)
{
    for (int k = 0; k < count; k++)
        for (int g = 0; g < op[k].granules; g++)
            if (!has_inputs(m, rank, &op[k], op[k].mb + g))
                return judge_is_lowered(m)
                           ? judge_complain(m, &op[k], rank, "its input is not there")
                           : 0;
    for (int k = 0; k < count; k++) {
        if ((op[k].kind == PP_F || op[k].kind == PP_R) && judge_take_saved(m, rank, &op[k]) < 0)
            return -1;
        for (int g = 0; g < op[k].granules; g++) {
            if (take_output(m, rank, &op[k], op[k].mb + g) < 0)
                return -1;
            put_outputs(m, rank, &op[k], op[k].mb + g);
        }
    }
    return 1;
}
