/* Memory of parameters that are gathered, or loaded from another tier, and of their gradients
 * before these are scattered. */
#include "schedules/memory/changes.h"

#include <math.h>

static const struct pp_stage_gathers *gathers_of(const struct pp_memory_walk *w,
                                                 const struct pp_op *op)
{
    const int stage = op->stage % pp_program_model_stages(w->p);

    return w->whole && stage < w->costs->stages ? &w->costs->gathers[stage] : NULL;
}

/* Returns the part of gathered bytes, or of their gradients, that is present at a time. */
static double held_bytes(const struct pp_stage_gathers *gathers, double bytes)
{
    return rint((1 - gathers->gone_frac) * bytes);
}

static double purpose_bytes(const struct pp_memory_walk *w, int purpose, int stage)
{
    return held_bytes(&w->costs->gathers[stage], w->costs->purpose[purpose][stage].bytes);
}

/* F, B, I: units inside of an op are gathered one after the other. Up to the number of buffers they
 * coexist with the units that the program has gathered. */
void pp_memory_use_params(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_stage_gathers *gathers = gathers_of(w, op);
    const int buffers = w->costs ? w->costs->gather_buffers : 0;

    if (!gathers || pp_gathers_inside(gathers) < 1)
        return;
    const int inside = pp_gathers_inside(gathers), ahead = w->gathered > 1 ? w->gathered - 1 : 0,
              taken = w->gathered - ahead + ahead * (gathers->units - inside);
    if (taken < buffers)
        pp_memory_use(w, at,
                      fmin(buffers - taken, inside) * held_bytes(gathers, gathers->unit_bytes));
    pp_memory_use(w, at, held_bytes(gathers, gathers->share_bytes));
}

/* B, W: gradients are whole until they are scattered. */
void pp_memory_make_grads(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_stage_gathers *gathers = gathers_of(w, op);

    if (!gathers) {
        const struct pp_stage_memory *memory = pp_memory_of_stage(w, op->stage);
        const bool is_single = w->p->micro_batches <= w->p->pipelines && w->p->splits == 1;
        pp_memory_use(w, at,
                      rint(is_single ? memory->layer_grads_bytes : memory->chunk_grads_bytes));
        return;
    }
    /* Gradients of a layer, and those scattered concurrently; those of the first unit come last. */
    if (!gathers->is_cut || gathers->units > 1) {
        pp_memory_use(w, at,
                      w->costs->gather_buffers * held_bytes(gathers, gathers->unit_grads_bytes));
        return;
    }
    if (!w->whole[op->stage].has_grads)
        w->changes[at].buffer_taken += purpose_bytes(w, PP_FOR_VISIT, op->stage);
    w->whole[op->stage].has_grads = true;
}

/* Returns the share of a fetch that has room before the visit ahead of it ends. It is that of the
 * buffers but one, in units that are not there. The others arrive once units of that visit go. */
static double early_frac(const struct pp_memory_walk *w, int stage)
{
    const struct pp_stage_gathers *gathers = &w->costs->gathers[stage];
    const int inside = pp_gathers_inside(gathers), units = gathers->units - inside,
              room = w->costs->gather_buffers - 1,
              ahead = w->whole[stage].count > 0 && inside < room ? inside : room;

    return w->gathered > 0 && inside > 0 && units > ahead ? ahead / (double)units : 1;
}

/* Handles a gather; or a load, if parameters are not sharded. */
static void fetch(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    struct pp_memory_whole *whole = &w->whole[op->stage];

    if (whole->count == 2)
        return;
    const double bytes = purpose_bytes(w, op->purpose, op->stage),
                 early = rint(early_frac(w, op->stage) * bytes);
    w->gathered++;
    w->changes[at].buffer_taken += early + w->late_bytes;
    w->late_bytes = bytes - early;
    whole->params[whole->count++] = bytes;
}

void pp_memory_gather(struct pp_memory_walk *w, const struct pp_op *op, int at)
{

    if (gathers_of(w, op) && pp_purpose_is_gather(op->purpose))
        fetch(w, op, at);
}

/* Handles a load of this device's share for a gather, which keeps it until the gather ends. */
void pp_memory_load(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_stage_gathers *gathers = gathers_of(w, op);

    if (!gathers)
        return;
    if (!gathers->is_cut) {
        fetch(w, op, at);
        return;
    }
    const double bytes = purpose_bytes(w, op->purpose, op->stage);
    w->changes[at].buffer_taken += bytes;
    w->whole[op->stage].shares[1] = w->whole[op->stage].shares[0];
    w->whole[op->stage].shares[0] = bytes;
}

void pp_memory_wait_gather(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    struct pp_memory_whole *whole = gathers_of(w, op) ? &w->whole[op->stage] : NULL;
    const int oldest = whole && whole->shares[1] > 0;

    if (!whole || !pp_purpose_is_gather(op->purpose))
        return;
    w->changes[at].buffer_given += whole->shares[oldest];
    whole->shares[oldest] = 0;
}

void pp_memory_drop(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    struct pp_memory_whole *whole = gathers_of(w, op) ? &w->whole[op->stage] : NULL;

    if (!whole || whole->count == 0)
        return;
    w->gathered--;
    const double free_bytes = whole->params[0] - w->late_bytes;
    w->changes[at].buffer_given += fmax(0, free_bytes);
    w->changes[at].buffer_taken += fmax(0, -free_bytes);
    w->late_bytes = 0;
    whole->params[0] = whole->params[--whole->count];
}

/* Starts a new buffer for the next gradients of the stage while these are scattered. */
void pp_memory_scatter(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    if (!gathers_of(w, op) || op->purpose != PP_FOR_VISIT)
        return;
    if (!w->whole[op->stage].has_grads)
        w->changes[at].buffer_taken += purpose_bytes(w, PP_FOR_VISIT, op->stage);
    w->whole[op->stage].has_grads = false;
}

void pp_memory_wait_scatter(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    if (gathers_of(w, op) && op->purpose == PP_FOR_VISIT)
        w->changes[at].buffer_given += purpose_bytes(w, PP_FOR_VISIT, op->stage);
}
