/* Buffers on the device for gradients that live on another tier. Those of one unit are on their way
 * down from MOVE.part to its WAIT. As many as there are buffers are made inside of an op. A chunk
 * that leaves as one unit has a buffer from its first B or W, or its MOVE.sum, on. */
#include "schedules/memory/changes.h"

#include <math.h>

static const struct pp_stage_gathers *parts_of(const struct pp_memory_walk *w,
                                               const struct pp_op *op)
{
    const struct pp_stage_gathers *g =
        w->whole && op->stage < w->costs->stages ? &w->costs->gathers[op->stage] : NULL;

    return g && g->part_units > 0 ? g : NULL;
}

static double move_bytes(const struct pp_memory_walk *w, const struct pp_op *op, int purpose)
{
    return rint(w->costs->purpose[purpose][op->stage].bytes);
}

/* Takes the buffer of a chunk that leaves as one unit, unless it has one. */
static void take_buffer(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    struct pp_memory_whole *whole = &w->whole[op->stage];

    if (!whole->has_part)
        w->changes[at].buffer_taken += move_bytes(w, op, PP_FOR_GRAD_DOWN);
    whole->has_part = true;
}

void pp_memory_make_part(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_stage_gathers *g = parts_of(w, op);

    if (!g)
        return;
    if (g->part_units == 1) {
        take_buffer(w, op, at);
        return;
    }
    const double bytes = fmin(w->costs->gather_buffers, g->part_units) * rint(g->unit_part_bytes);
    const int end = pp_memory_end_of(w->p, w->begin, w->count, at);
    w->changes[at].buffer_taken += bytes;
    w->changes[end].buffer_given += bytes + w->whole[op->stage].sum;
    w->whole[op->stage].sum = 0;
}

void pp_memory_move_part(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_stage_gathers *g = parts_of(w, op);

    if (!g)
        return;
    if (g->part_units == 1) {
        take_buffer(w, op, at);
        w->whole[op->stage].has_part = op->purpose == PP_FOR_GRAD_UP;
        return;
    }
    const double bytes = move_bytes(w, op, op->purpose);
    w->changes[at].buffer_taken += bytes;
    w->whole[op->stage].sum += op->purpose == PP_FOR_GRAD_UP ? bytes : 0;
}

void pp_memory_wait_part(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    if (parts_of(w, op) && op->purpose == PP_FOR_GRAD_DOWN)
        w->changes[at].buffer_given += move_bytes(w, op, PP_FOR_GRAD_DOWN);
}
