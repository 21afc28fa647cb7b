/* Gives buffers to whole gradients and fetched parameters: the lowest free one of the rank. */
#include "exec/program/none.h"
#include "exec/program/wholes_walk.h"

int pp_wholes_pipe_of(const struct pp_program *p, int rank, int stage)
{
    for (int pipe = 0; pipe < p->pipelines; pipe++)
        if (pp_program_rank_of(p, pipe, stage) == rank)
            return pipe;
    return PP_NONE;
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void use_grads(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    if (place->grads < 0) {
        place->grads = pp_whole_take(w, PP_WHOLE_GRADS, w->stages[w->p->stage[i]]->elements);
        w->wholes->is_first[i] = true;
        w->wholes->after[i] = w->buffers[PP_WHOLE_GRADS].freed[place->grads];
    }
    w->wholes->of[PP_WHOLE_GRADS][i] = place->grads;
}

static bool is_last_bucket(const struct pp_program *p, int i)
{
    return p->bucket[i] + 1 >= p->buckets[i];
}

static void scatter(struct pp_wholes_walk *w, int i)
{
    use_grads(w, i);
    if (!is_last_bucket(w->p, i))
        return;
    pp_whole_place_of(w, i)->last_grads = pp_whole_place_of(w, i)->grads;
    pp_whole_place_of(w, i)->grads = PP_NONE;
}

/* The scatter at the end of a step leaves a tied matrix to its own sum, which may come later. */
static void wait_scatter(struct pp_wholes_walk *w, int target)
{
    const int stage = w->p->stage[target];
    const bool is_end = stage == 0 || stage == w->p->stages - 1;

    if (is_last_bucket(w->p, target) &&
        !(w->has_tied && is_end && w->p->purpose[target] == PP_FOR_STEP))
        pp_whole_release(w, PP_WHOLE_GRADS, w->wholes->of[PP_WHOLE_GRADS][target], target);
}

/* ---- gradients on another tier --------------------------------------------------------------- */

/* MOVE.sum fills a buffer before the visit. */
static void move_sum(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    use_grads(w, i);
    place->is_summed = true;
}

static void move_part(struct pp_wholes_walk *w, int i)
{
    struct pp_wholes_place *place = pp_whole_place_of(w, i);

    use_grads(w, i);
    w->wholes->is_added[i] = place->is_home && !place->is_summed;
    w->wholes->last_part[place - w->places] = i;
    place->grads = PP_NONE;
    place->is_home = true;
    place->is_summed = false;
}

/* ---- tied matrices --------------------------------------------------------------------------- */

/* Returns the buffer for one end of a tied matrix; none if the rank does not hold it. The gradients
 * of a step end in the buffer of the last backward, or in a new one without any. With sharded
 * parameters they have been scattered before, and the matrix has a buffer of its own. */
static int32_t end_of(struct pp_wholes_walk *w, int stage)
{
    const struct pp_param *tied = pp_stage_tied(w->stages[stage]);
    const int pipe = pp_wholes_pipe_of(w->p, w->rank, stage);

    if (pipe < 0 || !tied)
        return PP_NONE;
    struct pp_wholes_place *place = &w->places[pipe * w->p->stages + stage];
    if (w->cuts[stage].params > 1)
        return pp_whole_take(w, PP_WHOLE_GRADS, tied->count);
    if (place->grads < 0 && place->last_grads < 0)
        place->grads = pp_whole_take(w, PP_WHOLE_GRADS, w->stages[stage]->elements);
    return place->grads < 0 ? place->last_grads : place->grads;
}

static void sum_tied(struct pp_wholes_walk *w, int i)
{
    w->wholes->of[PP_WHOLE_GRADS][i] = end_of(w, 0);
    w->wholes->head[i] = end_of(w, w->p->stages - 1);
}

static void wait_tied(struct pp_wholes_walk *w, int target)
{
    if (w->cuts[w->p->stage[target]].params == 1)
        return;
    pp_whole_release(w, PP_WHOLE_GRADS, w->wholes->of[PP_WHOLE_GRADS][target], target);
    pp_whole_release(w, PP_WHOLE_GRADS, w->wholes->head[target], target);
}

/* ---- walk ------------------------------------------------------------------------------------ */

static void walk_compute(struct pp_wholes_walk *w, int i)
{
    const int kind = w->p->kind[i];
    const struct pp_cuts *cuts = &w->cuts[w->p->stage[i]];

    w->wholes->has_backward[pp_whole_place_of(w, i) - w->places] |= kind == PP_B || kind == PP_W;
    if ((cuts->grads > 1 || w->are_away) && (kind == PP_B || kind == PP_W))
        use_grads(w, i);
}

static void walk_collective(struct pp_wholes_walk *w, int i)
{
    const struct pp_program *p = w->p;
    const struct pp_cuts *cuts = &w->cuts[p->stage[i]];

    if (cuts->grads > 1 && p->kind[i] == PP_RS && !pp_cuts_has_update(*cuts, PP_RS, p->purpose[i]))
        scatter(w, i);
    else if (cuts->grads > 1 && p->kind[i] == PP_AR && p->aux[i] == PP_TIED)
        sum_tied(w, i);
}

static void walk_instruction(struct pp_wholes_walk *w, int i)
{
    const struct pp_program *p = w->p;
    const int kind = p->kind[i];

    const int target = kind == PP_WAIT ? p->begin[w->rank] + p->arg[i] : i;

    if (pp_whole_walk_params(w, i, target))
        return;
    if (kind == PP_WAIT && p->kind[target] == PP_RS)
        wait_scatter(w, target);
    else if (kind == PP_WAIT && p->purpose[target] == PP_FOR_GRAD_DOWN)
        pp_whole_release(w, PP_WHOLE_GRADS, w->wholes->of[PP_WHOLE_GRADS][target], PP_NONE);
    else if (kind == PP_WAIT && p->kind[target] == PP_AR && p->aux[target] == PP_TIED)
        wait_tied(w, target);
    else if (kind == PP_MOVE && p->purpose[i] == PP_FOR_GRAD_UP)
        move_sum(w, i);
    else if (kind == PP_MOVE && p->purpose[i] == PP_FOR_GRAD_DOWN)
        move_part(w, i);
    else if (pp_op_is_collective(kind))
        walk_collective(w, i);
    else if (pp_op_is_compute(kind))
        walk_compute(w, i);
}

static void walk_rank(struct pp_wholes_walk *w, int rank)
{
    const struct pp_program *p = w->p;
    const int length = p->begin[rank + 1] - p->begin[rank];

    w->rank = rank;
    for (int what = 0; what < PP_WHOLES; what++)
        w->buffers[what] =
            (struct pp_wholes_buffers){.is_taken = PP_ARRAY(w->arena, bool, length + 1),
                                       .freed = PP_ARRAY(w->arena, int32_t, length + 1)};
    for (int k = 0; k < p->pipelines * p->stages; k++)
        w->places[k] =
            (struct pp_wholes_place){.grads = PP_NONE, .last_grads = PP_NONE, .updated = PP_NONE};
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        walk_instruction(w, i);
}

struct pp_wholes *pp_wholes_find(struct pp_arena *arena, const struct pp_program *p,
                                 const struct pp_stage *const *stages, const struct pp_cuts *cuts)
{
    struct pp_wholes *wholes = PP_NEW(arena, struct pp_wholes);
    struct pp_wholes_walk w = {
        .arena = arena,
        .p = p,
        .stages = stages,
        .cuts = cuts,
        .wholes = wholes,
        .places = PP_ARRAY(arena, struct pp_wholes_place, p->pipelines * p->stages),
        .has_tied = pp_program_has_tied(p),
        .are_away = pp_state_is_away(&p->state.spec, PP_STATE_GRADS)};

    wholes->has_forward = PP_ARRAY(arena, bool, pp_program_size(p) + 1);
    wholes->has_backward = PP_ARRAY(arena, bool, p->pipelines * p->stages);
    wholes->is_first = PP_ARRAY(arena, bool, pp_program_size(p) + 1);
    wholes->after = pp_none_of(arena, p);
    wholes->is_added = PP_ARRAY(arena, bool, pp_program_size(p) + 1);
    wholes->last_part = PP_ARRAY(arena, int32_t, p->pipelines * p->stages);
    for (int place = 0; place < p->pipelines * p->stages; place++)
        wholes->last_part[place] = PP_NONE;
    wholes->head = pp_none_of(arena, p);
    for (int what = 0; what < PP_WHOLES; what++) {
        wholes->of[what] = pp_none_of(arena, p);
        wholes->count[what] = PP_ARRAY(arena, int, p->ranks);
        wholes->elements[what] = PP_ARRAY(arena, int64_t *, p->ranks);
    }
    for (int rank = 0; rank < p->ranks; rank++)
        walk_rank(&w, rank);
    return wholes;
}
