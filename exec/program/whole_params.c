/* The buffers of a rank while its list is walked. Whole parameters have one from a gather or a load
 * to the drop, or from an update until they are at home. */
#include "exec/program/none.h"
#include "exec/program/wholes_walk.h"

/* ---- buffers --------------------------------------------------------------------------------- */

int32_t pp_whole_take(struct pp_wholes_walk *w, enum pp_whole_class what, int64_t count)
{
    struct pp_wholes_buffers *b = &w->buffers[what];
    int64_t **elements = &w->wholes->elements[what][w->rank];
    int at = 0;

    while (at < b->count && b->is_taken[at])
        at++;
    if (at == b->count) {
        *PP_PUSH(w->arena, *elements, b->sizes, b->capacity) = 0;
        b->freed[b->count] = PP_NONE;
        b->is_taken[b->count++] = false;
        w->wholes->count[what][w->rank] = b->count;
    }
    b->is_taken[at] = true;
    (*elements)[at] = count > (*elements)[at] ? count : (*elements)[at];
    return at;
}

void pp_whole_release(struct pp_wholes_walk *w, enum pp_whole_class what, int32_t buffer,
                      int32_t by)
{
    if (buffer < 0)
        return;
    w->buffers[what].is_taken[buffer] = false;
    w->buffers[what].freed[buffer] = by;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Is true if a chunk's parameters come into buffers: gathered, or loaded from another tier. */
static bool is_fetched(const struct pp_wholes_walk *w, int i)
{
    return w->cuts[w->p->stage[i]].params > 1 ||
           pp_state_is_away(&w->p->state.spec, PP_STATE_PARAMS);
}

static int32_t take_params(struct pp_wholes_walk *w, int i)
{
    return pp_whole_take(w, PP_WHOLE_PARAMS, w->stages[w->p->stage[i]]->elements);
}

static void fetch(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    w->wholes->of[PP_WHOLE_PARAMS][i] = take_params(w, i);
    if (place->fetched_count < MOST_FETCHED)
        place->fetched[place->fetched_count++] = i;
}

static void drop(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    if (place->fetched_count == 0)
        return;
    pp_whole_release(w, PP_WHOLE_PARAMS, w->wholes->of[PP_WHOLE_PARAMS][place->fetched[0]],
                     PP_NONE);
    place->fetched[0] = place->fetched[--place->fetched_count];
}

static void use_params(struct pp_wholes_walk *w, int i)
{
    const struct pp_wholes_place *place = pp_whole_place_of(w, i);

    if (place->fetched_count == 0)
        return;
    w->wholes->of[PP_WHOLE_PARAMS][i] = w->wholes->of[PP_WHOLE_PARAMS][place->fetched[0]];
    w->wholes->has_forward[place->fetched[0]] |= w->p->kind[i] == PP_F;
}

/* An update on the device, or the gather or a move after it: in the buffer of a load, or in one of
 * its own. */
static void update(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    if (place->fetched_count > 0) {
        use_params(w, i);
        return;
    }
    if (place->updated < 0)
        place->updated = take_params(w, i);
    w->wholes->of[PP_WHOLE_PARAMS][i] = place->updated;
}

static void go_home(struct pp_wholes_walk *w, int target)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, target);

    pp_whole_release(w, PP_WHOLE_PARAMS, place->updated, target);
    place->updated = PP_NONE;
}

/* Is true for an instruction of an update that leaves parameters on the device, from where they go
 * home. */
static bool is_update(const struct pp_wholes_walk *w, int i)
{
    const struct pp_program *p = w->p;
    const int kind = p->kind[i], purpose = p->purpose[i];

    return pp_state_moves(&p->state.spec, PP_FOR_HOME) &&
           (kind == PP_U || (kind == PP_AG && purpose == PP_FOR_STEP) ||
            (kind == PP_MOVE && (purpose == PP_FOR_PARAMS || purpose == PP_FOR_HOME)));
}

bool pp_whole_walk_params(struct pp_wholes_walk *w, int i, int target)
{
    const struct pp_program *p = w->p;
    const int kind = p->kind[i];
    const bool is_gather = pp_op_is_collective(kind) && pp_purpose_is_gather(p->purpose[i]) &&
                           w->cuts[p->stage[i]].params > 1,
               is_load = kind == PP_MOVE && pp_move_is_load(p->purpose[i]),
               is_home =
                   kind == PP_WAIT && p->kind[target] == PP_MOVE && p->purpose[i] == PP_FOR_HOME,
               is_use = is_fetched(w, i) &&
                        (kind == PP_F || kind == PP_B || kind == PP_I || kind == PP_R);

    if (is_use)
        use_params(w, i);
    else if (is_update(w, i))
        update(w, i);
    else if (is_gather || is_load)
        fetch(w, i);
    else if (is_home)
        go_home(w, target);
    else if (kind == PP_DROP)
        drop(w, i);
    else
        return false;
    return !is_use;
}
