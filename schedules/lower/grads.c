/* Gradients that live on another tier leave the device after every visit
 * (schedules/lower/visits.h). The program moves those of the unit with which a visit ends. Units
 * inside of an op are part of its cost (core/cost/analytic/gathers.c).
 *
 *   after a visit    MOVE.part. With k buffers, its WAIT is before the part of the unit k - 1 units
 *                    later, which needs its buffer. With one buffer it directly follows.
 *   before a visit   MOVE.sum and its WAIT, if the device adds (pp_state_spec,
 * is_summed_on_device). They bring up what earlier visits have left. Else the host adds. With two
 *                    buffers or more MOVE.sum is posted one op earlier.
 *
 * Scattered gradients leave after the WAIT for their scatter. Gradients that are summed over the
 * copies of a stage have to be on the device then. So such a stage is one unit, and its last visit
 * brings up the sum. The last part follows the WAIT for the sums, before the update.
 *
 * Runs after sums and updates have been added. Source: Rajbhandari et al. 2021, ZeRO-Infinity,
 * section 5; Ren et al. 2021, ZeRO-Offload, section 4.1. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"
#include "schedules/lower/visits.h"

enum { NONE = -1 };

/* Movements of one visit: indices of the list before which they are, NONE = not there. */
struct moved {
    int part, part_wait;
    int sum, sum_wait;
    int last, update; /* part after the sums, and the update that its WAIT precedes */
    int previous;     /* visit of the same chunk */
    bool is_last;     /* of its chunk */
};

struct grads {
    const struct pp_lowering *l;
    struct pp_visit_walk walk;
    struct pp_visits visits;
    struct moved *moved;
    int *units;      /* [stage] */
    bool *is_summed; /* [stage] over its copies, at the end of a step */
    bool *is_whole;  /* [stage] ... with the gradients of all visits on the device */
    int rank;
    struct pp_inserts inserts;
};

static const struct pp_op *op_at(const struct grads *g, int i)
{
    return &g->l->lists->ops[g->rank][i];
}

static int count_of(const struct grads *g)
{
    return g->l->lists->count[g->rank];
}

static bool is_of(const struct pp_op *op, const struct pp_visit *v)
{
    return op->stage == v->stage && op->pipe == v->pipe;
}

/* ---- sums over copies ------------------------------------------------------------------------ */

static void note_sum(struct grads *g, int stage, bool is_whole)
{
    g->is_summed[stage] = true;
    g->is_whole[stage] |= is_whole;
}

/* Notes the stages whose gradients are summed at the end of a step. */
static void find_sums(struct grads *g)
{
    const bool has_parts = pp_state_has_parts(&g->l->options->state);
    const int stages = g->l->head->stages;

    for (int stage = 0; stage < stages; stage++)
        g->is_summed[stage] = g->is_whole[stage] = false;
    for (int i = 0; i < count_of(g); i++) {
        const struct pp_op *op = op_at(g, i);
        if (op->purpose == PP_FOR_VISIT || op->purpose == PP_FOR_PART ||
            !pp_lists_waits_for_sum(op, op->stage))
            continue;
        note_sum(g, op->stage, op->aux != PP_RS || !has_parts);
        if (op->last_stage != 0)
            note_sum(g, op->last_stage, op->aux != PP_RS || !has_parts);
    }
    for (int stage = 0; stage < stages; stage++)
        g->units[stage] = g->is_summed[stage] ? 1 : pp_lower_units(g->l->options, stage);
}

/* ---- places ---------------------------------------------------------------------------------- */

static bool has_grads(int kind)
{
    return kind == PP_B || kind == PP_W;
}

/* Returns the index after the WAIT for the scatter of a visit's gradients; NONE without any. */
static int scattered_at(const struct grads *g, const struct pp_visit *v, enum pp_purpose purpose)
{
    int i = g->walk.moments[v->until].end;

    for (; i < count_of(g); i++) {
        const struct pp_op *op = op_at(g, i);
        if (has_grads(op->kind) && is_of(op, v))
            return NONE;
        if (op->kind == PP_RS && op->purpose == purpose && is_of(op, v))
            break;
    }
    for (; i < count_of(g); i++) {
        const struct pp_op *op = op_at(g, i);
        if (op->kind == PP_RS && op->purpose == PP_FOR_STEP && op->stage == v->stage)
            return NONE; /* which adds to the same shards: they leave with those that it scatters */
        if (op->kind == PP_WAIT && op->aux == PP_RS && op->purpose == purpose && is_of(op, v))
            return i + 1;
    }
    return NONE;
}

/* Returns the index before which the gradients of a visit leave; NONE: later, or with the next. */
static int left_at(const struct grads *g, const struct pp_visit *v, bool is_last)
{
    const struct pp_state_spec *state = &g->l->options->state;
    int at = g->walk.moments[v->until].end;

    if (is_last && g->is_summed[v->stage])
        return NONE;
    if (pp_state_has_parts(state))
        return scattered_at(g, v, PP_FOR_PART);
    if (pp_state_is_gathered(state))
        return scattered_at(g, v, PP_FOR_VISIT);
    while (at < count_of(g) && pp_op_is_send(op_at(g, at)->kind))
        at++;
    return at;
}

/* Returns the index before which all that leaves early has arrived: the first update of the end,
 * or the meeting of all ranks before it. */
static int end_of(const struct grads *g)
{
    int at = pp_lists_tail(g->l->lists, g->rank);

    while (at > 0 && op_at(g, at - 1)->kind == PP_BAR)
        at--;
    return at;
}

/* Finds the visits before and after each one, and where its gradients leave. */
static void find_parts(struct grads *g)
{
    const int end = end_of(g);

    g->moved = PP_ARRAY(g->walk.arena, struct moved, g->visits.count);
    for (int k = 0; k < g->visits.count; k++) {
        struct moved *m = &g->moved[k];
        const struct pp_visit *v = &g->visits.list[k];
        *m = (struct moved){NONE, NONE, NONE, NONE, NONE, NONE, NONE, true};
        for (int before = k - 1; before >= 0 && m->previous == NONE; before--)
            if (g->visits.list[before].stage == v->stage && g->visits.list[before].pipe == v->pipe)
                m->previous = before;
        if (m->previous != NONE)
            g->moved[m->previous].is_last = false;
    }
    for (int k = 0; k < g->visits.count; k++) {
        struct moved *m = &g->moved[k];
        m->part = left_at(g, &g->visits.list[k], m->is_last);
        m->part_wait = m->part == NONE ? NONE : m->part > end ? m->part : end;
    }
}

static void wait_until(struct moved *m, int at)
{
    if (m->part != NONE && at < m->part_wait)
        m->part_wait = at > m->part ? at : m->part;
}

/* A part takes the buffer of an earlier one, which has arrived by then. */
static void find_waits(struct grads *g)
{
    const int buffers = g->l->options->state.buffers;

    for (int k = 0, first = 0; k < g->visits.count; k++) {
        if (g->moved[k].part == NONE)
            continue;
        const int until = buffers < 2 ? k : pp_visits_before(&g->visits, k, buffers);
        for (; first <= until; first++)
            wait_until(&g->moved[first], g->moved[k].part);
    }
}

/* Returns the last part that left before visit k, of the same chunk; NONE without any. */
static int part_before(const struct grads *g, int k)
{
    do
        k = g->moved[k].previous;
    while (k != NONE && g->moved[k].part == NONE);
    return k;
}

/* A sum that comes while the visit before is at work takes the buffer of an earlier part. */
static void free_buffer(struct grads *g, int k)
{
    int before = pp_visits_before(&g->visits, k - 1, g->l->options->state.buffers);

    for (; before >= 0 && g->moved[before].part_wait > g->moved[k].sum; before--)
        wait_until(&g->moved[before], g->moved[k].sum);
}

static void find_sum_moves(struct grads *g)
{
    const struct pp_state_spec *state = &g->l->options->state;

    for (int k = 0; k < g->visits.count; k++) {
        const struct pp_visit *v = &g->visits.list[k];
        struct moved *m = &g->moved[k];
        const int last = part_before(g, k);
        if (last == NONE || !(state->is_summed_on_device || (m->is_last && g->is_whole[v->stage])))
            continue;
        m->sum = m->sum_wait = g->walk.moments[v->from].at;
        if (state->buffers > 1 && g->walk.moments[v->from - 1].at >= g->moved[last].part)
            m->sum = g->walk.moments[v->from - 1].at;
        wait_until(&g->moved[last], m->sum);
        if (m->sum < m->sum_wait)
            free_buffer(g, k);
    }
}

/* Finds the place of the last part of a summed chunk: after the WAITs for its sums. */
static void find_last(struct grads *g, int k)
{
    const struct pp_visit *v = &g->visits.list[k];
    const int after = g->walk.moments[v->until].end, before = part_before(g, k);
    struct moved *m = &g->moved[k];

    m->update = after;
    while (m->update < count_of(g) &&
           !(op_at(g, m->update)->kind == PP_U && is_of(op_at(g, m->update), v)))
        m->update++;
    m->last = m->update;
    while (m->last > after && !pp_lists_waits_for_sum(op_at(g, m->last - 1), v->stage))
        m->last--;
    if (before != NONE)
        wait_until(&g->moved[before], m->last);
}

/* ---- instructions ---------------------------------------------------------------------------- */

static void add(struct grads *g, int before, struct pp_op op)
{
    pp_inserts_add(g->walk.arena, &g->inserts, before, op);
}

static struct pp_op move_of(const struct grads *g, int k, enum pp_purpose purpose)
{
    return pp_op_for(purpose, g->visits.list[k].stage, g->visits.list[k].pipe);
}

/* Writes parts, each after the WAITs for parts whose buffers are needed; then sums. */
static void write_moves(struct grads *g)
{
    int waited = 0;

    for (int k = 0; k <= g->visits.count; k++) {
        const bool is_over = k == g->visits.count;
        const int part = is_over ? NONE : g->moved[k].part;
        for (; waited < k && (is_over || g->moved[waited].part_wait <= part); waited++)
            if (g->moved[waited].part != NONE)
                add(g, g->moved[waited].part_wait,
                    pp_op_wait(move_of(g, waited, PP_FOR_GRAD_DOWN)));
        if (part != NONE)
            add(g, part, move_of(g, k, PP_FOR_GRAD_DOWN));
    }
    for (int k = 0; k < g->visits.count; k++)
        if (g->moved[k].sum != NONE)
            add(g, g->moved[k].sum, move_of(g, k, PP_FOR_GRAD_UP));
    for (int k = 0; k < g->visits.count; k++)
        if (g->moved[k].sum != NONE)
            add(g, g->moved[k].sum_wait, pp_op_wait(move_of(g, k, PP_FOR_GRAD_UP)));
    for (int k = 0; k < g->visits.count; k++)
        if (g->moved[k].last != NONE) {
            add(g, g->moved[k].last, move_of(g, k, PP_FOR_GRAD_DOWN));
            add(g, g->moved[k].update, pp_op_wait(move_of(g, k, PP_FOR_GRAD_DOWN)));
        }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool is_packing(const struct pp_moment *moment)
{
    return pp_op_is_packing(moment->op[0]->kind);
}

static void move_rank(struct grads *g)
{
    find_sums(g);
    const int all = pp_lists_moments(g->l->lists, g->rank, g->walk.moments);
    g->walk.moment_count = 0;
    for (int k = 0; k < all; k++)
        if (!is_packing(&g->walk.moments[k]))
            g->walk.moments[g->walk.moment_count++] = g->walk.moments[k];
    pp_visits_of_grads(&g->walk, &g->visits);
    find_parts(g);
    find_waits(g);
    find_sum_moves(g);
    for (int k = 0; k < g->visits.count; k++)
        if (g->moved[k].is_last && g->is_summed[g->visits.list[k].stage])
            find_last(g, k);
    write_moves(g);
    pp_inserts_apply(g->walk.arena, g->l->lists, g->rank, &g->inserts);
}

/* Is true for a movement of this pass in lists that bring their own. */
static bool is_own(const struct pp_op *op)
{
    return op->kind == PP_MOVE &&
           (op->purpose == PP_FOR_GRAD_DOWN || op->purpose == PP_FOR_GRAD_UP);
}

enum pp_status pp_lower_grads(const struct pp_lowering *l)
{
    const size_t stages = (size_t)l->head->stages;

    if (!pp_state_is_away(&l->options->state, PP_STATE_GRADS) || l->head->mode == PP_MODE_INFER ||
        pp_lists_any(l->lists, is_own))
        return PP_OK;
    struct grads g = {.l = l,
                      .units = PP_ARRAY(l->arena, int, stages),
                      .is_summed = PP_ARRAY(l->arena, bool, stages),
                      .is_whole = PP_ARRAY(l->arena, bool, stages)};
    g.walk = (struct pp_visit_walk){.arena = l->arena, .units = g.units};
    g.walk.moments = PP_ARRAY(l->arena, struct pp_moment, pp_lists_longest(l->lists) + 1);
    for (g.rank = 0; g.rank < l->head->ranks; g.rank++)
        move_rank(&g);
    return PP_OK;
}
