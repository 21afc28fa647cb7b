/* Memory of keys and values. Those on the device stay until the last pass. Those on another tier
 * have the buffers of some blocks: COPY.kv-up fills one of these for the next forward. */
#include "schedules/memory/changes.h"

#include <math.h>

/* Takes the buffer of what comes up. */
static void take(struct pp_memory_walk *w, int at, double bytes)
{
    w->changes[at].buffer_taken += bytes;
    w->coming_bytes -= bytes;
}

/* A forward goes through the buffers of its blocks, of which its first one has one. Once its last
 * block runs, the others are free: what comes up for the next forward has room there. */
static void use_buffers(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_memory_sizes *size = &w->sizes[op->stage];
    const double others = op->granules * (size->kv_room - size->kv_up),
                 spare = op->granules * (size->kv_room - size->kv_up - size->kv_down);

    w->changes[at].buffer_taken += others;
    w->changes[at].buffer_given += others;
    take(w, at, fmax(0, w->coming_bytes - spare));
    take(w, at + 1, w->coming_bytes);
}

void pp_memory_add_cache(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const double bytes = op->granules * w->sizes[op->stage].kv;

    w->changes[at].kv_taken += bytes;
    w->changes[w->places[w->begin + at].freed].kv_given += bytes;
    use_buffers(w, op, at);
}

void pp_memory_move_cache(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_memory_sizes *size = &w->sizes[op->stage];

    if (!pp_move_is_up(op->purpose)) {
        w->changes[at].buffer_taken += op->granules * size->kv_down;
        return;
    }
    w->coming_bytes += op->granules * size->kv_up;
    w->changes[w->places[w->begin + at].freed].buffer_given += op->granules * size->kv_up;
}

void pp_memory_wait_cache(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    if (pp_move_is_up(op->purpose))
        take(w, at, w->coming_bytes);
    else
        w->changes[at].buffer_given += op->granules * w->sizes[op->stage].kv_down;
}
