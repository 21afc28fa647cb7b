/* Steps by seed as JSON. */
#include "sim/seeds/seeds.h"

static json_t *steps_json(const double *step_s, int count)
{
    json_t *list = json_array();

    for (int k = 0; k < count; k++)
        json_array_append_new(list, json_real(step_s[k]));
    return list;
}

static json_t *spread_json(struct pp_spread spread)
{
    return json_pack("{sf sf sf}", "mean", spread.mean, "least", spread.least, "greatest",
                     spread.greatest);
}

void pp_seeds_json(const struct pp_result *r, json_t *o)
{
    const struct pp_seeds *s = r->seeds;

    if (!s)
        return;
    json_object_set_new(o, "steps_by_seed", steps_json(s->step_s, s->count));
    json_t *seeds = json_pack("{sI si so}", "first", (json_int_t)s->first, "count", s->count,
                              "step_s", spread_json(s->step));
    json_object_set_new(o, "seeds", seeds);
    if (!s->strict_s)
        return;
    json_object_set_new(seeds, "strict_steps_by_seed", steps_json(s->strict_s, s->count));
    json_object_set_new(seeds, "strict_step_s", spread_json(s->strict));
    json_object_set_new(seeds, "strict_over_step", spread_json(s->gain));
    json_object_set_new(seeds, "slower_seeds", json_integer(s->slower));
}
