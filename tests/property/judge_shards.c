/* State that is cut: gathered before its use, scattered after it. Parameters that live elsewhere:
 * loaded before their gather, or before their use where they are not cut. */
#include "tests/property/judge_parts.h"

#include <string.h>

enum { FETCHES = -1, LOADS = -2 };

/* Passes of a generating program use the parameters of the first. */
static int model_of(const struct machine *m)
{
    return m->head->passes > 0 ? m->head->stages / m->head->passes : m->head->stages;
}

int judge_weights_of(const struct machine *m, const struct pp_op *op)
{
    return op->stage % model_of(m);
}

static bool is_gather(const struct pp_op *op)
{
    return judge_purpose_of(op) == PP_FOR_FORWARD || judge_purpose_of(op) == PP_FOR_BACKWARD;
}

bool judge_is_load(const struct pp_op *op)
{
    return judge_purpose_of(op) == PP_FOR_LOAD || judge_purpose_of(op) == PP_FOR_RELOAD;
}

static bool is_fetched(const struct machine *m)
{
    return m->head->state.units != NULL;
}

static bool is_cut(const struct machine *m)
{
    return is_fetched(m) && pp_state_is_gathered(&m->head->state.spec);
}

/* Brings parameters into a buffer. */
bool judge_is_fetch(const struct machine *m, const struct pp_op *op)
{
    return is_gather(op) || (!is_cut(m) && judge_is_load(op));
}

static bool is_for(const struct machine *m, const struct pp_op *op, int purpose)
{
    return purpose == FETCHES ? judge_is_fetch(m, op)
           : purpose == LOADS ? judge_is_load(op)
                              : judge_purpose_of(op) == purpose;
}

/* Posts of a rank for a stage that no WAIT has met: of fetches, of loads, or of a purpose. */
int judge_unwaited(const struct machine *m, int rank, int stage, int purpose)
{
    int count = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        count += p->rank == rank && judge_weights_of(m, &p->op) == stage && !p->is_waited &&
                 is_for(m, &p->op, purpose);
    }
    return count;
}

/* Shares of a stage that a rank has loaded, or is about to, and no gather has taken. */
static int shares(const struct machine *m, int rank, int stage)
{
    int count = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        if (p->rank == rank && judge_weights_of(m, &p->op) == stage)
            count += judge_is_load(&p->op) - is_gather(&p->op);
    }
    return count;
}

static bool has_posted(const struct machine *m, int rank, int kind, int purpose, int stage)
{
    for (int k = 0; k < m->post_count; k++)
        if (m->posts[k].rank == rank && m->posts[k].op.kind == kind &&
            !judge_is_tied(&m->posts[k].op) && m->posts[k].op.stage == stage &&
            judge_purpose_of(&m->posts[k].op) == purpose)
            return true;
    return false;
}

bool judge_is_last_bucket(const struct pp_op *op)
{
    return op->granules == 0 || op->split == op->granules - 1;
}

static bool uses_params(const struct pp_op *op)
{
    return op->kind == PP_F || op->kind == PP_B || op->kind == PP_I || op->kind == PP_R;
}

/* Chunks that the next use of parameters needs at once. */
static int next_chunks(const struct machine *m, int rank)
{
    const struct pp_op *ops = m->lists->ops[rank];

    for (int i = m->at[rank]; i < m->lists->count[rank]; i++)
        if (uses_params(&ops[i]))
            return 1 + (judge_is_pair(m, rank, i) && ops[i].stage != ops[i + 1].stage);
    return 1;
}

/* The cache holds all units of a chunk, so that none makes room for another. */
static bool is_whole_in_cache(const struct machine *m, int stage)
{
    return m->head->state.units[stage] <= m->head->state.spec.cached;
}

/* Chunks that a rank may keep in addition to the one in use, if all are as large as its largest. */
static int kept_chunks(const struct machine *m, int rank)
{
    int largest = 1;

    for (int pipe = 0; pipe < m->head->pipelines; pipe++)
        for (int stage = 0; stage < model_of(m); stage++)
            if (judge_home(m, pipe, stage) == rank && m->head->state.units[stage] > largest)
                largest = m->head->state.units[stage];
    return m->head->state.spec.cached >= 2 * largest ? m->head->state.spec.cached / largest - 1 : 0;
}

/* One more gathered chunk has a buffer: one more than stated where two chunks are used at once. */
static bool has_buffer(const struct machine *m, int rank)
{
    int held = 0;

    for (int stage = 0; stage < model_of(m); stage++)
        held += m->shards[rank][stage].is_present + judge_unwaited(m, rank, stage, FETCHES);
    return m->head->state.spec.buffers == 0 || held + 1 <= m->head->state.spec.buffers +
                                                               kept_chunks(m, rank) +
                                                               next_chunks(m, rank) - 1;
}

/* A sum before the scatter of its last gradients: only of what a backward has scattered inside. */
bool judge_is_too_early(const struct machine *m, int rank, const struct pp_op *op)
{
    return m->shards[rank][judge_weights_of(m, op)].is_dirty &&
           (judge_is_last_bucket(op) || m->head->state.units[op->stage] == 1);
}

/* This bucket or a later one of the sum that a scatter leaves is posted. */
static bool has_rest(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op *post = &m->posts[k].op;
        if (m->posts[k].rank == rank && post->kind == PP_AR && post->stage == op->stage &&
            judge_purpose_of(post) == PP_FOR_REST && post->split >= op->split)
            return true;
    }
    return false;
}

/* A gather, or a load where nothing is cut. */
static int post_fetch(struct machine *m, int rank, const struct pp_op *op)
{
    return judge_unwaited(m, rank, judge_weights_of(m, op), FETCHES) || !has_buffer(m, rank) ||
                   judge_has(m, 'U', rank, op->stage, op->pipe, 0)
               ? judge_complain(m, op, rank, "fetched twice or too late, or there is no buffer")
               : 1;
}

/* One share of a chunk, two of a rank. */
int judge_post_load(struct machine *m, int rank, const struct pp_op *op)
{
    int others = 0;

    if (!pp_state_is_away(&m->head->state.spec, PP_STATE_PARAMS))
        return judge_complain(m, op, rank, "parameters live here");
    if (!is_cut(m))
        return post_fetch(m, rank, op);
    for (int stage = 0; stage < model_of(m); stage++)
        others += shares(m, rank, stage);
    return shares(m, rank, judge_weights_of(m, op)) > 0 || others >= 2 ||
                   judge_has(m, 'U', rank, op->stage, op->pipe, 0)
               ? judge_complain(m, op, rank, "loaded twice or too late, or there is no room")
               : 1;
}

/* The share that a gather takes. */
static bool has_share(const struct machine *m, int rank, const struct pp_op *op)
{
    return !pp_state_is_away(&m->head->state.spec, PP_STATE_PARAMS) ||
           (shares(m, rank, judge_weights_of(m, op)) > 0 &&
            judge_unwaited(m, rank, judge_weights_of(m, op), LOADS) == 0);
}

/* A collective with a purpose is posted. */
int judge_post_of_shards(struct machine *m, int rank, const struct pp_op *op)
{
    struct shards *s = &m->shards[rank][judge_weights_of(m, op)];
    const int purpose = judge_purpose_of(op);

    if ((is_gather(op) || purpose == PP_FOR_VISIT) && !is_cut(m))
        return judge_complain(m, op, rank, "parameters are whole");
    if (is_gather(op))
        return has_share(m, rank, op) ? post_fetch(m, rank, op)
                                      : judge_complain(m, op, rank, "its share is not loaded");
    if (purpose == PP_FOR_REST)
        return judge_is_too_early(m, rank, op) || has_rest(m, rank, op) ||
                       !has_posted(m, rank, PP_RS, PP_FOR_STEP, op->stage)
                   ? judge_complain(m, op, rank, "sums what is not scattered")
                   : 1;
    if (judge_unwaited(m, rank, judge_weights_of(m, op), purpose) ||
        (purpose == PP_FOR_VISIT && !s->is_dirty))
        return judge_complain(m, op, rank, "scatters nothing, or again");
    if (purpose == PP_FOR_PART) {
        if (!pp_state_has_parts(&m->head->state.spec) || !s->is_whole)
            return judge_complain(m, op, rank, "scatters nothing");
        s->is_whole = false;
        return 1;
    }
    if (pp_state_has_parts(&m->head->state.spec) && s->is_whole)
        return judge_complain(m, op, rank, "there is no room for another gradient");
    s->is_dirty = false;
    s->is_whole = true;
    return 1;
}

int judge_use_shards(struct machine *m, int rank, const struct pp_op *op, int count)
{
    for (int k = 0; k < count; k++) {
        const struct shards *s = &m->shards[rank][judge_weights_of(m, &op[k])];
        if (is_fetched(m) && op[k].kind != PP_W && !s->is_present)
            return judge_complain(m, &op[k], rank, "parameters are not there");
    }
    for (int k = 0; k < count && is_fetched(m);
         k++) { /* through all its layers, whatever its units */
        struct shards *s = &m->shards[rank][judge_weights_of(m, &op[k])];
        const int units = m->head->state.units[judge_weights_of(m, &op[k])];
        if (op[k].kind == PP_W || units == 1 || is_whole_in_cache(m, judge_weights_of(m, &op[k])) ||
            (k == 1 && op[0].stage == op[1].stage))
            continue;
        if (s->layer >= 0 && s->layer != (op[k].kind == PP_F ? 0 : units - 1))
            return judge_complain(m, &op[k], rank, "another layer is there");
        if (op[k].kind != PP_R) /* each layer again right before its backward */
            s->layer = op[k].kind == PP_F ? units - 1 : 0;
        else
            s->layer = units - 1;
    }
    for (int k = 0; k < count; k++) {
        struct shards *s = &m->shards[rank][judge_weights_of(m, &op[k])];
        if (op[k].kind != PP_B && op[k].kind != PP_W)
            continue;
        if (pp_state_has_parts(&m->head->state.spec) && !is_cut(m) && s->is_whole)
            return judge_complain(m, &op[k], rank, "there is no room for another gradient");
        s->is_dirty |= is_cut(m);
        s->is_whole |= !is_cut(m);
    }
    return 1;
}

int judge_drop_shards(struct machine *m, int rank, const struct pp_op *op)
{
    struct shards *s = &m->shards[rank][judge_weights_of(m, op)];

    if (!s->is_present)
        return judge_complain(m, op, rank, "nothing to drop");
    s->is_present = false;
    return 1;
}

bool judge_are_shards_left(const struct machine *m)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int stage = 0; stage < model_of(m); stage++)
            if (m->shards[r][stage].is_present || m->shards[r][stage].is_dirty ||
                judge_unwaited(m, r, stage, FETCHES) || (is_cut(m) && shares(m, r, stage) > 0))
                return true;
    return false;
}
