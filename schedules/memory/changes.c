/* Finds bytes that every instruction takes at its start and releases at its end, from lifetimes
 * (schedules/memory/lifetimes.h). Tensors have whole bytes, so that sums are exact and end at 0. */
#include "schedules/memory/changes.h"

#include <math.h>
#include <string.h>

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Returns the share of `bytes` of one granule of one sequence split. */
static double cell_bytes(const struct pp_program *p, double bytes)
{
    return rint(bytes / ((double)p->granules * p->splits));
}

static struct pp_memory_sizes *sizes_of(struct pp_arena *arena, const struct pp_memory_walk *w)
{
    const struct pp_program *p = w->p;
    struct pp_memory_sizes *sizes = PP_ARRAY(arena, struct pp_memory_sizes, p->stages);

    for (int stage = 0; stage < p->stages; stage++) {
        const struct pp_stage_memory *memory = pp_memory_of_stage(w, stage);
        const double saved = cell_bytes(p, memory->saved_bytes),
                     checkpoint = cell_bytes(p, memory->checkpoint_bytes);
        sizes[stage] = (struct pp_memory_sizes){
            .saved = saved,
            .checkpoint = checkpoint < saved ? checkpoint : saved,
            .whole = memory->whole_bytes > 0 ? cell_bytes(p, memory->whole_bytes) : saved,
            .kept_for_weights = rint(saved * memory->weight_grad_frac),
            .boundary = cell_bytes(p, memory->boundary_bytes),
            .kv = cell_bytes(p, memory->kv_bytes),
            .kv_up = cell_bytes(p, memory->kv_up_bytes),
            .kv_down = cell_bytes(p, memory->kv_down_bytes),
            .kv_room = cell_bytes(p, memory->kv_room_bytes),
            .forward = cell_bytes(p, memory->forward_bytes),
            .recompute = cell_bytes(p, memory->recompute_bytes),
            .backward = cell_bytes(p, memory->backward_bytes),
            .input = cell_bytes(p, memory->input_bytes > 0 ? memory->input_bytes
                                                           : memory->backward_bytes),
            .weights = cell_bytes(p, memory->weights_bytes),
            .dense_grad = rint(memory->dense_grad_bytes)};
    }
    return sizes;
}

/* Returns the bytes between `stage` and the next one, for one cell; the gradient is as large. */
static double boundary_bytes(const struct pp_memory_walk *w, int stage)
{
    return stage >= 0 ? w->sizes[stage].boundary : 0;
}

/* ---- changes by kind of instruction ---------------------------------------------------------- */

static const struct pp_memory_place *place_of(const struct pp_memory_walk *w, int at)
{
    return &w->places[w->begin + at];
}

/* Takes the output of an F (direction 0), B or I (1) that is read on the same rank. */
static void hand_over(struct pp_memory_walk *w, const struct pp_op *op, int at, int direction)
{
    const int given = place_of(w, at)->given;

    if (!w->has_buffers || given < 0)
        return;
    const double bytes = op->granules * boundary_bytes(w, op->stage - direction);
    w->changes[at].buffer_taken += bytes;
    w->changes[given].buffer_given += bytes;
}

/* Returns the bytes of a whole gradient that exceed those which its backward has freed. It is the
 * embedding's, the last of a backward: saved activations of that backward are free by then. */
static double dense_grad_bytes(const struct pp_memory_walk *w, int stage, double freed_bytes)
{
    const double bytes = w->sizes[stage].dense_grad - freed_bytes;

    return bytes > 0 ? bytes : 0;
}

/* ---- memory tiers ---------------------------------------------------------------------------- */

/* Returns the bytes kept for the cells of an op between its forward and their first use. */
static double kept_bytes(const struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_memory_sizes *size = &w->sizes[op->stage];
    const int again = place_of(w, at)->again;

    return again * size->checkpoint + (op->granules - again) * size->whole;
}

/* Returns a share of the bytes of an op's granules, whole numbers; 0 = all of it. */
static double part_of(double frac, double bytes, const struct pp_op *op)
{
    return frac > 0 ? rint(frac * bytes / op->granules) * op->granules : bytes;
}

/* Bytes that move to another tier: one block's by COPY, and those inside of ops. */
struct moved {
    double by_copy, inner;
};

/* Returns what moves of `kept` bytes. */
static struct moved moved_of(const struct pp_memory_walk *w, const struct pp_op *op, double kept)
{
    const struct pp_stage_memory *memory = pp_memory_of_stage(w, op->stage);
    const double resting = part_of(memory->resting_frac, kept, op),
                 all = part_of(memory->moved_frac, resting, op),
                 inner = memory->inner_frac > 0 ? part_of(memory->inner_frac, all, op) : 0;

    return (struct moved){all - inner, inner};
}

/* Returns the bytes of the block that is on its way while the next one runs. */
static double next_block(struct moved moved)
{
    return moved.by_copy < moved.inner ? moved.by_copy : moved.inner;
}

static double moved_bytes(const struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    return moved_of(w, op, kept_bytes(w, op, at)).by_copy;
}

static void change_bits(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const double full = kept_bytes(w, op, at),
                 resting = part_of(pp_memory_of_stage(w, op->stage)->resting_frac, full, op);

    w->changes[at].saved_taken += op->kind == PP_Q ? resting : full;
    w->changes[at].saved_given += op->kind == PP_Q ? full : resting;
}

/* Returns the bytes on another tier that change at a position. */
static struct pp_memory_away *away_at(struct pp_memory_walk *w, int at)
{
    if (!w->away)
        w->away = PP_ARRAY(w->arena, struct pp_memory_away, pp_program_size(w->p) + 1);
    return &w->away[at];
}

/* A move takes memory at its start, at its destination. */
static void change_move(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const bool is_up = pp_move_is_up(op->purpose);
    const int what = pp_purposes[op->purpose].what;
    struct pp_memory_change *change = &w->changes[at];

    if (pp_move_is_load(op->purpose))
        pp_memory_load(w, op, at);
    else if (op->purpose == PP_FOR_GRAD_DOWN || op->purpose == PP_FOR_GRAD_UP)
        pp_memory_move_part(w, op, at);
    else if (op->purpose == PP_FOR_FETCH)
        change->buffer_taken += rint(pp_memory_of_stage(w, op->stage)->fetched_bytes);
    else if (what == PP_STATE_CACHE)
        pp_memory_move_cache(w, op, at);
    else if (what == PP_STATE_ACTIVATIONS)
        *(is_up ? &change->saved_taken : &away_at(w, at)->taken) += moved_bytes(w, op, at);
}

/* A move releases memory at its end, at its source. */
static void wait_move(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const bool is_up = pp_move_is_up(op->purpose);
    const int what = pp_purposes[op->purpose].what;
    struct pp_memory_change *change = &w->changes[at];

    if (what == PP_STATE_GRADS)
        pp_memory_wait_part(w, op, at);
    else if (op->purpose == PP_FOR_STORE)
        change->buffer_given += rint(pp_memory_of_stage(w, op->stage)->fetched_bytes);
    else if (what == PP_STATE_CACHE)
        pp_memory_wait_cache(w, op, at);
    else if (what == PP_STATE_ACTIVATIONS)
        *(is_up ? &away_at(w, at)->given : &change->saved_given) += moved_bytes(w, op, at);
}

static void change_wait(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    if (pp_op_is_move(op->aux))
        wait_move(w, op, at);
    if (op->aux == PP_AG)
        pp_memory_wait_gather(w, op, at);
    if (op->aux == PP_RS)
        pp_memory_wait_scatter(w, op, at);
}

/* Handles what a forward saves. Blocks but the last may leave the device while it runs. */
static void save(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const double kept = kept_bytes(w, op, at);
    const struct moved moved = moved_of(w, op, kept);

    w->changes[at].saved_taken += kept - moved.inner;
    pp_memory_use(w, at, next_block(moved));
    if (moved.inner > 0)
        away_at(w, at)->taken += moved.inner;
}

static void change_forward(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    w->changes[at].cells_taken += op->granules;
    if (w->is_infer)
        w->changes[pp_memory_end_of(w->p, w->begin, w->count, at)].cells_given += op->granules;
    else
        save(w, op, at);
    hand_over(w, op, at, 0);
    pp_memory_use_params(w, op, at);
    if (w->p->passes > 0)
        pp_memory_add_cache(w, op, at);
    if (!w->is_infer || w->p->passes > 0)
        pp_memory_use(w, at, op->granules * w->sizes[op->stage].forward);
}

static void change_recompute(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_memory_sizes *size = &w->sizes[op->stage];

    const double kept = op->granules * size->checkpoint,
                 inner = moved_of(w, op, kept).inner; /* comes up */

    w->changes[at].saved_taken += op->granules * (size->saved - size->checkpoint) + inner;
    pp_memory_use(w, at, op->granules * size->recompute);
    if (inner > 0)
        away_at(w, at)->given += inner;
}

/* Frees what a backward has used. Blocks but the first to go backward come up while it runs, unless
 * R has brought them. I leaves what W needs. */
static void change_backward(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const struct pp_memory_sizes *size = &w->sizes[op->stage];
    const bool is_full = op->kind == PP_B;
    const int again = place_of(w, at)->again;
    const double whole = (op->granules - again) * size->whole;
    const struct moved moved = moved_of(w, op, whole);
    const double saved = again * size->saved + whole, here = saved - moved.inner,
                 left = is_full ? 0 : op->granules * size->kept_for_weights,
                 more = left > here ? left - here : 0; /* gradients of outputs, blocks that came */

    w->changes[at].cells_given += is_full ? op->granules : 0;
    w->changes[at].saved_taken += more;
    w->changes[at].saved_given += here + more - left;
    if (moved.inner > 0)
        away_at(w, at)->given += moved.inner;
    hand_over(w, op, at, 1);
    const double grads = op->granules * (is_full ? size->backward : size->input);
    const double dense = dense_grad_bytes(w, op->stage, saved);
    pp_memory_use(w, at, is_full && dense > grads ? dense : grads);
    pp_memory_use(w, at, fmax(0, fmin(next_block(moved), saved - here - more)));
    pp_memory_use_params(w, op, at);
    if (!is_full)
        return;
    pp_memory_make_grads(w, op, at);
    pp_memory_make_part(w, op, at);
}

static void change_weights(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    w->changes[at].cells_given += op->granules;
    const double freed_bytes = op->granules * w->sizes[op->stage].kept_for_weights;
    w->changes[at].saved_given += freed_bytes;
    const double dense = dense_grad_bytes(w, op->stage, freed_bytes),
                 full = op->granules * w->sizes[op->stage].weights;
    pp_memory_use(w, at, dense > full ? dense : full);
    pp_memory_make_grads(w, op, at);
    pp_memory_make_part(w, op, at);
}

/* The optimizer updates all parameters of the rank at once. */
static void change_update(struct pp_memory_walk *w, const struct pp_op *op, int at)
{
    const double bytes = rint(pp_memory_of_stage(w, op->stage)->update_bytes);

    w->changes[at].buffer_taken += bytes;
    w->changes[w->last_update].buffer_given += bytes;
}

/* Handles a SEND or RECV: the life of its buffer. */
static void change_message(struct pp_memory_walk *w, int i)
{
    const struct pp_program *p = w->p;
    const struct pp_memory_place *place = &w->places[i];
    const bool is_of_previous = p->kind[i] == PP_RECV_F || p->kind[i] == PP_SEND_B;
    const double bytes = p->granule_count[i] * boundary_bytes(w, p->stage[i] - is_of_previous);

    w->changes[place->taken].buffer_taken += bytes;
    w->changes[place->given].buffer_given += bytes;
}

static void (*const change_of[PP_OP_KINDS])(struct pp_memory_walk *, const struct pp_op *, int) = {
    [PP_F] = change_forward,    [PP_R] = change_recompute,  [PP_B] = change_backward,
    [PP_I] = change_backward,   [PP_W] = change_weights,    [PP_U] = change_update,
    [PP_AG] = pp_memory_gather, [PP_DROP] = pp_memory_drop, [PP_RS] = pp_memory_scatter,
    [PP_WAIT] = change_wait,    [PP_Q] = change_bits,       [PP_DQ] = change_bits,
    [PP_COPY] = change_move,    [PP_MOVE] = change_move,
};

/* ---- walks ----------------------------------------------------------------------------------- */

struct pp_memory_walk pp_memory_walk_make(struct pp_arena *scratch, const struct pp_program *p,
                                          const struct pp_costs *costs)
{
    struct pp_memory_walk w = {.p = p,
                               .costs = costs,
                               .arena = scratch,
                               .is_infer = p->mode == PP_MODE_INFER,
                               .has_bytes = costs && costs->memory,
                               .has_buffers = p->level == PP_LEVEL_LOWERED};
    int longest = 0;

    w.sizes = sizes_of(scratch, &w);
    w.places = pp_memory_places(scratch, p);
    for (int rank = 0; rank < p->ranks; rank++) {
        const int count = p->begin[rank + 1] - p->begin[rank];
        longest = count > longest ? count : longest;
    }
    if (w.has_bytes && costs->gathers)
        w.whole = PP_ARRAY(scratch, struct pp_memory_whole, costs->stages);
    w.changes =
        pp_arena_alloc_raw(scratch, sizeof(struct pp_memory_change) * ((size_t)longest + 1));
    return w;
}

void pp_memory_walk_rank(struct pp_memory_walk *w, int rank)
{
    w->begin = w->p->begin[rank];
    w->count = w->p->begin[rank + 1] - w->begin;
    w->last_update = -1;
    w->gathered = 0;
    w->late_bytes = w->coming_bytes = 0;
    if (w->whole)
        memset(w->whole, 0, sizeof(*w->whole) * (size_t)w->costs->stages);
    for (int at = w->count - 1; at >= 0 && w->last_update < 0; at--)
        if (w->p->kind[w->begin + at] == PP_U)
            w->last_update = at;
    memset(w->changes, 0, sizeof(struct pp_memory_change) * ((size_t)w->count + 1));
    if (w->away)
        memset(w->away, 0, sizeof(*w->away) * ((size_t)w->count + 1));
    for (int at = 0; at < w->count; at++) {
        const int i = w->begin + at, kind = w->p->kind[i];

        if (pp_op_kinds[kind].stream == PP_STREAM_CHANNEL)
            change_message(w, i);
        if (!change_of[kind] || pp_memory_takes_none(w->p, i))
            continue;
        const struct pp_op op = {.kind = (uint8_t)kind, /* all that a change depends on */
                                 .aux = w->p->aux[i],
                                 .granules = w->p->granule_count[i],
                                 .stage = w->p->stage[i],
                                 .purpose = w->p->purpose[i]};
        change_of[kind](w, &op, at);
    }
}
