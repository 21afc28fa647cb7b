/* schedules/verify/grads.c — gradients on another memory tier, as the program's head states it.
 *
 * MOVE.part takes down what the backwards of a chunk, or the scatters after them, have left.
 * MOVE.sum brings up all that is below. Where the device adds, a backward adds to nothing that is
 * still below. A sum over the copies of a stage takes what is on the device, so nothing is below
 * then. If gradients have more shards than parameters, it scatters those of the last backward
 * alone. All is below, and has arrived, when the chunk is updated, and at the end. */
#include "schedules/verify/parts.h"

#include <string.h>

/* Gradients of a chunk on the current rank: places in the list, -1 = none. */
struct chunk {
    int here;           /* last instruction that left gradients on the device, as they move */
    int below;          /* last MOVE.part, unless a MOVE.sum came after it */
    int part;           /* MOVE.part without a WAIT so far */
    int sum;            /* MOVE.sum without a WAIT so far */
    int whole;          /* last B or W that no RS.visit has scattered */
    int pending;        /* last B, W or RS.visit that no RS.part, or sum, has scattered */
    int visit, scatter; /* RS.visit, RS.part without a WAIT so far */
    int summed;         /* sum over copies without a WAIT so far, its last post */
    bool is_scattered;  /* it scatters gradients of the last backward */
};

struct grads {
    struct pp_verify *v;
    const struct pp_state_spec *spec;
    struct chunk *chunks; /* [pipeline * stages + stage] */
    int *open;            /* [pipeline * stages + stage]: posts of sums without a WAIT so far */
    bool *is_waited;      /* [instruction] some WAIT names it */
    int rank;
};

static int number_of(const struct grads *g, int i)
{
    const struct pp_program *p = g->v->p;

    return p->pipe[i] * p->stages + p->stage[i];
}

static bool is_move(const struct pp_program *p, int i, enum pp_purpose purpose)
{
    return p->kind[i] == PP_MOVE && p->purpose[i] == purpose;
}

/* Is true for a sum over the copies of a stage. */
static bool is_sum(const struct pp_program *p, int i)
{
    return (p->kind[i] == PP_AR || p->kind[i] == PP_RS) && p->purpose[i] != PP_FOR_VISIT &&
           p->purpose[i] != PP_FOR_PART;
}

static bool is_scatter(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_RS && (p->purpose[i] == PP_FOR_VISIT || p->purpose[i] == PP_FOR_PART);
}

/* ---- backwards and scatters ------------------------------------------------------------------ */

static enum pp_status check_backward(struct grads *g, int i)
{
    struct chunk *c = &g->chunks[number_of(g, i)];

    if (c->sum >= 0)
        return pp_verify_fail_unwaited(g->v, i, "adds to", c->sum, "brings up");
    if (g->spec->is_summed_on_device && c->below >= 0)
        return pp_verify_refuse(g->v, i,
                                "adds to gradients that %s has moved away, and no MOVE.sum "
                                "brings them up",
                                pp_verify_text(g->v, c->below));
    if (pp_state_is_gathered(g->spec))
        c->whole = i;
    else
        *(pp_state_has_parts(g->spec) ? &c->pending : &c->here) = i;
    return PP_OK;
}

static void note_scatter(struct grads *g, int i)
{
    struct chunk *c = &g->chunks[number_of(g, i)];

    if (g->v->p->purpose[i] == PP_FOR_PART) {
        c->scatter = i;
        c->pending = -1;
        return;
    }
    c->visit = i;
    c->whole = -1;
    if (pp_state_has_parts(g->spec))
        c->pending = i;
}

/* ---- movements ------------------------------------------------------------------------------- */

static enum pp_status check_stated(struct grads *g, int i)
{
    const struct pp_program *p = g->v->p;

    if (!pp_state_is_away(g->spec, PP_STATE_GRADS))
        return pp_verify_fail(g->v, i,
                              "%s, but the program does not state that gradients live elsewhere "
                              "('# state: o', or s)",
                              pp_verify_text(g->v, i));
    return pp_program_rank_of(p, p->pipe[i], p->stage[i]) == g->rank
               ? PP_OK
               : pp_verify_fail_elsewhere(g->v, i);
}

/* Returns the scatter without a WAIT that leaves gradients as they move; -1 = none. */
static int scattering(const struct grads *g, const struct chunk *c)
{
    return pp_state_has_parts(g->spec) ? c->scatter : c->visit;
}

static enum pp_status check_part(struct grads *g, int i)
{
    struct chunk *c = &g->chunks[number_of(g, i)];
    const int scatter = scattering(g, c);

    if (c->part >= 0)
        return pp_verify_fail(g->v, i, "nothing waits for %s before %s is posted again",
                              pp_verify_text(g->v, c->part), pp_verify_text(g->v, i));
    if (c->sum >= 0)
        return pp_verify_fail_unwaited(g->v, i, "moves", c->sum, "brings up");
    if (scatter >= 0)
        return pp_verify_fail_unwaited(g->v, i, "moves", scatter, "scatters");
    if (c->summed >= 0)
        return pp_verify_fail_unwaited(g->v, i, "moves", c->summed, "sums");
    if (c->here < 0)
        return pp_verify_refuse(g->v, i, "moves gradients that nothing has left on the device");
    c->here = -1;
    c->below = c->part = i;
    return PP_OK;
}

static enum pp_status check_sum_up(struct grads *g, int i)
{
    struct chunk *c = &g->chunks[number_of(g, i)];

    if (c->below < 0)
        return pp_verify_refuse(g->v, i, "brings up gradients that nothing has moved away");
    if (c->part >= 0)
        return pp_verify_fail_unwaited(g->v, i, "brings up", c->part, "moves away");
    if (c->here >= 0)
        return pp_verify_refuse(g->v, i, "comes before the gradients of %s have left",
                                pp_verify_text(g->v, c->here));
    c->below = -1;
    c->sum = i;
    return PP_OK;
}

/* ---- sums over copies ------------------------------------------------------------------------ */

static enum pp_status sum_chunk(struct grads *g, int i, int number)
{
    const struct pp_program *p = g->v->p;
    struct chunk *c = &g->chunks[number];
    const bool is_of_last = p->kind[i] == PP_RS && pp_state_has_parts(g->spec);

    if (c->sum >= 0)
        return pp_verify_fail_unwaited(g->v, i, "sums", c->sum, "brings up");
    if (c->below >= 0 && (!is_of_last || (c->pending < 0 && c->whole < 0)))
        return pp_verify_refuse(g->v, i, "sums gradients that %s has moved away",
                                pp_verify_text(g->v, c->below));
    if (p->kind[i] == PP_RS && p->bucket[i] + 1 >= p->buckets[i]) {
        c->is_scattered |= c->pending >= 0;
        c->pending = -1;
    }
    c->summed = i;
    g->open[number]++;
    return PP_OK;
}

static void sum_is_over(struct grads *g, int i, int number)
{
    struct chunk *c = &g->chunks[number];

    if (--g->open[number] > 0)
        return;
    c->summed = -1;
    if (c->is_scattered)
        c->here = i;
    c->is_scattered = false;
}

/* Handles the post of a sum of one or, if it is tied, two stages, or the WAIT for it. */
static enum pp_status visit_sum(struct grads *g, int i, bool is_wait)
{
    const struct pp_program *p = g->v->p;

    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int end = 0; end < 1 + (p->last_stage[i] != 0); end++) {
            const int stage = end ? p->last_stage[i] : p->stage[i];
            if (pp_program_rank_of(p, pipe, stage) != g->rank)
                continue;
            if (is_wait)
                sum_is_over(g, i, pipe * p->stages + stage);
            else
                PP_TRY(sum_chunk(g, i, pipe * p->stages + stage));
        }
    return PP_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

static enum pp_status check_wait(struct grads *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int target = p->begin[g->rank] + p->arg[i];

    if (p->aux[i] != PP_MOVE && p->aux[i] != PP_RS && p->aux[i] != PP_AR)
        return PP_OK;
    struct chunk *c = &g->chunks[number_of(g, target)];
    if (c->part == target)
        c->part = -1;
    if (c->visit == target) {
        c->visit = -1;
        c->here = pp_state_has_parts(g->spec) ? c->here : target;
    }
    if (c->scatter == target) {
        c->scatter = -1;
        c->here = target;
    }
    if (c->sum == target) {
        c->sum = -1;
        c->here = target;
    }
    if (!is_sum(p, target) || g->is_waited[target])
        return PP_OK;
    g->is_waited[target] = true;
    return visit_sum(g, target, true);
}

/* Returns what has left gradients of a chunk on the device, in whatever form; -1 = none. */
static int left_by(const struct chunk *c)
{
    return c->here >= 0 ? c->here : c->whole >= 0 ? c->whole : c->pending;
}

/* Checks that all gradients of a chunk are below when instruction i follows. The host's stream
 * waits for copies down. */
static enum pp_status check_left(struct grads *g, int i, const struct chunk *c)
{
    const int left = left_by(c);

    if (c->sum >= 0)
        return pp_verify_fail_unwaited(g->v, i, "uses", c->sum, "brings up");
    if (left >= 0)
        return pp_verify_refuse(g->v, i, "comes before the gradients of %s have left",
                                pp_verify_text(g->v, left));
    if (scattering(g, c) >= 0)
        return pp_verify_fail_unwaited(g->v, i, "uses", scattering(g, c), "scatters");
    if (c->is_scattered)
        return pp_verify_fail_unwaited(g->v, i, "uses", c->summed, "scatters");
    if (c->part >= 0 && !is_move(g->v->p, i, PP_FOR_UPDATE))
        return pp_verify_fail_unwaited(g->v, i, "uses", c->part, "moves away");
    return PP_OK;
}

static enum pp_status check_update(struct grads *g, int i)
{
    struct chunk *c = &g->chunks[number_of(g, i)];

    PP_TRY(check_left(g, i, c));
    c->below = g->v->p->kind[i] == PP_U ? -1 : c->below;
    return PP_OK;
}

static enum pp_status check_instruction(struct grads *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int kind = p->kind[i];

    if (is_move(p, i, PP_FOR_GRAD_DOWN) || is_move(p, i, PP_FOR_GRAD_UP)) {
        PP_TRY(check_stated(g, i));
        return is_move(p, i, PP_FOR_GRAD_DOWN) ? check_part(g, i) : check_sum_up(g, i);
    }
    if (!pp_state_is_away(g->spec, PP_STATE_GRADS))
        return PP_OK;
    if (kind == PP_B || kind == PP_W)
        return check_backward(g, i);
    if (kind == PP_WAIT)
        return check_wait(g, i);
    if (is_scatter(p, i))
        return note_scatter(g, i), PP_OK;
    if (is_sum(p, i))
        return visit_sum(g, i, false);
    return kind == PP_U || is_move(p, i, PP_FOR_FETCH) || is_move(p, i, PP_FOR_UPDATE)
               ? check_update(g, i)
               : PP_OK;
}

static enum pp_status check_end(struct grads *g)
{
    const struct pp_program *p = g->v->p;

    for (int number = 0; number < p->pipelines * p->stages; number++) {
        const struct chunk *c = &g->chunks[number];
        const int left = left_by(c);
        if (left >= 0)
            return pp_verify_fail(g->v, left, "nothing moves the gradients of %s away",
                                  pp_verify_text(g->v, left));
        if (c->part >= 0 || c->sum >= 0)
            return pp_verify_fail(g->v, c->part >= 0 ? c->part : c->sum, "nothing waits for %s",
                                  pp_verify_text(g->v, c->part >= 0 ? c->part : c->sum));
    }
    return PP_OK;
}

enum pp_status pp_verify_grads(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    const size_t chunks = (size_t)p->pipelines * (size_t)p->stages;
    struct grads g = {.v = v, .spec = &p->state.spec};
    bool has_any = pp_state_is_away(g.spec, PP_STATE_GRADS) && p->mode != PP_MODE_INFER;

    for (int i = 0; i < pp_program_size(p) && !has_any; i++)
        has_any = is_move(p, i, PP_FOR_GRAD_DOWN) || is_move(p, i, PP_FOR_GRAD_UP);
    if (!has_any || p->level != PP_LEVEL_LOWERED)
        return PP_OK;
    g.chunks = PP_ARRAY(v->arena, struct chunk, chunks);
    g.open = PP_ARRAY(v->arena, int, chunks);
    g.is_waited = PP_ARRAY(v->arena, bool, pp_program_size(p));
    for (g.rank = 0; g.rank < p->ranks; g.rank++) {
        memset(g.chunks, 0xff, sizeof(*g.chunks) * chunks); /* -1 */
        for (size_t k = 0; k < chunks; k++)
            g.chunks[k].is_scattered = false;
        memset(g.open, 0, sizeof(*g.open) * chunks);
        for (int i = p->begin[g.rank]; i < p->begin[g.rank + 1]; i++)
            PP_TRY(check_instruction(&g, i));
        PP_TRY(check_end(&g));
    }
    return PP_OK;
}
