/* schedules/verify_gathers.c — sharded state: parameters are gathered where they are used, once,
 * and dropped; new gradients are scattered; all of it before the update. Only of stages whose
 * gathers name a purpose: files may gather and drop as they like. */
#include "schedules/verify_internal.h"

#include <string.h>

/* A stage on the rank at hand: places in the list, -1 = none. */
struct stage {
    bool is_cut;              /* some gather of it names a purpose */
    bool is_reduced;          /* some scatter of it does */
    int posted;               /* gather that nothing has waited for */
    int present;              /* WAIT for the gather whose parameters are there */
    int dirty;                /* last B or W whose gradients are whole */
    int scatter[PP_PURPOSES]; /* post that nothing has waited for */
    int sum, rest;            /* RS of the step, AR.rest: their last buckets so far */
    int open_rests;           /* buckets of AR.rest that nothing has waited for */
    int update;
};

struct gathers {
    struct pp_verify *v;
    struct stage *stages;
    bool *is_waited; /* [instruction] some WAIT names it */
    int rank;
};

static bool uses_params(int kind)
{
    return kind == PP_F || kind == PP_B || kind == PP_I || kind == PP_R;
}

static const char *text_of(const struct gathers *g, int i, char text[VERIFY_TEXT_BYTES])
{
    return pp_verify_op_text(g->v->p, i, text);
}

static enum pp_status check_compute(struct gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct stage *s = &g->stages[p->stage[i]];
    char a[VERIFY_TEXT_BYTES];

    /* what a pair needs is there before it starts */
    const int start = pp_verify_start(p, i);
    if (s->is_cut && uses_params(p->kind[i]) && (s->present < 0 || s->present >= start)) {
        char b[VERIFY_TEXT_BYTES];
        if (s->posted < 0)
            return pp_verify_fail(g->v, i, "%s uses parameters of stage %d that are not gathered",
                                  text_of(g, i, a), p->stage[i]);
        return pp_verify_fail(g->v, i, "%s uses what %s gathers, but (%s)WAIT is missing",
                              text_of(g, i, a), text_of(g, s->posted, b), b);
    }
    if (s->is_reduced && (p->kind[i] == PP_B || p->kind[i] == PP_W))
        s->dirty = i;
    return PP_OK;
}

static enum pp_status check_drop(struct gathers *g, int i)
{
    struct stage *s = &g->stages[g->v->p->stage[i]];
    char a[VERIFY_TEXT_BYTES];

    if (!s->is_cut)
        return PP_OK;
    if (s->present < 0)
        return pp_verify_fail(g->v, i, "%s drops parameters that are not gathered",
                              text_of(g, i, a));
    s->present = -1;
    return PP_OK;
}

static enum pp_status check_gather(struct gathers *g, int i)
{
    struct stage *s = &g->stages[g->v->p->stage[i]];
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    if (s->posted >= 0)
        return pp_verify_fail(g->v, i,
                              "%s gathers what %s gathers before it, which nothing waits "
                              "for",
                              text_of(g, i, a), text_of(g, s->posted, b));
    if (s->update >= 0)
        return pp_verify_fail(g->v, i, "%s stands behind the update of its stage",
                              text_of(g, i, a));
    s->posted = i;
    return PP_OK;
}

/* RS.visit, RS.part. */
static enum pp_status check_scatter(struct gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct stage *s = &g->stages[p->stage[i]];
    const int purpose = p->version[i];
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    if (s->scatter[purpose] >= 0)
        return pp_verify_fail(g->v, i, "nothing waits for %s before %s is posted again",
                              text_of(g, s->scatter[purpose], b), text_of(g, i, a));
    if (purpose == PP_FOR_VISIT && s->dirty < 0)
        return pp_verify_fail(g->v, i, "%s scatters gradients that nothing has made",
                              text_of(g, i, a));
    if (purpose == PP_FOR_VISIT)
        s->dirty = -1;
    s->scatter[purpose] = i;
    return PP_OK;
}

/* The sum of a step or of what its scatter leaves: gradients of all visits are in the shards. */
static enum pp_status check_sum(struct gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct stage *s = &g->stages[p->stage[i]];
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    if (s->dirty >= 0 && p->split[i] + 1 >= p->granule_count[i]) /* others may sum earlier units */
        return pp_verify_fail(g->v, i, "%s comes before the gradients of %s are scattered",
                              text_of(g, i, a), text_of(g, s->dirty, b));
    if (p->version[i] != PP_FOR_REST) {
        s->sum = i;
        return PP_OK;
    }
    if (s->rest >= 0 && p->split[i] <= p->split[s->rest])
        return pp_verify_fail(g->v, i, "%s is listed twice", text_of(g, i, a));
    if (s->sum < 0)
        return pp_verify_fail(g->v, i, "%s sums what no RS has scattered before it",
                              text_of(g, i, a));
    s->rest = i;
    s->open_rests++;
    return PP_OK;
}

/* The first AR.rest of the stage of `update` that nothing has waited for. */
static int open_rest(const struct gathers *g, int update)
{
    const struct pp_program *p = g->v->p;
    int i = p->begin[g->rank];

    while (i < update && (p->kind[i] != PP_AR || p->version[i] != PP_FOR_REST ||
                          p->stage[i] != p->stage[update] || g->is_waited[i]))
        i++;
    return i;
}

static enum pp_status check_update(struct gathers *g, int i)
{
    struct stage *s = &g->stages[g->v->p->stage[i]];
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    s->update = i;
    if (s->dirty >= 0)
        return pp_verify_fail(g->v, i, "%s comes before the gradients of %s are scattered",
                              text_of(g, i, a), text_of(g, s->dirty, b));
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        if (s->scatter[purpose] >= 0)
            return pp_verify_fail(g->v, i, "%s uses what %s leaves, but (%s)WAIT is missing",
                                  text_of(g, i, a), text_of(g, s->scatter[purpose], b), b);
    if (s->open_rests > 0)
        return pp_verify_fail(g->v, i, "%s uses what %s leaves, but (%s)WAIT is missing",
                              text_of(g, i, a), text_of(g, open_rest(g, i), b), b);
    return PP_OK;
}

static enum pp_status check_wait(struct gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int target = p->begin[g->rank] + p->arg[i], purpose = p->version[target];
    struct stage *s = &g->stages[p->stage[target]];
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    if (!pp_op_has_buckets(p->kind[target]) || purpose == PP_FOR_STEP)
        return PP_OK;
    if (purpose == PP_FOR_REST) {
        s->open_rests -= !g->is_waited[target];
        g->is_waited[target] = true;
        return PP_OK;
    }
    if (!pp_purpose_is_gather(purpose)) {
        if (s->scatter[purpose] == target)
            s->scatter[purpose] = -1;
        return PP_OK;
    }
    if (s->posted != target)
        return PP_OK; /* waited for again */
    if (s->present >= 0)
        return pp_verify_fail(g->v, i, "%s gathers parameters that are there since %s",
                              text_of(g, i, a), text_of(g, s->present, b));
    s->posted = -1;
    s->present = i;
    return PP_OK;
}

static enum pp_status check_collective(struct gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    const int kind = p->kind[i], purpose = p->version[i];

    if (kind == PP_AR && p->aux[i] == PP_TIED)
        return PP_OK;
    if (pp_purpose_is_gather(purpose))
        return check_gather(g, i);
    if (purpose == PP_FOR_VISIT || purpose == PP_FOR_PART)
        return check_scatter(g, i);
    return kind == PP_RS || kind == PP_AR ? check_sum(g, i) : PP_OK;
}

/* Stages of the rank, and what their collectives are for. Returns whether there is anything. */
static bool reset(struct gathers *g, int rank)
{
    const struct pp_program *p = g->v->p;
    bool has_any = false;

    g->rank = rank;
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        struct stage *s = &g->stages[p->stage[i]];
        memset(s, 0xff, sizeof(*s));
        s->is_cut = s->is_reduced = false;
        s->open_rests = 0;
    }
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        struct stage *s = &g->stages[p->stage[i]];
        if (!pp_op_has_buckets(p->kind[i]) || p->version[i] == PP_FOR_STEP)
            continue;
        has_any = true;
        s->is_cut |= pp_purpose_is_gather(p->version[i]);
        s->is_reduced |= p->version[i] == PP_FOR_VISIT;
    }
    return has_any;
}

static enum pp_status check_instruction(struct gathers *g, int i)
{
    const int kind = g->v->p->kind[i];

    if (kind == PP_U)
        return check_update(g, i);
    if (kind == PP_DROP)
        return check_drop(g, i);
    if (kind == PP_WAIT)
        return check_wait(g, i);
    if (pp_op_has_buckets(kind))
        return check_collective(g, i);
    return pp_op_is_compute(kind) && pp_op_kinds[kind].has_mb ? check_compute(g, i) : PP_OK;
}

static enum pp_status check_end(struct gathers *g)
{
    const struct pp_program *p = g->v->p;
    char a[VERIFY_TEXT_BYTES];

    for (int i = p->begin[g->rank]; i < p->begin[g->rank + 1]; i++) {
        const struct stage *s = &g->stages[p->stage[i]];
        if (s->dirty == i)
            return pp_verify_fail(g->v, i, "nothing scatters the gradients of %s",
                                  text_of(g, i, a));
        if (s->present == i)
            return pp_verify_fail(g->v, i, "nothing drops the parameters of %s", text_of(g, i, a));
        if (s->posted == i)
            return pp_verify_fail(g->v, i, "nothing uses what %s gathers", text_of(g, i, a));
    }
    return PP_OK;
}

enum pp_status pp_verify_gathers(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    struct gathers g = {.v = v,
                        .stages = PP_ARRAY(v->arena, struct stage, p->stages),
                        .is_waited = PP_ARRAY(v->arena, bool, pp_program_size(p))};

    for (int rank = 0; rank < p->ranks; rank++) {
        if (!reset(&g, rank))
            continue;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            PP_TRY(check_instruction(&g, i));
        PP_TRY(check_end(&g));
    }
    return PP_OK;
}
