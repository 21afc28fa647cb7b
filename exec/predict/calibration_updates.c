/* Time of updates, and of gradients that are zeroed for each scatter. Both move words: an update
 * reads and writes weights and two moments, reads gradients, and zeroes those that are here. */
#include "exec/predict/calibration.h"

enum { WORDS = 8, ZEROED = 1 };

/* Programs of ZeRO 1 state no cut of the optimizer state. */
static int sharers_of(const struct pp_program *program, int copies)
{
    const int cut = pp_state_cut(&program->state.spec, PP_STATE_OPTIMIZER);

    return cut > 1 || !pp_program_has_kind(program, PP_RS) ? cut : copies;
}

double pp_update_frac(const struct pp_program *program, int copies)
{
    return ((WORDS - ZEROED) / (double)sharers_of(program, copies) +
            ZEROED / (double)pp_state_cut(&program->state.spec, PP_STATE_GRADS)) /
           WORDS;
}

double pp_zeroed_frac(const struct pp_program *program)
{
    int scatters = 0, backwards = 0;

    if (pp_state_cut(&program->state.spec, PP_STATE_GRADS) < 2)
        return 0;
    for (int i = 0; i < pp_program_size(program); i++) {
        scatters += program->kind[i] == PP_RS;
        backwards += program->kind[i] == PP_B || program->kind[i] == PP_W;
    }
    return backwards > 0 ? (double)scatters / backwards : 0;
}

static void add(struct pp_terms *terms, const struct pp_samples *samples, double factor)
{
    terms->term[terms->count++] = (struct pp_term){samples, factor};
}

/* Adds the measured update of that size; else one on the line between the smallest and the largest
 * stage, or in proportion outside of these. */
static void add_update(const struct pp_calibration *c, double elements, struct pp_terms *terms)
{
    const struct pp_sized_samples *least, *most;

    pp_sized_ends(&c->updates, &least, &most);
    for (int k = 0; k < c->updates.count; k++)
        if (c->updates.at[k].size == elements) {
            add(terms, &c->updates.at[k].took, 1);
            return;
        }
    if (elements < least->size) {
        add(terms, &least->took, elements / least->size);
    } else if (elements > most->size) {
        add(terms, &most->took, elements / most->size);
    } else {
        const double share = (elements - least->size) / (most->size - least->size);
        add(terms, &least->took, 1 - share);
        add(terms, &most->took, share);
    }
}

enum pp_status pp_terms_update(const struct pp_calibration *c, const struct pp_stage *stage,
                               double frac, struct pp_terms *terms, struct pp_error *err)
{
    if (stage->elements > 0 && c->updates.count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "U was never measured: calibrate with a program that updates weights");
    if (stage->elements > 0)
        add_update(c, (double)stage->elements * frac, terms);
    return PP_OK;
}

/* An update of all words lasts `took` for `size` elements, so zeroing takes an eighth of that. */
void pp_terms_zeroed(const struct pp_calibration *c, const struct pp_stage *stage, double frac,
                     struct pp_terms *terms)
{
    const struct pp_sized_samples *least, *most;
    const double more = frac - c->zeroed_frac;

    pp_sized_ends(&c->updates, &least, &most);
    if (most && more != 0)
        add(terms, &most->took, more * ZEROED / WORDS * (double)stage->elements / most->size);
}
