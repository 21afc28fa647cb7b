/* schedules/verify/order.c — inputs of an op are present when it starts. */
#include "schedules/verify/parts.h"

int pp_verify_needs(const struct pp_verify *v, int i, int64_t unit, int needs[VERIFY_NEEDS])
{
    const struct pp_program *p = v->p;
    const int64_t stage = (int64_t)v->granules * p->splits;
    int n = 0;

    switch (p->kind[i]) {
    case PP_F:
        if (p->stage[i] > 0)
            needs[n++] = v->at[AT_F][unit - stage];
        if (p->split[i] > 0) /* causal attention reads the keys and values of earlier splits */
            needs[n++] = v->at[AT_F][unit - 1];
        break;
    case PP_B:
    case PP_I:
        needs[n++] = v->at[AT_F][unit];
        if (v->at[AT_R][unit] >= 0)
            needs[n++] = v->at[AT_R][unit];
        if (p->stage[i] + 1 < p->stages)
            needs[n++] = v->at[AT_BACK][unit + stage];
        /* a split's gradient of keys and values is complete only after the later splits */
        if (p->split[i] + 1 < p->splits)
            needs[n++] = v->at[AT_BACK][unit + 1];
        break;
    case PP_W:
        needs[n++] = v->at[AT_BACK][unit];
        break;
    case PP_R:
    case PP_Q:
    case PP_DQ:
        needs[n++] = v->at[AT_F][unit];
        break;
    default:
        break;
    }
    return n;
}

static enum pp_status fail_before(struct pp_verify *v, int i, int needed)
{
    if (needed == i - 1)
        return pp_verify_refuse(v, i, "overlaps %s, but needs its result",
                                pp_verify_text(v, needed));
    return pp_verify_fail_before(v, i, needed);
}

/* Checks an input of op i from another rank: its WAIT must be before i. */
static enum pp_status check_input(struct pp_verify *v, int i, int64_t unit, int needed)
{
    const struct pp_program *p = v->p;
    const bool is_forward = p->kind[i] == PP_F;
    const int recv = v->at[is_forward ? AT_RECV_F : AT_RECV_B][unit];
    const int wait = v->at[is_forward ? AT_WAIT_F : AT_WAIT_B][unit];

    if (wait >= 0 && wait < pp_verify_start(p, i))
        return PP_OK;
    if (wait >= 0)
        return fail_before(v, i, wait);
    const char *text = pp_verify_unit_text(v, is_forward ? PP_RECV_F : PP_RECV_B, unit);
    if (recv >= 0)
        return pp_verify_refuse(v, i, "uses what %s delivers, but (%s)WAIT is missing", text, text);
    return pp_verify_refuse(v, i, "needs the result of %s on rank %d, but %s is missing",
                            pp_verify_text(v, needed), pp_program_rank_at(p, needed), text);
}

static enum pp_status check_compute(struct pp_verify *v, int rank, int i)
{
    const struct pp_program *p = v->p;
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);
    int needs[VERIFY_NEEDS];

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
        const int n = pp_verify_needs(v, i, unit, needs);
        for (int k = 0; k < n; k++) {
            const bool is_local = needs[k] >= p->begin[rank] && needs[k] < p->begin[rank + 1];
            if (is_local && needs[k] >= pp_verify_start(p, i))
                return fail_before(v, i, needs[k]);
            if (!is_local)
                PP_TRY(check_input(v, i, unit, needs[k]));
        }
    }
    return PP_OK;
}

static enum pp_status check_send(struct pp_verify *v, int i)
{
    const struct pp_program *p = v->p;
    const int32_t *producer = v->at[p->kind[i] == PP_SEND_F ? AT_F : AT_BACK];
    int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);

    for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits)
        if (producer[unit] > i)
            return fail_before(v, i, producer[unit]);
    return PP_OK;
}

enum pp_status pp_verify_order(struct pp_verify *v)
{
    const struct pp_program *p = v->p;

    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (pp_op_has_cell(p->kind[i]))
                PP_TRY(check_compute(v, rank, i));
            else if (pp_op_is_send(p->kind[i]))
                PP_TRY(check_send(v, i));
        }
    return PP_OK;
}
