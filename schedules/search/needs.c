/* Needs of ops, op by op. */
#include "schedules/search/needs.h"

#include "schedules/verify/order.h"

/* Visits every pair of an op and an op that it needs: the first call counts, the second fills. */
static void each_need(const struct pp_verify *v, struct pp_needs *needs, int32_t *at)
{
    const struct pp_program *p = v->p;
    int needed[VERIFY_NEEDS];

    for (int i = 0; i < pp_program_size(p); i++) {
        int64_t unit = pp_verify_unit(v, p->stage[i], p->mb[i], p->split[i]);
        for (int g = 0; g < p->granule_count[i]; g++, unit += p->splits) {
            const int count = pp_verify_needs(v, i, unit, needed);
            for (int k = 0; k < count; k++)
                if (needs->use)
                    needs->use[at[needed[k]]++] = i;
                else
                    at[needed[k]]++;
            needs->missing[pp_verify_start(p, i)] += needs->use ? count : 0;
        }
    }
}

enum pp_status pp_needs_find(struct pp_arena *arena, const struct pp_program *p,
                             struct pp_needs *needs, struct pp_error *err)
{
    const int size = pp_program_size(p);
    struct pp_verify v = {
        .p = p, .arena = arena, .err = err, .granules = p->micro_batches * p->granules};
    int32_t *at = PP_ARRAY(arena, int32_t, size + 1);

    PP_TRY(pp_verify_units(&v));
    *needs = (struct pp_needs){.missing = PP_ARRAY(arena, int32_t, size + 1),
                               .first_use = PP_ARRAY(arena, int32_t, size + 1)};
    each_need(&v, needs, at);
    for (int i = 0; i < size; i++) {
        needs->first_use[i + 1] = needs->first_use[i] + at[i];
        at[i] = needs->first_use[i];
    }
    needs->use = PP_ARRAY(arena, int32_t, needs->first_use[size] + 1);
    each_need(&v, needs, at);
    return PP_OK;
}
