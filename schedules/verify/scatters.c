/* schedules/verify/scatters.c — sharded gradients: those of each backward are scattered before they
 * are summed, and summed before the update uses them. */
#include "schedules/verify/gathers.h"

/* Checks that gradients of the previous backward are in the shards before i makes new ones. */
enum pp_status pp_gathers_check_pending(struct pp_gathers *g, int i)
{
    struct pp_gather_stage *s = pp_gathers_of(g, i);

    if (pp_state_has_parts(g->spec) && s->pending >= 0)
        return pp_verify_refuse(g->v, i, "adds to the gradients of %s, which no RS.part scatters",
                                pp_verify_text(g->v, s->pending));
    s->pending = i;
    return PP_OK;
}

/* Checks an RS.visit or RS.part. */
enum pp_status pp_gathers_check_scatter(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct pp_gather_stage *s = pp_gathers_of(g, i);
    const int purpose = p->purpose[i];

    if (s->scatter[purpose] >= 0)
        return pp_verify_fail(g->v, i, "nothing waits for %s before %s is posted again",
                              pp_verify_text(g->v, s->scatter[purpose]), pp_verify_text(g->v, i));
    if (purpose == PP_FOR_VISIT && s->dirty < 0)
        return pp_verify_refuse(g->v, i, "scatters gradients that nothing has made");
    if (purpose == PP_FOR_PART && s->pending < 0)
        return pp_verify_refuse(g->v, i, "scatters gradients that %s",
                                pp_state_is_gathered(g->spec) ? "no RS.visit has left"
                                                              : "nothing has made");
    s->scatter[purpose] = i;
    if (purpose == PP_FOR_PART) {
        s->pending = -1;
        return PP_OK;
    }
    s->dirty = -1;
    return pp_gathers_check_pending(g, i);
}

/* Checks the sum of a step or AR.rest: gradients of all visits are in the shards. */
enum pp_status pp_gathers_check_sum(struct pp_gathers *g, int i)
{
    const struct pp_program *p = g->v->p;
    struct pp_gather_stage *s = pp_gathers_of(g, i);
    const bool is_last = p->bucket[i] + 1 >= p->buckets[i];

    /* units before the last one are scattered inside of the backward */
    if (s->dirty >= 0 && (is_last || p->state.units[p->stage[i]] < 2))
        return pp_verify_refuse(g->v, i, "comes before the gradients of %s are scattered",
                                pp_verify_text(g->v, s->dirty));
    if (p->purpose[i] != PP_FOR_REST) {
        s->sum = i;
        s->pending = is_last ? -1 : s->pending;
        return PP_OK;
    }
    if (s->rest >= 0 && p->bucket[i] <= p->bucket[s->rest])
        return pp_verify_refuse(g->v, i, "is listed twice");
    if (s->sum < 0)
        return pp_verify_refuse(g->v, i, "sums what no RS has scattered before it");
    s->rest = i;
    s->open_rests++;
    return PP_OK;
}

/* Returns the first AR.rest of the stage of `update` without a WAIT so far. */
static int open_rest(const struct pp_gathers *g, int update)
{
    const struct pp_program *p = g->v->p;
    int i = p->begin[g->rank];

    while (i < update && (p->kind[i] != PP_AR || p->purpose[i] != PP_FOR_REST ||
                          p->stage[i] != p->stage[update] || g->is_waited[i]))
        i++;
    return i;
}

enum pp_status pp_gathers_check_update(struct pp_gathers *g, int i)
{
    struct pp_gather_stage *s = pp_gathers_of(g, i);
    const int left = s->dirty >= 0 || !pp_state_has_parts(g->spec) ? s->dirty : s->pending;

    s->update = i;
    if (left >= 0)
        return pp_verify_refuse(g->v, i, "comes before the gradients of %s are %s",
                                pp_verify_text(g->v, left), s->dirty >= 0 ? "scattered" : "summed");
    for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
        if (s->scatter[purpose] >= 0)
            return pp_verify_fail_unwaited(g->v, i, "uses", s->scatter[purpose], "leaves");
    if (s->open_rests > 0)
        return pp_verify_fail_unwaited(g->v, i, "uses", open_rest(g, i), "leaves");
    s->sum = s->rest = -1; /* an asynchronous program sums again for its next update */
    return PP_OK;
}
