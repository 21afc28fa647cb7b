/* Counts forwards, and those that are repeated. */
#include "sim/run/again.h"

/* Cells of each stage, [stage]. */
struct cells {
    double *forward, *again;
};

static void count(const struct pp_program *p, int begin, int end, double times, struct cells *cells)
{
    for (int i = begin; i < end; i++) {
        if (p->kind[i] == PP_F)
            cells->forward[p->stage[i]] += times * p->granule_count[i];
        if (p->kind[i] == PP_R)
            cells->again[p->stage[i]] += times * p->granule_count[i];
    }
}

double *pp_again_run_frac(struct pp_arena *arena, const struct pp_program *p)
{
    struct cells cells = {PP_ARRAY(arena, double, p->stages), PP_ARRAY(arena, double, p->stages)};
    const struct pp_program_cut *cut = p->cut;

    count(p, 0, pp_program_size(p), 1, &cells);
    for (int k = 0; cut && k < cut->begin[p->ranks]; k++) {
        const struct pp_cut_place *place = &cut->places[k];
        count(p, place->at - place->length, place->at, cut->periods, &cells);
    }
    for (int s = 0; s < p->stages; s++)
        cells.again[s] /= cells.forward[s] > 0 ? cells.forward[s] : 1;
    return cells.again;
}
