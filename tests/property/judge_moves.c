/* Memory tiers. Saved tensors are on the device, in full, when an op uses them. An update has the
 * data that the tier of its state sends it. Copies run alone: only their order matters. */
#include "tests/property/judge_parts.h"

/* Of what (stage, granule, split) has saved: the last COPY of it, whether it has been waited for,
 * and whether Q or DQ came last. */
struct resting {
    const struct post *copy;
    bool is_packed;
};

static bool covers(const struct pp_op *op, const struct pp_op *of, int granule)
{
    return op->stage == of->stage && op->split == of->split && op->mb <= granule &&
           granule < op->mb + op->granules;
}

/* Read from what the rank has posted and run so far. */
static struct resting resting_of(const struct machine *m, int rank, const struct pp_op *op, int g)
{
    struct resting at = {NULL, false};

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        if (p->rank == rank && p->op.kind == PP_COPY && judge_purpose_of(&p->op) &&
            !pp_move_is_cache(p->op.purpose) && covers(&p->op, op, g))
            at.copy = p;
    }
    for (int i = 0; i < m->at[rank]; i++) {
        const struct pp_op *before = &m->lists->ops[rank][i];
        if ((before->kind == PP_Q || before->kind == PP_DQ) && covers(before, op, g))
            at.is_packed = before->kind == PP_Q;
    }
    return at;
}

static bool is_here(const struct resting *at)
{
    return !at->copy || (at->copy->op.purpose == PP_FOR_UP && at->copy->is_waited);
}

/* F makes; everything else that names a micro-batch uses. Passes but W read earlier splits, too. */
int judge_use_saved(struct machine *m, int rank, const struct pp_op *op)
{
    const bool is_pass = op->kind != PP_W && op->kind != PP_Q && op->kind != PP_DQ;

    for (int split = 0; is_pass && split < op->split; split++)
        for (int g = op->mb; g < op->mb + op->granules; g++) {
            struct pp_op earlier = *op;
            earlier.split = (uint8_t)split;
            const struct resting at = resting_of(m, rank, &earlier, g);
            if (!is_here(&at))
                return judge_complain(m, op, rank, "an earlier split is on another tier");
        }
    for (int g = op->mb; op->kind != PP_F && g < op->mb + op->granules; g++) {
        const struct resting at = resting_of(m, rank, op, g);
        if (!is_here(&at))
            return judge_complain(m, op, rank, "what was saved is on another tier");
        if (at.is_packed != (op->kind == PP_DQ))
            return judge_complain(m, op, rank, "what was saved is in other bits");
    }
    return 1;
}

/* COPY: down what is here, up what has arrived below. */
static int post_copy(struct machine *m, int rank, const struct pp_op *op)
{
    for (int g = op->mb; judge_purpose_of(op) && g < op->mb + op->granules; g++) {
        const struct resting at = resting_of(m, rank, op, g);
        const bool is_away = at.copy && at.copy->op.purpose == PP_FOR_DOWN && at.copy->is_waited;
        if (!judge_has(m, 'S', rank, op->stage, g, op->split))
            return judge_complain(m, op, rank, "copies what nothing has saved");
        if (op->purpose == PP_FOR_UP ? !is_away : !is_here(&at))
            return judge_complain(m, op, rank, "copies what is not there");
    }
    return op->purpose == PP_FOR_UP && judge_take_saved(m, rank, op) < 0 ? -1 : 1;
}

/* ---- state ----------------------------------------------------------------------------------- */

static bool is_program_of(const struct machine *m, int purpose)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++)
            if (m->lists->ops[r][i].kind == PP_MOVE && m->lists->ops[r][i].purpose == purpose)
                return true;
    return false;
}

static bool has_spread(const struct machine *m)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            if ((op->kind == PP_AG || op->kind == PP_BC) && judge_purpose_of(op) == PP_FOR_STEP)
                return true;
        }
    return false;
}

static bool is_updated_by_host(const struct machine *m)
{
    return is_program_of(m, PP_FOR_GRADS) || is_program_of(m, PP_FOR_UPDATE) ||
           (pp_state_is_away(&m->head->state.spec, PP_STATE_GRADS) &&
            !is_program_of(m, PP_FOR_FETCH));
}

/* Updated parameters end up on the device, and live elsewhere. */
static bool goes_home(const struct machine *m)
{
    return is_program_of(m, PP_FOR_HOME) ||
           (pp_state_is_away(&m->head->state.spec, PP_STATE_PARAMS) &&
            (!is_updated_by_host(m) || has_spread(m)));
}

/* The MOVE of a chunk for one of two purposes that the rank has posted, NULL: none yet. */
static const struct post *moved(const struct machine *m, int rank, const struct pp_op *op, int a,
                                int b)
{
    for (int k = m->post_count - 1; k >= 0; k--) {
        const struct post *p = &m->posts[k];
        if (p->rank == rank && p->op.kind == PP_MOVE && p->op.stage == op->stage &&
            p->op.pipe == op->pipe && (p->op.version == a || p->op.version == b))
            return p;
    }
    return NULL;
}

static const struct post *moved_before(const struct machine *m, int rank, const struct pp_op *op)
{
    return moved(m, rank, op, PP_FOR_GRADS, PP_FOR_FETCH);
}

static const struct post *moved_after(const struct machine *m, int rank, const struct pp_op *op)
{
    return moved(m, rank, op, PP_FOR_PARAMS, PP_FOR_STORE);
}

static const struct post *moved_home(const struct machine *m, int rank, const struct pp_op *op)
{
    return moved(m, rank, op, PP_FOR_HOME, PP_FOR_HOME);
}

/* The work of the host for a chunk, NULL: none yet, or U stands for it. */
static const struct post *updated_by_host(const struct machine *m, int rank, const struct pp_op *op)
{
    return moved(m, rank, op, PP_FOR_UPDATE, PP_FOR_UPDATE);
}

/* The host has its gradients, once. */
static int post_update(struct machine *m, int rank, const struct pp_op *op)
{
    const bool lacks = is_program_of(m, PP_FOR_GRADS) && !moved_before(m, rank, op);

    return lacks || updated_by_host(m, rank, op) || judge_has(m, 'U', rank, op->stage, op->pipe, 0)
               ? judge_complain(m, op, rank, "the host updates again, too early or too late")
               : 1;
}

/* Parameters on the host are old while it updates them. */
static int post_load(struct machine *m, int rank, const struct pp_op *op)
{
    const struct post *host = updated_by_host(m, rank, op);

    return host && !host->is_waited ? judge_complain(m, op, rank, "loads while the host updates")
                                    : judge_post_load(m, rank, op);
}

int judge_has_not_gone(struct machine *m, int rank, const struct pp_op *op)
{
    return moved_home(m, rank, op) ? judge_complain(m, op, rank, "the old ones have gone home") : 1;
}

static int post_move(struct machine *m, int rank, const struct pp_op *op)
{
    const bool is_updated = judge_has(m, 'U', rank, op->stage, op->pipe, 0);

    switch (op->version) {
    case PP_FOR_GRADS:
    case PP_FOR_FETCH:
        if (is_updated || moved_before(m, rank, op))
            return judge_complain(m, op, rank, "moves again, or too late");
        if (op->purpose == PP_FOR_FETCH)
            return judge_gradients_are_below(m, rank, op, true);
        return judge_is_ready(m, rank, op) ? 1 : -1;
    case PP_FOR_UPDATE:
        if (judge_gradients_are_below(m, rank, op, false) < 0 ||
            (!is_program_of(m, PP_FOR_GRADS) && !judge_is_ready(m, rank, op)))
            return -1;
        return post_update(m, rank, op);
    case PP_FOR_PARAMS:
        if (is_program_of(m, PP_FOR_UPDATE))
            return updated_by_host(m, rank, op) && !moved_after(m, rank, op)
                       ? 1
                       : judge_complain(m, op, rank, "moves what the host has not updated");
        /* fall through */
    case PP_FOR_STORE:
        return is_updated && !moved_after(m, rank, op)
                   ? 1
                   : judge_complain(m, op, rank, "moves what nothing has updated");
    case PP_FOR_HOME:
        return is_updated && !moved_home(m, rank, op)
                   ? 1
                   : judge_complain(m, op, rank, "takes home what nothing has updated");
    case PP_FOR_GRAD_DOWN:
    case PP_FOR_GRAD_UP:
        return judge_move_gradients(m, rank, op);
    case PP_FOR_LOAD:
    case PP_FOR_RELOAD:
        return post_load(m, rank, op);
    default:
        return 1;
    }
}

int judge_post_copy(struct machine *m, int rank, const struct pp_op *op)
{
    if (op->kind == PP_COPY && pp_move_is_cache(op->purpose))
        return judge_post_cache(m, rank, op);
    return op->kind == PP_COPY ? post_copy(m, rank, op) : post_move(m, rank, op);
}

/* Before an update: what it needs has come. */
int judge_update_has_moved(struct machine *m, int rank, const struct pp_op *op)
{
    const struct post *before = moved_before(m, rank, op);
    const bool needs = is_program_of(m, PP_FOR_GRADS) || is_program_of(m, PP_FOR_FETCH);

    if (is_program_of(m, PP_FOR_UPDATE))
        return updated_by_host(m, rank, op)
                   ? 1
                   : judge_complain(m, op, rank, "the host has not updated its share");
    return (before && before->is_waited) || (!before && !needs)
               ? 1
               : judge_complain(m, op, rank, "what it updates with has not come");
}

/* Passes and gathers: no gradient after the MOVE of gradients, no parameters before they came. */
int judge_use_state(struct machine *m, int rank, const struct pp_op *op)
{
    const struct post *after = moved(m, rank, op, PP_FOR_PARAMS, PP_FOR_PARAMS);
    const struct post *host = updated_by_host(m, rank, op);
    const bool is_gradient = op->kind == PP_B || op->kind == PP_W;
    const bool is_updated = is_program_of(m, PP_FOR_UPDATE)
                                ? host != NULL
                                : judge_has(m, 'U', rank, op->stage, op->pipe, 0);

    if (is_gradient && moved_before(m, rank, op))
        return judge_complain(m, op, rank, "a gradient comes after their MOVE");
    if (host && (is_gradient || !host->is_waited))
        return judge_complain(m, op, rank, "the host updates, or has done so");
    if (is_program_of(m, PP_FOR_PARAMS) && is_updated && !(after && after->is_waited))
        return judge_complain(m, op, rank, "updated parameters have not come");
    return 1;
}

/* All that was moved is used, and waited for; what is updated moves back where anything does. */
bool judge_are_moves_left(const struct machine *m)
{
    const bool returns = is_program_of(m, PP_FOR_PARAMS) || is_program_of(m, PP_FOR_STORE),
               is_leaving = goes_home(m);

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        const bool is_before = p->op.purpose == PP_FOR_GRADS || p->op.purpose == PP_FOR_FETCH;
        if (p->op.kind != PP_MOVE || p->op.version == 0 || judge_is_load(&p->op))
            continue;
        const bool is_used = judge_has(m, 'U', p->rank, p->op.stage, p->op.pipe, 0);
        if ((is_before || p->op.purpose == PP_FOR_UPDATE) && !is_used)
            return true;
        if (!p->is_waited && (!is_before || is_program_of(m, PP_FOR_UPDATE)))
            return true;
    }
    for (int k = 0; k < m->thing_count; k++) {
        const struct thing *t = &m->things[k];
        const struct pp_op chunk = {.stage = (uint16_t)t->stage, .pipe = (uint16_t)t->granule};
        if (t->what == 'U' && ((returns && !moved_after(m, t->rank, &chunk)) ||
                               (is_leaving && !moved_home(m, t->rank, &chunk))))
            return true;
    }
    return false;
}
