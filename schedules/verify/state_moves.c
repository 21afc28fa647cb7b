/* schedules/verify/state_moves.c — memory tiers: an update has its inputs, on the device or on the
 * host. What it has updated is where it is used next. */
#include "schedules/verify/parts.h"

#include <string.h>

/* Moves of a chunk, indexed by pipeline * stages + stage; -1 = none. */
struct chunk {
    int before;    /* MOVE since the last update, for the next */
    bool is_there; /* `before` was waited for */
    int host;      /* MOVE.update since the last U */
    int leaving;   /* MOVE.grads of a MOVE.update without a WAIT so far */
    struct {
        int update;       /* last update without this MOVE so far */
        int move;         /* MOVE after it without a WAIT so far */
    } after[PP_PURPOSES]; /* for purposes after an update */
    int home;             /* last MOVE.home */
};

struct moves {
    struct pp_verify *v;
    struct chunk *chunks;
    bool has[PP_PURPOSES]; /* some MOVE of the program has the purpose */
    int rank;
};

static struct chunk *chunk_of(const struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;

    return &m->chunks[p->pipe[i] * p->stages + p->stage[i]];
}

/* Checks that the same moves follow every update, or none. */
static enum pp_status check_followed(struct moves *m, const struct chunk *c)
{
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        if (c->after[purpose].update >= 0 && m->has[purpose])
            return pp_verify_fail(m->v, c->after[purpose].update, "no MOVE.%s %s what %s updates",
                                  pp_purposes[purpose].text,
                                  pp_move_is_up(purpose) ? "brings" : "takes",
                                  pp_verify_text(m->v, c->after[purpose].update));
    return PP_OK;
}

/* Checks that what an update reads has been moved. */
static enum pp_status check_before(struct moves *m, int i, const struct chunk *c)
{
    if (c->before < 0 && (m->has[PP_FOR_GRADS] || m->has[PP_FOR_FETCH]))
        return pp_verify_fail(m->v, i, "no MOVE.%s brings what %s updates with",
                              pp_purposes[m->has[PP_FOR_GRADS] ? PP_FOR_GRADS : PP_FOR_FETCH].text,
                              pp_verify_text(m->v, i));
    return PP_OK;
}

static enum pp_status check_update(struct moves *m, int i)
{
    struct chunk *c = chunk_of(m, i);

    if (m->has[PP_FOR_UPDATE] && c->host < 0)
        return pp_verify_fail(m->v, i, "no MOVE.update updates the share of %s that the host has",
                              pp_verify_text(m->v, i));
    if (!m->has[PP_FOR_UPDATE]) {
        PP_TRY(check_followed(m, c));
        PP_TRY(check_before(m, i, c));
    }
    if (c->before >= 0 && !c->is_there)
        return pp_verify_fail_unwaited(m->v, i, "uses", c->before, "brings");
    c->before = c->home = c->host = -1;
    c->is_there = false;
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        if (pp_purposes[purpose].when == PP_AFTER_UPDATE &&
            !(m->has[PP_FOR_UPDATE] && purpose == PP_FOR_PARAMS))
            c->after[purpose].update = i;
    return PP_OK;
}

/* Checks an update of the host. Its stream waits for the gradients that went down before. */
static enum pp_status post_update(struct moves *m, int i)
{
    struct chunk *c = chunk_of(m, i);

    PP_TRY(check_followed(m, c));
    PP_TRY(check_before(m, i, c));
    if (c->host >= 0)
        return pp_verify_refuse(m->v, i, "updates again what %s has updated",
                                pp_verify_text(m->v, c->host));
    if (c->leaving >= 0)
        return pp_verify_fail_unwaited(m->v, i, "comes after", c->leaving, "takes");
    c->leaving = c->is_there ? -1 : c->before;
    c->before = -1;
    c->is_there = false;
    c->host = c->after[PP_FOR_UPDATE].move = c->after[PP_FOR_PARAMS].update = i;
    return PP_OK;
}

static enum pp_status post_move(struct moves *m, int i)
{
    const int purpose = m->v->p->purpose[i];
    struct chunk *c = chunk_of(m, i);

    if (pp_program_rank_of(m->v->p, m->v->p->pipe[i], m->v->p->stage[i]) != m->rank)
        return pp_verify_fail_elsewhere(m->v, i);
    if (purpose == PP_FOR_UPDATE)
        return post_update(m, i);
    if (pp_purposes[purpose].when == PP_BEFORE_UPDATE) {
        if (c->before >= 0)
            return pp_verify_refuse(m->v, i, "moves again what %s has moved for the same update",
                                    pp_verify_text(m->v, c->before));
        c->before = i;
        return PP_OK;
    }
    if (c->after[purpose].update < 0)
        return pp_verify_refuse(m->v, i, "moves what no %s has updated",
                                m->has[PP_FOR_UPDATE] && purpose == PP_FOR_PARAMS ? "MOVE.update"
                                                                                  : "U");
    c->after[purpose].update = -1;
    c->after[purpose].move = i;
    c->home = purpose == PP_FOR_HOME ? i : c->home;
    return PP_OK;
}

static void wait_move(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;
    const int target = p->begin[m->rank] + p->arg[i];
    struct chunk *c = chunk_of(m, target);

    if (c->before == target)
        c->is_there = true;
    if (c->leaving == target)
        c->leaving = -1;
    if (c->after[p->purpose[target]].move == target)
        c->after[p->purpose[target]].move = -1;
}

/* Returns the instruction that has taken a chunk's gradients for its next U, or -1. */
static int taken_by(const struct chunk *c)
{
    return c->before >= 0 ? c->before : c->host;
}

/* Checks that no gradients are made after their MOVE, or while they go down. */
static enum pp_status check_gradient(struct moves *m, int i, const struct chunk *c)
{
    if (taken_by(c) >= 0)
        return pp_verify_refuse(m->v, i, "comes after %s, which belongs after the last backward",
                                pp_verify_text(m->v, taken_by(c)));
    return c->leaving < 0 ? PP_OK
                          : pp_verify_fail_unwaited(m->v, i, "overwrites", c->leaving, "takes");
}

/* Checks a use of state: parameters are updated, and up again. */
static enum pp_status check_use(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;
    const int kind = p->kind[i];
    const struct chunk *c = chunk_of(m, i);
    const int update = c->after[PP_FOR_PARAMS].update, move = c->after[PP_FOR_PARAMS].move;

    if (kind == PP_B || kind == PP_W)
        PP_TRY(check_gradient(m, i, c));
    if (kind == PP_W) /* W uses saved activations and a gradient alone */
        return PP_OK;
    if (c->after[PP_FOR_UPDATE].move >= 0)
        return pp_verify_fail_unwaited(m->v, i, "uses", c->after[PP_FOR_UPDATE].move, "updates");
    if (m->has[PP_FOR_PARAMS] && update >= 0)
        return pp_verify_refuse(m->v, i, "uses what %s has updated, and no MOVE.params brings it",
                                pp_verify_text(m->v, update));
    if (move >= 0)
        return pp_verify_fail_unwaited(m->v, i, "uses", move, "brings");
    return PP_OK;
}

/* Refuses a WAIT for a sum after the MOVE of its gradients, which has moved unsummed ones. */
static enum pp_status check_sum(struct moves *m, int i, int stage)
{
    const struct pp_program *p = m->v->p;

    for (int pipe = 0; pipe < p->pipelines; pipe++) {
        const struct chunk *c = &m->chunks[pipe * p->stages + stage];
        const int taken = taken_by(c);
        if (pp_program_rank_of(p, pipe, stage) == m->rank && taken >= 0 &&
            p->purpose[taken] != PP_FOR_FETCH)
            return pp_verify_refuse(m->v, i, "comes after %s, which moves what it sums",
                                    pp_verify_text(m->v, taken));
    }
    return PP_OK;
}

static enum pp_status check_sums(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;

    PP_TRY(check_sum(m, i, p->stage[i]));
    return p->last_stage[i] != 0 ? check_sum(m, i, p->last_stage[i]) : PP_OK;
}

/* Checks that parameters that others have updated are present before they move home. */
static enum pp_status check_spread(struct moves *m, int i)
{
    const struct chunk *c = chunk_of(m, i);

    if (c->home < 0)
        return PP_OK;
    return pp_verify_refuse(m->v, i, "comes after %s, which takes what it brings",
                            pp_verify_text(m->v, c->home));
}

/* Checks that a load of parameters comes after their update on the host. */
static enum pp_status check_load(struct moves *m, int i)
{
    const int update = chunk_of(m, i)->after[PP_FOR_UPDATE].move;

    return update < 0 || !pp_move_is_load(m->v->p->purpose[i])
               ? PP_OK
               : pp_verify_fail_unwaited(m->v, i, "loads", update, "updates");
}

static enum pp_status check_state(struct moves *m, int i)
{
    const struct pp_program *p = m->v->p;
    const int kind = p->kind[i];

    if (kind == PP_MOVE && p->purpose[i] != 0)
        return pp_purposes[p->purpose[i]].when == PP_WITH_USE ? check_load(m, i) : post_move(m, i);
    if (kind == PP_WAIT && (p->aux[i] == PP_AG || p->aux[i] == PP_BC) &&
        p->purpose[i] == PP_FOR_STEP)
        return check_spread(m, i);
    if (kind == PP_WAIT && p->aux[i] == PP_MOVE)
        return wait_move(m, i), PP_OK;
    if (kind == PP_WAIT && (p->aux[i] == PP_AR || p->aux[i] == PP_RS))
        return check_sums(m, i);
    if (kind == PP_U)
        return check_update(m, i);
    const bool is_pass = pp_op_has_cell(kind) && !pp_op_is_packing(kind);
    if (is_pass || ((kind == PP_AG || kind == PP_BC) && p->purpose[i] == PP_FOR_STEP))
        return check_use(m, i);
    return PP_OK;
}

static enum pp_status check_end(struct moves *m)
{
    const struct pp_program *p = m->v->p;

    for (int i = p->begin[m->rank]; i < p->begin[m->rank + 1]; i++) {
        if (p->kind[i] != PP_MOVE && p->kind[i] != PP_U)
            continue;
        const struct chunk *c = chunk_of(m, i);
        if (c->before == i || c->host == i)
            return pp_verify_fail(m->v, i, "no U uses what %s %s", pp_verify_text(m->v, i),
                                  c->host == i ? "updates" : "brings");
        if (c->leaving == i)
            return pp_verify_fail(m->v, i, "nothing waits for %s", pp_verify_text(m->v, i));
        for (int purpose = 0; purpose < PP_PURPOSES; purpose++) {
            if (c->after[purpose].move == i)
                return pp_verify_fail(m->v, i, "nothing waits for %s", pp_verify_text(m->v, i));
            if (c->after[purpose].update == i)
                PP_TRY(check_followed(m, c));
        }
    }
    return PP_OK;
}

/* Is true if parameters that others have updated are gathered. */
static bool has_spread(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if ((p->kind[i] == PP_AG || p->kind[i] == PP_BC) && p->purpose[i] == PP_FOR_STEP)
            return true;
    return false;
}

/* Returns the spec that the program states, with the kind of update that its instructions show. */
static struct pp_state_spec seen_spec(const struct moves *m)
{
    struct pp_state_spec spec = m->v->p->state.spec;
    const int params = pp_state_cut(&spec, PP_STATE_PARAMS);

    spec.is_cpu_update = m->has[PP_FOR_GRADS] || m->has[PP_FOR_UPDATE] ||
                         (pp_state_is_away(&spec, PP_STATE_GRADS) && !m->has[PP_FOR_FETCH]);
    spec.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    spec.moved_frac[PP_STATE_OPTIMIZER] = 0;
    spec.shard[PP_STATE_OPTIMIZER] = (struct pp_mesh){has_spread(m->v->p) ? 2 * params : params, 1};
    return spec;
}

/* Returns false if no state moves. */
static bool prepare(struct moves *m)
{
    const struct pp_program *p = m->v->p;
    const size_t chunks = (size_t)p->pipelines * (size_t)p->stages;
    const bool is_away = pp_state_is_away(&p->state.spec, PP_STATE_PARAMS);
    bool has_state = false;

    for (int i = 0; i < pp_program_size(p); i++) {
        has_state |= p->kind[i] == PP_MOVE || (is_away && p->kind[i] == PP_U);
        if (p->kind[i] == PP_MOVE)
            m->has[p->purpose[i]] = true;
    }
    if (!has_state)
        return false;
    m->chunks = PP_ARRAY(m->v->arena, struct chunk, chunks);
    memset(m->chunks, 0xff, sizeof(*m->chunks) * chunks); /* -1 */
    for (size_t k = 0; k < chunks; k++)
        m->chunks[k].is_there = false;
    const struct pp_state_spec spec = seen_spec(m);
    m->has[PP_FOR_HOME] |= pp_state_moves(&spec, PP_FOR_HOME);
    return true;
}

enum pp_status pp_verify_state_moves(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    struct moves m = {.v = v};

    if (!prepare(&m))
        return PP_OK;
    for (m.rank = 0; m.rank < p->ranks; m.rank++) {
        for (int i = p->begin[m.rank]; i < p->begin[m.rank + 1]; i++)
            PP_TRY(check_state(&m, i));
        PP_TRY(check_end(&m));
    }
    return PP_OK;
}
